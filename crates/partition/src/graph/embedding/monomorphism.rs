//! A graph in a host of as many vertices or more.
//!
//! Vertices come in an order in which each has as many neighbours before it as possible. A vertex can go to the free places that are
//! neighbours of the places of all these; those with few free neighbours are tried first, so that no place is left behind. Where a
//! vertex has no place, or a later one has none left, the search goes back. It gives up after a number of steps, and starts again a few times in a
//! random order of equal places, so it is cheap where there is no embedding. Grids in grids and hypercubes are found without going back, or nearly.
//!
//! Free places are kept in the order of their free neighbours, so that the first vertex of each component is placed in O(log n), however many
//! components and places there are.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::placement::{NONE, Placement};
use crate::base::observer::{Observer, Watch};
use crate::base::rng::Rng;
use crate::graph::CsrGraph;

/// Places that a vertex is tried on if none of its neighbours has one: where to begin matters less than how to go on.
const FIRST_PLACES: usize = 4;

/// How long an embedding is looked for.
#[derive(Clone, Copy)]
pub struct Budget {
    /// Steps for each vertex before a search is given up.
    steps: usize,
    /// Steps for any number of vertices.
    least_steps: usize,
    /// Searches: the first is deterministic, the others choose at random among equal places.
    tries: u64,
}

impl Budget {
    /// For graphs that are likely to have an embedding.
    pub const THOROUGH: Self = Self { steps: 40, least_steps: 5_000, tries: 6 };

    /// For graphs that hardly ever have one: finds only what needs nearly no going back, such as a mesh in a torus.
    pub const BRIEF: Self = Self { steps: 4, least_steps: 0, tries: 1 };
}

/// The place of each vertex of a pattern, if an embedding is found. The host is given by the neighbours of each place, from which a place
/// may be missing that has the other among its own.
pub fn embed(
    pattern: &CsrGraph,
    host: &[Vec<u32>],
    seed: u64,
    budget: Budget,
    observer: &dyn Observer,
) -> Option<Vec<u32>> {
    let n = pattern.num_nodes();
    let most = host.iter().map(Vec::len).max().unwrap_or(0);
    if n == 0 || n > host.len() || pattern.nodes().any(|vertex| pattern.degree(vertex) > most) {
        return None;
    }
    let order = order(pattern);
    let beside = beside(host);
    let mut watch = Watch::new(observer);
    (0..budget.tries).take_while(|_| !observer.should_stop()).find_map(|number| {
        let mut search = Search {
            pattern,
            host,
            order: &order,
            beside: &beside,
            placement: Placement::new(n, host.len()),
            free: Free::new(host),
            rng: (number > 0).then(|| Rng::new(seed.wrapping_add(number))),
        };
        search.run(budget, &mut watch).then_some(search.placement.place_of)
    })
}

/// The vertices in the order in which they are placed: from one of low degree, always the one with the most neighbours before it;
/// of these that whose first neighbour came first.
fn order(pattern: &CsrGraph) -> Vec<u32> {
    let n = pattern.num_nodes();
    let mut order = Vec::with_capacity(n);
    let (mut before, mut is_placed) = (vec![0usize; n], vec![false; n]);
    let mut starts: Vec<u32> = pattern.nodes().collect();
    starts.sort_by_key(|&vertex| (pattern.degree(vertex), vertex));
    // By the number of neighbours before, then first come, first served.
    let mut heap = BinaryHeap::new();
    for start in starts {
        heap.push((0, Reverse(usize::MAX), start));
        while let Some((count, _, vertex)) = heap.pop() {
            if is_placed[vertex as usize] || count != before[vertex as usize] {
                continue;
            }
            is_placed[vertex as usize] = true;
            order.push(vertex);
            for &other in pattern.neighbours(vertex).iter().filter(|&&other| !is_placed[other as usize]) {
                before[other as usize] += 1;
                heap.push((before[other as usize], Reverse(order.len()), other));
            }
        }
    }
    order
}

/// For each place the places among whose neighbours it is.
fn beside(host: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut beside = vec![Vec::new(); host.len()];
    for (place, neighbours) in (0..).zip(host) {
        neighbours.iter().for_each(|&other| beside[other as usize].push(place));
    }
    beside
}

/// How many neighbours of each place are free, and the free places in the order of that.
struct Free {
    count: Vec<u32>,
    places: BTreeSet<(u32, u32)>,
}

impl Free {
    /// All places.
    fn new(host: &[Vec<u32>]) -> Self {
        let count: Vec<u32> = host.iter().map(|neighbours| neighbours.len() as u32).collect();
        Self { places: count.iter().copied().zip(0..).collect(), count }
    }

    /// One more or one less neighbour of a place is free.
    fn change(&mut self, place: u32, is_more: bool) {
        let count = &mut self.count[place as usize];
        let was_free = self.places.remove(&(*count, place));
        *count = if is_more { *count + 1 } else { *count - 1 };
        if was_free {
            self.places.insert((*count, place));
        }
    }

    /// The free places with at least `open` free neighbours, those with fewest first. Those with the fewest are listed from place `first` on, and
    /// then from the beginning.
    fn from(&self, open: u32, first: u32) -> impl Iterator<Item = u32> + '_ {
        let least = self.places.range((open, 0)..).next().map_or(open, |&(count, _)| count);
        let begin = (least, first);
        let round = self.places.range(begin..(least + 1, 0)).chain(self.places.range((least, 0)..begin));
        round.chain(self.places.range((least + 1, 0)..)).map(|&(_, place)| place)
    }
}

