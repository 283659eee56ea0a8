//! Robust tabu search: makes the best exchange that does not undo a recent one, whether J falls or rises.
//!
//! For some time after an object has left a place, it may not return to it. An exchange is tabu if this
//! applies to both objects, unless it leads below the smallest J so far. The time is drawn at random for each
//! exchange (Taillard 1991). The exchange is found from the smallest deltas of the rows, so few rows are
//! scanned.
//!
//! An iteration takes O(n²) time for the [`DeltaTable`]; memory is 4 n² bytes in addition.

use super::form::{QapError, array};
use super::number::Number;
use super::table::DeltaTable;
use crate::base::observer::Watch;
use crate::base::rng::Rng;
use crate::base::types::Cost;
use crate::base::vector::LANES;

/// The maximum tabu tenure is this many times n iterations; the mean is a quarter of that.
const TENURE: u32 = 8;

/// The tabu list: until when each object may not return to each place.
pub(super) struct Tabu {
    size: usize,
    /// Entry (object, place): the first iteration in which the move is allowed.
    allowed: Vec<u32>,
    iteration: u32,
}

/// The best assignment of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The cost in units of the scale.
    pub(super) cost: Cost,
    pub(super) place_of: Vec<u32>,
}

impl Found {
    /// Takes the assignment of a table if it is better.
    pub(super) fn improve<T: Number>(&mut self, table: &DeltaTable<'_, T>) {
        if table.cost() < self.cost {
            self.cost = table.cost();
            self.place_of.copy_from_slice(table.place_of());
        }
    }
}

impl Tabu {
    pub(super) fn new(size: usize) -> Result<Self, QapError> {
        Ok(Self { size, allowed: array(size * size, 0)?, iteration: 1 })
    }

    /// Makes `iterations` iterations, unless `watch` ends them or J reaches `target`; keeps the best
    /// assignment in `found`.
    pub(super) fn run<T: Number>(
        &mut self,
        table: &mut DeltaTable<'_, T>,
        found: &mut Found,
        iterations: u32,
        target: Cost,
        rng: &mut Rng,
        watch: &mut Watch<'_>,
    ) {
        let n = self.size;
        if table.movable() < 2 {
            return;
        }
        for _ in 0..iterations {
            if found.cost <= target || watch.stops_after(n * n) {
                return;
            }
            let Some((r, s)) = self.choose(table, found.cost, rng) else {
                self.iteration += 1;
                continue;
            };
            self.forbid(table, (r, s), rng);
            table.exchange(r, s);
            found.improve(table);
        }
    }

    /// The best exchange that is not tabu.
    fn choose<T: Number>(
        &self,
        table: &DeltaTable<'_, T>,
        best: Cost,
        rng: &mut Rng,
    ) -> Option<(usize, usize)> {
        let n = table.movable();
        let below = best - table.cost();
        let first = rng.below(n as u32) as usize;
        let (mut least, mut chosen) = (T::LARGE, None);
        for i in (first..n).chain(0..first) {
            if table.least()[i] < least {
                let allowed =
                    |j, delta: T| j < n && (self.is_allowed(table.place_of(), i, j) || delta.to() < below);
                if let Some((delta, j)) = least_of_row(table.row(i), i, least, allowed) {
                    (least, chosen) = (delta, Some((i, j)));
                }
            }
        }
        chosen
    }

    /// Returns whether either object may move to the other's place.
    #[inline(always)]
    fn is_allowed(&self, place_of: &[u32], i: usize, j: usize) -> bool {
        let until = |object: usize, place: u32| self.allowed[object * self.size + place as usize];
        until(i, place_of[j]).min(until(j, place_of[i])) <= self.iteration
    }

    /// Makes the return of both objects tabu, each for a random time.
    fn forbid<T: Number>(&mut self, table: &DeltaTable<'_, T>, (r, s): (usize, usize), rng: &mut Rng) {
        let (n, place_of) = (table.movable() as u32, table.place_of());
        let mut tenure = || {
            let unit = rng.unit();
            2 + (unit * unit * unit * f64::from(TENURE * n)) as u32
        };
        for object in [r, s] {
            self.allowed[object * self.size + place_of[object] as usize] = self.iteration + tenure();
        }
        self.iteration += 1;
    }
}

/// The smallest delta of the pairs (i, j) that is below a bound and not tabu, with its j; the first on ties.
#[inline(always)]
fn least_of_row<T: Number>(
    row: &[T],
    i: usize,
    mut below: T,
    is_allowed: impl Fn(usize, T) -> bool,
) -> Option<(T, usize)> {
    let mut found = None;
    for (at, chunk) in row.as_chunks::<LANES>().0.iter().enumerate().skip(i / LANES) {
        // Most chunks contain nothing below the bound, which one vectorised comparison detects.
        if !chunk.iter().fold(false, |any, &delta| any | (delta < below)) {
            continue;
        }
        for (j, &delta) in (at * LANES..).zip(chunk) {
            if delta < below && is_allowed(j, delta) {
                (below, found) = (delta, Some((delta, j)));
            }
        }
    }
    found
}
