//! How strongly a vertex is connected to each block.

use std::cmp::Reverse;

use super::compact::{CompactGraph, Stored};
use crate::base::types::{BlockId, NodeId, Weight};

/// The greatest number of terms that all gains of a vertex may have together, where the gain of a block is a sum over all
/// adjacent blocks. Balances J against time around hubs: other vertices are adjacent to fewer than 512 blocks, which are all
/// tried. Shows on a star of 10^5 vertices mapped onto 50 000 PEs, and on graphs of heavy-tailed degrees on 512 PEs, where
/// trying 64 blocks per vertex costs 3 % of J.
const MOST_TERMS: usize = 1 << 18;

/// The least number of blocks that are tried.
const LEAST_CANDIDATES: usize = 16;

/// The weights of the edges from one vertex to each block.
#[derive(Debug, Default)]
pub(crate) struct BlockAffinities {
    weights: Vec<Weight>,
    touched: Vec<BlockId>,
    /// The number of terms of all gains of the blocks put first, if these are not all blocks.
    work_of_gains: usize,
}

impl BlockAffinities {
    pub fn resize(&mut self, num_blocks: usize) {
        if self.weights.len() < num_blocks {
            self.weights.resize(num_blocks, 0);
        }
    }

    /// Collects the affinities of `node`; O(deg).
    #[inline]
    pub fn collect<W: Stored>(&mut self, graph: &CompactGraph<'_, W>, blocks: &[BlockId], node: NodeId) {
        self.collect_by(graph, node, |other| blocks[other as usize]);
    }

    /// The same where `block_of` returns the block of each vertex.
    #[inline]
    pub fn collect_by<W: Stored>(
        &mut self,
        graph: &CompactGraph<'_, W>,
        node: NodeId,
        block_of: impl Fn(NodeId) -> BlockId,
    ) {
        for block in self.touched.drain(..) {
            self.weights[block as usize] = 0;
        }
        self.work_of_gains = 0;
        graph.arcs(node).iter().for_each(|arc| {
            let block = block_of(arc.target);
            let weight = &mut self.weights[block as usize];
            if *weight == 0 {
                self.touched.push(block);
            }
            *weight += arc.weight();
        });
    }

    /// The blocks adjacent to the vertex, its own included if it has a neighbour there.
    #[inline]
    pub fn blocks(&self) -> &[BlockId] {
        &self.touched
    }

    /// Puts the blocks in which the vertex should be tried first among [`blocks`](Self::blocks), and returns their number:
    /// all of them or, where that would take long, those of the greatest affinity among those that fit. O(q) for q blocks.
    #[inline]
    pub fn narrow(&mut self, gains_are_sums: bool, fits: impl Fn(BlockId) -> bool) -> usize {
        let most = (MOST_TERMS / self.touched.len().max(1)).max(LEAST_CANDIDATES);
        if !gains_are_sums || self.touched.len() <= most {
            return self.touched.len();
        }
        self.narrow_to(most, &fits)
    }

    /// Puts `most` of the blocks that fit first. It is rare, so it is compiled once for all callers.
    #[cold]
    fn narrow_to(&mut self, most: usize, fits: &dyn Fn(BlockId) -> bool) -> usize {
        let mut count = 0;
        for index in 0..self.touched.len() {
            if fits(self.touched[index]) {
                self.touched.swap(index, count);
                count += 1;
            }
        }
        if count > most {
            let weights = &self.weights;
            let key = |&block: &BlockId| (Reverse(weights[block as usize]), block);
            self.touched[..count].select_nth_unstable_by_key(most, key);
            count = most;
        }
        self.work_of_gains = count * self.touched.len();
        count
    }

    /// The work of computing the gains of the blocks put first, if these are not all blocks.
    #[inline]
    pub fn work_of_gains(&self) -> usize {
        self.work_of_gains
    }

    #[inline]
    pub fn to(&self, block: BlockId) -> Weight {
        self.weights[block as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn hubs_are_tried_in_the_blocks_they_are_held_by_most() {
        const LEAVES: BlockId = 1024;
        const TRIED: usize = MOST_TERMS / LEAVES as usize;
        let mut star = GraphBuilder::new(LEAVES as usize + 1);
        (1..=LEAVES).for_each(|leaf| star.add_edge(0, leaf, i64::from(leaf)));
        let graph = star.build().unwrap();
        let graph = CompactGraph::<i32>::new(&graph);
        let blocks: Vec<BlockId> = graph.nodes().collect();
        let mut affinities = BlockAffinities::default();
        affinities.resize(LEAVES as usize + 1);
        affinities.collect(&graph, &blocks, 0);
        assert_eq!((affinities.narrow(false, |_| true), affinities.work_of_gains()), (LEAVES as usize, 0));
        // Of the blocks of even numbers, those of the heaviest edges.
        assert_eq!(affinities.narrow(true, |block| block % 2 == 0), TRIED);
        let mut first = affinities.blocks()[..TRIED].to_vec();
        first.sort_unstable();
        let expected: Vec<BlockId> = (LEAVES - 2 * TRIED as BlockId + 2..=LEAVES).step_by(2).collect();
        assert_eq!(first, expected);
        assert_eq!((affinities.blocks().len(), affinities.work_of_gains()), (LEAVES as usize, MOST_TERMS));
        assert_eq!(affinities.narrow(true, |block| block == 7), 1);
        assert_eq!(affinities.blocks()[0], 7);
        // All sums are as before.
        assert!((1..=LEAVES).all(|block| affinities.to(block) == Weight::from(block)));
        affinities.collect(&graph, &blocks, 5);
        assert_eq!((affinities.narrow(true, |_| false), affinities.work_of_gains()), (1, 0));
    }
}
