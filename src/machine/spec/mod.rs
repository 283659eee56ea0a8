//! Builds machines from text, such as `torus:16x8x8`: a text of one of the [`KINDS`]. A list of PEs takes a part of any of them.
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
//! A further kind is a file with a [`MachineKind`] in it, and a line in the table. Machines in files, and clusters, are in the package
//! `viem-cluster`.

mod cube;
mod grid;
mod rails;
mod tree;

use super::check_memory;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::number;
use crate::ground::number_list::{self, ListFault, ListOf};
use crate::ground::text::Place;
use crate::ground::types::PeId;
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
    make: fn(&Request<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

/// Every kind that is written as text.
pub const KINDS: &[MachineKind] =
    &[grid::MESH, grid::TORUS, cube::HYPERCUBE, rails::RAILS, tree::COMPLETE, tree::TREE];

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
}

/// The reason why there is no such machine. Columns are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum SpecError {
    #[error("machine `{spec}` is none of {}", examples().join(", "))]
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
}

impl HasKind for SpecError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Unknown { .. }
            | Self::BadNumber { .. }
            | Self::Distances { .. }
            | Self::BadDistance { .. }
            | Self::OwnDistances { .. }
            | Self::Pes { .. } => ErrorKind::Usage,
            // A machine that is written in full is a value given by hand.
            Self::Machine { source, .. } => match source.kind() {
                ErrorKind::BadData => ErrorKind::Usage,
                kind => kind,
            },
        }
    }
}

/// An example of each kind.
fn examples() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.example).collect()
}

/// An example with that many distances.
fn example_distances(count: usize) -> String {
    let powers = (0..count as u32).map(|level| 10u64.saturating_pow(level).to_string());
    powers.collect::<Vec<_>>().join(":")
}

/// The machine of a text, with these distances where it needs some, innermost first, and restricted to these PEs if a list of them is given.
pub fn build(spec: &str, distances: Option<&str>, pes: Option<&str>) -> Result<Box<dyn Machine>, SpecError> {
    let (kind, rest) = kind_of(spec).ok_or_else(|| SpecError::Unknown { spec: spec.to_owned() })?;
    let machine = (kind.make)(&Request { spec, rest, distances })?;
    let Some(pes) = pes else { return Ok(machine) };
    let list = number_list::parse(pes.as_bytes(), ListOf::Pes, machine.num_pes())
        .map_err(|(place, fault)| SpecError::Pes { place, fault })?;
    listed(machine, list)
        .map_err(|source| SpecError::Machine { spec: spec.to_owned(), source: Box::new(source) })
}

/// The kind of a text, and the part after its name.
pub fn kind_of(spec: &str) -> Option<(&'static MachineKind, &str)> {
    let named = KINDS.iter().find_map(|kind| Some((kind, spec.strip_prefix(kind.name)?.strip_prefix(':')?)));
    let is_bare = spec.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') && spec.contains(':');
    named.or_else(|| is_bare.then_some((WITHOUT_NAME, spec)))
}

/// The PEs of a machine with these numbers, in this order. There must be memory for all its PEs, as the whole is divided into parts.
pub fn listed(machine: Box<dyn Machine>, list: Vec<PeId>) -> Result<Box<dyn Machine>, MachineError> {
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
        machine.map_err(|error| SpecError::Machine {
            spec: self.spec.to_owned(),
            source: Box::new(error.into()),
        })
    }
}

/// A distance.
fn distance(token: &str) -> Result<i64, SpecError> {
    let number = number::unsigned(token).and_then(|number| i64::try_from(number).ok());
    number.ok_or_else(|| SpecError::BadDistance { token: token.to_owned() })
}
