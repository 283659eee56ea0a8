//! Induced subgraphs, the step of every recursion over blocks.

use super::CsrGraph;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId};

/// Splits a graph into the subgraphs its blocks induce; O(n + m) for all of them together.
///
/// `blocks[u] < num_blocks` is the block of vertex `u`. Returns for each block its subgraph and the
/// vertices of the whole graph that its vertices stand for, ascending. Edges between blocks are dropped.
/// Runs on the threads of the rayon pool it is called in.
pub fn split(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize) -> Vec<(CsrGraph, Vec<NodeId>)> {
    let mut members: Vec<Vec<NodeId>> = vec![Vec::new(); num_blocks];
    let mut local = vec![0 as NodeId; graph.num_nodes()];
    for node in graph.nodes() {
        let block = &mut members[blocks[node as usize] as usize];
        local[node as usize] = block.len() as NodeId;
        block.push(node);
    }
    let induce = |nodes: Vec<NodeId>| {
        let mut offsets = Vec::with_capacity(nodes.len() + 1);
        let (mut targets, mut edge_weights) = (Vec::new(), Vec::new());
        offsets.push(0);
        for &node in &nodes {
            for (target, weight) in graph.arcs(node) {
                if blocks[target as usize] == blocks[node as usize] {
                    targets.push(local[target as usize]);
                    edge_weights.push(weight);
                }
            }
            offsets.push(targets.len());
        }
        let node_weights = nodes.iter().map(|&node| graph.node_weight(node)).collect();
        let subgraph = CsrGraph::from_symmetric(offsets, targets, edge_weights, node_weights)
            .expect("a part of a graph weighs no more than the graph");
        (subgraph, nodes)
    };
    threads::map_each(members, &induce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn a_path_cut_in_two() {
        let mut builder = GraphBuilder::new(4);
        for (u, v, w) in [(0, 1, 1), (1, 2, 2), (2, 3, 3)] {
            builder.add_edge(u, v, w);
        }
        let graph = builder.build().unwrap();
        let parts = split(&graph, &[1, 0, 0, 1], 3);
        assert_eq!(parts[0].1, [1, 2]);
        assert_eq!(parts[0].0.arcs(0).collect::<Vec<_>>(), [(1, 2)]);
        assert_eq!(parts[1].1, [0, 3]);
        assert_eq!(parts[1].0.num_arcs(), 0);
        assert_eq!(parts[2].0.num_nodes(), 0);
    }
}
