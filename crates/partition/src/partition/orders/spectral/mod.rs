//! The Fiedler vector of a graph: the eigenvector of the second least eigenvalue of its Laplacian.
//!
//! *Algorithm.* The graph is coarsened; on the coarsest graph the vector is found exactly, and on each finer level it starts from that of
//! the coarser one and is improved by LOBPCG: the least Rayleigh quotient among the vector, its preconditioned residual and the last
//! direction. The preconditioner is a V-cycle over the same levels, with symmetric Gauss-Seidel as the smoother and enlarged corrections. On a coarse level the
//! problem is L x = λ M x, L the Laplacian of the contracted graph and M the number of vertices in each cluster: that of the graph
//! among vectors that are constant on clusters.
//!
//! *Cost.* O(n + m) per iteration; about ten of them on the finest level of a mesh. Memory: the levels, and a dozen numbers
//! per vertex.
//!
//! All sums are in a fixed order and nothing runs in parallel inside, so the result depends on graph and seed only.
//!
//! S. T. Barnard, H. D. Simon: A fast multilevel implementation of recursive spectral bisection. Concurrency: Practice and Experience
//! 6(2), 1994. D. Braess: Towards algebraic multigrid for elliptic problems of second order. Computing 55(4), 1995. A. V. Knyazev: Toward the optimal preconditioned eigensolver. SIAM Journal on Scientific Computing 23(2), 2001.

mod dense;
mod levels;
mod lobpcg;

use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::partition::coarsen::{Coarsening, Contraction};
use crate::partition::compact::{CompactGraph, Stored};
use levels::{Level, Levels};

/// Vertices of the coarsest graph, which is solved exactly.
const COARSEST: usize = 32;

/// Vertices up to which a graph is solved exactly if it cannot be coarsened further.
const MOST_DENSE: usize = 64;

/// An eigenvalue and its vector.
#[derive(Clone, Debug)]
pub(crate) struct Fiedler {
    /// The second least eigenvalue of the Laplacian.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it with closed forms"))]
    pub value: f64,
    /// By vertex.
    pub vector: Vec<f64>,
}

/// The Fiedler vector of a connected graph, whatever its vertices weigh. Once the observer asks to stop, it is only
/// approximate.
pub(crate) fn fiedler<W: Stored>(graph: &CompactGraph<'_, W>, seed: u64, observer: &dyn Observer) -> Fiedler {
    if graph.num_nodes() < 2 {
        return Fiedler { value: 0.0, vector: vec![0.0; graph.num_nodes()] };
    }
    let mut rng = Rng::new(derive(seed, 0));
    let coarsening = Coarsening::build(graph, Contraction::Matching, COARSEST, None, observer, &mut rng);
    let levels = Levels::new(graph, &coarsening);
    let coarsest = levels.coarsest();
    let (mut value, mut vector) = if coarsest.num_nodes() <= MOST_DENSE {
        exact(coarsest)
    } else {
        let start = (0..coarsest.num_nodes()).map(|_| rng.unit() - 0.5).collect();
        lobpcg::improve(&levels, levels.len() - 1, start, observer)
    };
    for index in (0..levels.len() - 1).rev() {
        let start = levels.prolonged(index, &vector);
        (value, vector) = lobpcg::improve(&levels, index, start, observer);
    }
    Fiedler { value, vector }
}

