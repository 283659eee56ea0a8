//! The linear assignment problem: rows to columns, one-to-one, at the least cost.
//!
//! *Algorithm.* Rows are assigned one after the other along cheapest augmenting paths. Dual prices keep the reduced costs from
//! being negative, so each path is one run of Dijkstra's algorithm without a queue. O(n³) time, O(n) memory besides the costs.
//!
//! *Width of sums.* While a column is free, no price exceeds three times the greatest absolute cost C, and no path costs more
//! than 5 C. So sums are 64 bits wide unless 8 C exceeds them.
//!
//! Jonker, Volgenant: A shortest augmenting path algorithm for dense and sparse linear assignment problems. Computing 38,
//! 1987. Without their initialisation, which only saves time.
//!
//! Sums of 64-bit costs are exact, and a run can be stopped. `lapjv` computes in floating point, which is not exact above 2^53. `pathfinding`
//! finds the same assignments in the same time, but cannot be stopped, copies the matrix, and brings eight crates.

use std::ops::{Add, AddAssign, Sub, SubAssign};

use crate::base::observer::Watch;
use crate::base::types::Weight;

/// The column of each of `n` rows, and the least sum of `cost(row, column)`.
///
/// Of several best assignments, always the same one.
///
/// ```
/// use viem::base::linear_assignment::cheapest_assignment;
///
/// let costs = [[4, 1, 3], [2, 0, 5], [3, 2, 2]];
/// assert_eq!(cheapest_assignment(3, |row, column| costs[row][column]), (vec![1, 0, 2], 5));
/// ```
pub fn cheapest_assignment(n: usize, cost: impl Fn(usize, usize) -> Weight) -> (Vec<usize>, i128) {
    cheapest_assignment_until(n, cost, &mut Watch::new(&())).expect("nobody stops it")
}

/// The same, or nothing if the watch stops it before the end.
pub fn cheapest_assignment_until(
    n: usize,
    cost: impl Fn(usize, usize) -> Weight,
    watch: &mut Watch<'_>,
) -> Option<(Vec<usize>, i128)> {
    let pairs = (0..n).flat_map(|row| (0..n).map(move |column| (row, column)));
    let greatest = pairs.map(|(row, column)| cost(row, column).unsigned_abs()).max().unwrap_or(0);
    let column_of = if greatest <= Weight::MAX as u64 / 8 {
        columns::<i64>(n, &cost, watch)?
    } else {
        columns::<i128>(n, &cost, watch)?
    };
    let sum = column_of.iter().enumerate().map(|(row, &column)| i128::from(cost(row, column))).sum();
    Some((column_of, sum))
}

/// The column of each row, with sums of this width.
fn columns<S: Sum>(
    n: usize,
    cost: &impl Fn(usize, usize) -> Weight,
    watch: &mut Watch<'_>,
) -> Option<Vec<usize>> {
    let mut matching = Matching::<S>::new(n);
    for row in 0..n {
        let (end, length) = matching.cheapest_path(row, cost, watch)?;
        matching.augment(row, end, length);
    }
    let mut column_of = vec![0; n];
    for (column, &row) in matching.row_of.iter().enumerate() {
        column_of[row] = column;
    }
    Some(column_of)
}

/// A number that sums of costs fit.
trait Sum: Copy + Ord + From<i64> + Add<Output = Self> + Sub<Output = Self> + AddAssign + SubAssign {
    const MAX: Self;
}

impl Sum for i64 {
    const MAX: Self = i64::MAX;
}

impl Sum for i128 {
    const MAX: Self = i128::MAX;
}

/// Rows that are assigned already, prices such that no cost is below the sum of the prices of its row and column, and the search
/// for the next path.
struct Matching<S> {
    /// By column; the number of rows if it is free.
    row_of: Vec<usize>,
    row_price: Vec<S>,
    column_price: Vec<S>,
    /// By column: the cost of the cheapest path found to it.
    distance: Vec<S>,
    /// By column: the column before it on that path; the number of columns stands for the start.
    before: Vec<usize>,
    /// By column: whether that path is final.
    is_done: Vec<bool>,
}

