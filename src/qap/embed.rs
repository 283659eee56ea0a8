//! Problems whose optimum is a matter of shape: the entries of one matrix fit on the least entries of the other.
//!
//! If no entry between objects is negative, no J is below the least entry between two places times the sum of all entries between objects. An
//! assignment reaches that bound exactly if it puts every pair of objects with an entry on a pair of places with the least entry: if it
//! embeds one graph into another. Where both are sparse, a search in the order of neighbours finds that or rules it out, however the
//! objects are numbered; on grids, rings and trees in no time. Otherwise it gives up after so many steps.

use std::cmp::Reverse;

use super::form::Qap;
use crate::ground::observer::Watch;
use crate::ground::types::Cost;

/// An assignment that no other is better than, if one is found that reaches the bound; `steps` bounds the time.
pub(super) fn optimum(qap: &Qap, steps: u64, watch: &mut Watch<'_>) -> Option<(Cost, Vec<u32>)> {
    let direct = embedded(qap, steps, watch);
    let place_of = direct.or_else(|| {
        let object_at = embedded(&qap.exchanged(), steps, watch)?;
        let mut place_of = vec![0; object_at.len()];
        for (place, &object) in object_at.iter().enumerate() {
            place_of[object as usize] = place as u32;
        }
        Some(place_of)
    })?;
    Some((qap.cost(&place_of), place_of))
}

/// An assignment that puts all entries between objects on least entries between places.
fn embedded(qap: &Qap, steps: u64, watch: &mut Watch<'_>) -> Option<Vec<u32>> {
    let n = qap.size();
    let has_diagonals = (0..n).any(|i| qap.row_a(i)[i] != 0) && (0..n).any(|k| qap.row_b(k)[k] != 0);
    if !(2..=MOST_OBJECTS).contains(&n) || has_diagonals || qap.a().iter().any(|&entry| entry < 0) {
        return None;
    }
    let between = |k: usize| (0..n).filter(move |&l| l != k).map(move |l| (k, l));
    let least = (0..n).flat_map(between).map(|(k, l)| qap.row_b(k)[l]).min()?;
    let pattern = Relation::new(n, |i, j| qap.row_a(i)[j] != 0);
    let host = Relation::new(n, |k, l| qap.row_b(k)[l] == least);
    if pattern.is_too_large_for(&host) {
        return None;
    }
    let order = pattern.order();
    let is_exact = pattern.num_pairs() == host.num_pairs();
    let mut search = Search {
        pattern,
        host,
        is_exact,
        order,
        place_of: vec![NONE; n],
        object_at: vec![NONE; n],
        left: steps,
        watch,
    };
    search.place(0).then_some(search.place_of)
}

const NONE: u32 = u32::MAX;

/// The search is as deep as there are objects.
const MOST_OBJECTS: usize = 2048;

/// Which pairs of different ones are related, in either direction.
struct Relation {
    size: usize,
    /// Whether the first is related to the second.
    holds: Vec<bool>,
    /// Those that are related to one, or it to them, in rising order.
    near: Vec<Vec<u32>>,
    /// How many it is related to, and how many are to it.
    degrees: Vec<(usize, usize)>,
}

impl Relation {
    fn new(size: usize, relates: impl Fn(usize, usize) -> bool) -> Self {
        let holds: Vec<bool> =
            (0..size * size).map(|at| at / size != at % size && relates(at / size, at % size)).collect();
        let is_near = |i: usize, j: usize| holds[i * size + j] || holds[j * size + i];
        let near = |i: usize| (0..size).filter(|&j| is_near(i, j)).map(|j| j as u32).collect();
        let degrees = |i: usize| {
            let count = |step: &dyn Fn(usize) -> usize| (0..size).filter(|&j| holds[step(j)]).count();
            (count(&|j| i * size + j), count(&|j| j * size + i))
        };
        Self { size, near: (0..size).map(near).collect(), degrees: (0..size).map(degrees).collect(), holds }
    }

    fn num_pairs(&self) -> usize {
        self.degrees.iter().map(|&(out, _)| out).sum()
    }

