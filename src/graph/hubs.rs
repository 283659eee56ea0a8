//! Vertices with far more arcs than others. Work that scans all arcs of a vertex repeatedly is done differently for them, or
//! within a budget.

use super::CsrGraph;
use crate::ground::types::NodeId;

/// Hubs have more arcs than this, and more than [`SHARE`] times the mean degree.
pub(crate) const FEWEST_ARCS: usize = 1024;

/// Hubs have more arcs than this many times the mean degree.
const SHARE: usize = 16;

/// The hubs of a graph, in ascending order; O(n).
pub(crate) fn hubs_of(graph: &CsrGraph) -> impl Iterator<Item = NodeId> + '_ {
    let most = most_arcs_without_hub(graph, FEWEST_ARCS);
    graph.nodes().filter(move |&node| graph.degree(node) > most)
}

/// The greatest degree of a vertex that is no hub: `fewest`, or more where the mean degree is high.
pub(crate) fn most_arcs_without_hub(graph: &CsrGraph, fewest: usize) -> usize {
    fewest.max(SHARE * graph.num_arcs() / graph.num_nodes().max(1))
}
