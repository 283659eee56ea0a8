//! The specification of a machine by a user.

use std::path::Path;

/// The hardware unit that is a PE of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeKind {
    /// Cores with all their hardware threads.
    #[default]
    Core,
    /// Hardware threads.
    Thread,
    /// The GPUs in files of hwloc. Nodes that are described otherwise have the PEs of their description.
    Gpu,
}

/// All that a user may say about a machine.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct MachineSpec<'a> {
    /// The machine, such as `4:16:8`, or the name of its file.
    pub spec: &'a str,
    /// The distances, innermost first, such as `1:10:100`.
    pub distances: Option<&'a str>,
    /// The PEs of it that count, such as `0-15,32`, or the name of a file with a list of them.
    pub pes: Option<&'a str>,
    /// The unit that is a PE; of clusters only.
    pub pe: PeKind,
    /// A file with the latencies between hosts; of clusters only.
    pub latency: Option<&'a Path>,
    /// A file with the times of links; of networks only.
    pub link_cycles: Option<&'a Path>,
}

impl<'a> MachineSpec<'a> {
    /// A machine such as `4:16:8`, or that in the file of this name.
    pub fn new(spec: &'a str) -> Self {
        Self { spec, ..Self::default() }
    }

    /// The same with these distances.
    pub fn with_distances(self, distances: impl Into<Option<&'a str>>) -> Self {
        Self { distances: distances.into(), ..self }
    }

    /// The same with only these PEs.
    pub fn with_pes(self, pes: impl Into<Option<&'a str>>) -> Self {
        Self { pes: pes.into(), ..self }
    }

    /// The same with PEs of this kind.
    pub fn with_pe(self, pe: PeKind) -> Self {
        Self { pe, ..self }
    }

    /// The same with the latencies in a file.
    pub fn with_latency(self, latency: impl Into<Option<&'a Path>>) -> Self {
        Self { latency: latency.into(), ..self }
    }

    /// The same with the times of links in a file: the graph of the network, in which the weight of an edge is the number of cycles that a flit
    /// takes over the link. See [`Network::with_link_cycles`](viem::Network::with_link_cycles).
    pub fn with_link_cycles(self, link_cycles: impl Into<Option<&'a Path>>) -> Self {
        Self { link_cycles: link_cycles.into(), ..self }
    }
}
