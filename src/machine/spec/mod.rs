//! Builds machines from text and files.
//!
//! A machine is written as a text of one of the [`KINDS`], such as `torus:16x8x8`, or as the name of a file. What a file
//! is shows in its content ([`FILES`]). A list of PEs takes a part of any of them. Files and clusters need the feature `io`.
//!
//! ```
//! use viem::machine;
//! use viem::machine::Machine as _;
//!
//! let torus = machine::build("torus:4x4x2/4:16", Some("1:10:100"), Some("0-63,128"))?;
//! assert_eq!(torus.num_pes(), 65);
//! # Ok::<(), machine::SpecError>(())
//! ```
//!
//! A further kind is a file with a [`MachineKind`] or a [`FileKind`] in it, and a line in the table.

// What only clusters need is dead where they are left out.
#![cfg_attr(not(feature = "io"), allow(dead_code))]

#[cfg(feature = "io")]
mod cluster;
mod cube;
#[cfg(feature = "io")]
mod file;
#[cfg(feature = "io")]
mod file_kind;
#[cfg(feature = "io")]
mod gpus;
mod grid;
#[cfg(feature = "io")]
mod matrix;
#[cfg(feature = "io")]
mod network;
#[cfg(feature = "io")]
mod numa;
mod rails;
#[cfg(feature = "io")]
mod target;
mod tree;

#[cfg(feature = "io")]
pub use file::{FILES, read};
#[cfg(feature = "io")]
pub use file_kind::{FileKind, Likeness, Opening};

use std::path::{Path, PathBuf};

use super::check_memory;
#[cfg(feature = "io")]
use super::cluster::ClusterError;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::number;
use crate::ground::number_list::{self, ListFault, ListOf, is_list};
use crate::ground::text::Place;
use crate::ground::types::PeId;
#[cfg(feature = "io")]
use crate::io;
use crate::machine::{Listed, Machine, MachineError};

/// A kind of machine that is written as a name, a colon and parameters.
#[derive(Debug)]
pub struct MachineKind {
    /// The name before the colon.
    pub name: &'static str,
    /// An example.
    pub example: &'static str,
    /// What it is, for people.
    pub about: &'static str,
    /// What only clusters have.
    cluster: Option<ClusterKind>,
    make: fn(&Request<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

impl MachineKind {
    /// Whether it is a kind of clusters, which are read from files or found in the environment.
    pub fn is_cluster(&self) -> bool {
        self.cluster.is_some()
    }
}

/// What a kind of clusters has.
#[derive(Debug)]
struct ClusterKind {
    /// Whether the name may stand alone.
    may_stand_alone: bool,
    /// The files that are read: those that are named behind the colon, and those that the environment names.
    files: fn(&str) -> Vec<PathBuf>,
}

/// Every kind that is written as text.
pub const KINDS: &[MachineKind] = &[
    grid::MESH,
    grid::TORUS,
    cube::HYPERCUBE,
    rails::RAILS,
    tree::COMPLETE,
    #[cfg(feature = "io")]
    cluster::SLURM,
    #[cfg(feature = "io")]
    cluster::HWLOC,
    #[cfg(feature = "io")]
    cluster::HOSTS,
    tree::TREE,
];

/// The kind that needs no name: `4:16:8` is `tree:4:16:8`.
const WITHOUT_NAME: &MachineKind = &tree::TREE;

/// The parameters of a machine.
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
    /// takes over the link. See [`Network::with_link_cycles`](super::Network::with_link_cycles).
    pub fn with_link_cycles(self, link_cycles: impl Into<Option<&'a Path>>) -> Self {
        Self { link_cycles: link_cycles.into(), ..self }
    }
}

/// Why there is no such machine. Columns are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum SpecError {
    #[error("machine `{spec}` is {}", unknown())]
    Unknown { spec: String },
    #[error(
        "machine `{spec}`: `{token}` at column {column} is not {what}, a whole number from {least} to {greatest}; \
         give a machine such as {example}"
    )]
    BadNumber {
        spec: String,
        token: String,
        column: usize,
        what: &'static str,
        least: u64,
        greatest: u64,
        example: &'static str,
    },
    #[error(
        "machine `{spec}` needs {needed} distances, innermost first, such as {}; {found} are given",
        example_distances(*needed)
    )]
    Distances { spec: String, needed: usize, found: usize },
    #[error("distance `{token}` is not a whole number from 0 to {}{}", i64::MAX, number::scaling(token))]
    BadDistance { token: String },
    #[error("machine `{spec}` brings its own distances; leave out `{distances}`")]
    OwnDistances { spec: String, distances: String },
    #[error("machine `{spec}`: {source}")]
    Machine { spec: String, source: Box<MachineError> },
    #[error("list of processing elements, {place}: {fault}")]
    Pes { place: Place, fault: ListFault },
    #[cfg(feature = "io")]
    #[error(
        "{file}: this is no machine; a machine is a target file of Scotch, a network (METIS graph), a distance matrix, or distances of NUMA \
         nodes as numactl, likwid-topology or lstopo prints them"
    )]
    UnknownFile { file: String },
    #[cfg(feature = "io")]
    #[error(
        "{file}: the comments at the start are too long to see what kind of machine follows; shorten them, or end the name of the file in \
         .tgt (a target file of Scotch), .graph (a network) or .matrix (a distance matrix)"
    )]
    LongComments { file: String },
    #[cfg(feature = "io")]
    #[error("machine `{spec}`: {source}")]
    Cluster { spec: String, source: Box<ClusterError> },
    #[error("`{field}` is for clusters (slurm, hwloc:, hosts:) only, and `{spec}` is none")]
    ClustersOnly { spec: String, field: &'static str },
    #[error("`link_cycles` is for networks in files only, and `{spec}` is none")]
    NetworksOnly { spec: String },
    #[cfg(feature = "io")]
    #[error(transparent)]
    Read(#[from] io::ReadError),
}

impl HasKind for SpecError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. }
            | Self::BadNumber { .. }
            | Self::Distances { .. }
            | Self::BadDistance { .. }
            | Self::OwnDistances { .. }
            | Self::ClustersOnly { .. }
            | Self::NetworksOnly { .. } => ErrorKind::Usage,
            #[cfg(feature = "io")]
            Self::UnknownFile { .. } | Self::LongComments { .. } => ErrorKind::BadData,
            // A machine that is written in full is a value given by hand, one in a file is data.
            Self::Machine { spec, source } => match source.kind() {
                ErrorKind::BadData if file_of(spec).is_none() => ErrorKind::Usage,
                kind => kind,
            },
            Self::Pes { .. } => ErrorKind::Usage,
            #[cfg(feature = "io")]
            Self::Cluster { source, .. } => source.kind(),
            #[cfg(feature = "io")]
            Self::Read(error) => error.kind(),
        }
    }
}

