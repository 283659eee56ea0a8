//! The optimum for a communication graph with the shape of the machine.
//!
//! A mapping that puts all neighbours at the smallest distance is optimal. The pairs of places at the
//! smallest distance form a graph. An [isomorphism] of the two graphs, if one is found, is such a mapping. It
//! maps rings, grids, tori, hypercubes and butterflies optimally, where exchanges end in local optima. So does a
//! [monomorphism], for graphs without some of the machine's edges: a mesh in a torus, a grid of fewer processes.
//!
//! [isomorphism]: crate::graph::embedding::isomorphism
//! [monomorphism]: crate::graph::embedding::monomorphism

use crate::base::observer::Observer;
use crate::base::types::PeId;
use crate::graph::embedding::isomorphism::isomorphism;
use crate::graph::embedding::monomorphism::{self, Budget};
use crate::machine::DistanceOracle;
use crate::mapping::annealing::Near;
use crate::mapping::problem::Problem;

/// The place of each process in a mapping of all neighbours to places at the smallest distance, if one is
/// found.
///
/// `near` holds the places near each place.
pub(super) fn embedding(
    problem: &Problem<'_>,
    near: &Near,
    seed: u64,
    observer: &dyn Observer,
) -> Option<Vec<PeId>> {
    let distance = |p: PeId, q: PeId| problem.oracle().distance(p, q);
    let places = 0..problem.size() as PeId;
    let least = places.clone().map(|p| distance(p, near.of(p)[0])).min().filter(|&least| least > 0)?;
    let is_adjacent = |p: PeId, q: PeId| distance(p, q) == least;
    let adjacent = |p: PeId| near.of(p).iter().copied().filter(|&q| is_adjacent(p, q)).collect();
    let host: Vec<Vec<PeId>> = places.map(adjacent).collect();
    isomorphism(problem.graph(), &host, &is_adjacent, observer)
        .or_else(|| monomorphism::embed(problem.graph(), &host, seed, Budget::BRIEF, observer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::{CsrGraph, GraphBuilder};
    use crate::machine::{Dimension, Distances, Grid, Hierarchy, Machine};
    use crate::mapping::Mapping;
    use crate::mapping::objective::cost;
    use crate::testing::{pattern_machines, random_graph, shuffled};

    /// Returns whether a graph is found on a machine.
    fn is_found(graph: &CsrGraph, distances: &Distances) -> bool {
        let places: Vec<PeId> = (0..distances.num_pes() as PeId).collect();
        let near = Near::new(distances, &places, None, &());
        let problem = Problem::new(graph, distances).unwrap();
        let found = embedding(&problem, &near, 1, &());
        if let Some(place_of) = &found {
            let mapping = Mapping::from_pes(place_of.clone()).unwrap();
            // All edges are one hop long.
            assert_eq!(cost(&problem, &mapping), graph.total_arc_weight());
        }
        found.is_some()
    }

    #[test]
    fn patterns_are_found_only_on_machines_of_their_shape() {
        let mut rng = Rng::new(4);
        for (name, machine, pattern) in pattern_machines() {
            let distances = machine.distances().unwrap();
            for _ in 0..8 {
                assert!(is_found(&shuffled(&pattern, 9, &mut rng), &distances), "{name}");
            }
            let other = random_graph(pattern.num_nodes(), 4, 9, &mut rng);
            assert!(!is_found(&other, &distances), "{name}");
        }
    }

    /// Each component starts where no placed process is near.
    #[test]
    fn pairs_are_found_on_nodes_of_two() {
        let machine = Grid::new(
            vec![Dimension { length: 600, is_closed: true }],
            Hierarchy::parse("2", "1").unwrap(),
            5,
        );
        let mut pairs = GraphBuilder::new(1200);
        (0..600).for_each(|node| pairs.add_edge(node, node + 600, 1));
        assert!(is_found(&pairs.build().unwrap(), &machine.unwrap().distances().unwrap()));
    }
}
