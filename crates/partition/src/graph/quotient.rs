//! Quotient graphs: each block becomes a vertex, and all edges between two blocks become one edge.

use super::CsrGraph;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};

/// The least number of vertices that one task contracts: balances the cost of a task against its work. The result does not
/// depend on it.
const GRAIN_SIZE: usize = 4096;

/// Contracts the blocks of a partition; O(n + m + k), no hashing. Runs on the threads of the rayon pool it is
/// called in, or else on the calling thread.
///
/// `blocks[u] < num_blocks` is the block of vertex `u`. In the quotient graph, vertex `b` weighs as much as block `b`,
/// and the edge `{a, b}` as much as all edges between the blocks `a` and `b` together. Empty blocks become isolated
/// vertices of weight 0. Neighbours are in ascending order.
pub fn contract(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize) -> CsrGraph {
    let (first, members) = members_of_blocks(blocks, num_blocks);
    // Each task has an array of all blocks, so that it must have some vertices for each.
    let num_grains = graph.num_nodes().div_ceil(GRAIN_SIZE + num_blocks).max(1);
    let blocks_per_grain = num_blocks.div_ceil(num_grains).max(1);
    let grain = |index: usize| {
        let begin = index * blocks_per_grain;
        let mut rows = Rows::default();
        let mut bundles = vec![0 as Weight; num_blocks];
        for block in begin..(begin + blocks_per_grain).min(num_blocks) {
            let members = &members[first[block]..first[block + 1]];
            rows.push(graph, blocks, block as BlockId, members, &mut bundles);
        }
        rows
    };
    let grains = threads::map(num_blocks.div_ceil(blocks_per_grain), 1, &grain);
    let mut offsets = Vec::with_capacity(num_blocks + 1);
    let (mut targets, mut edge_weights): (Vec<NodeId>, Vec<Weight>) = (Vec::new(), Vec::new());
    let mut node_weights = Vec::with_capacity(num_blocks);
    offsets.push(0);
    for rows in grains {
        offsets.extend(rows.ends.iter().map(|end| targets.len() + end));
        targets.extend(rows.targets);
        edge_weights.extend(rows.edge_weights);
        node_weights.extend(rows.node_weights);
    }
    CsrGraph::from_symmetric(offsets, targets, edge_weights, node_weights)
        .expect("a quotient graph weighs no more than the graph")
}

/// The vertices of block `b` are `members[first[b]..first[b + 1]]`, ascending.
fn members_of_blocks(blocks: &[BlockId], num_blocks: usize) -> (Vec<usize>, Vec<NodeId>) {
    let mut first = vec![0usize; num_blocks + 1];
    for &block in blocks {
        first[block as usize + 1] += 1;
    }
    for block in 0..num_blocks {
        first[block + 1] += first[block];
    }
    let mut next = first.clone();
    let mut members = vec![0 as NodeId; blocks.len()];
    for (node, &block) in blocks.iter().enumerate() {
        let slot = &mut next[block as usize];
        members[*slot] = node as NodeId;
        *slot += 1;
    }
    (first, members)
}

/// Consecutive vertices of a quotient graph with their arcs.
#[derive(Default)]
struct Rows {
    /// Where the arcs of each vertex end.
    ends: Vec<usize>,
    targets: Vec<NodeId>,
    edge_weights: Vec<Weight>,
    node_weights: Vec<Weight>,
}

impl Rows {
    /// Adds a block. `bundles` holds a zero for each block, before and after.
    fn push(
        &mut self,
        graph: &CsrGraph,
        blocks: &[BlockId],
        block: BlockId,
        members: &[NodeId],
        bundles: &mut [Weight],
    ) {
        let row = self.targets.len();
        let mut node_weight = 0;
        for &node in members {
            node_weight += graph.node_weight(node);
            for (target, weight) in graph.arcs(node) {
                let other = blocks[target as usize];
                if other == block {
                    continue;
                }
                let bundle = &mut bundles[other as usize];
                if *bundle == 0 {
                    self.targets.push(other);
                }
                *bundle += weight;
            }
        }
        self.targets[row..].sort_unstable();
        for &other in &self.targets[row..] {
            self.edge_weights.push(std::mem::take(&mut bundles[other as usize]));
        }
        self.ends.push(self.targets.len());
        self.node_weights.push(node_weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn bundles_are_summed_and_inner_edges_vanish() {
        let mut builder = GraphBuilder::new(5);
        for (u, v, w) in [(0, 1, 1), (0, 2, 2), (1, 3, 3), (2, 3, 4), (0, 4, 5)] {
            builder.add_edge(u, v, w);
        }
        let graph = builder.build().unwrap();
        let quotient = contract(&graph, &[0, 0, 1, 1, 3], 4);
        assert_eq!(quotient.node_weights(), [2, 2, 0, 1]);
        assert_eq!(quotient.arcs(0).collect::<Vec<_>>(), [(1, 5), (3, 5)]);
        assert_eq!(quotient.degree(2), 0);
        assert_eq!(quotient.num_edges(), 2);
    }
}
