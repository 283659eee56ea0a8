//! How much traffic a mapping keeps at each level of a hierarchy.

use serde::Serialize;

use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::topology::Hierarchy;
use crate::types::{Cost, Distance, Weight};

/// The traffic between processes that meet at one level: their innermost common group is of this level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelTraffic {
    /// The level, 1 is innermost.
    pub level: usize,
    /// Distance of the level.
    pub distance: Distance,
    /// PEs in a group of the level.
    pub group_size: usize,
    /// Sum of the weights of the edges that meet here, each edge once.
    pub weight: Weight,
    /// `weight` as a part of the weight of all edges, from 0 to 1; 0 if there are no edges.
    pub share: f64,
    /// What the level adds to J: twice weight times distance.
    pub cost: Cost,
}

/// The traffic at each level, innermost first; O(n + m · levels).
///
/// The graph, the mapping and the machine must be of the same size and fit a
/// [`Problem`](crate::problem::Problem), so that no cost overflows. The costs add up to J.
pub fn by_level(graph: &CsrGraph, hierarchy: &Hierarchy, mapping: &Mapping) -> Vec<LevelTraffic> {
    let mut weights = vec![0; hierarchy.arities().len()];
    for node in graph.nodes() {
        for (target, weight) in graph.arcs(node) {
            if let Some(level) = hierarchy.level(mapping.pe(node), mapping.pe(target)) {
                weights[level] += weight;
            }
        }
    }
    let mut group_size = 1;
    let levels = hierarchy.arities().iter().zip(hierarchy.distances()).zip(weights).enumerate();
    levels
        .map(|(level, ((&arity, &distance), both_ways))| {
            group_size *= arity as usize;
            LevelTraffic {
                level: level + 1,
                distance,
                group_size,
                weight: both_ways / 2,
                share: if both_ways == 0 { 0.0 } else { both_ways as f64 / graph.total_arc_weight() as f64 },
                // Without traffic the distance, of a level of one member, may be beyond all bounds.
                cost: if both_ways == 0 { 0 } else { both_ways * distance },
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::objective;
    use crate::problem::Problem;
    use crate::rng::Rng;
    use crate::testing::random_mapping;

    #[test]
    fn levels_add_up_to_all_traffic_and_to_the_objective() {
        let graph = generate::mesh(6, 8, 3);
        let hierarchy = Hierarchy::parse("4:1:3:4", "1:9223372036854775807:10:7").unwrap();
        let mapping = random_mapping(48, &mut Rng::new(9));
        let levels = by_level(&graph, &hierarchy, &mapping);
        let oracle = hierarchy.online32().unwrap();
        let problem = Problem::new(&graph, &oracle).unwrap();
        let total: Weight = levels.iter().map(|level| level.weight).sum();
        assert_eq!(2 * total, graph.total_arc_weight());
        let cost: Cost = levels.iter().map(|level| level.cost).sum();
        assert_eq!(cost, objective::cost(&problem, &mapping));
        assert_eq!(levels.iter().map(|level| level.group_size).collect::<Vec<_>>(), [4, 4, 12, 48]);
        let shares: f64 = levels.iter().map(|level| level.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }
}
