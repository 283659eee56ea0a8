//! From the specification of a cluster to its machine.

use std::path::Path;

use super::parts::Parts;
use super::{inside, slurm};
use crate::files::hwloc::Object;
use crate::files::topology::{self, Topology};
use crate::files::{hostlist, latency};
use crate::nodes::{Cluster, ClusterError, ClusterSpec, NodeSpec, Unit};
use crate::spec::cluster_kind::Request;
use crate::spec::error::SpecError;
use crate::spec::machine_spec::PeKind;
use viem::machine::Machine;
use viem_io::Source;

impl Request<'_> {
    pub(super) fn unit(&self) -> Unit {
        match self.pe {
            // A GPU is read as a core.
            PeKind::Core | PeKind::Gpu => Unit::Core,
            PeKind::Thread => Unit::Pu,
        }
    }

    pub(super) fn refused(&self, error: ClusterError) -> SpecError {
        SpecError::Cluster { spec: self.spec.to_owned(), source: Box::new(error) }
    }

    /// A draft of these nodes, all of them alike to the network.
    pub(super) fn draft(&self, nodes: Vec<NodeSpec>) -> ClusterSpec<'_> {
        ClusterSpec { distances: self.distances, ..ClusterSpec::new(nodes, Vec::new(), self.unit()) }
    }

    /// Gives the nodes of a draft the ranks, and the ranks the cores, that the options say. Slots are no more ranks than there are cores for.
    pub(super) fn set_ranks(&self, draft: &mut ClusterSpec<'_>, parts: &Parts<'_>) -> Result<(), SpecError> {
        if let Some(text) = parts.option("ranks") {
            let or = ", or one for each node, such as 4(x2),3";
            let bad = || ClusterError::BadNumber { text: text.to_owned(), what: "ranks", or };
            let counts = hostlist::read_counts("ranks", text).map_err(|_| self.refused(bad()))?;
            let hosts = draft.nodes.len();
            if ![1, hosts].contains(&counts.len()) {
                let (name, found) = (format!("ranks={text}"), counts.len());
                return Err(self.refused(ClusterError::Counts { name, found, hosts }));
            }
            draft
                .nodes
                .iter_mut()
                .zip(counts.into_iter().cycle())
                .for_each(|(node, ranks)| node.ranks = Some(ranks));
        }
        if let Some(text) = parts.option("cores") {
            let cores = text.parse().ok().filter(|&cores: &u32| cores > 0);
            let bad = || ClusterError::BadNumber { text: text.to_owned(), what: "cores", or: "" };
            let cores = cores.ok_or_else(|| self.refused(bad()))?;
            let usable: Vec<u32> = draft.nodes.iter().map(|node| inside::usable(draft, node)).collect();
            for (index, node) in draft.nodes.iter_mut().enumerate() {
                // Files and batch systems often give a slot for each core.
                let most = usable[index] / cores;
                node.slots = node.slots.map(|slots| slots.min(most));
                node.cores_per_rank = Some(cores);
            }
        }
        Ok(())
    }

    /// The machine of a draft, once latencies are read if there are some. Where PEs are GPUs, so are the cores of nodes that are not described by
    /// their GPUs. Hosts from a file may be those of a job of Slurm, too.
    pub(super) fn cluster(&self, mut draft: ClusterSpec<'_>) -> Result<Box<dyn Machine>, SpecError> {
        let hosts: Option<Vec<&str>> = draft.nodes.iter().map(|node| node.host.as_deref()).collect();
        if draft.slurm_job.is_none() {
            draft.slurm_job = hosts.and_then(|hosts| slurm::job_of(&hosts));
        }
        if let Some(path) = self.latency {
            draft.latencies = Some(latency::read(Source::open(path)?)?);
        }
        if self.pe == PeKind::Gpu {
            draft.insides = draft.insides.into_iter().map(Object::of_gpus).collect();
        }
        Ok(Box::new(Cluster::new(draft).map_err(|error| self.refused(error))?))
    }
}

pub(super) fn read_topology(path: Option<&Path>) -> Result<Topology, SpecError> {
    path.map_or(Ok(Topology::Flat), |path| Ok(topology::read(Source::open(path)?)?))
}
