//! Graphs from slices and edges, compared with a matrix summed entry by entry.

use proptest::prelude::*;
use viem::CsrGraph;
use viem::graph::{CsrSlices, GraphError};

#[path = "../common/edges.rs"]
mod edges;

use edges::{graph_of, matrix_of, some_edges};

proptest! {
    #[test]
    fn edges_are_summed((n, edges) in some_edges()) {
        prop_assert_eq!(CsrGraph::from_edges(n, edges.iter().copied()).unwrap(), graph_of(&matrix_of(n, &edges)));
    }

    #[test]
    fn borrowed_arrays_of_any_integers_are_copied((n, edges) in some_edges()) {
        let graph = graph_of(&matrix_of(n, &edges));
        let offsets: Vec<i64> = graph.offsets().iter().map(|&offset| offset as i64).collect();
        let targets: Vec<i64> = graph.targets().iter().map(|&target| target.into()).collect();
        let (edge_weights, node_weights) = (graph.edge_weights(), Some(graph.node_weights()));
        let slices = CsrSlices { offsets: &offsets, targets: &targets, edge_weights, node_weights };
        prop_assert_eq!(&CsrGraph::from_slices(slices).unwrap(), &graph);
        let ones = CsrGraph::from_slices(CsrSlices::unweighted(&offsets, &targets)).unwrap();
        prop_assert_eq!(ones.targets(), graph.targets());
        prop_assert_eq!(ones.edge_weights(), None);
    }
}

#[test]
fn invalid_graphs_are_rejected_with_an_index() {
    use GraphError::*;
    let out_of_range = TargetOutOfRange { node: 0, target: 3, count: 3 };
    assert_eq!(CsrGraph::from_edges(3, [(1, 2, 1), (0, 3, 1)]).unwrap_err(), out_of_range);
    let negative = EdgeWeightOutOfRange { node: 2, target: 1, weight: -1 };
    assert_eq!(CsrGraph::from_edges(3, [(2, 1, -1)]).unwrap_err(), negative);
    let sum = CsrGraph::from_edges(2, [(0, 1, i64::MAX), (1, 0, 1)]);
    assert_eq!(sum.unwrap_err(), EdgeWeightOverflow);

    let entry =
        |array, index, value: &str, greatest| EntryOutOfRange { array, index, value: value.into(), greatest };
    let slices =
        |offsets: &[i32], targets: &[i32]| CsrGraph::from_slices(CsrSlices::unweighted(offsets, targets));
    assert_eq!(slices(&[0, 1, -2], &[1, 0]).unwrap_err(), entry("offsets", 2, "-2", u64::MAX));
    assert_eq!(slices(&[0, 1, 2], &[1, -1]).unwrap_err(), entry("targets", 1, "-1", u32::MAX.into()));
    assert!(matches!(slices(&[0, 1, 3], &[1, 0]).unwrap_err(), Malformed { .. }));
    assert!(matches!(slices(&[], &[]).unwrap_err(), Malformed { .. }));
    let edge_weights = Some(&[1, u64::MAX][..]);
    let slices = CsrSlices { offsets: &[0u32, 1, 2], targets: &[1, 0], edge_weights, node_weights: None };
    let weights = CsrGraph::from_slices(slices).unwrap_err();
    assert_eq!(weights, entry("edge weights", 1, "18446744073709551615", i64::MAX as u64));
    assert!(
        weights.to_string().starts_with("entry 1 of the edge weights is 18446744073709551615"),
        "{weights}"
    );
}
