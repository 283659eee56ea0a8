//! Graphs of `petgraph`.

use petgraph::visit::{
    EdgeCount, EdgeRef, GraphProp, IntoEdgeReferences, IntoNodeIdentifiers, NodeIndexable,
};

use viem::CsrGraph;
use viem::base::types::{NodeId, Weight};
use viem::graph::{GraphError, check_num_nodes};

/// Builds a graph from one of `petgraph`, directed or not; O(n + m).
///
/// Vertex i is the i-th of `node_identifiers()`, which is the one with index i where no vertex was removed. Weights of
/// parallel edges are summed, and in directed graphs also those of both directions. Edges of weight 0 and from a vertex to
/// itself are left out.
///
/// ```
/// use petgraph::graph::DiGraph;
/// use petgraph::visit::EdgeRef as _;
///
/// let traffic = DiGraph::<(), i64>::from_edges([(0, 1, 5), (1, 0, 2), (1, 2, 4)]);
/// let graph = viem_convert::from_petgraph(&traffic, |_| 1, |edge| *edge.weight())?;
/// assert_eq!(graph.arcs(1).collect::<Vec<_>>(), [(0, 7), (2, 4)]);
/// # Ok::<(), viem::graph::GraphError>(())
/// ```
pub fn from_petgraph<G>(
    graph: G,
    node_weight: impl Fn(G::NodeId) -> Weight,
    edge_weight: impl Fn(G::EdgeRef) -> Weight,
) -> Result<CsrGraph, GraphError>
where
    G: IntoNodeIdentifiers + NodeIndexable + IntoEdgeReferences + EdgeCount + GraphProp,
{
    let mut number = vec![NodeId::MAX; graph.node_bound()];
    check_num_nodes(number.len())?;
    let mut node_weights = Vec::new();
    for node in graph.node_identifiers() {
        number[graph.to_index(node)] = node_weights.len() as NodeId;
        node_weights.push(node_weight(node));
    }
    // Some undirected graphs, such as `Csr`, go through each edge from both ends.
    let is_twice = !graph.is_directed() && graph.edge_references().count() > graph.edge_count();
    let edges = graph.edge_references().map(|edge| {
        let [u, v] = [edge.source(), edge.target()].map(|node| number[graph.to_index(node)]);
        (u, v, edge_weight(edge))
    });
    CsrGraph::from_weights_and_edges(node_weights, edges.filter(|&(u, v, _)| !is_twice || u < v))
}
