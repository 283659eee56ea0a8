//! Lower bounds on J.
//!
//! Gilmore and Lawler: an object at a place costs at least the product of its entries and those of the place,
//! sorted in opposite orders. The cheapest assignment of objects to places at these prices is a lower bound.
//! O(n³) for the prices of all pairs, O(n³) for the assignment.
//!
//! P. C. Gilmore: Optimal and suboptimal algorithms for the quadratic assignment problem. Journal of the SIAM
//! 10, 1962. E. L. Lawler: The quadratic assignment problem. Management Science 9, 1963.

use super::form::Qap;
use crate::base::linear_assignment::cheapest_assignment;
use crate::base::types::Cost;

/// A partial problem: the costs of some objects at some places while the others are fixed.
pub(super) struct Rest<'a> {
    pub(super) qap: &'a Qap,
    /// The unassigned objects, and the same number of free places.
    pub(super) objects: &'a [usize],
    pub(super) places: &'a [usize],
    /// The fixed objects with their places.
    pub(super) fixed: &'a [(usize, usize)],
}

impl Rest<'_> {
    /// A lower bound on the cost of each object at each place, row by row. The sum over an assignment is at
    /// most its J minus that of the fixed objects among themselves.
    pub(super) fn prices(&self) -> Vec<Cost> {
        let sorted = |others: &[usize], own: usize, row: &[i64], is_rising: bool| {
            let mut entries: Vec<i64> =
                others.iter().filter(|&&other| other != own).map(|&other| row[other]).collect();
            entries.sort_unstable();
            if !is_rising {
                entries.reverse();
            }
            entries
        };
        let rows = |k: usize| sorted(self.places, k, self.qap.row_b(k), false);
        let of_places: Vec<Vec<i64>> = self.places.iter().map(|&k| rows(k)).collect();
        let mut prices = Vec::with_capacity(self.objects.len() * self.places.len());
        for &i in self.objects {
            let of_object = sorted(self.objects, i, self.qap.row_a(i), true);
            for (&k, of_place) in self.places.iter().zip(&of_places) {
                let least: Cost = of_object.iter().zip(of_place).map(|(a, b)| a * b).sum();
                prices.push(least + self.known(i, k));
            }
        }
        prices
    }

    /// The cost of an object at a place by itself and with the fixed objects.
    fn known(&self, i: usize, k: usize) -> Cost {
        let (of_i, of_k) = (self.qap.row_a(i), self.qap.row_b(k));
        let with = |&(j, l): &(usize, usize)| of_i[j] * of_k[l] + self.qap.row_a(j)[i] * self.qap.row_b(l)[k];
        of_i[i] * of_k[k] + self.fixed.iter().map(with).sum::<Cost>()
    }
}

/// The objects and places that are not fixed, in order.
pub(super) struct Free {
    pub(super) objects: Vec<usize>,
    pub(super) places: Vec<usize>,
}

impl Free {
    /// Makes the problem of `n` objects and places without these.
    pub(super) fn beside(n: usize, fixed: &[(usize, usize)]) -> Self {
        let mut is_free = [vec![true; n], vec![true; n]];
        for &(object, place) in fixed {
            (is_free[0][object], is_free[1][place]) = (false, false);
        }
        let [objects, places] = is_free.map(|is_free| (0..n).filter(|&index| is_free[index]).collect());
        Self { objects, places }
    }
}

/// J of some objects at given places among themselves.
pub(super) fn cost_among(qap: &Qap, fixed: &[(usize, usize)]) -> Cost {
    let row = |&(i, k): &(usize, usize)| -> Cost {
        fixed.iter().map(|&(j, l)| qap.row_a(i)[j] * qap.row_b(k)[l]).sum()
    };
    fixed.iter().map(row).sum()
}

/// [`lower_bound`] if objects must be at given places.
pub(crate) fn lower_bound_around(qap: &Qap, fixed: &[(usize, usize)]) -> Option<Cost> {
    if qap.size() > MOST_OBJECTS {
        return None;
    }
    let Free { objects, places } = Free::beside(qap.size(), fixed);
    let prices = Rest { qap, objects: &objects, places: &places, fixed }.prices();
    Some(cost_among(qap, fixed) + cheapest(objects.len(), &prices))
}

/// The Gilmore-Lawler bound for problems of at most 300 objects, for which it takes less than a second.
pub fn lower_bound(qap: &Qap) -> Option<Cost> {
    (qap.size() <= MOST_OBJECTS).then(|| gilmore_lawler(qap))
}

/// The bound takes seconds for more objects.
const MOST_OBJECTS: usize = 300;

/// The Gilmore-Lawler bound: no J is below it; O(n³).
pub fn gilmore_lawler(qap: &Qap) -> Cost {
    let all: Vec<usize> = (0..qap.size()).collect();
    let prices = Rest { qap, objects: &all, places: &all, fixed: &[] }.prices();
    cheapest(qap.size(), &prices)
}

/// The total price of the cheapest assignment of `n` rows to `n` columns, with the prices given row by row;
/// O(n³).
pub(super) fn cheapest(n: usize, prices: &[Cost]) -> Cost {
    let (_, price) = cheapest_assignment(n, |row, column| prices[row * n + column]);
    price as Cost
}
