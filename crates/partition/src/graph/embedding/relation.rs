//! A directed relation in another, both given as matrices.
//!
//! Every pair of the pattern must be a pair of the host. Vertices are placed by a recursive search in a fixed order: always one with most neighbours
//! before it, and among equals one whose degrees are rare, such as the corner of a grid. It is tried on the places near that of a neighbour which have
//! enough free neighbours for those that are still to come.
//!
//! Time: O(n²) for the relations, then O(degree²) for each step. Memory: O(n²).

use std::cmp::Reverse;

use super::placement::{NONE, Placement};
use crate::base::observer::Watch;

/// The search is as deep as there are vertices.
pub const MOST_VERTICES: usize = 2048;

/// Which pairs of different vertices are related. Neighbours are related in either direction.
pub struct Relation {
    size: usize,
    /// Whether the first is related to the second, row by row.
    holds: Vec<bool>,
    /// The neighbours of each vertex, in ascending order.
    neighbours: Vec<Vec<u32>>,
    /// To how many each vertex is related, and how many are related to it.
    degrees: Vec<(usize, usize)>,
}

impl Relation {
    /// The relation in which `i` is related to `j` if `relates(i, j)`; O(size²).
    pub fn new(size: usize, relates: impl Fn(usize, usize) -> bool) -> Self {
        let holds: Vec<bool> =
            (0..size * size).map(|at| at / size != at % size && relates(at / size, at % size)).collect();
        let is_near = |i: usize, j: usize| holds[i * size + j] || holds[j * size + i];
        let neighbours = |i: usize| (0..size).filter(|&j| is_near(i, j)).map(|j| j as u32).collect();
        let degrees = |i: usize| {
            let count = |at: &dyn Fn(usize) -> usize| (0..size).filter(|&j| holds[at(j)]).count();
            (count(&|j| i * size + j), count(&|j| j * size + i))
        };
        let neighbours = (0..size).map(neighbours).collect();
        let degrees = (0..size).map(degrees).collect();
        Self { size, holds, neighbours, degrees }
    }

    fn num_pairs(&self) -> usize {
        self.degrees.iter().map(|&(out, _)| out).sum()
    }

    fn holds(&self, i: u32, j: u32) -> bool {
        self.holds[i as usize * self.size + j as usize]
    }

    /// Returns whether some degree, in the order of their sizes, is greater than that of the host.
    fn is_too_large_for(&self, host: &Self) -> bool {
        let sorted = |relation: &Self| {
            let mut degrees: Vec<usize> = relation.degrees.iter().map(|&(out, into)| out + into).collect();
            degrees.sort_unstable();
            degrees
        };
        sorted(self).into_iter().zip(sorted(host)).any(|(own, room)| own > room)
    }

    /// All vertices in the order in which they are placed.
    fn order(&self) -> Vec<u32> {
        let alike = |i: usize| self.degrees.iter().filter(|&&degrees| degrees == self.degrees[i]).count();
        let alike: Vec<usize> = (0..self.size).map(alike).collect();
        let mut before = vec![0; self.size];
        let mut is_taken = vec![false; self.size];
        let mut order = Vec::with_capacity(self.size);
        for _ in 0..self.size {
            let rest = (0..self.size).filter(|&i| !is_taken[i]);
            let next =
                rest.max_by_key(|&i| (before[i], Reverse(alike[i]), self.neighbours[i].len(), Reverse(i)));
            let next = next.expect("one is left");
            is_taken[next] = true;
            order.push(next as u32);
            for &other in &self.neighbours[next] {
                before[other as usize] += 1;
            }
        }
        order
    }
}

