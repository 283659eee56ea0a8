//! Lower bounds on J, which prove a mapping to be optimal.
//!
//! *By nearest places.* The neighbours of a process are on different places, and the i-th nearest of them is at least
//! as far away as the i-th nearest place is from any place. So a process costs at least the sum of its weights, the
//! heaviest first, times these distances. O(n) searches for near places, and O(m log m).
//!
//! *By prices.* With few free places, each process has a price on each: its weights to other free processes, the
//! heaviest first, times the distances to other free places, the nearest first, plus what it costs with fixed
//! processes. The cheapest assignment is a lower bound. Edges are counted at both ends, or twice at the end of the
//! higher degree, whichever is better: the former is exact for cliques, the latter for stars. O(n³).
//!
//! P. C. Gilmore: Optimal and suboptimal algorithms for the quadratic assignment problem. Journal of the SIAM
//! 10, 1962. E. L. Lawler: The quadratic assignment problem. Management Science 9, 1963.

use crate::base::linear_assignment::cheapest_assignment_until;
use crate::base::observer::{Observer, Watch};
use crate::base::order;
use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::{DistanceOracle, with_oracle};
use crate::mapping::annealing::Near;
use crate::mapping::problem::Problem;
use crate::partition::FixedVertices;

/// Most free places for which prices are computed: that takes a tenth of a second.
const MOST_PRICED: usize = 256;

/// A J that no mapping is below. Once the observer asks to stop, it may be a poor one.
pub(crate) fn lower_bound(problem: &Problem<'_>, observer: &dyn Observer) -> Cost {
    let num_fixed = problem.fixed().map_or(0, FixedVertices::count);
    let among_free = match problem.size() - num_fixed {
        ..=MOST_PRICED => by_prices(problem, observer),
        _ => by_nearest_places(problem, observer),
    };
    among_fixed(problem) + among_free
}

/// J of the fixed processes among themselves.
fn among_fixed(problem: &Problem<'_>) -> Cost {
    let Some(fixed) = problem.fixed() else { return 0 };
    let of_process = |(process, place): (NodeId, PeId)| -> Cost {
        let cost =
            |(other, weight)| fixed.of(other).map(|there| weight * problem.oracle().distance(place, there));
        problem.graph().arcs(process).filter_map(cost).sum()
    };
    fixed.iter().map(of_process).sum()
}

fn by_nearest_places(problem: &Problem<'_>, observer: &dyn Observer) -> Cost {
    let near =
        with_oracle!(problem.oracle(), |oracle| Near::new(oracle, &oracle.keys(), problem.parts(), observer));
    let of_process = |process: NodeId| -> Cost {
        let may_move =
            |&(other, _): &(NodeId, Weight)| !(problem.is_fixed(process) && problem.is_fixed(other));
        let weights = problem.graph().arcs(process).filter(may_move).map(|(_, weight)| weight);
        least_product(weights.collect(), near.least())
    };
    problem.graph().nodes().map(of_process).sum()
}

/// The least sum of weights times distances, each of which is used once, except the last, which is used as often as necessary.
fn least_product(mut weights: Vec<Weight>, ascending: &[Distance]) -> Cost {
    order::descending(&mut weights);
    let distances = ascending.iter().chain(std::iter::repeat(ascending.last().unwrap_or(&0)));
    weights.iter().zip(distances).map(|(weight, distance)| weight * distance).sum()
}

fn by_prices(problem: &Problem<'_>, observer: &dyn Observer) -> Cost {
    let prices = Prices::new(problem);
    let rank = |process: NodeId| (problem.graph().degree(process), process);
    let at_both_ends = prices.cheapest(&|_, _| 1, observer);
    let at_one_end = prices.cheapest(&|own, other| if rank(own) > rank(other) { 2 } else { 0 }, observer);
    at_both_ends.max(at_one_end)
}

/// Lower bounds of the costs of free processes on free places.
struct Prices<'a> {
    problem: &'a Problem<'a>,
    /// The free processes that have neighbours.
    processes: Vec<NodeId>,
    places: Vec<PeId>,
    /// The distances from each of these places to the others, in ascending order.
    distances: Vec<Vec<Distance>>,
}

impl<'a> Prices<'a> {
    fn new(problem: &'a Problem<'a>) -> Self {
        let (graph, oracle) = (problem.graph(), problem.oracle());
        let mut is_taken = vec![false; problem.size()];
        let fixed = problem.fixed().into_iter().flat_map(FixedVertices::iter);
        fixed.for_each(|(_, place)| is_taken[place as usize] = true);
        let places: Vec<PeId> =
            (0..).zip(is_taken).filter(|&(_, is_taken)| !is_taken).map(|(place, _)| place).collect();
        let sorted = |&place: &PeId| {
            let others = places.iter().filter(|&&other| other != place);
            let mut distances: Vec<Distance> = others.map(|&other| oracle.distance(place, other)).collect();
            distances.sort_unstable();
            distances
        };
        let distances = places.iter().map(sorted).collect();
        let may_move = |&process: &NodeId| !problem.is_fixed(process) && graph.degree(process) > 0;
        Self { problem, processes: graph.nodes().filter(may_move).collect(), places, distances }
    }

    /// The price of the cheapest assignment if an edge is counted that often at its first end, in all twice.
    fn cheapest(&self, times: &dyn Fn(NodeId, NodeId) -> Cost, observer: &dyn Observer) -> Cost {
        let n = self.places.len();
        let rows = self.processes.iter().flat_map(|&process| self.row(process, times));
        let prices: Vec<Cost> = rows.collect();
        // The other places remain free.
        let price = |row: usize, column: usize| prices.get(row * n + column).copied().unwrap_or(0);
        let cheapest = cheapest_assignment_until(n, price, &mut Watch::new(observer));
        cheapest.map_or(0, |(_, sum)| sum as Cost)
    }

