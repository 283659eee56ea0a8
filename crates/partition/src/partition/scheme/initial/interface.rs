//! What the multilevel scheme asks of an initial partition.

use crate::base::observer::Observer;
use crate::base::types::{BlockId, Weight};
use crate::partition::assignment::Problem;
use crate::partition::bounds::LoadBounds;
use crate::partition::settings::PartitionConfig;

/// Gives the coarsest graph its first partition.
pub(crate) trait InitialPartition<W, O>: Sync {
    /// The block of each vertex of the coarsest graph.
    fn blocks(&self, coarsest: &Coarsest<'_, W, O>, seed: u64) -> Vec<BlockId>;

    /// Returns whether it coarsens by itself, so that it must be given the finest graph.
    fn coarsens(&self) -> bool {
        false
    }

    /// Returns whether its partitions are refined already, each the best of several, so that one is taken as it is.
    fn is_refined(&self) -> bool {
        false
    }
}

/// The coarsest graph, and what its partition has to meet.
pub(crate) struct Coarsest<'a, W, O> {
    pub level: Problem<'a, W, O>,
    /// The weight that each block should have.
    pub sizes: &'a [Weight],
    /// What each block may weigh in the end.
    pub bounds: LoadBounds<'a>,
    /// What each block may weigh on this level.
    pub relaxed: LoadBounds<'a>,
    pub settings: &'a PartitionConfig,
    pub observer: &'a dyn Observer,
}
