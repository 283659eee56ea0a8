//! J with a table of distances, as a member of the objectives.

use std::sync::Arc;

use super::distances::{self, BlockDistances, Range};
use super::interface::Objective;
use crate::base::types::{BlockId, Distance, Weight};
use crate::partition::affinities::BlockAffinities;

/// The greatest number of entries of a table. Balances memory (64 MiB) against time: computing the distances takes about
/// twice as long. Shows on a machine of 4096 PEs compared with one of 4097.
const MOST_ENTRIES: usize = 1 << 24;

/// J, with a table of the distances between blocks.
#[derive(Clone, Debug)]
pub(crate) struct StoredCost {
    num_blocks: usize,
    distances: Arc<[u32]>,
    range: Range,
}

impl StoredCost {
    /// The table, if it is not too large; O(k²).
    pub fn new(distances: &dyn BlockDistances) -> Option<Self> {
        let num_blocks = distances.num_blocks();
        let fits = num_blocks.checked_mul(num_blocks).is_some_and(|entries| entries <= MOST_ENTRIES);
        if !fits || distances.greatest() > Distance::from(u32::MAX) {
            return None;
        }
        let row = |a| (0..num_blocks as BlockId).map(move |b| distances.between(a, b) as u32);
        let table: Vec<u32> = (0..num_blocks as BlockId).flat_map(row).collect();
        let different = table.iter().enumerate().filter(|(at, _)| at % (num_blocks + 1) != 0);
        let range = Range {
            least: different.map(|(_, &distance)| distance).min().unwrap_or(0).into(),
            greatest: distances.greatest(),
            has_triangle_inequality: distances.has_triangle_inequality(),
        };
        Some(Self { num_blocks, distances: table.into(), range })
    }

    #[inline]
    fn row(&self, block: BlockId) -> &[u32] {
        &self.distances[block as usize * self.num_blocks..][..self.num_blocks]
    }
}

impl Objective for StoredCost {
    #[inline]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        self.distances[a as usize * self.num_blocks + b as usize].into()
    }

    #[inline]
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        let (from, to) = (self.row(from), self.row(to));
        let term = |&block: &BlockId| {
            let nearer = Distance::from(from[block as usize]) - Distance::from(to[block as usize]);
            affinities.to(block) * nearer
        };
        affinities.blocks().iter().map(term).sum()
    }

    #[inline]
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        self.range.greatest_gain(internal, external)
    }

    #[inline]
    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool) {
        distances::change_of_gain(self, moved, weight, by)
    }

    #[inline]
    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight {
        distances::pull(self, affinities, pair)
    }
}