struct Search<'a> {
    pattern: &'a CsrGraph,
    host: &'a [Vec<u32>],
    order: &'a [u32],
    beside: &'a [Vec<u32>],
    placement: Placement,
    free: Free,
    /// Chooses among equal places, unless the search is the deterministic one.
    rng: Option<Rng>,
}

impl Search<'_> {
    /// Returns whether all vertices got a place.
    fn run(&mut self, budget: Budget, watch: &mut Watch<'_>) -> bool {
        let mut left = budget.least_steps + budget.steps * self.order.len();
        // The candidates of each vertex that are not tried yet, the next one last.
        let mut stack: Vec<Vec<u32>> = vec![self.candidates(self.order[0])];
        while !stack.is_empty() {
            let level = stack.len() - 1;
            let vertex = self.order[level];
            let next = stack[level].pop();
            self.take_back(vertex);
            let Some(place) = next else {
                stack.pop();
                continue;
            };
            if left == 0 || watch.stops_after(64) {
                return false;
            }
            left -= 1;
            self.put(vertex, place);
            if self.is_hopeless(vertex) {
                continue;
            }
            if stack.len() == self.order.len() {
                return true;
            }
            let candidates = self.candidates(self.order[stack.len()]);
            stack.push(candidates);
        }
        false
    }

    fn put(&mut self, vertex: u32, place: u32) {
        self.placement.put(vertex, place);
        self.free.places.remove(&(self.free.count[place as usize], place));
        self.beside[place as usize].iter().for_each(|&other| self.free.change(other, false));
    }

    fn take_back(&mut self, vertex: u32) {
        if let Some(place) = self.placement.take_back(vertex) {
            self.beside[place as usize].iter().for_each(|&other| self.free.change(other, true));
            self.free.places.insert((self.free.count[place as usize], place));
        }
    }

    fn num_free_near(&self, place: u32) -> usize {
        self.free.count[place as usize] as usize
    }

    fn num_open_near(&self, vertex: u32) -> usize {
        self.open(vertex).count()
    }

    /// The neighbours of a vertex that have no place.
    fn open(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let neighbours = self.pattern.neighbours(vertex).iter().copied();
        neighbours.filter(|&other| !self.placement.is_placed(other))
    }

    /// The free places that are neighbours of the places of all neighbours that have one, of which there is at least one.
    fn fitting(&self, vertex: u32) -> impl Iterator<Item = u32> + '_ {
        let neighbours = self.pattern.neighbours(vertex).iter();
        let mut placed = neighbours.filter_map(|&other| self.placement.place(other));
        let near = placed.next().into_iter().flat_map(|place| self.host[place as usize].iter().copied());
        let rest: Vec<u32> = placed.collect();
        let is_near = move |place: u32| rest.iter().all(|&other| self.host[other as usize].contains(&place));
        near.filter(move |&place| self.placement.is_free(place) && is_near(place))
    }

    /// Places for a vertex, the best last: those with as few free neighbours as will do.
    fn candidates(&mut self, vertex: u32) -> Vec<u32> {
        let open = self.num_open_near(vertex);
        if open == self.pattern.degree(vertex) {
            return self.first_candidates(open);
        }
        let mut found: Vec<(usize, u64, u32)> = self
            .fitting(vertex)
            .map(|place| (self.num_free_near(place), u64::from(place), place))
            .filter(|&(free, ..)| free >= open)
            .collect();
        if let Some(rng) = &mut self.rng {
            found.iter_mut().for_each(|(_, rank, _)| *rank = rng.next_u64());
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.into_iter().map(|(.., place)| place).collect()
    }

    /// Places for a vertex none of whose neighbours has one.
    fn first_candidates(&mut self, open: usize) -> Vec<u32> {
        let first = self.rng.as_mut().map_or(0, |rng| rng.below(self.host.len() as u32));
        let mut found: Vec<u32> = self.free.from(open as u32, first).take(FIRST_PLACES).collect();
        found.reverse();
        found
    }

    /// Returns whether a vertex that was just placed leaves too little room for the neighbours of the vertices around it.
    fn is_hopeless(&self, vertex: u32) -> bool {
        let own = self.placement.place_of[vertex as usize];
        let has_room = |place: u32| {
            let there = self.placement.vertex_at[place as usize];
            there == NONE || self.num_free_near(place) >= self.num_open_near(there)
        };
        if !has_room(own) || !self.host[own as usize].iter().all(|&place| has_room(place)) {
            return true;
        }
        self.open(vertex).any(|other| self.fitting(other).next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::grid;

    fn lists(graph: &CsrGraph) -> Vec<Vec<u32>> {
        graph.nodes().map(|vertex| graph.neighbours(vertex).to_vec()).collect()
    }

    #[test]
    fn grids_are_found_in_larger_grids_and_edges_are_kept() {
        let (pattern, host) = (grid(5, 6), grid(8, 6));
        let place_of = embed(&pattern, &lists(&host), 1, Budget::THOROUGH, &()).unwrap();
        for u in pattern.nodes() {
            let here = place_of[u as usize];
            assert!(
                pattern.neighbours(u).iter().all(|&v| host.neighbours(here).contains(&place_of[v as usize]))
            );
        }
        let mut places = place_of;
        places.sort_unstable();
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(embed(&host, &lists(&pattern), 1, Budget::THOROUGH, &()), None);
    }
}