/// The second least eigenvalue and its vector, from the dense matrix M^(-1/2) L M^(-1/2).
fn exact<W: Stored>(level: &Level<'_, W>) -> (f64, Vec<f64>) {
    let size = level.num_nodes();
    let mut matrix = vec![0.0; size * size];
    let scale: Vec<f64> = level.mass.iter().map(|mass| 1.0 / mass.sqrt()).collect();
    for node in level.graph.nodes() {
        let row = node as usize;
        matrix[row * size + row] = level.degree[row] * scale[row] * scale[row];
        for arc in level.graph.arcs(node) {
            let column = arc.target as usize;
            matrix[row * size + column] = -(arc.weight() as f64) * scale[row] * scale[column];
        }
    }
    let (value, vector) = dense::eigenpairs(matrix, size).swap_remove(1);
    (value, vector.into_iter().zip(scale).map(|(entry, scale)| entry * scale).collect())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::base::types::{NodeId, Weight};
    use crate::graph::{CsrGraph, GraphBuilder, generate};
    use crate::testing::pattern_graphs;

    fn graph(n: usize, edges: impl IntoIterator<Item = (NodeId, NodeId)>) -> CsrGraph {
        let mut builder = GraphBuilder::new(n);
        edges.into_iter().for_each(|(u, v)| builder.add_edge(u, v, 1));
        builder.build().unwrap()
    }

    fn cycle(n: u32) -> CsrGraph {
        graph(n as usize, (0..n).map(|u| (u, (u + 1) % n)))
    }

    /// Asserts that the value is that expected, and that the vector belongs to it.
    fn check(name: &str, graph: &CsrGraph, expected: f64) {
        let compact = CompactGraph::<i32>::new(graph);
        for seed in 0..3 {
            let Fiedler { value, vector } = fiedler(&compact, seed, &());
            assert!((value / expected - 1.0).abs() < 1e-4, "{name}: {value} is not {expected}");
            let square = |node: NodeId| {
                let own = vector[node as usize];
                let image = |(to, weight): (NodeId, Weight)| weight as f64 * (own - vector[to as usize]);
                (graph.arcs(node).map(image).sum::<f64>() - value * own).powi(2)
            };
            let residual = graph.nodes().map(square).sum::<f64>().sqrt();
            let length = vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            assert!((length - 1.0).abs() < 1e-9, "{name}: length {length}");
            assert!(residual <= 1.01 * lobpcg::TOLERANCE * value, "{name}: {residual} of {value}");
            assert!(vector.iter().sum::<f64>().abs() < 1e-9 * graph.num_nodes() as f64);
        }
    }

    #[test]
    fn values_are_those_of_the_closed_forms() {
        let of_path = |n: usize| 2.0 - 2.0 * (PI / n as f64).cos();
        for n in [2, 3, 10, 33, 100, 1000] {
            check(&format!("path of {n}"), &generate::grid(n, 1), of_path(n));
        }
        for n in [3, 8, 64, 301] {
            check(&format!("cycle of {n}"), &cycle(n), 2.0 - 2.0 * (2.0 * PI / f64::from(n)).cos());
        }
        for (a, b) in [(5, 4), (30, 7), (40, 40), (64, 48)] {
            check(&format!("grid of {a} x {b}"), &generate::grid(a, b), of_path(a));
        }
        let (_, cube) = pattern_graphs().into_iter().find(|(name, _)| *name == "hypercube").unwrap();
        check("hypercube of 9 dimensions", &cube, 2.0);
        let n = 40;
        check(
            "complete graph",
            &graph(n, (0..n as NodeId).flat_map(|v| (0..v).map(move |u| (u, v)))),
            n as f64,
        );
        check("star", &graph(300, (1..300).map(|leaf| (0, leaf))), 1.0);
    }

    #[test]
    fn weights_scale_the_value() {
        let mut builder = GraphBuilder::new(200);
        (1..200).for_each(|u| builder.add_edge(u - 1, u, 1_000_000));
        (0..200).for_each(|u| builder.set_node_weight(u, Weight::from(u)));
        check("heavy path", &builder.build().unwrap(), 1e6 * (2.0 - 2.0 * (PI / 200.0).cos()));
    }

    #[test]
    fn the_least_graphs_have_a_vector() {
        for n in 0..2 {
            assert_eq!(fiedler(&CompactGraph::<i32>::new(&graph(n, [])), 1, &()).vector.len(), n);
        }
    }
}
