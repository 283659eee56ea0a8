//! Builds machines from text, such as `torus:16x8x8`: a text of one of the [kinds].
//!
//! ```
//! use viem::machine;
//! use viem::machine::Machine as _;
//!
//! let torus = machine::build("torus:4x4x2/4:16", "1:10:100")?;
//! assert_eq!(torus.num_pes(), 2048);
//! # Ok::<(), machine::SpecError>(())
//! ```
//!
//! The file of each machine has its [`MachineKind`]s. Machines in files, and clusters, are in the package `viem-cluster`.

mod error;
mod kind;

pub use error::SpecError;
pub use kind::MachineKind;
pub(super) use kind::{Request, distance};

use super::check_memory;
use super::family::KINDS;
use crate::base::types::PeId;
use crate::machine::{Listed, Machine, MachineError};

/// The name of the kind that needs none: `4:16:8` is `tree:4:16:8`.
const WITHOUT_NAME: &str = "tree";

/// Every kind that is written as text.
pub fn kinds() -> impl Iterator<Item = &'static MachineKind> {
    KINDS.into_iter().flatten()
}

/// The machine of a text, with these distances where it needs some, innermost first.
pub fn build<'a>(
    spec: &'a str,
    distances: impl Into<Option<&'a str>>,
) -> Result<Box<dyn Machine>, SpecError> {
    let (kind, rest) = kind_of(spec).ok_or_else(|| {
        let examples = kinds().map(|kind| kind.example).collect::<Vec<_>>().join(", ");
        SpecError::Unknown { spec: spec.to_owned(), examples }
    })?;
    (kind.make)(&Request { spec, rest, distances: distances.into() })
}

/// The kind of a text, and the part after its name.
pub fn kind_of(spec: &str) -> Option<(&'static MachineKind, &str)> {
    let is_bare = spec.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') && !spec.is_empty();
    kinds().find_map(|kind| match spec.strip_prefix(kind.name).and_then(|rest| rest.strip_prefix(':')) {
        Some(rest) => Some((kind, rest)),
        None => (is_bare && kind.name == WITHOUT_NAME).then_some((kind, spec)),
    })
}

/// The PEs of a machine with these numbers, in this order. There must be memory for all its PEs, as the whole is divided into parts.
pub fn listed(machine: Box<dyn Machine>, list: Vec<PeId>) -> Result<Box<dyn Machine>, MachineError> {
    check_memory(machine.as_ref())?;
    Ok(Box::new(Listed::new(machine, list)?))
}
