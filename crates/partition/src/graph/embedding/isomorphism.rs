//! An isomorphism of two graphs.
//!
//! If both have as many edges, and vertices of the same degrees, a backtracking search looks for it. The search goes on with a vertex that has few
//! places left: those free places that are neighbours of the places of its neighbours and of no other places that are taken. A regular shape leaves
//! hardly a choice after the first few vertices.
//!
//! Time: O(n log n) where the degrees rule it out, else `STEPS` steps for each vertex at most, of O(frontier · degree²) tests of two places each, of
//! which most are decided by the first vertex. Memory: O(n + m).

use super::placement::NONE;
use crate::base::observer::{Observer, Watch};
use crate::graph::CsrGraph;

/// Vertices placed until the search is given up, for each vertex. Regular shapes take little more than one.
const STEPS: usize = 100;

/// The place of each vertex of a pattern, if the pattern is isomorphic to the host and that is found.
///
/// The host is given by the neighbours of each place. `is_adjacent` is whether two places are neighbours: whoever has distances knows faster than a
/// look at lists.
pub fn isomorphism(
    pattern: &CsrGraph,
    host: &[Vec<u32>],
    is_adjacent: &dyn Fn(u32, u32) -> bool,
    observer: &dyn Observer,
) -> Option<Vec<u32>> {
    if !have_equal_degrees(pattern, host) {
        return None;
    }
    let mut search = Search {
        pattern,
        host,
        is_adjacent,
        vertices: Free::new(host.len(), |vertex| pattern.degree(vertex)),
        places: Free::new(host.len(), |place| host[place as usize].len()),
        place_of: vec![NONE; host.len()],
        placed_near: vec![0; host.len()],
        taken_near: vec![0; host.len()],
        frontier: Vec::new(),
        is_listed: vec![false; host.len()],
        watch: Watch::new(observer),
    };
    search.run().then_some(search.place_of)
}

fn have_equal_degrees(pattern: &CsrGraph, host: &[Vec<u32>]) -> bool {
    let num_arcs: usize = host.iter().map(Vec::len).sum();
    if num_arcs != pattern.num_arcs() || num_arcs == 0 {
        return false;
    }
    let mut of_vertices: Vec<usize> = pattern.nodes().map(|vertex| pattern.degree(vertex)).collect();
    let mut of_places: Vec<usize> = host.iter().map(Vec::len).collect();
    of_vertices.sort_unstable();
    of_places.sort_unstable();
    of_vertices == of_places
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
    pattern: &'a CsrGraph,
    host: &'a [Vec<u32>],
    is_adjacent: &'a dyn Fn(u32, u32) -> bool,
    vertices: Free,
    places: Free,
    place_of: Vec<u32>,
    /// Neighbours of each vertex that have a place.
    placed_near: Vec<u32>,
    /// Neighbours of each place that are taken.
    taken_near: Vec<u32>,
    /// All vertices without a place that have a neighbour with one, and some others.
    frontier: Vec<u32>,
    /// Whether each vertex is in the frontier.
    is_listed: Vec<bool>,
    watch: Watch<'a>,
}

/// A vertex, and the places that are left to try for it.
struct Frame {
    vertex: u32,
    places: Choice,
}

/// Places to try.
enum Choice {
    /// These, the last one first.
    Listed(Vec<u32>),
    /// Those that are free and have no neighbour that is taken, from here on in the order of all places.
    From(usize),
}

