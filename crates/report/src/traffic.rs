//! The traffic of a mapping at each level of a hierarchy, or at each distance of any machine.

use std::collections::BTreeMap;

use viem::base::types::{Cost, Distance, PeId, Weight};
use viem::graph::{CsrGraph, quotient};
use viem::machine::{DistanceOracle, Distances, Hierarchy, Machine, MachineError, Nodes, nodes_of};
use viem::mapping::Mapping;
use viem::mapping::objective::ScoreError;
use viem::mapping::problem::{ProblemError, check_pes};
use viem_workload::contention::{BusiestLink, LinkLoads, routing_of};
use viem_workload::routing::Routing;

/// The traffic between processes whose innermost common group is of one level.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LevelTraffic {
    /// The level; 1 is the innermost.
    pub level: usize,
    /// Distance of the level.
    pub distance: Distance,
    /// PEs per group of the level.
    pub group_size: usize,
    /// Sum of the weights of the edges of this level, each edge counted once.
    pub weight: Weight,
    /// `weight` as a share of the weight of all edges, from 0 to 1; 0 if there are no edges.
    pub share: f64,
    /// Contribution of the level to J: twice weight times distance.
    pub cost: Cost,
}

/// The traffic at each level, innermost first; O(n + m · levels).
///
/// The graph, the mapping and the machine must have the same size and fit a
/// [`Problem`](viem::mapping::problem::Problem), so that no cost overflows. The costs add up to J.
pub fn by_level(graph: &CsrGraph, hierarchy: &Hierarchy, mapping: &Mapping) -> Vec<LevelTraffic> {
    let mut weights = vec![0; hierarchy.arities().len()];
    for node in graph.nodes() {
        for (target, weight) in graph.arcs(node) {
            if let Some(level) = hierarchy.level(mapping.pe_of(node), mapping.pe_of(target)) {
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
                // Without traffic, the distance of a level of one member may be arbitrarily large.
                cost: if both_ways == 0 { 0 } else { both_ways * distance },
            }
        })
        .collect()
}

/// The traffic between processes at a distance, or in a range of distances.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DistanceTraffic {
    /// The smallest distance in the range.
    pub least: Distance,
    /// The largest distance in the range; equal to `least` unless there are very many distances.
    pub greatest: Distance,
    /// Sum of the weights of the edges of these distances, each edge counted once.
    pub weight: Weight,
    /// `weight` as a share of the weight of all edges, from 0 to 1.
    pub share: f64,
    /// Contribution to J: the sum of twice weight times distance.
    pub cost: Cost,
}

/// Largest number of rows of a table of traffic by distance.
const MOST_ROWS: usize = 64;

/// The traffic at each distance that occurs, in ascending order; process i is on PE `pe_of[i]`. O(n + m log
/// d) for d distances.
///
/// Up to 64 distinct distances have a row each. With more, the range of distances is divided into 64
/// intervals of equal length, and those with traffic have a row each.
/// [`evaluate`](viem::mapping::objective::evaluate) must accept the graph and the mapping, so that no cost
/// overflows. The costs add up to J.
pub fn by_distance(graph: &CsrGraph, distances: &Distances, pe_of: &[PeId]) -> Vec<DistanceTraffic> {
    let weights = weights(graph, distances, pe_of);
    let (Some((&least, _)), Some((&greatest, _))) = (weights.first_key_value(), weights.last_key_value())
    else {
        return Vec::new();
    };
    let width = if weights.len() <= MOST_ROWS { 1 } else { (greatest - least) / MOST_ROWS as Distance + 1 };
    let row = |distance| (distance - least) / width;
    let mut rows: Vec<DistanceTraffic> = Vec::new();
    for (distance, weight) in weights {
        if rows.last().is_none_or(|last| row(last.least) != row(distance)) {
            let empty =
                DistanceTraffic { least: distance, greatest: distance, weight: 0, share: 0.0, cost: 0 };
            rows.push(empty);
        }
        let last = rows.last_mut().expect("one was pushed");
        last.greatest = distance;
        last.weight += weight;
        last.share = 2.0 * last.weight as f64 / graph.total_arc_weight() as f64;
        last.cost += 2 * weight * distance;
    }
    rows
}

/// The total weight of the edges of each distance, each edge counted once.
fn weights(graph: &CsrGraph, distances: &Distances, pe_of: &[PeId]) -> BTreeMap<Distance, Weight> {
    let mut weights = BTreeMap::new();
    for node in graph.nodes() {
        for (target, weight) in graph.arcs(node).filter(|&(target, _)| target > node) {
            let distance = distances.distance(pe_of[node as usize], pe_of[target as usize]);
            *weights.entry(distance).or_insert(0) += weight;
        }
    }
    weights
}

