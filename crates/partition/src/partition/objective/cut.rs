//! The cut as a member of the objectives.

use super::interface::Objective;
use crate::base::types::{BlockId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::compact::{CompactGraph, Stored};

/// The weight of the edges between blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut;

impl Objective for Cut {
    #[inline]
    fn has_pull(&self) -> bool {
        false
    }

    #[inline]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        Weight::from(a != b)
    }

    #[inline]
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        affinities.to(to) - affinities.to(from)
    }

    #[inline]
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        external - internal
    }

    #[inline]
    fn change_of_gain(
        &self,
        [own, other]: [BlockId; 2],
        weight: Weight,
        [from, to]: [BlockId; 2],
    ) -> (Weight, bool) {
        if own == from {
            (2 * weight, other == to)
        } else if own == to {
            (-weight, other != from)
        } else {
            (weight, other == to)
        }
    }

    #[inline]
    fn pull(&self, _affinities: &BlockAffinities, _pair: [BlockId; 2]) -> Weight {
        0
    }

    fn cost_of_edges<W: Stored>(&self, graph: &CompactGraph<'_, W>, blocks: &[BlockId]) -> Weight {
        graph.cut(blocks)
    }
}