impl SpecError {
    /// What is wrong with a machine that is called so.
    fn machine(spec: impl Into<String>, error: impl Into<MachineError>) -> Self {
        Self::Machine { spec: spec.into(), source: Box::new(error.into()) }
    }
}

/// What an unknown machine would have to be.
fn unknown() -> String {
    let examples: Vec<&str> = KINDS.iter().map(|kind| kind.example).collect();
    let examples = examples.join(", ");
    match cfg!(feature = "io") {
        true => format!("neither a file that exists nor one of {examples}"),
        false => format!("none of {examples}; machines in files, and clusters, need the feature `io`"),
    }
}

/// An example with that many distances.
fn example_distances(count: usize) -> String {
    let powers = (0..count as u32).map(|level| 10u64.saturating_pow(level).to_string());
    powers.collect::<Vec<_>>().join(":")
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
    kind_of(spec).is_none().then_some(Path::new(spec))
}

/// All files that a machine is read from, with those that only the environment names, such as that of the hosts of a job.
pub fn files_of(spec: &str) -> Vec<PathBuf> {
    match kind_of(spec) {
        Some((MachineKind { cluster: Some(cluster), .. }, rest)) => (cluster.files)(rest),
        Some(_) => Vec::new(),
        None => vec![PathBuf::from(spec)],
    }
}

/// The file that a list of PEs is read from, if it is one.
pub fn file_of_pes(pes: &str) -> Option<&Path> {
    (!is_list(pes)).then_some(Path::new(pes))
}

/// The kind of a text, and the part after its name.
fn kind_of(spec: &str) -> Option<(&'static MachineKind, &str)> {
    let named = KINDS.iter().find_map(|kind| {
        let rest = spec.strip_prefix(kind.name)?;
        let is_alone = rest.is_empty() && kind.cluster.as_ref().is_some_and(|kind| kind.may_stand_alone);
        Some((kind, if is_alone { rest } else { rest.strip_prefix(':')? }))
    });
    let is_bare = spec.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') && spec.contains(':');
    named.or_else(|| is_bare.then_some((WITHOUT_NAME, spec)))
}

fn whole(wanted: &Wanted<'_>) -> Result<Box<dyn Machine>, SpecError> {
    let &Wanted { spec, distances, pe, latency, link_cycles, .. } = wanted;
    let kind = kind_of(spec);
    if link_cycles.is_some() && kind.is_some() {
        return Err(SpecError::NetworksOnly { spec: spec.to_owned() });
    }
    if kind.is_none_or(|(kind, _)| !kind.is_cluster()) {
        let fields = [(pe != PeKind::Core, "pe"), (latency.is_some(), "latency")];
        if let Some((_, field)) = fields.into_iter().find(|(is_given, _)| *is_given) {
            return Err(SpecError::ClustersOnly { spec: spec.to_owned(), field });
        }
    }
    if let Some((kind, rest)) = kind {
        return (kind.make)(&Request { spec, rest, distances, pe, latency });
    }
    in_file(spec, distances, link_cycles)
}

