//! The optimum where the communication graph has the shape of the machine.
//!
//! No two places are nearer than the least distance, so a mapping that puts all neighbours at that distance is optimal.
//! The places at the least distance form a graph. If it has as many edges as the communication graph, and vertices of the
//! same degrees, a backtracking search looks for an isomorphism of the two: rings, grids, tori, hypercubes and butterflies are
//! found that way, where exchanges end in local optima.
//!
//! The search goes on with a process that has few places left: those free places that are adjacent to the places of its
//! neighbours and to no others that are taken. A regular shape leaves hardly a choice after the first few processes.
//!
//! Costs O(n log n) where degrees tell that there is none, else [`STEPS`] steps for each process at most, of
//! O(frontier · degree²) distances each, of which most are decided by the first process that is looked at. Memory: O(n + m).

use crate::annealing::Near;
use crate::graph::CsrGraph;
use crate::observer::Observer;
use crate::problem::Problem;
use crate::topology::DistanceOracle;
use crate::types::{NodeId, PeId};

/// Processes placed until the search is given up, for each process. Regular shapes take little more than one.
const STEPS: usize = 100;

/// Neither a process nor a place.
const NONE: u32 = u32::MAX;

/// A mapping of all neighbours to places at the least distance, if there is one and it is found; the place of each process.
///
/// Place i is at `key_of[i]`, and `near` is what is near it.
pub(super) fn embedding<O: DistanceOracle>(
    problem: &Problem<'_, O>,
    key_of: &[O::Key],
    near: &Near,
    observer: &dyn Observer,
) -> Option<Vec<PeId>> {
    let (graph, oracle) = (problem.graph(), problem.oracle());
    let distance = |p: PeId, q: PeId| oracle.between(key_of[p as usize], key_of[q as usize]);
    let places = 0..key_of.len() as PeId;
    let least = places.clone().map(|p| distance(p, near.of(p)[0])).min()?;
    let adjacent: Vec<Vec<PeId>> =
        places.map(|p| near.of(p).iter().copied().filter(|&q| distance(p, q) == least).collect()).collect();
    if least == 0 || !have_equal_degrees(graph, &adjacent) {
        return None;
    }
    let is_adjacent = |p: PeId, q: PeId| distance(p, q) == least;
    let mut search = Search {
        graph,
        adjacent: &adjacent,
        place_of: vec![NONE; key_of.len()],
        is_taken: vec![false; key_of.len()],
        placed_near: vec![0; key_of.len()],
        taken_near: vec![0; key_of.len()],
        frontier: Vec::new(),
        is_listed: vec![false; key_of.len()],
    };
    search.run(is_adjacent, observer).then_some(search.place_of)
}

fn have_equal_degrees(graph: &CsrGraph, adjacent: &[Vec<PeId>]) -> bool {
    let edges: usize = adjacent.iter().map(Vec::len).sum();
    if edges != graph.num_arcs() || edges == 0 {
        return false;
    }
    let mut of_processes: Vec<usize> = graph.nodes().map(|process| graph.degree(process)).collect();
    let mut of_places: Vec<usize> = adjacent.iter().map(Vec::len).collect();
    of_processes.sort_unstable();
    of_places.sort_unstable();
    of_processes == of_places
}

struct Search<'a> {
    graph: &'a CsrGraph,
    adjacent: &'a [Vec<PeId>],
    place_of: Vec<PeId>,
    is_taken: Vec<bool>,
    /// Neighbours of each process that are placed.
    placed_near: Vec<u32>,
    /// Places adjacent to each place that are taken.
    taken_near: Vec<u32>,
    /// All processes that have a neighbour that is placed and are not, and some others.
    frontier: Vec<NodeId>,
    /// Whether each process is in the frontier.
    is_listed: Vec<bool>,
}

/// A process, and the places that are left to try for it.
struct Frame {
    process: NodeId,
    places: Vec<PeId>,
}