    /// Whether some degree, in the order of their sizes, is greater than that of the other.
    fn is_too_large_for(&self, host: &Self) -> bool {
        let sorted = |relation: &Self| {
            let mut degrees: Vec<usize> = relation.degrees.iter().map(|&(out, into)| out + into).collect();
            degrees.sort_unstable();
            degrees
        };
        sorted(self).into_iter().zip(sorted(host)).any(|(own, room)| own > room)
    }

    /// All in an order in which each has as many near ones before it as can be; among equals, first those whose degrees are rare, so
    /// that few places come into question, such as the corners of a grid.
    fn order(&self) -> Vec<usize> {
        let alike = |i: usize| self.degrees.iter().filter(|&&degrees| degrees == self.degrees[i]).count();
        let alike: Vec<usize> = (0..self.size).map(alike).collect();
        let mut before = vec![0; self.size];
        let mut is_taken = vec![false; self.size];
        let mut order = Vec::with_capacity(self.size);
        for _ in 0..self.size {
            let rest = (0..self.size).filter(|&i| !is_taken[i]);
            let next = rest.max_by_key(|&i| (before[i], Reverse(alike[i]), self.near[i].len(), Reverse(i)));
            let next = next.expect("one is left");
            is_taken[next] = true;
            order.push(next);
            for &other in &self.near[next] {
                before[other as usize] += 1;
            }
        }
        order
    }
}

struct Search<'a, 'b> {
    pattern: Relation,
    host: Relation,
    /// Whether both have as many pairs.
    is_exact: bool,
    order: Vec<usize>,
    place_of: Vec<u32>,
    object_at: Vec<u32>,
    left: u64,
    watch: &'a mut Watch<'b>,
}

impl Search<'_, '_> {
    /// Puts the objects from this position of the order on; whether that was possible.
    fn place(&mut self, at: usize) -> bool {
        let Some(&object) = self.order.get(at) else {
            return true;
        };
        for place in self.candidates(object) {
            if self.left == 0 || self.watch.stops_after(self.pattern.near[object].len()) {
                return false;
            }
            self.left -= 1;
            if self.fits(object, place as usize) {
                (self.place_of[object], self.object_at[place as usize]) = (place, object as u32);
                if self.place(at + 1) {
                    return true;
                }
                (self.place_of[object], self.object_at[place as usize]) = (NONE, NONE);
            }
        }
        false
    }

    /// The places near that of one near object, or all places.
    fn candidates(&self, object: usize) -> Vec<u32> {
        let placed = self.pattern.near[object].iter().map(|&other| self.place_of[other as usize]);
        let near =
            placed.filter(|&place| place != NONE).min_by_key(|&place| self.host.near[place as usize].len());
        match near {
            Some(place) => self.host.near[place as usize].clone(),
            None => (0..self.host.size as u32).collect(),
        }
    }

    /// Whether a place is free, and related as the object is to all that have places, with room for the others.
    fn fits(&self, object: usize, place: usize) -> bool {
        let n = self.host.size;
        let (own, room) = (self.pattern.degrees[object], self.host.degrees[place]);
        let holds = |relation: &Relation, i: usize, j: usize| relation.holds[i * n + j];
        let agrees = |&other: &u32| {
            let (other, there) = (other as usize, self.place_of[other as usize]);
            there == NONE || {
                let there = there as usize;
                (!holds(&self.pattern, object, other) || holds(&self.host, place, there))
                    && (!holds(&self.pattern, other, object) || holds(&self.host, there, place))
            }
        };
        // Where nothing of the host is left over, what is too much room for one is missing for another.
        let suffices = |room: usize, own: usize| if self.is_exact { room == own } else { room >= own };
        self.object_at[place] == NONE
            && suffices(room.0, own.0)
            && suffices(room.1, own.1)
            && self.pattern.near[object].iter().all(agrees)
            && suffices(self.free_near(place), self.open_near(object))
    }

    fn free_near(&self, place: usize) -> usize {
        self.host.near[place].iter().filter(|&&other| self.object_at[other as usize] == NONE).count()
    }

    fn open_near(&self, object: usize) -> usize {
        self.pattern.near[object].iter().filter(|&&other| self.place_of[other as usize] == NONE).count()
    }
}
