//! The same graph with other vertex numbers, so that vertices used together are stored together.

use super::CsrGraph;
use super::csr::sort_by_source;
use crate::base::threads;
use crate::base::types::{NodeId, Weight};

/// The number of vertices whose rows one task writes: balances the cost of a task against its work. The result does not
/// depend on it.
const GRAIN_SIZE: usize = 4096;

/// The graph whose vertex `i` is vertex `order[i]` of `graph`; O(n + m).
///
/// `order` is a permutation of the vertices. Each vertex keeps the order of its neighbours. Runs on the threads of
/// the rayon pool it is called in.
pub fn relabel(graph: &CsrGraph, order: &[NodeId]) -> CsrGraph {
    let label = labels(order);
    let mut offsets = Vec::with_capacity(order.len() + 1);
    let mut num_arcs = 0;
    offsets.push(0);
    for &node in order {
        num_arcs += graph.degree(node);
        offsets.push(num_arcs);
    }
    let mut targets = vec![0 as NodeId; num_arcs];
    let mut edge_weights = vec![0 as Weight; num_arcs];
    let mut grains = Vec::with_capacity(order.len().div_ceil(GRAIN_SIZE));
    let (mut other_targets, mut other_weights) = (&mut targets[..], &mut edge_weights[..]);
    for (grain, nodes) in order.chunks(GRAIN_SIZE).enumerate() {
        let first = grain * GRAIN_SIZE;
        let count = offsets[first + nodes.len()] - offsets[first];
        let (targets, weights);
        (targets, other_targets) = other_targets.split_at_mut(count);
        (weights, other_weights) = other_weights.split_at_mut(count);
        grains.push((nodes, targets, weights));
    }
    threads::map_each(grains, &|(nodes, targets, weights): (&[NodeId], &mut [NodeId], &mut [Weight])| {
        let arcs = nodes.iter().flat_map(|&node| graph.arcs(node));
        for ((to, to_weight), (target, weight)) in targets.iter_mut().zip(weights).zip(arcs) {
            *to = label[target as usize];
            *to_weight = weight;
        }
    });
    with_node_weights_of(graph, order, (offsets, targets, edge_weights))
}

/// The same with the neighbours of each vertex in ascending order, whatever their order in `graph`.
pub fn relabel_ascending(graph: &CsrGraph, order: &[NodeId]) -> CsrGraph {
    let label = labels(order);
    let arcs_to = |(to, &node): (usize, &NodeId)| {
        graph.arcs(node).map(move |(from, weight)| (from, to as NodeId, weight))
    };
    let arcs = order.iter().enumerate().flat_map(arcs_to);
    let (offsets, arcs) =
        sort_by_source(order.len(), arcs.map(|(from, to, weight)| (label[from as usize], to, weight)));
    let (targets, edge_weights) = arcs.into_iter().map(|(_, to, weight)| (to, weight)).unzip();
    with_node_weights_of(graph, order, (offsets, targets, edge_weights))
}

/// The position of each vertex in the order.
fn labels(order: &[NodeId]) -> Vec<NodeId> {
    let mut label = vec![0; order.len()];
    for (index, &node) in order.iter().enumerate() {
        label[node as usize] = index as NodeId;
    }
    label
}

fn with_node_weights_of(
    graph: &CsrGraph,
    order: &[NodeId],
    (offsets, targets, edge_weights): (Vec<usize>, Vec<NodeId>, Vec<Weight>),
) -> CsrGraph {
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
        let sorted = relabel_ascending(&graph, &[0, 1, 2]);
        assert_eq!(sorted.arcs(2).collect::<Vec<_>>(), [(0, 7), (1, 5)]);
        assert_eq!(sorted.node_weights(), [9, 1, 1]);
    }
}
