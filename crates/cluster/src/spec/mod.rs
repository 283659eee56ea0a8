//! Builds machines from what users write: text, files, and clusters.
//!
//! A machine is a text of one of the kinds of [`viem::machine::spec`], such as `torus:16x8x8`, a cluster of one of the [`KINDS`], such as
//! `slurm`, or the name of a file. What a file is shows in its content ([`FILES`]). A list of PEs takes a part of any of them.
//!
//! ```
//! use viem::machine::Machine as _;
//!
//! let torus = viem_cluster::build("torus:4x4x2/4:16", Some("1:10:100"), Some("0-63,128"))?;
//! assert_eq!(torus.num_pes(), 65);
//! # Ok::<(), viem_cluster::SpecError>(())
//! ```
//!
//! A further kind is a file with a [`ClusterKind`] or a [`FileKind`] in it, and a line in the table.

mod cluster;
mod file;
mod file_kind;
mod gpus;
mod matrix;
mod network;
mod numa;
mod target;

pub use file::{FILES, read};
pub use file_kind::{FileKind, Likeness, Opening};

use std::path::{Path, PathBuf};

use crate::nodes::ClusterError;
use viem::ground::error::{ErrorKind, HasKind};
use viem::ground::number_list::{self, ListOf, is_list};
use viem::ground::types::PeId;
use viem::machine::spec::{self as text, kind_of, listed};
use viem::machine::{Machine, MachineError};
use viem_io::{ReadError, Source};

/// A kind of cluster, which is read from files or found in the environment. It is written as a name, a colon and parameters.
#[derive(Debug)]
pub struct ClusterKind {
    /// The name before the colon.
    pub name: &'static str,
    /// An example.
    pub example: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    /// Whether the name may stand alone.
    may_stand_alone: bool,
    /// The files that are read: those that are named behind the colon, and those that the environment names.
    files: fn(&str) -> Vec<PathBuf>,
    make: fn(&Request<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

/// Every kind of cluster.
pub const KINDS: [ClusterKind; 3] = [cluster::SLURM, cluster::HWLOC, cluster::HOSTS];

/// The parameters of a cluster.
struct Request<'a> {
    /// All of it, for messages.
    spec: &'a str,
    /// The part after the colon.
    rest: &'a str,
    /// The distances, innermost first.
    distances: Option<&'a str>,
    /// What the PEs are.
    pe: PeKind,
    /// A file of latencies.
    latency: Option<&'a Path>,
}

/// What the PEs of a cluster are.
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
pub struct Wanted<'a> {
    /// The machine, such as `4:16:8`, or the name of its file.
    pub spec: &'a str,
    /// The distances, innermost first, such as `1:10:100`.
    pub distances: Option<&'a str>,
    /// The PEs of it that count, such as `0-15,32`, or the name of a file with a list of them.
    pub pes: Option<&'a str>,
    /// What its PEs are; of clusters only.
    pub pe: PeKind,
    /// A file with the latencies between hosts; of clusters only.
    pub latency: Option<&'a Path>,
    /// A file with the times of links; of networks only.
    pub link_cycles: Option<&'a Path>,
}

impl<'a> Wanted<'a> {
    /// A machine such as `4:16:8`, or that in the file of this name.
    pub fn new(spec: &'a str) -> Self {
        Self { spec, ..Self::default() }
    }

    /// With these distances.
    pub fn with_distances(self, distances: impl Into<Option<&'a str>>) -> Self {
        Self { distances: distances.into(), ..self }
    }

    /// With only these PEs.
    pub fn with_pes(self, pes: impl Into<Option<&'a str>>) -> Self {
        Self { pes: pes.into(), ..self }
    }

    /// With PEs of this kind.
    pub fn with_pe(self, pe: PeKind) -> Self {
        Self { pe, ..self }
    }

    /// With the latencies in a file.
    pub fn with_latency(self, latency: impl Into<Option<&'a Path>>) -> Self {
        Self { latency: latency.into(), ..self }
    }

    /// With the times of links in a file: the graph of the network, in which the weight of an edge is the number of cycles that a flit
    /// takes over the link. See [`Network::with_link_cycles`](viem::Network::with_link_cycles).
    pub fn with_link_cycles(self, link_cycles: impl Into<Option<&'a Path>>) -> Self {
        Self { link_cycles: link_cycles.into(), ..self }
    }
}

/// Why there is no such machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum SpecError {
    #[error("machine `{spec}` is neither a file that exists nor one of {}", examples().join(", "))]
    Unknown { spec: String },
    #[error(transparent)]
    Text(#[from] text::SpecError),
    #[error("machine `{spec}` brings its own distances; leave out `{distances}`")]
    OwnDistances { spec: String, distances: String },
    #[error("machine `{file}`: {source}")]
    Machine { file: String, source: Box<MachineError> },
    #[error(
        "{file}: this is no machine; a machine is a target file of Scotch, a network (METIS graph), a distance matrix, or distances of NUMA \
         nodes as numactl, likwid-topology or lstopo prints them"
    )]
    UnknownFile { file: String },
    #[error(
        "{file}: the comments at the start are too long to see what kind of machine follows; shorten them, or end the name of the file in \
         .tgt (a target file of Scotch), .graph (a network) or .matrix (a distance matrix)"
    )]
    LongComments { file: String },
    #[error("machine `{spec}`: {source}")]
    Cluster { spec: String, source: Box<ClusterError> },
    #[error("`{field}` is for clusters (slurm, hwloc:, hosts:) only, and `{spec}` is none")]
    ClustersOnly { spec: String, field: &'static str },
    #[error("`link_cycles` is for networks in files only, and `{spec}` is none")]
    NetworksOnly { spec: String },
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl HasKind for SpecError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. }
            | Self::OwnDistances { .. }
            | Self::ClustersOnly { .. }
            | Self::NetworksOnly { .. } => ErrorKind::Usage,
            Self::UnknownFile { .. } | Self::LongComments { .. } => ErrorKind::BadData,
            Self::Text(error) => error.kind(),
            Self::Machine { source, .. } => source.kind(),
            Self::Cluster { source, .. } => source.kind(),
            Self::Read(error) => error.kind(),
        }
    }
}

