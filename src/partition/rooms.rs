//! Which block has most room, while blocks fill up.

use std::collections::BinaryHeap;

use crate::ground::types::{BlockId, Weight};

/// The blocks by their room; some entries are out of date.
pub(crate) struct Rooms {
    queue: BinaryHeap<(Weight, BlockId)>,
}

impl Rooms {
    /// Blocks of these bounds that have these weights: their room is the difference; O(k).
    pub fn new(bounds: &[Weight], weights: &[Weight]) -> Self {
        let rooms = bounds.iter().zip(weights).map(|(bound, weight)| bound - weight);
        Self { queue: rooms.zip(0..).collect() }
    }

    /// Notes that a block has more room than before; O(log k).
    pub fn grow(&mut self, block: BlockId, room: Weight) {
        self.queue.push((room, block));
    }

    /// The block with most room, the last of several; none if there are no blocks. `room` is what blocks have now, which is no more
    /// than was noted. O(log k) on average over the blocks that fill up.
    pub fn emptiest(&mut self, room: impl Fn(BlockId) -> Weight) -> Option<BlockId> {
        while let Some(mut top) = self.queue.peek_mut() {
            let (known, block) = *top;
            if known == room(block) {
                return Some(block);
            }
            *top = (room(block), block);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::rng::Rng;

    #[test]
    fn the_emptiest_is_that_of_all() {
        let mut rng = Rng::new(3);
        let mut room: Vec<Weight> = (0..9).map(|_| rng.below(50).into()).collect();
        let mut rooms = Rooms::new(&room, &[0; 9]);
        for _ in 0..500 {
            let block = rng.below(9);
            let change = Weight::from(rng.below(12)) - 6;
            room[block as usize] += change;
            if change > 0 {
                rooms.grow(block, room[block as usize]);
            }
            let expected = (0..9).max_by_key(|&block| room[block as usize]);
            assert_eq!(rooms.emptiest(|block| room[block as usize]), expected);
        }
        assert_eq!(Rooms::new(&[], &[]).emptiest(|_| 0), None);
    }
}
