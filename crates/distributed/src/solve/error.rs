//! Why a graph is not divided.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::text::counted;
use viem::base::types::{BlockId, Weight};
use viem::machine::{HierarchyError, MachineError};
use viem::partition::remap::PreviousAssignmentError;
use viem::partition::{FixedError, TargetsError};
use viem::solve::{RequestError, SolveError};

/// The reason why a graph is not divided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum DivideError {
    #[error(transparent)]
    Solve(#[from] SolveError),
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Blocks(#[from] HierarchyError),
    #[error(transparent)]
    PreviousAssignment(#[from] PreviousAssignmentError),
    #[error(transparent)]
    Fixed(#[from] FixedError),
    #[error("the cost may exceed {}; give smaller weights or distances", Weight::MAX)]
    Overflow,
    #[error(
        "the old blocks are those of {found} of {vertices}",
        vertices = counted(expected, "vertex", "vertices")
    )]
    OldLength { found: usize, expected: usize },
    #[error(
        "the fixed blocks are those of {found} of {vertices}",
        vertices = counted(expected, "vertex", "vertices")
    )]
    FixedLength { found: usize, expected: usize },
    #[error(
        "the sizes are those of {found} of {vertices}",
        vertices = counted(expected, "vertex", "vertices")
    )]
    SizesLength { found: usize, expected: usize },
    #[error("vertex {vertex} has size {size}; sizes must not be negative")]
    Size { vertex: u32, size: Weight },
    #[error("vertex {vertex} was in block {block}, but the last one is {last}", last = num_blocks.saturating_sub(1))]
    OldBlock { vertex: u32, block: BlockId, num_blocks: usize },
    #[error("the number of attempts must be at least 1")]
    NoAttempt,
}

impl From<RequestError> for DivideError {
    fn from(error: RequestError) -> Self {
        Self::Solve(error.into())
    }
}

impl HasKind for DivideError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Solve(error) => error.kind(),
            Self::Targets(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Blocks(error) => error.kind(),
            Self::PreviousAssignment(error) => error.kind(),
            Self::Fixed(error) => error.kind(),
            Self::Overflow
            | Self::OldLength { .. }
            | Self::OldBlock { .. }
            | Self::FixedLength { .. }
            | Self::SizesLength { .. }
            | Self::Size { .. } => ErrorKind::BadData,
            Self::NoAttempt => ErrorKind::Usage,
        }
    }
}
