//! Quotient graphs: each block becomes a vertex, each bundle of edges between two blocks one edge.

use rayon::prelude::*;

use super::CsrGraph;
use crate::types::{BlockId, NodeId, Weight};

/// Vertices that one thread contracts at a time, at least.
const PIECE: usize = 4096;

/// Contracts the blocks of a partition; O(n + m + k), no hashing. Runs on the threads of the rayon pool it is
/// called in.
///
/// `blocks[u] < num_blocks` is the block of vertex `u`. In the result, vertex `b` weighs as much as
/// block `b`, and the edge `{a, b}` as much as all edges between the blocks `a` and `b` together. Empty
/// blocks become isolated vertices of weight 0. Neighbours stand in ascending order.
pub fn contract(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize) -> CsrGraph {
    let mut first = vec![0usize; num_blocks + 1];
    for &block in blocks {
        first[block as usize + 1] += 1;
    }
    for block in 0..num_blocks {
        first[block + 1] += first[block];
    }
    let mut next = first.clone();
    let mut members = vec![0 as NodeId; graph.num_nodes()];
    for node in graph.nodes() {
        let slot = &mut next[blocks[node as usize] as usize];
        members[*slot] = node;
        *slot += 1;
    }
    // Each piece works with an array of all blocks, so that pieces are not worth while for few vertices.
    let num_pieces = graph.num_nodes().div_ceil(PIECE + num_blocks).max(1);
    let blocks_of_piece = num_blocks.div_ceil(num_pieces).max(1);
    let pieces: Vec<Rows> = (0..num_blocks)
        .into_par_iter()
        .step_by(blocks_of_piece)
        .map(|begin| {
            let range = begin..(begin + blocks_of_piece).min(num_blocks);
            let mut rows = Rows::default();
            // Weight from the block at hand to each other block; zero outside its row, as weights are positive.
            let mut bundle = vec![0 as Weight; num_blocks];
            for block in range {
                let row = rows.targets.len();
                let mut node_weight = 0;
                for &node in &members[first[block]..first[block + 1]] {
                    node_weight += graph.node_weight(node);
                    for (target, weight) in graph.arcs(node) {
                        let other = blocks[target as usize];
                        if other as usize != block {
                            if bundle[other as usize] == 0 {
                                rows.targets.push(other);
                            }
                            bundle[other as usize] += weight;
                        }
                    }
                }
                rows.targets[row..].sort_unstable();
                for &other in &rows.targets[row..] {
                    rows.edge_weights.push(std::mem::take(&mut bundle[other as usize]));
                }
                rows.ends.push(rows.targets.len());
                rows.node_weights.push(node_weight);
            }
            rows
        })
        .collect();
    let mut offsets = Vec::with_capacity(num_blocks + 1);
    let (mut targets, mut edge_weights): (Vec<NodeId>, Vec<Weight>) = (Vec::new(), Vec::new());
    let mut node_weights = Vec::with_capacity(num_blocks);
    offsets.push(0);
    for rows in pieces {
        offsets.extend(rows.ends.iter().map(|end| targets.len() + end));
        targets.extend(rows.targets);
        edge_weights.extend(rows.edge_weights);
        node_weights.extend(rows.node_weights);
    }
    CsrGraph::from_symmetric(offsets, targets, edge_weights, node_weights)
        .expect("a quotient graph weighs no more than the graph")
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
