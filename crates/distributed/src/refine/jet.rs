//! A round of moves that are all made at once.
//!
//! Each vertex on a border chooses the block where its edges would cost least. It is a candidate if it gains, or loses no more than a part of what ties
//! it to its own block. Then each candidate looks again, as if all candidates around it with a higher gain had moved, and moves if it does not
//! lose. Who has moved stays for a round. Where all vertices of a block would leave it and none would come, the one that gains least stays.

use viem::base::types::{BlockId, Weight};

use super::{Nearby, State};
use crate::comm::{Comm, Reduction};
use crate::objective::PreviousAssignment;

impl<C: Comm> State<'_, C> {
    /// Moves vertices without regard to bounds, and returns their number on this rank. Vertices that are `locked` stay; then those are that have moved.
    pub(super) fn move_all(&mut self, locked: &mut [bool], loss: f64) -> i64 {
        let graph = self.task.graph;
        let mut nearby = Nearby::new(self.counts.len());
        let mut wanted = self.blocks.clone();
        let mut gains = vec![0u64; graph.num_local()];
        let mut candidates = Vec::new();
        for &own in &self.open {
            let own = own as usize;
            if !locked[own]
                && !self.is_fixed(own)
                && let Some((block, gain)) = self.candidate(own, loss, &mut nearby)
            {
                (wanted[own], gains[own]) = (block, gain as u64);
                candidates.push(own);
            }
        }
        graph.update(self.comm, &mut wanted);
        graph.update_words(self.comm, &mut gains);
        let rank = |local: usize| (gains[local] as Weight, std::cmp::Reverse(graph.global(local)));
        candidates.retain(|&own| {
            let before = |to: usize| wanted[to] != self.blocks[to] && rank(to) > rank(own);
            let block = |to: usize| if before(to) { wanted[to] } else { self.blocks[to] };
            let near = nearby.fill(graph.arcs(own).map(|(to, weight)| (block(to), weight)));
            self.cost_in(own, wanted[own], near) <= self.cost_in(own, self.blocks[own], near)
        });
        locked.fill(false);
        candidates.iter().for_each(|&own| locked[own] = true);
        let before = self.counts.clone();
        let left: Vec<(usize, BlockId)> = candidates.iter().map(|&own| (own, self.blocks[own])).collect();
        self.apply(candidates.iter().map(|&own| (own, wanted[own])));
        let emptied: Vec<BlockId> = (0..before.len() as BlockId)
            .filter(|&block| before[block as usize] > 0 && self.counts[block as usize] == 0)
            .collect();
        let back = self.last_of_each(&emptied, left, |own| gains[own] as Weight);
        let moved = candidates.len() - back.len();
        if !emptied.is_empty() {
            self.apply(back.into_iter());
        }
        moved as i64
    }

    /// Selects the own vertices that return of those that have left these blocks: of those of each block the one with the least gain of all ranks, the one with
    /// the least number among equals.
    fn last_of_each(
        &self,
        emptied: &[BlockId],
        left: Vec<(usize, BlockId)>,
        gain: impl Fn(usize) -> Weight,
    ) -> Vec<(usize, BlockId)> {
        if emptied.is_empty() {
            return Vec::new();
        }
        let place = |block: BlockId| emptied.binary_search(&block).ok();
        // Negative gains come first as numbers without a sign, too.
        let key = |own: usize| gain(own) as u64 ^ 1 << 63;
        let mut least = vec![u64::MAX; emptied.len()];
        let mut first = least.clone();
        let mut left: Vec<(usize, usize)> =
            left.into_iter().filter_map(|(own, block)| Some((own, place(block)?))).collect();
        left.iter().for_each(|&(own, place)| least[place] = least[place].min(key(own)));
        self.comm.all_reduce(&mut least, Reduction::Least);
        left.retain(|&(own, place)| key(own) == least[place]);
        let number = |own: usize| u64::from(self.task.graph.global(own));
        left.iter().for_each(|&(own, place)| first[place] = first[place].min(number(own)));
        self.comm.all_reduce(&mut first, Reduction::Least);
        left.retain(|&(own, place)| number(own) == first[place]);
        left.into_iter().map(|(own, place)| (own, emptied[place])).collect()
    }

    /// The block that an own vertex would move to, and its gain.
    fn candidate(&self, own: usize, loss: f64, nearby: &mut Nearby) -> Option<(BlockId, Weight)> {
        let here = self.blocks[own];
        let near = nearby.fill(self.task.graph.arcs(own).map(|(to, weight)| (self.blocks[to], weight)));
        let home =
            self.task.homes.map(|homes| homes.blocks[own]).filter(|&home| home != PreviousAssignment::NONE);
        let blocks = near.iter().map(|&(block, _)| block).chain(home);
        let blocks = blocks.filter(|&block| block != here && !self.task.bounds.closed[block as usize]);
        let costs = blocks.map(|block| (self.cost_in(own, block, near), block));
        let (cost, block) = costs.min_by_key(|&(cost, block)| (cost, self.loads_of(block), block))?;
        let gain = self.cost_in(own, here, near) - cost;
        let inside = near.iter().find(|&&(block, _)| block == here).map_or(0, |&(_, weight)| weight);
        let tie = inside * self.task.distances.between(here, block) * self.scale();
        (gain > 0 || (gain as f64) > -(loss * tie as f64)).then_some((block, gain))
    }
}
