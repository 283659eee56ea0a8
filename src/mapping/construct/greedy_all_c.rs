//! Places one process after another where it costs least (GreedyAllC of Glantz, Meyerhenke and Noe,
//! "Algorithms for mapping parallel processes onto grid and torus architectures", 2015).
//!
//! The process with the largest communication volume goes first, to the place with the smallest sum of
//! distances to all others. Then the process with the largest volume to the placed ones goes to the free
//! place where its traffic with them costs least, until all are placed. Ties go to the first place. For
//! regular traffic on regular machines, such as butterflies on tori, the result is often optimal.
//!
//! O(n m) distances in all, O(n + m) memory.

use super::central::most_central;
use super::process_queue::ProcessQueue;
use crate::base::observer::{Observer, Watch};
use crate::base::types::{Cost, PeId, Weight};
use crate::machine::{DistanceOracle, with_oracle};
use crate::mapping::Mapping;
use crate::mapping::construct::task::{ConstructionError, Task};
use crate::mapping::problem::Problem;
use crate::partition::FixedVertices;

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let Task { problem, observer, .. } = *task;
    let first = most_central(problem.oracle(), observer);
    Ok(with_oracle!(problem.oracle(), |oracle| place(&problem.with_oracle(oracle), first, observer)))
}

fn place<O: DistanceOracle>(problem: &Problem<'_, O>, first: usize, observer: &dyn Observer) -> Mapping {
    let (graph, oracle) = (problem.graph(), problem.oracle());
    let mut free = FreePlaces::new(oracle, first, observer);
    let mut place_of: Vec<Option<PeId>> = vec![None; graph.num_nodes()];
    let mut processes = ProcessQueue::new(graph);
    for (process, place) in problem.fixed().into_iter().flat_map(FixedVertices::iter) {
        place_of[process as usize] = Some(place);
        processes.map(process);
        free.take(place);
    }
    let mut partners: Vec<(O::Key, Weight)> = Vec::new();
    while !observer.should_stop()
        && let Some(process) = processes.pop()
    {
        let placed = |(target, weight)| Some((oracle.key(place_of[target as usize]?), weight));
        partners.clear();
        partners.extend(graph.arcs(process).filter_map(placed));
        place_of[process as usize] = Some(free.take_cheapest(&partners));
    }
    let mut left = free.in_order().into_iter();
    let any = |place: Option<PeId>| place.or_else(|| left.next()).expect("as many processes as places");
    Mapping::from_permutation(place_of.into_iter().map(any).collect())
}

/// The places that have no process yet.
struct FreePlaces<'a, O: DistanceOracle> {
    oracle: &'a O,
    places: Vec<PeId>,
    keys: Vec<O::Key>,
    /// The position of the most central place, until it is taken.
    first: Option<usize>,
    watch: Watch<'a>,
}

impl<'a, O: DistanceOracle> FreePlaces<'a, O> {
    fn new(oracle: &'a O, first: usize, observer: &'a dyn Observer) -> Self {
        let places: Vec<PeId> = (0..oracle.num_pes() as PeId).collect();
        let keys = places.iter().map(|&place| oracle.key(place)).collect();
        Self { oracle, places, keys, first: Some(first), watch: Watch::new(observer) }
    }

    /// Takes a place, of which the places before have been taken by this already.
    fn take(&mut self, place: PeId) {
        self.first = None;
        if let Some(index) = self.places.iter().position(|&other| other == place) {
            self.keys.swap_remove(index);
            self.places.swap_remove(index);
        }
    }

    /// Takes the place where traffic with these partners costs least; on the first call, the most central
    /// one.
    fn take_cheapest(&mut self, partners: &[(O::Key, Weight)]) -> PeId {
        let index = self.first.take().unwrap_or_else(|| self.cheapest(partners));
        self.keys.swap_remove(index);
        self.places.swap_remove(index)
    }

    /// The place where traffic with these partners costs least, among those evaluated before the observer
    /// asks to stop.
    fn cheapest(&mut self, partners: &[(O::Key, Weight)]) -> usize {
        let mut least = (Cost::MAX, PeId::MAX, 0);
        for (index, (&here, &place)) in self.keys.iter().zip(&self.places).enumerate() {
            let paid = |&(there, weight): &(O::Key, Weight)| weight * self.oracle.between(here, there);
            least = least.min((partners.iter().map(paid).sum(), place, index));
            if self.watch.stops_after(1 + partners.len()) {
                break;
            }
        }
        let (_, _, index) = least;
        index
    }

    /// The places that are left.
    fn in_order(mut self) -> Vec<PeId> {
        self.places.sort_unstable();
        self.places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::base::types::NodeId;
    use crate::graph::CsrGraph;
    use crate::machine::{Distances, Hierarchy, Metric, StoredDistances};
    use crate::testing::random_graph;

    /// The same, with all volumes, sums and costs recomputed for each process.
    fn from_scratch(graph: &CsrGraph, distances: &StoredDistances) -> Vec<PeId> {
        let n = graph.num_nodes() as u32;
        let mut place_of = vec![None; n as usize];
        for _ in 0..n {
            let placed = |node: NodeId| {
                graph.arcs(node).filter_map(|(to, weight)| Some((place_of[to as usize]?, weight)))
            };
            let volume = |node: NodeId| -> Weight { placed(node).map(|(_, weight)| weight).sum() };
            let waiting = graph.nodes().filter(|&node| place_of[node as usize].is_none());
            let key = |&node: &NodeId| (volume(node), graph.weighted_degree(node), std::cmp::Reverse(node));
            let next = waiting.max_by_key(key).unwrap();
            let is_first = place_of.iter().all(Option::is_none);
            let cost = |place: PeId| -> Cost {
                if is_first {
                    return (0..n).map(|other| distances.between(place, other)).sum();
                }
                placed(next).map(|(other, weight)| weight * distances.between(place, other)).sum()
            };
            let free = (0..n).filter(|place| !place_of.contains(&Some(*place)));
            let place = free.min_by_key(|&place| (cost(place), place)).unwrap();
            place_of[next as usize] = Some(place);
        }
        place_of.into_iter().map(Option::unwrap).collect()
    }

    #[test]
    fn each_process_takes_the_cheapest_free_place() {
        let mut rng = Rng::new(3);
        for (arities, distances) in
            [("2:3:4", "1:10:100"), ("4:6", "3:2"), ("24", "1"), ("2:2:2:3", "0:1:1:5")]
        {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let distances = StoredDistances::new(&hierarchy).unwrap();
            for mean_degree in [0, 2, 12] {
                let graph = random_graph(24, mean_degree, 5, &mut rng);
                let problem = Problem::new(&graph, &distances).unwrap();
                let first = most_central(&Distances::StoredTree(distances.clone()), &());
                let mapping = place(&problem, first, &());
                assert_eq!(mapping.pes(), from_scratch(&graph, &distances), "{arities} {mean_degree}");
            }
        }
    }
}
