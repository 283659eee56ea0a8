//! Branch and bound for small problems, which proves optimality.
//!
//! Objects are assigned one by one, heaviest entries first, each to the cheapest place first. A branch ends
//! if the Gilmore-Lawler bound of the remaining problem is not below the best known assignment. The number of
//! branches is limited, and so is the time; a branch takes O(m³) with m objects left.

use super::bound::{Free, Rest, cheapest, cost_among};
use super::form::Qap;
use crate::base::observer::Watch;
use crate::base::types::Cost;

/// The result of a search.
pub(crate) struct Proof {
    /// An assignment better than the given one, if there is one.
    pub(crate) better: Option<(Cost, Vec<u32>)>,
    /// True if the search was complete: then the better one, or else the given one, is optimal.
    pub(crate) is_complete: bool,
}

/// Searches for an assignment below `upper`. `fixed` are objects that must be at given places.
pub(crate) fn search(
    qap: &Qap,
    fixed: &[(usize, usize)],
    upper: Cost,
    branches: u64,
    watch: &mut Watch<'_>,
) -> Proof {
    let n = qap.size();
    let weight = |i: usize| {
        (0..n).map(|j| qap.row_a(i)[j].unsigned_abs() / 2 + qap.row_a(j)[i].unsigned_abs() / 2).max()
    };
    let Free { mut objects, places } = Free::beside(n, fixed);
    objects.sort_by_key(|&i| std::cmp::Reverse(weight(i)));
    let cost = cost_among(qap, fixed);
    let mut search = Search { qap, upper, left: branches, best: None, fixed: fixed.to_vec(), watch };
    let is_complete = search.branch(&objects, &places, cost);
    Proof { better: search.best.map(|place_of| (search.upper, place_of)), is_complete }
}

struct Search<'a, 'b> {
    qap: &'a Qap,
    /// J of the best assignment known.
    upper: Cost,
    /// Branches left.
    left: u64,
    best: Option<Vec<u32>>,
    fixed: Vec<(usize, usize)>,
    watch: &'a mut Watch<'b>,
}

impl Search<'_, '_> {
    /// Searches all assignments of the remaining objects and places, where the fixed ones cost `cost` among
    /// themselves. Returns whether the search was complete.
    fn branch(&mut self, objects: &[usize], places: &[usize], cost: Cost) -> bool {
        let m = objects.len();
        let Some((&object, others)) = objects.split_first() else {
            self.record(cost);
            return true;
        };
        if self.left == 0 || self.watch.stops_after(m * m * m) {
            return false;
        }
        self.left -= 1;
        let prices = Rest { qap: self.qap, objects, places, fixed: &self.fixed }.prices();
        if cost + cheapest(m, &prices) >= self.upper {
            return true;
        }
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by_key(|&at| prices[at]);
        let mut is_complete = true;
        for at in order {
            let place = places[at];
            let added = self.added(object, place);
            let rest: Vec<usize> = places.iter().copied().filter(|&other| other != place).collect();
            self.fixed.push((object, place));
            is_complete &= self.branch(others, &rest, cost + added);
            self.fixed.pop();
        }
        is_complete
    }

    /// The contribution of an object at a place to J.
    fn added(&self, i: usize, k: usize) -> Cost {
        let (a, b) = (|i: usize, j: usize| self.qap.row_a(i)[j], |k: usize, l: usize| self.qap.row_b(k)[l]);
        let with = |&(j, l): &(usize, usize)| a(i, j) * b(k, l) + a(j, i) * b(l, k);
        a(i, i) * b(k, k) + self.fixed.iter().map(with).sum::<Cost>()
    }

    fn record(&mut self, cost: Cost) {
        if cost < self.upper {
            let mut place_of = vec![0; self.qap.size()];
            for &(object, place) in &self.fixed {
                place_of[object] = place as u32;
            }
            (self.upper, self.best) = (cost, Some(place_of));
        }
    }
}