impl Search<'_> {
    /// Returns whether all vertices got a place.
    fn run(&mut self) -> bool {
        let n = self.place_of.len();
        let Some(frame) = self.next() else { return true };
        let mut frames = vec![frame];
        for _ in 0..STEPS * n {
            if self.watch.stops_after(1 + self.frontier.len()) {
                return false;
            }
            let Some(Frame { vertex, places }) = frames.last_mut() else { return false };
            self.take_back(*vertex);
            match self.next_place(*vertex, places) {
                Some(place) => {
                    self.put(*vertex, place);
                    let Some(frame) = self.next() else { return true };
                    frames.push(frame);
                }
                None => {
                    frames.pop();
                }
            }
        }
        false
    }

    /// The next place to try for a vertex.
    fn next_place(&mut self, vertex: u32, places: &mut Choice) -> Option<u32> {
        let rank = match places {
            Choice::Listed(places) => return places.pop(),
            Choice::From(rank) => rank,
        };
        while let Some(&place) = self.places.order.get(*rank)
            && self.host[place as usize].len() == self.pattern.degree(vertex)
            && !self.watch.stops_after(1)
        {
            *rank += 1;
            if self.places.is_free(place) && self.taken_near[place as usize] == 0 {
                return Some(place);
            }
        }
        None
    }

    fn put(&mut self, vertex: u32, place: u32) {
        self.place_of[vertex as usize] = place;
        self.vertices.take(vertex);
        self.places.take(place);
        self.host[place as usize].iter().for_each(|&other| self.taken_near[other as usize] += 1);
        for (other, _) in self.pattern.arcs(vertex) {
            self.placed_near[other as usize] += 1;
            self.list(other);
        }
    }

    fn list(&mut self, vertex: u32) {
        if !std::mem::replace(&mut self.is_listed[vertex as usize], true) {
            self.frontier.push(vertex);
        }
    }

    fn take_back(&mut self, vertex: u32) {
        let place = std::mem::replace(&mut self.place_of[vertex as usize], NONE);
        if place == NONE {
            return;
        }
        self.vertices.give_back(vertex);
        self.places.give_back(place);
        self.host[place as usize].iter().for_each(|&other| self.taken_near[other as usize] -= 1);
        for (other, _) in self.pattern.arcs(vertex) {
            self.placed_near[other as usize] -= 1;
        }
        self.list(vertex);
    }

    /// The vertex to go on with, if one is left: of those with a neighbour that has a place the first that has no choice, else the one that has
    /// the fewest places.
    fn next(&mut self) -> Option<Frame> {
        let mut best: Option<(u32, Vec<u32>)> = None;
        for index in (0..self.frontier.len()).rev() {
            let vertex = self.frontier[index];
            if !self.vertices.is_free(vertex) || self.placed_near[vertex as usize] == 0 {
                // Moves no more than has been scanned.
                self.frontier.remove(index);
                self.is_listed[vertex as usize] = false;
                continue;
            }
            let places = self.candidates(vertex);
            if best.as_ref().is_none_or(|(_, best)| places.len() < best.len()) {
                let has_choice = places.len() > 1;
                best = Some((vertex, places));
                if !has_choice {
                    break;
                }
            }
        }
        match best {
            Some((vertex, places)) => Some(Frame { vertex, places: Choice::Listed(places) }),
            None => self.begin(),
        }
    }

    /// The places for a vertex that has neighbours with a place.
    fn candidates(&self, vertex: u32) -> Vec<u32> {
        let neighbours = self.pattern.arcs(vertex).map(|(other, _)| self.place_of[other as usize]);
        let placed: Vec<u32> = neighbours.filter(|&place| place != NONE).collect();
        let fits = |&place: &u32| {
            self.places.is_free(place)
                && self.host[place as usize].len() == self.pattern.degree(vertex)
                && self.taken_near[place as usize] as usize == placed.len()
                && placed.iter().all(|&other| (self.is_adjacent)(place, other))
        };
        self.host[placed[0] as usize].iter().copied().filter(fits).collect()
    }

    /// A vertex of least degree of those left, none of whose neighbours has a place. Its places have the same degree, so they are the first free
    /// ones too.
    fn begin(&mut self) -> Option<Frame> {
        let (_, vertex) = self.vertices.first()?;
        let (rank, _) = self.places.first()?;
        Some(Frame { vertex, places: Choice::From(rank) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::grid;

    #[test]
    fn a_grid_is_found_in_itself_and_not_in_another() {
        let lists = |graph: &CsrGraph| -> Vec<Vec<u32>> {
            graph.nodes().map(|vertex| graph.neighbours(vertex).to_vec()).collect()
        };
        let found = |pattern: &CsrGraph, host: &CsrGraph| {
            let is_adjacent = |p: u32, q: u32| host.neighbours(p).contains(&q);
            isomorphism(pattern, &lists(host), &is_adjacent, &())
        };
        let pattern = grid(5, 8);
        let place_of = found(&pattern, &grid(8, 5)).unwrap();
        let host = grid(8, 5);
        for u in pattern.nodes() {
            let near = host.neighbours(place_of[u as usize]);
            assert!(pattern.neighbours(u).iter().all(|&v| near.contains(&place_of[v as usize])));
        }
        assert_eq!(found(&pattern, &grid(4, 10)), None);
    }
}
