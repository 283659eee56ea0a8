//! The input of a construction, and why one may be refused.

use super::multilevel::Multilevel;
use crate::base::error::{ErrorKind, HasKind};
use crate::base::observer::Observer;
use crate::machine::{Hierarchy, Places};
use crate::mapping::annealing::Cooling;
use crate::mapping::problem::Problem;
use crate::partition::PartitionPreset;

/// The input of a construction.
pub(super) struct Task<'a> {
    /// The name of the algorithm.
    pub(super) name: &'static str,
    /// As many processes as places.
    pub(super) problem: &'a Problem<'a>,
    pub(super) machine: &'a Places,
    pub(super) effort: Effort,
    pub(super) seed: u64,
    /// Once it asks to stop, the remaining processes take the remaining places in order.
    pub(super) observer: &'a dyn Observer,
}

/// The effort of the algorithms, as [`ConstructionConfig`](super::ConstructionConfig) has it.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    pub(crate) partitions: PartitionPreset,
    pub(crate) inner: PartitionPreset,
    pub(crate) undivided: usize,
    pub(crate) domains: Cooling,
    pub(crate) multilevel: Multilevel,
}

impl Task<'_> {
    /// The machine as a regular tree, for constructions that need one.
    pub(super) fn hierarchy(&self) -> Result<&Hierarchy, ConstructionError> {
        self.machine.hierarchy().ok_or(ConstructionError::NotRegular { algorithm: self.name })
    }
}

/// The reason why a construction does not work on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ConstructionError {
    #[error(
        "{algorithm} works only on machines that are regular trees, such as 4:16:8; \
         use hierarchytopdown or multilevel"
    )]
    NotRegular { algorithm: &'static str },
}

impl HasKind for ConstructionError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NotRegular { .. } => ErrorKind::Usage,
        }
    }
}
