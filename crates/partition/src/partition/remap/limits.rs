//! What can be remapped.

use super::previous::PreviousAssignmentError;
use super::weight::MigrationWeight;
use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::Weight;

/// The greatest number of blocks that get new labels, which takes cubic time and quadratic memory.
pub const MOST_RELABELLED: usize = 4096;

/// The reason why nothing was remapped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum RemapError {
    #[error(transparent)]
    PreviousAssignment(#[from] PreviousAssignmentError),
    #[error(
        "the migration weight {weight} times the vertex weights, and the edges, exceed 64 bits together; give a smaller one"
    )]
    TooLarge { weight: String },
    #[error(
        "labels of {num_blocks} blocks are not assigned exactly, of {MOST_RELABELLED} at most; give a migration weight above 0"
    )]
    TooManyBlocks { num_blocks: usize },
    /// The closure that makes it has failed; its caller has the reason.
    #[error("there is no partition from scratch")]
    NoScratch,
}

impl HasKind for RemapError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::PreviousAssignment(error) => error.kind(),
            Self::TooLarge { .. } | Self::TooManyBlocks { .. } | Self::NoScratch => ErrorKind::Usage,
        }
    }
}

/// The sizes that decide which weights of migration are possible.
#[derive(Clone, Copy, Debug)]
pub(in crate::partition) struct Limits {
    /// What all arcs cost at most.
    pub edges: i128,
    /// The weight of all vertices.
    pub total: Weight,
    pub num_blocks: usize,
}

impl Limits {
    /// Returns whether blocks of a partition from scratch can get the labels that keep most weight in place.
    pub fn has_labels(&self) -> bool {
        self.num_blocks <= MOST_RELABELLED
    }

    /// Fails unless a result can be found for this weight. Where no sum of a search would fit, only labels can change: that sums up
    /// nothing but the weights of vertices.
    pub fn check(&self, weight: MigrationWeight) -> Result<(), RemapError> {
        if weight == MigrationWeight::ZERO {
            let num_blocks = self.num_blocks;
            return if self.has_labels() { Ok(()) } else { Err(RemapError::TooManyBlocks { num_blocks }) };
        }
        let (numerator, denominator) = weight.fraction();
        let fits = self.fits((numerator / denominator).saturating_add(1), 1);
        if fits { Ok(()) } else { Err(RemapError::TooLarge { weight: weight.to_string() }) }
    }

    /// Returns whether a search can sum up so many times the migration and so many times the edges. Gains are differences of such sums, and flows
    /// double them.
    pub fn fits(&self, migration: Weight, edges: Weight) -> bool {
        let own = i128::from(self.total) * i128::from(migration);
        let sum = self.edges.checked_mul(i128::from(edges)).and_then(|edges| edges.checked_add(own));
        sum.is_some_and(|sum| sum <= i128::from(Weight::MAX / 4))
    }
}