impl<S: Sum> Matching<S> {
    fn new(n: usize) -> Self {
        Self {
            row_of: vec![n; n],
            row_price: vec![S::from(0); n],
            column_price: vec![S::from(0); n],
            distance: vec![S::MAX; n],
            before: vec![n; n],
            is_done: vec![false; n],
        }
    }

    /// The free column at the end of the cheapest path from a row, and the cost of the path; nothing if the watch stops the
    /// search.
    fn cheapest_path(
        &mut self,
        start: usize,
        cost: impl Fn(usize, usize) -> Weight,
        watch: &mut Watch<'_>,
    ) -> Option<(usize, S)> {
        let n = self.row_of.len();
        self.distance.fill(S::MAX);
        self.is_done.fill(false);
        let (mut row, mut from, mut length) = (start, n, S::from(0));
        loop {
            if watch.stops_after(n) {
                return None;
            }
            let paid = length - self.row_price[row];
            let (mut next, mut least) = (n, S::MAX);
            for column in (0..n).filter(|&column| !self.is_done[column]) {
                let through = paid + S::from(cost(row, column)) - self.column_price[column];
                if through < self.distance[column] {
                    (self.distance[column], self.before[column]) = (through, from);
                }
                if self.distance[column] < least {
                    (next, least) = (column, self.distance[column]);
                }
            }
            (self.is_done[next], length, from) = (true, least, next);
            row = self.row_of[next];
            if row == n {
                return Some((next, length));
            }
        }
    }

    /// Updates the prices and changes the columns of all rows along the path that was found.
    fn augment(&mut self, start: usize, end: usize, length: S) {
        let n = self.row_of.len();
        self.row_price[start] += length;
        for column in (0..n).filter(|&column| self.is_done[column] && column != end) {
            self.column_price[column] -= length - self.distance[column];
            self.row_price[self.row_of[column]] += length - self.distance[column];
        }
        let mut column = end;
        while self.before[column] != n {
            self.row_of[column] = self.row_of[self.before[column]];
            column = self.before[column];
        }
        self.row_of[column] = start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    /// The least sum over all permutations of the columns from `row` on.
    fn by_enumeration(costs: &[Vec<Weight>], row: usize, columns: &mut Vec<usize>) -> i128 {
        if row == costs.len() {
            return columns.iter().enumerate().map(|(row, &column)| i128::from(costs[row][column])).sum();
        }
        let mut best = i128::MAX;
        for other in row..costs.len() {
            columns.swap(row, other);
            best = best.min(by_enumeration(costs, row + 1, columns));
            columns.swap(row, other);
        }
        best
    }

    #[test]
    fn agrees_with_enumeration() {
        let mut rng = Rng::new(5);
        for round in 0..400 {
            let n = 1 + round % 7;
            // Few different costs make for many ties; some are negative.
            let most = [2, 10, 1000][round % 3];
            let mut cost = || Weight::from(rng.below(most)) - Weight::from(most / 3);
            let costs: Vec<Vec<Weight>> = (0..n).map(|_| (0..n).map(|_| cost()).collect()).collect();
            let (column_of, sum) = cheapest_assignment(n, |row, column| costs[row][column]);
            let mut sorted = column_of.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n).collect::<Vec<_>>());
            let costs_of_rows = column_of.iter().enumerate().map(|(row, &column)| costs[row][column]);
            assert_eq!(sum, i128::from(costs_of_rows.sum::<Weight>()));
            assert_eq!(sum, by_enumeration(&costs, 0, &mut (0..n).collect()));
        }
    }

    #[test]
    fn there_may_be_nothing_to_assign_and_costs_may_be_large() {
        assert_eq!(cheapest_assignment(0, |_, _| 1), (vec![], 0));
        assert_eq!(cheapest_assignment(9, |_, _| Weight::MAX).1, 9 * i128::from(Weight::MAX));
    }
}
