//! The distances of blocks, and what the objectives that use them have in common.

use super::interface::Objective;
use crate::base::types::{BlockId, Distance, Weight};
use crate::partition::affinities::BlockAffinities;

/// How far blocks are apart.
pub trait BlockDistances: Sync {
    /// Number of blocks.
    fn num_blocks(&self) -> usize;

    /// The distance of two blocks: symmetric, not negative, 0 for a block and itself.
    fn between(&self, a: BlockId, b: BlockId) -> Distance;

    /// A distance that no two blocks exceed.
    fn greatest(&self) -> Distance;

    /// Returns whether the triangle inequality is known to hold.
    fn has_triangle_inequality(&self) -> bool {
        false
    }
}

/// Bounds of the distances between different blocks, and the bounds of gains that follow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub least: Distance,
    pub greatest: Distance,
    pub has_triangle_inequality: bool,
}

impl Range {
    #[inline]
    pub fn greatest_gain(self, internal: Weight, external: Weight) -> Weight {
        if self.has_triangle_inequality {
            // No edge gets shorter by more than the vertex moves.
            let excess = external - internal;
            excess * if excess > 0 { self.greatest } else { self.least }
        } else {
            external * self.greatest - internal * self.least
        }
    }
}

/// [`Objective::change_of_gain`] by distances.
#[inline]
pub(super) fn change_of_gain<O: Objective>(
    objective: &O,
    [own, other]: [BlockId; 2],
    weight: Weight,
    [from, to]: [BlockId; 2],
) -> (Weight, bool) {
    let nearer = |block| objective.between(own, block) - objective.between(other, block);
    (weight * (nearer(to) - nearer(from)), false)
}

/// [`Objective::pull`] by distances.
#[inline]
pub(super) fn pull<O: Objective>(
    objective: &O,
    affinities: &BlockAffinities,
    [first, second]: [BlockId; 2],
) -> Weight {
    let others = affinities.blocks().iter().filter(|&&block| block != first && block != second);
    let farther = |block| objective.between(second, block) - objective.between(first, block);
    others.map(|&block| affinities.to(block) * farther(block)).sum()
}