/// The machine in a file; a network with the times of its links, if they are given.
#[cfg(feature = "io")]
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
    let machine = read(io::Source::open(path)?, path)?;
    match link_cycles {
        Some(times) => network::with_link_cycles(machine.as_ref(), spec, times),
        None => Ok(machine),
    }
}

/// No machine: files are not read.
#[cfg(not(feature = "io"))]
fn in_file(
    spec: &str,
    _distances: Option<&str>,
    _link_cycles: Option<&Path>,
) -> Result<Box<dyn Machine>, SpecError> {
    Err(SpecError::Unknown { spec: spec.to_owned() })
}

/// The listed PEs of a machine, in this order: numbers and ranges, or the name of a file with such a list.
pub fn restricted(machine: Box<dyn Machine>, pes: &str) -> Result<Box<dyn Machine>, SpecError> {
    let list = list_of_pes(pes, machine.num_pes())?;
    let name = machine.describe();
    listed(machine, list).map_err(|error| SpecError::machine(name, error))
}

/// The numbers below `num_pes` in a list, or in the file with this name.
fn list_of_pes(pes: &str, num_pes: usize) -> Result<Vec<PeId>, SpecError> {
    #[cfg(feature = "io")]
    if !is_list(pes) {
        let source = io::number_list::open(pes, "list of processing elements")?;
        return Ok(io::number_list::read(source, ListOf::Pes, num_pes)?);
    }
    number_list::parse(pes.as_bytes(), ListOf::Pes, num_pes)
        .map_err(|(place, fault)| SpecError::Pes { place, fault })
}

/// The PEs of a machine with these numbers. There must be memory for all its PEs, as the whole is divided into parts.
fn listed(machine: Box<dyn Machine>, list: Vec<PeId>) -> Result<Box<dyn Machine>, MachineError> {
    check_memory(machine.as_ref())?;
    Ok(Box::new(Listed::new(machine, list)?))
}

impl Request<'_> {
    /// The number that a part of the text is.
    fn number(
        &self,
        token: &str,
        what: &'static str,
        least: u32,
        greatest: u32,
        example: &'static str,
    ) -> Result<u32, SpecError> {
        let is_number = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        let number = is_number.then(|| token.parse::<u32>().ok()).flatten();
        number.filter(|number| (least..=greatest).contains(number)).ok_or_else(|| SpecError::BadNumber {
            spec: self.spec.to_owned(),
            token: token.to_owned(),
            column: self.column(token),
            what,
            least: least.into(),
            greatest: greatest.into(),
            example,
        })
    }

    /// Where a part of the text starts, counted in characters.
    fn column(&self, token: &str) -> usize {
        let offset = token.as_ptr() as usize - self.spec.as_ptr() as usize;
        self.spec[..offset].chars().count() + 1
    }

    /// The distances, of which `needed` are required.
    fn distances(&self, needed: usize) -> Result<&str, SpecError> {
        let found = self.distances.map_or(0, |distances| distances.split(':').count());
        match self.distances {
            Some(distances) if found == needed => Ok(distances),
            _ => Err(SpecError::Distances { spec: self.spec.to_owned(), needed, found }),
        }
    }

    /// The distance of a kind that has only one; 1 if none is given.
    fn only_distance(&self) -> Result<i64, SpecError> {
        if self.distances.is_some() { distance(self.distances(1)?) } else { Ok(1) }
    }

    fn no_distances(&self) -> Result<(), SpecError> {
        match self.distances {
            Some(distances) => {
                Err(SpecError::OwnDistances { spec: self.spec.to_owned(), distances: distances.to_owned() })
            }
            None => Ok(()),
        }
    }

    fn machine<M: Machine + 'static>(
        &self,
        machine: Result<M, impl Into<MachineError>>,
    ) -> Result<Box<dyn Machine>, SpecError> {
        Ok(Box::new(self.valid(machine)?))
    }

    fn valid<M>(&self, machine: Result<M, impl Into<MachineError>>) -> Result<M, SpecError> {
        machine.map_err(|error| SpecError::machine(self.spec, error))
    }
}

/// A distance.
fn distance(token: &str) -> Result<i64, SpecError> {
    let number = number::unsigned(token).and_then(|number| i64::try_from(number).ok());
    number.ok_or_else(|| SpecError::BadDistance { token: token.to_owned() })
}