impl SpecError {
    /// What is wrong with a machine that is called so.
    fn machine(file: impl Into<String>, error: impl Into<MachineError>) -> Self {
        Self::Machine { file: file.into(), source: Box::new(error.into()) }
    }
}

/// An example of each kind.
fn examples() -> Vec<&'static str> {
    let texts = text::KINDS.iter().map(|kind| kind.example);
    texts.chain(KINDS.iter().map(|kind| kind.example)).collect()
}

/// The machine of a text or of a file (`-` is the standard input), with these distances where it needs some, innermost
/// first, and restricted to these PEs if a list of them or the name of a file with one is given.
pub fn build(spec: &str, distances: Option<&str>, pes: Option<&str>) -> Result<Box<dyn Machine>, SpecError> {
    build_wanted(&Wanted::new(spec).with_distances(distances).with_pes(pes))
}

/// The machine that a user wants.
pub fn build_wanted(wanted: &Wanted<'_>) -> Result<Box<dyn Machine>, SpecError> {
    let machine = whole(wanted)?;
    match wanted.pes {
        Some(pes) => restricted(machine, pes),
        None => Ok(machine),
    }
}

/// The file that a machine is read from, if it is one.
pub fn file_of(spec: &str) -> Option<&Path> {
    (kind_of(spec).is_none() && cluster_of(spec).is_none()).then_some(Path::new(spec))
}

/// All files that a machine is read from, with those that only the environment names, such as that of the hosts of a job.
pub fn files_of(spec: &str) -> Vec<PathBuf> {
    match cluster_of(spec) {
        Some((kind, rest)) => (kind.files)(rest),
        None => file_of(spec).map(Path::to_owned).into_iter().collect(),
    }
}

/// The file that a list of PEs is read from, if it is one.
pub fn file_of_pes(pes: &str) -> Option<&Path> {
    (!is_list(pes)).then_some(Path::new(pes))
}

/// The kind of cluster of a text, and the part after its name.
fn cluster_of(spec: &str) -> Option<(&'static ClusterKind, &str)> {
    const ALL: &[ClusterKind] = &KINDS;
    ALL.iter().find_map(|kind| {
        let rest = spec.strip_prefix(kind.name)?;
        let is_alone = rest.is_empty() && kind.may_stand_alone;
        Some((kind, if is_alone { rest } else { rest.strip_prefix(':')? }))
    })
}

fn whole(wanted: &Wanted<'_>) -> Result<Box<dyn Machine>, SpecError> {
    let &Wanted { spec, distances, pe, latency, link_cycles, .. } = wanted;
    let cluster = cluster_of(spec);
    let is_file = file_of(spec).is_some();
    if link_cycles.is_some() && !is_file {
        return Err(SpecError::NetworksOnly { spec: spec.to_owned() });
    }
    if let Some((kind, rest)) = cluster {
        return (kind.make)(&Request { spec, rest, distances, pe, latency });
    }
    let fields = [(pe != PeKind::Core, "pe"), (latency.is_some(), "latency")];
    if let Some((_, field)) = fields.into_iter().find(|(is_given, _)| *is_given) {
        return Err(SpecError::ClustersOnly { spec: spec.to_owned(), field });
    }
    if is_file { in_file(spec, distances, link_cycles) } else { Ok(text::build(spec, distances, None)?) }
}

/// The machine in a file; a network with the times of its links, if they are given.
fn in_file(
    spec: &str,
    distances: Option<&str>,
    link_cycles: Option<&Path>,
) -> Result<Box<dyn Machine>, SpecError> {
    let path = Path::new(spec);
    let is_path = spec == "-" || spec.contains(['/', '.']);
    if !is_path && !path.exists() {
        return Err(SpecError::Unknown { spec: spec.to_owned() });
    }
    if let Some(distances) = distances {
        return Err(SpecError::OwnDistances { spec: spec.to_owned(), distances: distances.to_owned() });
    }
    let machine = read(Source::open(path)?, path)?;
    match link_cycles {
        Some(times) => network::with_link_cycles(machine.as_ref(), spec, times),
        None => Ok(machine),
    }
}

/// The listed PEs of a machine, in this order: numbers and ranges, or the name of a file with such a list.
pub fn restricted(machine: Box<dyn Machine>, pes: &str) -> Result<Box<dyn Machine>, SpecError> {
    let list = list_of_pes(pes, machine.num_pes())?;
    let name = machine.describe();
    listed(machine, list).map_err(|error| SpecError::machine(name, error))
}

/// The numbers below `num_pes` in a list, or in the file with this name.
fn list_of_pes(pes: &str, num_pes: usize) -> Result<Vec<PeId>, SpecError> {
    if !is_list(pes) {
        let source = viem_io::number_list::open(pes, "list of processing elements")?;
        return Ok(viem_io::number_list::read(source, ListOf::Pes, num_pes)?);
    }
    let parsed = number_list::parse(pes.as_bytes(), ListOf::Pes, num_pes);
    Ok(parsed.map_err(|(place, fault)| text::SpecError::Pes { place, fault })?)
}
