//! Vertices with far more arcs than others. Work that scans all arcs of a vertex repeatedly is done differently for them, or
//! within a budget.

use super::CsrGraph;
use crate::base::types::NodeId;

/// Hubs have more arcs than this, and more than `SHARE` times the mean degree.
pub const FEWEST_ARCS: usize = 1024;

/// Hubs have more arcs than this many times the mean degree.
const SHARE: usize = 16;

/// The skew of the degrees of some vertices: the mean degree at an end of an edge over the mean degree of a vertex that has edges; at
/// least 1, and 0 without edges. O(n).
pub(crate) fn skew_of_degrees(degrees: impl Iterator<Item = usize>) -> f64 {
    let (mut joined, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for degree in degrees.filter(|&degree| degree > 0).map(|degree| degree as f64) {
        joined += 1.0;
        sum += degree;
        squares += degree * degree;
    }
    if joined == 0.0 { 0.0 } else { squares * joined / (sum * sum) }
}

/// The hubs of a graph, in ascending order; O(n).
pub fn hubs_of(graph: &CsrGraph) -> impl Iterator<Item = NodeId> + '_ {
    let most = most_arcs_without_hub(graph, FEWEST_ARCS);
    graph.nodes().filter(move |&node| graph.degree(node) > most)
}

/// The greatest degree of a vertex that is no hub: `fewest`, or more where the mean degree is high.
pub fn most_arcs_without_hub(graph: &CsrGraph, fewest: usize) -> usize {
    fewest.max(SHARE * graph.num_arcs() / graph.num_nodes().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::core_and_periphery;

    #[test]
    fn degrees_are_skewed_where_few_vertices_have_most_edges() {
        let skew = |degrees: &[usize]| skew_of_degrees(degrees.iter().copied());
        assert_eq!(skew(&[0, 0, 0]), 0.0);
        assert_eq!(skew(&[1, 1]), 1.0);
        // Vertices without edges do not count.
        assert_eq!(skew(&[1, 1, 0, 0]), 1.0);
        // A star: degree 2 at half of the ends and 1 at the others, on average 4/3 per vertex.
        assert_eq!(skew(&[2, 1, 1]), 1.125);
        let skew = |graph: &CsrGraph| skew_of_degrees(graph.nodes().map(|node| graph.degree(node)));
        assert!(skew(&core_and_periphery(40, 320)) > 2.0);
        assert!(skew(&crate::graph::generate::mesh(20, 20, 1)) < 1.5);
    }
}
