//! Random edges, and the graph of them by definition.

use proptest::prelude::*;
use viem::CsrGraph;

/// An edge: its ends and its weight.
pub type Edge = (u32, u32, i64);

/// The weight of each pair of vertices, summed over both directions.
pub fn matrix_of(num_nodes: usize, edges: &[Edge]) -> Vec<Vec<i64>> {
    let mut matrix = vec![vec![0; num_nodes]; num_nodes];
    for &(u, v, weight) in edges.iter().filter(|(u, v, _)| u != v) {
        matrix[u as usize][v as usize] += weight;
        matrix[v as usize][u as usize] += weight;
    }
    matrix
}

/// The graph with these weights of pairs, of which those of 0 are none.
pub fn graph_of(matrix: &[Vec<i64>]) -> CsrGraph {
    let (mut offsets, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
    for row in matrix {
        for (target, &weight) in row.iter().enumerate().filter(|(_, weight)| **weight > 0) {
            targets.push(target as u32);
            weights.push(weight);
        }
        offsets.push(targets.len());
    }
    CsrGraph::new(offsets, targets, weights, vec![1; matrix.len()]).unwrap()
}

/// Edges, including parallel ones, loops, and edges of weight 0.
pub fn some_edges() -> impl Strategy<Value = (usize, Vec<Edge>)> {
    (1usize..9).prop_flat_map(|n| {
        let end = 0..n as u32;
        (Just(n), prop::collection::vec((end.clone(), end, 0i64..5), 0..40))
    })
}
