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

use crate::graph::CsrGraph;
use crate::ground::observer::{Observer, Watch};
use crate::ground::types::{NodeId, PeId};
use crate::machine::DistanceOracle;
use crate::mapping::annealing::Near;
use crate::mapping::problem::Problem;

/// Processes placed until the search is given up, for each process. Regular shapes take little more than one.
const STEPS: usize = 100;

/// Neither a process nor a place.
const NONE: u32 = u32::MAX;

/// A mapping of all neighbours to places at the least distance, if there is one and it is found; the place of each process.
///
/// `near` is what is near each place.
pub(super) fn embedding(problem: &Problem<'_>, near: &Near, observer: &dyn Observer) -> Option<Vec<PeId>> {
    let (graph, size) = (problem.graph(), problem.size());
    let distance = |p: PeId, q: PeId| problem.oracle().distance(p, q);
    let places = 0..size as PeId;
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
        processes: Free::new(size, |process| graph.degree(process)),
        places: Free::new(size, |place| adjacent[place as usize].len()),
        place_of: vec![NONE; size],
        placed_near: vec![0; size],
        taken_near: vec![0; size],
        frontier: Vec::new(),
        is_listed: vec![false; size],
        watch: Watch::new(observer),
    };
    search.run(is_adjacent).then_some(search.place_of)
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

/// Which of some vertices are free, and the one of least degree among them.
struct Free {
    is_free: Vec<bool>,
    /// All of them, those of least degree first.
    order: Vec<u32>,
    /// Where each one is in the order.
    rank_of: Vec<u32>,
    /// None before this one in the order is free.
    first: usize,
}

impl Free {
    fn new(count: usize, degree: impl Fn(u32) -> usize) -> Self {
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by_key(|&vertex| degree(vertex));
        let mut rank_of = vec![0; count];
        for (rank, &vertex) in (0..).zip(&order) {
            rank_of[vertex as usize] = rank;
        }
        Self { is_free: vec![true; count], order, rank_of, first: 0 }
    }

    fn take(&mut self, vertex: u32) {
        self.is_free[vertex as usize] = false;
    }

    fn give_back(&mut self, vertex: u32) {
        self.is_free[vertex as usize] = true;
        self.first = self.first.min(self.rank_of[vertex as usize] as usize);
    }

    fn is_free(&self, vertex: u32) -> bool {
        self.is_free[vertex as usize]
    }

    /// The first free one in the order, if there is one, and where it is. Costs as much as have been taken since.
    fn first(&mut self) -> Option<(usize, u32)> {
        while self.order.get(self.first).is_some_and(|&vertex| !self.is_free(vertex)) {
            self.first += 1;
        }
        Some((self.first, *self.order.get(self.first)?))
    }
}

struct Search<'a> {
    graph: &'a CsrGraph,
    adjacent: &'a [Vec<PeId>],
    processes: Free,
    places: Free,
    place_of: Vec<PeId>,
    /// Neighbours of each process that are placed.
    placed_near: Vec<u32>,
    /// Places adjacent to each place that are taken.
    taken_near: Vec<u32>,
    /// All processes that have a neighbour that is placed and are not, and some others.
    frontier: Vec<NodeId>,
    /// Whether each process is in the frontier.
    is_listed: Vec<bool>,
    watch: Watch<'a>,
}

/// A process, and the places that are left to try for it.
struct Frame {
    process: NodeId,
    places: Choice,
}

/// Places to try.
enum Choice {
    /// These, the last one first.
    Listed(Vec<PeId>),
    /// Those that are free and not beside others that are taken, from here on in the order of all places.
    From(usize),
}