/// The place of each vertex of a pattern in a host of the same size, if an embedding is found within `steps` steps. Sizes are at most
/// [`MOST_VERTICES`].
pub fn embed(pattern: &Relation, host: &Relation, steps: u64, watch: &mut Watch<'_>) -> Option<Vec<u32>> {
    if pattern.is_too_large_for(host) {
        return None;
    }
    let mut search = Search {
        pattern,
        host,
        is_exact: pattern.num_pairs() == host.num_pairs(),
        order: pattern.order(),
        placement: Placement::new(pattern.size, host.size),
        left: steps,
        watch,
    };
    search.place(0).then_some(search.placement.place_of)
}

struct Search<'a, 'b> {
    pattern: &'a Relation,
    host: &'a Relation,
    /// True if both have as many pairs.
    is_exact: bool,
    order: Vec<u32>,
    placement: Placement,
    /// Steps that are left.
    left: u64,
    watch: &'a mut Watch<'b>,
}

impl Search<'_, '_> {
    /// Places the vertices from this position of the order on; whether that was possible.
    fn place(&mut self, at: usize) -> bool {
        let Some(&vertex) = self.order.get(at) else {
            return true;
        };
        for place in self.candidates(vertex) {
            if self.left == 0 || self.watch.stops_after(self.pattern.neighbours[vertex as usize].len()) {
                return false;
            }
            self.left -= 1;
            if self.fits(vertex, place) {
                self.placement.put(vertex, place);
                if self.place(at + 1) {
                    return true;
                }
                self.placement.take_back(vertex);
            }
        }
        false
    }

    /// The places near that of a neighbour, or all places if no neighbour has one.
    fn candidates(&self, vertex: u32) -> Vec<u32> {
        let neighbours = self.pattern.neighbours[vertex as usize].iter();
        let placed = neighbours.filter_map(|&other| self.placement.place(other));
        match placed.min_by_key(|&place| self.host.neighbours[place as usize].len()) {
            Some(place) => self.host.neighbours[place as usize].clone(),
            None => (0..self.host.size as u32).collect(),
        }
    }

    /// Returns whether a place is free, related as the vertex is to all that have places, and near enough free places for the other neighbours.
    fn fits(&self, vertex: u32, place: u32) -> bool {
        let (pattern, host) = (self.pattern, self.host);
        let (own, room) = (pattern.degrees[vertex as usize], host.degrees[place as usize]);
        let agrees = |&other: &u32| {
            let there = self.placement.place_of[other as usize];
            there == NONE
                || (!pattern.holds(vertex, other) || host.holds(place, there))
                    && (!pattern.holds(other, vertex) || host.holds(there, place))
        };
        // Where all pairs of the host are needed, spare room at one place would be missing at another.
        let suffices = |room: usize, own: usize| if self.is_exact { room == own } else { room >= own };
        self.placement.is_free(place)
            && suffices(room.0, own.0)
            && suffices(room.1, own.1)
            && pattern.neighbours[vertex as usize].iter().all(agrees)
            && suffices(self.num_free_near(place), self.num_open_near(vertex))
    }

    fn num_free_near(&self, place: u32) -> usize {
        self.host.neighbours[place as usize].iter().filter(|&&other| self.placement.is_free(other)).count()
    }

    fn num_open_near(&self, vertex: u32) -> usize {
        let neighbours = self.pattern.neighbours[vertex as usize].iter();
        neighbours.filter(|&&other| !self.placement.is_placed(other)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_seen() {
        let path = |steps: &[(usize, usize)]| {
            let steps = steps.to_vec();
            Relation::new(3, move |i, j| steps.contains(&(i, j)))
        };
        let place_of = |pattern: &[(usize, usize)], host: &[(usize, usize)]| {
            embed(&path(pattern), &path(host), 1000, &mut Watch::new(&()))
        };
        assert_eq!(place_of(&[(0, 1), (1, 2)], &[(2, 0), (0, 1)]), Some(vec![2, 0, 1]));
        assert_eq!(place_of(&[(0, 1), (2, 1)], &[(2, 0), (0, 1)]), None);
        // With room left over.
        assert!(place_of(&[(0, 1), (2, 1)], &[(2, 0), (0, 2), (1, 0)]).is_some());
    }
}