    /// The price of a process on each place.
    fn row(&self, process: NodeId, times: &dyn Fn(NodeId, NodeId) -> Cost) -> Vec<Cost> {
        let Self { problem, places, distances, .. } = self;
        let (graph, oracle) = (problem.graph(), problem.oracle());
        let there = |other: NodeId| problem.fixed().and_then(|fixed| fixed.of(other));
        let known: Vec<(PeId, Weight)> =
            graph.arcs(process).filter_map(|(other, weight)| Some((there(other)?, weight))).collect();
        let free = graph.arcs(process).filter(|&(other, _)| there(other).is_none());
        let mut weights: Vec<Weight> = free.map(|(other, weight)| weight * times(process, other)).collect();
        order::descending(&mut weights);
        let with_known = |place: PeId| {
            known.iter().map(move |&(there, weight)| 2 * weight * oracle.distance(place, there))
        };
        let with_free = |ascending: &[Distance]| {
            weights.iter().zip(ascending).map(|(weight, there)| weight * there).sum::<Cost>()
        };
        places
            .iter()
            .zip(distances)
            .map(|(&place, ascending)| with_known(place).sum::<Cost>() + with_free(ascending))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::{CsrGraph, GraphBuilder, generate};
    use crate::machine::{Distances, Grid, Hierarchy, Machine, Places};
    use crate::mapping::Mapping;
    use crate::mapping::objective::cost;
    use crate::testing::Stops;
    use crate::testing::random_graph;

    fn of_pairs(n: usize, pairs: impl Iterator<Item = (NodeId, NodeId)>) -> CsrGraph {
        let mut builder = GraphBuilder::new(n);
        pairs.for_each(|(u, v)| builder.add_edge(u, v, 2));
        builder.build().unwrap()
    }

    fn distances(machine: &dyn Machine) -> Distances {
        Places::of(machine).unwrap().distances().clone()
    }

    /// J of all permutations of at most six processes, fixed ones in place.
    fn optimum(problem: &Problem<'_>) -> Cost {
        fn extend(problem: &Problem<'_>, pe_of: &mut Vec<PeId>) -> Option<Cost> {
            let (n, next) = (problem.size(), pe_of.len());
            if next == n {
                return Some(cost(problem, &Mapping::from_permutation(pe_of.clone())));
            }
            let own = problem.fixed().and_then(|fixed| fixed.of(next as NodeId));
            let mut best = None;
            for place in (0..n as PeId).filter(|&place| own.is_none_or(|own| own == place)) {
                if pe_of.contains(&place) {
                    continue;
                }
                pe_of.push(place);
                best = best.into_iter().chain(extend(problem, pe_of)).min();
                pe_of.pop();
            }
            best
        }
        extend(problem, &mut Vec::new()).unwrap()
    }

    #[test]
    fn no_mapping_is_below() {
        let mut rng = Rng::new(5);
        let machines: [&dyn Machine; 3] = [
            &Grid::mesh(&[3, 2]).unwrap(),
            &Grid::torus(&[6]).unwrap(),
            &Hierarchy::parse("2:3", "1:7").unwrap(),
        ];
        for round in 0..60 {
            let distances = distances(machines[round % 3]);
            let graph = random_graph(6, 3, 9, &mut rng);
            let mut fixed = FixedVertices::none(6, 6);
            (0..round as u32 % 4).for_each(|process| fixed.fix(process, 5 - process).unwrap());
            let problem = Problem::new(&graph, &distances).unwrap().with_known_fixed(Some(&fixed));
            let optimum = optimum(&problem);
            let bounds =
                [by_prices(&problem, &()), by_nearest_places(&problem, &()), by_prices(&problem, &Stops)];
            for bound in bounds {
                assert!(among_fixed(&problem) + bound <= optimum, "{round}");
            }
        }
    }

    #[test]
    fn cliques_stars_and_grids_are_proved() {
        let (mesh, large) = (Grid::mesh(&[4, 3]).unwrap(), Grid::mesh(&[20, 20]).unwrap());
        let clique = of_pairs(12, (0..12).flat_map(|u| (0..u).map(move |v| (u, v))));
        let star = of_pairs(12, (1..12).map(|u| (0, u)));
        let mesh_distances = distances(&mesh);
        let [of_clique, of_star] =
            [&clique, &star].map(|graph| lower_bound(&Problem::new(graph, &mesh_distances).unwrap(), &()));
        let problem = Problem::new(&clique, &mesh_distances).unwrap();
        assert_eq!(of_clique, cost(&problem, &Mapping::identity(12)));
        let problem = Problem::new(&star, &mesh_distances).unwrap();
        let best = (0..12).map(|place| {
            let mut pe_of: Vec<PeId> = (0..12).collect();
            pe_of.swap(0, place);
            cost(&problem, &Mapping::from_permutation(pe_of))
        });
        assert_eq!(Some(of_star), best.min());
        let (grid, large) = (generate::grid(20, 20), distances(&large));
        let problem = Problem::new(&grid, &large).unwrap();
        assert_eq!(lower_bound(&problem, &()), grid.total_arc_weight());
    }

    #[test]
    fn fixed_processes_prove_their_mapping() {
        let large = distances(&Grid::mesh(&[20, 20]).unwrap());
        let graph = random_graph(400, 4, 9, &mut Rng::new(3));
        let fixed = FixedVertices::new(&(0..400).map(Some).collect::<Vec<_>>(), 400).unwrap();
        let problem = Problem::new(&graph, &large).unwrap().with_known_fixed(Some(&fixed));
        assert_eq!(lower_bound(&problem, &()), cost(&problem, &Mapping::identity(400)));
    }
}
