//! Helpers of unit tests.

use viem::base::rng::Rng;
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrGraph, GraphBuilder, VertexWeights};

use crate::comm::Comm;
use crate::graph::{DistGraph, Rows};
use crate::threads::{self, ThreadComm};

/// A random graph with at most this many vertices, with weights or without.
pub(crate) fn random_graph(rng: &mut Rng, most: u32) -> CsrGraph {
    let n = rng.below(most + 1);
    let mut builder = GraphBuilder::new(n as usize);
    let (has_edge_weights, has_node_weights) = (rng.below(2) == 1, rng.below(2) == 1);
    for u in 0..n {
        for v in 0..u {
            if rng.below(n) < 3 {
                builder.add_edge(u, v, if has_edge_weights { 1 + Weight::from(rng.below(9)) } else { 1 });
            }
        }
        if has_node_weights {
            builder.set_node_weight(u, Weight::from(rng.below(5)));
        }
    }
    builder.build().expect("each edge is added once")
}

/// Distributes a graph over this many ranks, unevenly by a seed, and runs `work` on each.
pub(crate) fn on_ranks<R: Send>(
    size: usize,
    graph: &CsrGraph,
    seed: u64,
    work: impl Fn(&ThreadComm<'_>, &DistGraph) -> R + Sync,
) -> Vec<R> {
    weighed_on_ranks(size, (graph, None), seed, work)
}

/// The same for a graph whose vertices have several weights, if these are given.
pub(crate) fn weighed_on_ranks<R: Send>(
    size: usize,
    (graph, several): (&CsrGraph, Option<&VertexWeights>),
    seed: u64,
    work: impl Fn(&ThreadComm<'_>, &DistGraph) -> R + Sync,
) -> Vec<R> {
    let mut rng = Rng::new(seed);
    let n = graph.num_nodes();
    let mut ends: Vec<usize> = (1..size).map(|_| rng.below(n as u32 + 1) as usize).collect();
    ends.sort_unstable();
    ends.push(n);
    threads::run(size, |comm| {
        let start = if comm.rank() == 0 { 0 } else { ends[comm.rank() - 1] };
        let nodes = start..ends[comm.rank()];
        let mut rows = rows(graph, nodes.clone());
        if let Some(several) = several {
            let of_vertices = nodes.flat_map(|node| several.of(node as NodeId)).copied().collect();
            (rows.node_weights, rows.num_weights) = (Some(of_vertices), several.num_weights());
        }
        work(comm, &DistGraph::new(comm, rows).unwrap())
    })
}

/// The rows of some vertices.
pub(crate) fn rows(graph: &CsrGraph, nodes: std::ops::Range<usize>) -> Rows {
    let offsets = &graph.offsets()[nodes.start..=nodes.end];
    let arcs = offsets[0]..offsets[offsets.len() - 1];
    Rows {
        offsets: offsets.iter().map(|offset| offset - arcs.start).collect(),
        targets: graph.targets()[arcs.clone()].to_vec(),
        edge_weights: graph.edge_weights().is_some().then(|| arcs.map(|arc| graph.arc_weight(arc)).collect()),
        node_weights: Some(nodes.map(|node| graph.node_weight(node as NodeId)).collect()),
        num_weights: 1,
    }
}

/// The rows that a distributed graph has on this rank.
pub(crate) fn rows_of(graph: &DistGraph) -> Rows {
    let mut rows = Rows { offsets: vec![0], ..Rows::default() };
    let (mut weights, own) = (Vec::new(), 0..graph.num_own());
    for vertex in own {
        for (to, weight) in graph.arcs(vertex) {
            rows.targets.push(graph.global(to));
            weights.push(weight);
        }
        rows.offsets.push(rows.targets.len());
    }
    rows.edge_weights = graph.has_edge_weights().then_some(weights);
    (rows.node_weights, rows.num_weights) = (Some(graph.weights().to_vec()), graph.num_weights());
    rows
}