/// The traffic between PEs in a many-to-one mapping.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PeTraffic {
    /// The largest number of PEs with which a PE communicates.
    pub greatest_neighbours: usize,
    /// The mean number of PEs with which a PE communicates.
    pub mean_neighbours: f64,
    /// The largest total weight of the edges from a PE to others.
    pub greatest_volume: Weight,
    /// The mean total weight of the edges from a PE to others.
    pub mean_volume: f64,
}

/// The traffic of each PE with others, maximum and mean; vertex i is on PE `pe_of[i]`, below `num_pes`. O(n +
/// m + PEs).
pub fn by_pe(graph: &CsrGraph, num_pes: usize, pe_of: &[PeId]) -> PeTraffic {
    let between = quotient::contract(graph, pe_of, num_pes);
    let volume = |pe: PeId| between.arcs(pe).map(|(_, weight)| weight).sum::<Weight>();
    let mean = |sum: f64| if num_pes == 0 { 0.0 } else { sum / num_pes as f64 };
    PeTraffic {
        greatest_neighbours: between.nodes().map(|pe| between.degree(pe)).max().unwrap_or(0),
        mean_neighbours: mean(between.num_arcs() as f64),
        greatest_volume: between.nodes().map(volume).max().unwrap_or(0),
        mean_volume: mean(between.total_arc_weight() as f64),
    }
}

/// The traffic of the busiest node and the busiest link.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct BusiestTraffic {
    /// The largest total weight of the edges that leave a node. Each PE is a node if the machine does not know its nodes.
    pub node: Weight,
    /// The link with the greatest load. `None` if the links are not known, if nothing travels over one, if loads could overflow, or if there are
    /// more than 2^26 steps to follow: arcs of the graph, or of that of the PEs, times links of the longest route.
    pub link: Option<BusiestLink>,
}

/// Upper limit on the arcs times the links of a route that are followed.
const MOST_STEPS: u64 = 1 << 26;

/// The traffic of the busiest node and of the busiest link; process i is on PE `pe_of[i]`. O(n + m) for the node, and
/// as many routes as pairs of PEs communicate for the link.
///
/// Fails if a process has no PE, or if a PE does not exist.
pub fn busiest(
    graph: &CsrGraph,
    machine: &dyn Machine,
    pe_of: &[PeId],
) -> Result<BusiestTraffic, ScoreError> {
    check_pes(graph, machine.num_pes(), pe_of)?;
    if graph.num_nodes() > machine.num_pes() {
        let pes: Vec<PeId> = (0..machine.num_pes() as PeId).collect();
        return busiest(&quotient::contract(graph, pe_of, pes.len()), machine, &pes);
    }
    let (node_of, num_nodes) = nodes_of(machine, pe_of);
    let between = quotient::contract(graph, &node_of, num_nodes);
    let node = between.nodes().map(|node| between.weighted_degree(node)).max().unwrap_or(0);
    let routing = followed_routing(graph, machine)?;
    let link = match routing.as_ref().map(|routing| LinkLoads::of(graph, routing, pe_of)) {
        None | Some(Err(ProblemError::LoadOverflow { .. })) => None,
        Some(loads) => loads?.busiest(),
    };
    Ok(BusiestTraffic { node, link })
}

/// The routes of a machine, if they are known and do not have too many steps for the arcs of a graph.
pub(super) fn followed_routing(
    graph: &CsrGraph,
    machine: &dyn Machine,
) -> Result<Option<Routing>, MachineError> {
    let arcs = graph.num_arcs() as u64;
    let is_short = |routing: &Routing| arcs.saturating_mul(routing.longest().0) <= MOST_STEPS;
    Ok(routing_of(machine)?.filter(is_short))
}

/// The traffic between the nodes of a machine.
pub(super) fn between_nodes(graph: &CsrGraph, nodes: &Nodes, pe_of: &[PeId]) -> CsrGraph {
    let node_of: Vec<u32> = pe_of.iter().map(|&pe| nodes.node(pe) as u32).collect();
    quotient::contract(graph, &node_of, nodes.hosts().len())
}

