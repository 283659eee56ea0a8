//! Graphs of `petgraph` and matrices of `sprs`, compared with a matrix summed entry by entry.

use petgraph::csr::Csr;
use petgraph::graph::{DiGraph, Graph, UnGraph};
use petgraph::graphmap::UnGraphMap;
use petgraph::stable_graph::StableDiGraph;
use petgraph::visit::{EdgeRef as _, NodeIndexable as _};
use proptest::prelude::*;
use sprs::TriMat;
use viem::graph::GraphError;
use viem_convert::{from_petgraph, from_sprs_summed, from_sprs_symmetric};

#[path = "../../../tests/common/edges.rs"]
mod edges;

use edges::{graph_of, matrix_of, some_edges};

proptest! {
    #[test]
    fn graphs_of_petgraph_have_the_same_edges((n, edges) in some_edges()) {
        let expected = graph_of(&matrix_of(n, &edges));
        let mut directed = DiGraph::<(), i64>::new();
        let mut undirected = UnGraph::<(), i64>::new_undirected();
        let mut stable = StableDiGraph::<(), i64>::new();
        let mut simple = UnGraphMap::<u32, i64>::new();
        let mut csr = Csr::<(), i64, petgraph::Undirected>::with_nodes(n);
        let removed = stable.add_node(());
        for node in 0..n as u32 {
            directed.add_node(());
            undirected.add_node(());
            stable.add_node(());
            simple.add_node(node);
        }
        stable.remove_node(removed);
        for &(u, v, weight) in &edges {
            directed.add_edge(u.into(), v.into(), weight);
            undirected.add_edge(u.into(), v.into(), weight);
            stable.add_edge((u + 1).into(), (v + 1).into(), weight);
        }
        // One edge for each pair, and a loop.
        for (u, row) in matrix_of(n, &edges).iter().enumerate() {
            for (v, &weight) in row.iter().enumerate().filter(|&(v, &weight)| u < v && weight > 0) {
                simple.add_edge(u as u32, v as u32, weight);
                csr.add_edge(v as u32, u as u32, weight);
            }
        }
        simple.add_edge(0, 0, 7);
        csr.add_edge(0, 0, 7);
        prop_assert_eq!(&from_petgraph(&directed, |_| 1, |edge| *edge.weight()).unwrap(), &expected);
        prop_assert_eq!(&from_petgraph(&undirected, |_| 1, |edge| *edge.weight()).unwrap(), &expected);
        prop_assert_eq!(&from_petgraph(&stable, |_| 1, |edge| *edge.weight()).unwrap(), &expected);
        prop_assert_eq!(&from_petgraph(&simple, |_| 1, |edge| *edge.weight()).unwrap(), &expected);
        prop_assert_eq!(&from_petgraph(&csr, |_| 1, |edge| *edge.weight()).unwrap(), &expected);
    }

    #[test]
    fn matrices_of_sprs_have_the_same_edges((n, edges) in some_edges()) {
        let sums = matrix_of(n, &edges);
        let expected = graph_of(&sums);
        let mut one_way = TriMat::new((n, n));
        for &(u, v, weight) in &edges {
            one_way.add_triplet(u as usize, v as usize, weight);
        }
        let mut symmetric = TriMat::new((n, n));
        for (u, row) in sums.iter().enumerate() {
            symmetric.add_triplet(u, u, -3.0);
            row.iter().enumerate().filter(|(v, _)| u != *v).for_each(|(v, &weight)| {
                symmetric.add_triplet(u, v, -(weight as f64));
            });
        }
        let (rows, columns) = (one_way.to_csr::<usize>(), one_way.to_csc::<usize>());
        prop_assert_eq!(&from_sprs_summed(rows.view(), |&weight| weight).unwrap(), &expected);
        prop_assert_eq!(&from_sprs_summed(columns.view(), |&weight| weight).unwrap(), &expected);
        let symmetric = symmetric.to_csr::<u32>();
        let weight = |entry: &f64| entry.abs() as i64;
        prop_assert_eq!(&from_sprs_symmetric(symmetric.view(), weight).unwrap(), &expected);
    }
}

#[test]
fn weights_of_vertices_come_along() {
    let mut graph = Graph::<i64, ()>::new();
    let ends = [graph.add_node(3), graph.add_node(4)];
    graph.add_edge(ends[0], ends[1], ());
    let graph = from_petgraph(&graph, |node| graph[node] + graph.to_index(node) as i64, |_| 2).unwrap();
    assert_eq!((graph.node_weights(), graph.edge_weights()), (&[3, 5][..], Some(&[2, 2][..])));
}

#[test]
fn matrices_that_are_no_graphs_are_refused() {
    use GraphError::*;
    let matrix = |shape, entries: &[(usize, usize, i64)]| {
        let mut matrix = TriMat::new(shape);
        entries.iter().for_each(|&(row, column, entry)| matrix.add_triplet(row, column, entry));
        matrix.to_csr::<usize>()
    };
    let symmetric = |matrix: sprs::CsMat<i64>| from_sprs_symmetric(matrix.view(), |&entry| entry);
    let not_square = NotSquare { rows: 2, columns: 3 };
    assert_eq!(symmetric(matrix((2, 3), &[])).unwrap_err(), not_square);
    let oblong = matrix((2, 3), &[]);
    assert_eq!(from_sprs_summed(oblong.view(), |&entry: &i64| entry).unwrap_err(), not_square);
    let one_way = symmetric(matrix((3, 3), &[(0, 1, 1), (1, 0, 1), (1, 2, 1)]));
    assert_eq!(one_way.unwrap_err(), MissingBackwardEdge { node: 1, target: 2 });
    let unequal = symmetric(matrix((3, 3), &[(0, 1, 1), (1, 0, 2)]));
    assert_eq!(unequal.unwrap_err(), UnequalWeights { node: 0, target: 1, forward: 1, backward: 2 });
}