impl Search<'_> {
    /// Places all processes; whether it could.
    fn run(&mut self, is_adjacent: impl Fn(PeId, PeId) -> bool) -> bool {
        let n = self.place_of.len();
        let Some(frame) = self.next(&is_adjacent) else { return true };
        let mut frames = vec![frame];
        for _ in 0..STEPS * n {
            if self.watch.stops_after(1 + self.frontier.len()) {
                return false;
            }
            let Some(Frame { process, places }) = frames.last_mut() else { return false };
            self.take_back(*process);
            match self.next_place(*process, places) {
                Some(place) => {
                    self.put(*process, place);
                    let Some(frame) = self.next(&is_adjacent) else { return true };
                    frames.push(frame);
                }
                None => {
                    frames.pop();
                }
            }
        }
        false
    }

    /// The next place to try for a process.
    fn next_place(&mut self, process: NodeId, places: &mut Choice) -> Option<PeId> {
        let rank = match places {
            Choice::Listed(places) => return places.pop(),
            Choice::From(rank) => rank,
        };
        while let Some(&place) = self.places.order.get(*rank)
            && self.adjacent[place as usize].len() == self.graph.degree(process)
            && !self.watch.stops_after(1)
        {
            *rank += 1;
            if self.places.is_free(place) && self.taken_near[place as usize] == 0 {
                return Some(place);
            }
        }
        None
    }

    fn put(&mut self, process: NodeId, place: PeId) {
        self.place_of[process as usize] = place;
        self.processes.take(process);
        self.places.take(place);
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
        self.processes.give_back(process);
        self.places.give_back(place);
        self.adjacent[place as usize].iter().for_each(|&other| self.taken_near[other as usize] -= 1);
        for (other, _) in self.graph.arcs(process) {
            self.placed_near[other as usize] -= 1;
        }
        self.list(process);
    }

    /// The process to go on with, if one is left: of those beside processes that are placed the first that has no choice,
    /// else the one that has the least.
    fn next(&mut self, is_adjacent: &impl Fn(PeId, PeId) -> bool) -> Option<Frame> {
        let mut best: Option<(NodeId, Vec<PeId>)> = None;
        for index in (0..self.frontier.len()).rev() {
            let process = self.frontier[index];
            if !self.processes.is_free(process) || self.placed_near[process as usize] == 0 {
                // Moves no more than has been looked at.
                self.frontier.remove(index);
                self.is_listed[process as usize] = false;
                continue;
            }
            let places = self.candidates(process, is_adjacent);
            if best.as_ref().is_none_or(|(_, best)| places.len() < best.len()) {
                let has_choice = places.len() > 1;
                best = Some((process, places));
                if !has_choice {
                    break;
                }
            }
        }
        match best {
            Some((process, places)) => Some(Frame { process, places: Choice::Listed(places) }),
            None => self.begin(),
        }
    }

    /// The places that a process with neighbours that are placed can be put on.
    fn candidates(&self, process: NodeId, is_adjacent: &impl Fn(PeId, PeId) -> bool) -> Vec<PeId> {
        let neighbours = self.graph.arcs(process).map(|(other, _)| self.place_of[other as usize]);
        let placed: Vec<PeId> = neighbours.filter(|&place| place != NONE).collect();
        let fits = |&place: &PeId| {
            self.places.is_free(place)
                && self.adjacent[place as usize].len() == self.graph.degree(process)
                && self.taken_near[place as usize] as usize == placed.len()
                && placed.iter().all(|&other| is_adjacent(place, other))
        };
        self.adjacent[placed[0] as usize].iter().copied().filter(fits).collect()
    }

    /// A process of least degree of those left, none of whose neighbours is placed. Equal degrees are placed on each other, so
    /// the places that it can be put on are the first free ones too.
    fn begin(&mut self) -> Option<Frame> {
        let (_, process) = self.processes.first()?;
        let (rank, _) = self.places.first()?;
        Some(Frame { process, places: Choice::From(rank) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::ground::rng::Rng;
    use crate::machine::{Dimension, Distances, Grid, Hierarchy, Machine};
    use crate::mapping::Mapping;
    use crate::mapping::objective::cost;
    use crate::testing::{pattern_machines, random_graph, shuffled};

    /// Whether a graph is found on a machine.
    fn is_found(graph: &CsrGraph, distances: &Distances) -> bool {
        let places: Vec<PeId> = (0..distances.num_pes() as PeId).collect();
        let near = Near::new(distances, &places, None, &());
        let problem = Problem::new(graph, distances).unwrap();
        let found = embedding(&problem, &near, &());
        if let Some(place_of) = &found {
            let mapping = Mapping::new(place_of.clone()).unwrap();
            // All edges are one hop long.
            assert_eq!(cost(&problem, &mapping), graph.total_arc_weight());
        }
        found.is_some()
    }

    #[test]
    fn patterns_are_found_on_the_machines_of_their_shape_and_nowhere_else() {
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

    /// Each part is begun where nothing is placed near it.
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