/// The PEs without a process, out of `num_pes`, in ascending order; process i is on PE `pe_of[i]`.
pub fn empty_pes(num_pes: usize, pe_of: &[PeId]) -> Vec<PeId> {
    let mut is_used = vec![false; num_pes];
    for &pe in pe_of {
        is_used[pe as usize] = true;
    }
    (0..num_pes as PeId).filter(|&pe| !is_used[pe as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_mapping;
    use viem::base::rng::Rng;
    use viem::graph::generate;
    use viem::machine::{DistanceMatrix, Grid};
    use viem::mapping::objective;
    use viem::mapping::problem::Problem;

    #[test]
    fn levels_add_up_to_all_traffic_and_to_the_objective() {
        let graph = generate::mesh(6, 8, 3);
        let hierarchy = Hierarchy::parse("4:1:3:4", "1:9223372036854775807:10:7").unwrap();
        let mapping = random_mapping(48, &mut Rng::new(9));
        let levels = by_level(&graph, &hierarchy, &mapping);
        let oracle = Distances::Tree(hierarchy.online32().unwrap());
        let problem = Problem::new(&graph, &oracle).unwrap();
        let total: Weight = levels.iter().map(|level| level.weight).sum();
        assert_eq!(2 * total, graph.total_arc_weight());
        let cost: Cost = levels.iter().map(|level| level.cost).sum();
        assert_eq!(cost, objective::cost(&problem, &mapping));
        assert_eq!(levels.iter().map(|level| level.group_size).collect::<Vec<_>>(), [4, 4, 12, 48]);
        let shares: f64 = levels.iter().map(|level| level.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    /// The weight of both directions at each distance, by definition.
    fn both_ways(graph: &CsrGraph, distances: &Distances, pe_of: &[PeId]) -> BTreeMap<Distance, Weight> {
        let mut expected = BTreeMap::new();
        for u in graph.nodes() {
            for (v, weight) in graph.arcs(u) {
                let distance = distances.distance(pe_of[u as usize], pe_of[v as usize]);
                *expected.entry(distance).or_insert(0) += weight;
            }
        }
        expected
    }

    #[test]
    fn each_distance_of_a_torus_has_a_row() {
        let graph = generate::mesh(6, 6, 3);
        let torus = Grid::torus(&[4, 4, 3]).unwrap();
        let mut pe_of: Vec<PeId> = (0..48).collect();
        Rng::new(2).shuffle(&mut pe_of);
        pe_of.truncate(36);
        let distances = torus.distances().unwrap();
        let rows = by_distance(&graph, &distances, &pe_of);
        let expected = both_ways(&graph, &distances, &pe_of);
        let found: Vec<_> =
            rows.iter().map(|row| (row.least, row.greatest, 2 * row.weight, row.cost)).collect();
        let expected: Vec<_> = expected.iter().map(|(&d, &both)| (d, d, both, both * d)).collect();
        assert_eq!(found, expected);
        let shares: f64 = rows.iter().map(|row| row.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
        let empty = empty_pes(48, &pe_of);
        assert_eq!(empty.len(), 12);
        assert!(empty.iter().all(|pe| !pe_of.contains(pe)));
    }

    #[test]
    fn very_many_distances_share_rows() {
        let graph = generate::mesh(20, 20, 3);
        let distance = |p, q| Distance::from(p) * 7 + Distance::from(q) * Distance::from(q) * (1 << 32);
        let matrix = DistanceMatrix::from_fn(400, distance).unwrap();
        let pe_of: Vec<PeId> = (0..400).collect();
        let distances = matrix.distances().unwrap();
        let rows = by_distance(&graph, &distances, &pe_of);
        let expected = both_ways(&graph, &distances, &pe_of);
        assert!(expected.len() > MOST_ROWS && rows.len() <= MOST_ROWS && rows.len() > 10);
        assert!(rows.iter().all(|row| row.least <= row.greatest));
        assert!(rows.windows(2).all(|pair| pair[0].greatest < pair[1].least));
        let cost: Cost = rows.iter().map(|row| row.cost).sum();
        assert_eq!(cost, expected.iter().map(|(distance, both)| distance * both).sum::<Cost>());
        assert_eq!(2 * rows.iter().map(|row| row.weight).sum::<Weight>(), graph.total_arc_weight());
    }

    #[test]
    fn without_edges_there_is_no_traffic() {
        let graph = viem::graph::GraphBuilder::new(3).build().unwrap();
        let distances = Machine::distances(&Hierarchy::parse("3", "1").unwrap()).unwrap();
        assert_eq!(by_distance(&graph, &distances, &[0, 1, 2]), []);
    }
}
