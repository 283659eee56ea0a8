//! Builds machines from what users write: text, files, and clusters.
//!
//! A machine is a text of one of the kinds of [`viem::machine::spec`], such as `torus:16x8x8`, a cluster of one of the [`KINDS`], such as
//! `slurm`, or the name of a file. What a file is shows in its content ([`FILES`]). A list of PEs takes a part of any of them.
//!
//! ```
//! use viem::machine::Machine as _;
//!
//! let torus = viem_cluster::build("torus:4x4x2/4:16", "1:10:100")?;
//! assert_eq!(torus.num_pes(), 2048);
//! assert_eq!(viem_cluster::restricted(torus, "0-63,128")?.num_pes(), 65);
//! # Ok::<(), viem_cluster::SpecError>(())
//! ```
//!
//! A further kind is a file with a [`ClusterKind`] or a [`FileKind`] in it, and a line in the table.

mod cluster;
mod cluster_kind;
mod error;
mod file;
mod file_kind;
mod gpus;
mod machine_spec;
mod matrix;
mod network;
mod numa;
mod target;

pub use cluster_kind::ClusterKind;
pub use error::SpecError;
pub use file::{FILES, read};
pub use file_kind::{FileKind, FilePrefix, Match};
pub use machine_spec::{MachineSpec, PeKind};

use std::path::{Path, PathBuf};

use self::cluster_kind::Request;
use viem::base::number_list::{self, ListOf, is_list};
use viem::base::types::PeId;
use viem::machine::Machine;
use viem::machine::spec::{self as text, kind_of, listed};
use viem_io::Source;

/// Every kind of cluster.
pub const KINDS: [ClusterKind; 3] = [cluster::SLURM, cluster::HWLOC, cluster::HOSTS];

/// An example of each kind.
fn examples() -> Vec<&'static str> {
    let texts = text::kinds().map(|kind| kind.example);
    texts.chain(KINDS.iter().map(|kind| kind.example)).collect()
}

/// The machine of a text or of a file (`-` is the standard input), with these distances where it needs some, innermost
/// first.
pub fn build<'a>(
    spec: &'a str,
    distances: impl Into<Option<&'a str>>,
) -> Result<Box<dyn Machine>, SpecError> {
    build_wanted(&MachineSpec::new(spec).with_distances(distances))
}

/// The machine that a user wants.
pub fn build_wanted(wanted: &MachineSpec<'_>) -> Result<Box<dyn Machine>, SpecError> {
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

fn whole(wanted: &MachineSpec<'_>) -> Result<Box<dyn Machine>, SpecError> {
    let &MachineSpec { spec, distances, pe, latency, link_cycles, .. } = wanted;
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
    if is_file { in_file(spec, distances, link_cycles) } else { Ok(text::build(spec, distances)?) }
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
        return Err(SpecError::Unknown { spec: spec.to_owned(), examples: examples().join(", ") });
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
