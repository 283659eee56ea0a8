//! The maximum adjacency order: each next vertex is the one that communicates most with those before it.
//!
//! A grid comes row by row, or along its heavy edges, and a dense group of vertices without interruption. Equal ranges of the order suit a
//! machine that is a path, where bisections meet their bounds too early.
//!
//! Nagamochi and Ibaraki: Computing edge-connectivity in multigraphs and capacitated graphs. SIAM Journal on Discrete Mathematics, 1992.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::CsrGraph;
use crate::base::types::{NodeId, Weight};

/// All vertices in maximum adjacency order; O(n + m log m).
///
/// Of vertices that communicate equally with those before, the one that communicates least with all is next, then the one whose neighbour
/// came last. Each component begins with a vertex that communicates least.
pub fn maximum_adjacency_order(graph: &CsrGraph) -> Vec<NodeId> {
    let degrees: Vec<Weight> = graph.nodes().map(|node| graph.weighted_degree(node)).collect();
    let mut sources: Vec<NodeId> = graph.nodes().collect();
    sources.sort_by_key(|&node| degrees[node as usize]);
    // The weight of the edges to the vertices before, by vertex.
    let mut adjacency = vec![0; graph.num_nodes()];
    let mut is_placed = vec![false; graph.num_nodes()];
    let mut order = Vec::with_capacity(graph.num_nodes());
    let mut heap = BinaryHeap::new();
    for source in sources {
        heap.push((0, Reverse(degrees[source as usize]), order.len(), Reverse(source)));
        while let Some((weight, _, _, Reverse(node))) = heap.pop() {
            // An entry is out of date once its vertex is placed or has a greater weight.
            if weight != adjacency[node as usize] || std::mem::replace(&mut is_placed[node as usize], true) {
                continue;
            }
            order.push(node);
            for (other, weight) in graph.arcs(node).filter(|&(other, _)| !is_placed[other as usize]) {
                adjacency[other as usize] += weight;
                let (weight, degree) = (adjacency[other as usize], degrees[other as usize]);
                heap.push((weight, Reverse(degree), order.len(), Reverse(other)));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::generate;
    use crate::graph::relabel::relabel;
    use crate::testing::random_graph;

    #[test]
    fn each_vertex_communicates_most_with_those_before_it() {
        let mut rng = Rng::new(1);
        for n in [0, 1, 2, 9, 40] {
            let graph = random_graph(n, 3, 9, &mut rng);
            let order = maximum_adjacency_order(&graph);
            assert_eq!(order.len(), n);
            for at in 0..n {
                let before = &order[..at];
                let weight = |node: NodeId| -> Weight {
                    graph
                        .arcs(node)
                        .filter(|(other, _)| before.contains(other))
                        .map(|(_, weight)| weight)
                        .sum()
                };
                let most = order[at..].iter().map(|&node| weight(node)).max();
                assert_eq!(Some(weight(order[at])), most, "{at} of {order:?}");
            }
        }
    }

    #[test]
    fn a_grid_comes_row_by_row_however_it_is_numbered() {
        let (columns, rows) = (9, 5);
        let grid = generate::grid(columns, rows);
        let mut names: Vec<NodeId> = grid.nodes().collect();
        Rng::new(2).shuffle(&mut names);
        let order = maximum_adjacency_order(&relabel(&grid, &names));
        let positions: Vec<usize> = order.iter().map(|&node| names[node as usize] as usize).collect();
        let near = positions.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) <= 1.max(columns)).count();
        assert!(near >= positions.len() * 3 / 4, "{positions:?}");
    }
}