impl Search<'_> {
    /// Places all processes; whether it could.
    fn run(&mut self, is_adjacent: impl Fn(PeId, PeId) -> bool, observer: &dyn Observer) -> bool {
        let n = self.place_of.len();
        let mut frames = vec![self.next(&is_adjacent)];
        for step in 0..STEPS * n {
            if step % n == 0 && observer.should_stop() {
                return false;
            }
            let Some(frame) = frames.last_mut() else { return false };
            let process = frame.process;
            let next = frame.places.pop();
            self.take_back(process);
            match next {
                Some(place) => {
                    self.put(process, place);
                    if frames.len() == n {
                        return true;
                    }
                    frames.push(self.next(&is_adjacent));
                }
                None => {
                    frames.pop();
                }
            }
        }
        false
    }

    fn put(&mut self, process: NodeId, place: PeId) {
        self.place_of[process as usize] = place;
        self.is_taken[place as usize] = true;
        self.adjacent[place as usize].iter().for_each(|&other| self.taken_near[other as usize] += 1);
        for (other, _) in self.graph.arcs(process) {
            self.placed_near[other as usize] += 1;
            self.list(other);
        }
    }

    fn list(&mut self, process: NodeId) {
        if !std::mem::replace(&mut self.is_listed[process as usize], true) {
            self.frontier.push(process);
        }
    }

    fn take_back(&mut self, process: NodeId) {
        let place = std::mem::replace(&mut self.place_of[process as usize], NONE);
        if place == NONE {
            return;
        }
        self.is_taken[place as usize] = false;
        self.adjacent[place as usize].iter().for_each(|&other| self.taken_near[other as usize] -= 1);
        for (other, _) in self.graph.arcs(process) {
            self.placed_near[other as usize] -= 1;
        }
        self.list(process);
    }

    /// The process to go on with: of those beside processes that are placed the first that has no choice, else the one
    /// that has the least.
    fn next(&mut self, is_adjacent: &impl Fn(PeId, PeId) -> bool) -> Frame {
        let Self { place_of, placed_near, is_listed, frontier, .. } = &mut *self;
        let is_waiting = |u: NodeId| place_of[u as usize] == NONE && placed_near[u as usize] > 0;
        frontier.retain(|&process| {
            is_listed[process as usize] = is_waiting(process);
            is_listed[process as usize]
        });
        let mut best: Option<Frame> = None;
        for &process in self.frontier.iter().rev() {
            let places = self.candidates(process, is_adjacent);
            if best.as_ref().is_none_or(|best| places.len() < best.places.len()) {
                let has_choice = places.len() > 1;
                best = Some(Frame { process, places });
                if !has_choice {
                    break;
                }
            }
        }
        best.unwrap_or_else(|| self.begin())
    }

    /// The places that a process with neighbours that are placed can be put on.
    fn candidates(&self, process: NodeId, is_adjacent: &impl Fn(PeId, PeId) -> bool) -> Vec<PeId> {
        let neighbours = self.graph.arcs(process).map(|(other, _)| self.place_of[other as usize]);
        let placed: Vec<PeId> = neighbours.filter(|&place| place != NONE).collect();
        let fits = |&place: &PeId| {
            !self.is_taken[place as usize]
                && self.adjacent[place as usize].len() == self.graph.degree(process)
                && self.taken_near[place as usize] as usize == placed.len()
                && placed.iter().all(|&other| is_adjacent(place, other))
        };
        self.adjacent[placed[0] as usize].iter().copied().filter(fits).collect()
    }

    /// A process none of whose neighbours is placed, and all places that it can be put on.
    fn begin(&self) -> Frame {
        let free = self.graph.nodes().filter(|&process| self.place_of[process as usize] == NONE);
        let process = free.min_by_key(|&process| self.graph.degree(process)).expect("a process is left");
        let fits = |&place: &PeId| {
            !self.is_taken[place as usize]
                && self.taken_near[place as usize] == 0
                && self.adjacent[place as usize].len() == self.graph.degree(process)
        };
        Frame { process, places: (0..self.place_of.len() as PeId).filter(fits).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use crate::objective::cost;
    use crate::rng::Rng;
    use crate::testing::{pattern_machines, random_graph, shuffled};
    use crate::topology::{DistanceVisitor, Machine};

    /// Looks for a graph on a machine; whether it is found.
    struct Look<'a>(&'a CsrGraph);

    impl DistanceVisitor for Look<'_> {
        type Output = bool;

        fn visit<O: DistanceOracle>(self, oracle: &O) -> bool {
            let key_of: Vec<O::Key> = (0..oracle.num_pes() as PeId).map(|place| oracle.key(place)).collect();
            let near = Near::new(oracle, &key_of, None);
            let problem = Problem::new(self.0, oracle).unwrap();
            let found = embedding(&problem, &key_of, &near, &());
            if let Some(place_of) = &found {
                let mapping = Mapping::new(place_of.clone()).unwrap();
                // All edges are one hop long.
                assert_eq!(cost(&problem, &mapping), self.0.total_arc_weight());
            }
            found.is_some()
        }
    }

    #[test]
    fn patterns_are_found_on_the_machines_of_their_shape_and_nowhere_else() {
        let mut rng = Rng::new(4);
        for (name, machine, pattern) in pattern_machines() {
            let distances = machine.distances().unwrap();
            for _ in 0..8 {
                assert!(distances.visit(Look(&shuffled(&pattern, 9, &mut rng))), "{name}");
            }
            let other = random_graph(pattern.num_nodes(), 4, 9, &mut rng);
            assert!(!distances.visit(Look(&other)), "{name}");
        }
    }
}
