//! Which block has most room, while blocks fill up.

use std::collections::BinaryHeap;

use crate::base::types::{BlockId, Weight};

/// The blocks by the capacity that is left in them; some entries are out of date.
pub(crate) struct ResidualCapacities {
    queue: BinaryHeap<(Weight, BlockId)>,
}

impl ResidualCapacities {
    /// Blocks of these bounds and weights: the difference is their residual capacity; O(k).
    pub fn new(bounds: &[Weight], weights: &[Weight]) -> Self {
        let residuals = bounds.iter().zip(weights).map(|(bound, weight)| bound - weight);
        Self { queue: residuals.zip(0..).collect() }
    }

    /// Notes that the residual capacity of a block has risen; O(log k).
    pub fn raise(&mut self, block: BlockId, residual: Weight) {
        self.queue.push((residual, block));
    }

    /// The block of the greatest residual capacity, the last of several; none if there are no blocks. `residual` returns the
    /// present capacity of a block, which is no more than was noted. O(log k) on average over the blocks that fill up.
    pub fn emptiest(&mut self, residual: impl Fn(BlockId) -> Weight) -> Option<BlockId> {
        while let Some(mut top) = self.queue.peek_mut() {
            let (known, block) = *top;
            if known == residual(block) {
                return Some(block);
            }
            *top = (residual(block), block);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn the_emptiest_is_that_of_all() {
        let mut rng = Rng::new(3);
        let mut room: Vec<Weight> = (0..9).map(|_| rng.below(50).into()).collect();
        let mut capacities = ResidualCapacities::new(&room, &[0; 9]);
        for _ in 0..500 {
            let block = rng.below(9);
            let change = Weight::from(rng.below(12)) - 6;
            room[block as usize] += change;
            if change > 0 {
                capacities.raise(block, room[block as usize]);
            }
            let expected = (0..9).max_by_key(|&block| room[block as usize]);
            assert_eq!(capacities.emptiest(|block| room[block as usize]), expected);
        }
        assert_eq!(ResidualCapacities::new(&[], &[]).emptiest(|_| 0), None);
    }
}
