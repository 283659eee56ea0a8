//! The same graph with other vertex numbers: vertices that are worked on together come to lie together.

use super::CsrGraph;
use crate::types::NodeId;

/// The graph whose vertex `i` is vertex `order[i]` of `graph`; O(n + m).
///
/// `order` is a permutation of the vertices. Each vertex keeps the order of its neighbours.
pub fn relabel(graph: &CsrGraph, order: &[NodeId]) -> CsrGraph {
    let mut label = vec![0 as NodeId; order.len()];
    for (index, &node) in order.iter().enumerate() {
        label[node as usize] = index as NodeId;
    }
    let mut offsets = Vec::with_capacity(order.len() + 1);
    let mut targets = Vec::with_capacity(graph.num_arcs());
    let mut edge_weights = Vec::with_capacity(graph.num_arcs());
    offsets.push(0);
    for &node in order {
        for (target, weight) in graph.arcs(node) {
            targets.push(label[target as usize]);
            edge_weights.push(weight);
        }
        offsets.push(targets.len());
    }
    let node_weights = order.iter().map(|&node| graph.node_weight(node)).collect();
    CsrGraph::from_symmetric(offsets, targets, edge_weights, node_weights)
        .expect("the same graph weighs the same")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn edges_and_weights_move_with_their_vertices() {
        let mut builder = GraphBuilder::new(3);
        builder.add_edge(0, 1, 5);
        builder.add_edge(1, 2, 7);
        builder.set_node_weight(2, 9);
        let graph = relabel(&builder.build().unwrap(), &[2, 0, 1]);
        assert_eq!(graph.node_weights(), [9, 1, 1]);
        assert_eq!(graph.arcs(0).collect::<Vec<_>>(), [(2, 7)]);
        assert_eq!(graph.arcs(2).collect::<Vec<_>>(), [(1, 5), (0, 7)]);
    }
}
