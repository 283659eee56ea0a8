//! J with computed distances, as a member of the objectives.

use super::distances::{self, BlockDistances, Range};
use super::interface::Objective;
use crate::base::types::{BlockId, Weight};
use crate::partition::affinities::BlockAffinities;

/// J, with distances that are computed on demand.
#[derive(Clone)]
pub(crate) struct ComputedCost<'a> {
    distances: &'a dyn BlockDistances,
    range: Range,
}

impl<'a> ComputedCost<'a> {
    pub fn new(distances: &'a dyn BlockDistances) -> Self {
        let has_triangle_inequality = distances.has_triangle_inequality();
        Self { distances, range: Range { least: 0, greatest: distances.greatest(), has_triangle_inequality } }
    }
}

impl Objective for ComputedCost<'_> {
    #[inline]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        self.distances.between(a, b)
    }

    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        let nearer = |block| self.between(from, block) - self.between(to, block);
        affinities.blocks().iter().map(|&block| affinities.to(block) * nearer(block)).sum()
    }

    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        self.range.greatest_gain(internal, external)
    }

    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool) {
        distances::change_of_gain(self, moved, weight, by)
    }

    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight {
        distances::pull(self, affinities, pair)
    }
}
