//! The assignment problem: rows to columns, one-to-one, at the least cost.
//!
//! *Algorithm.* Rows are assigned one after the other along cheapest augmenting paths; dual prices keep the reduced costs from
//! being negative, so that each path is one run of Dijkstra's algorithm without a queue. O(n³) time, O(n) memory besides
//! the costs.
//!
//! Jonker, Volgenant: A shortest augmenting path algorithm for dense and sparse linear assignment problems. Computing 38,
//! 1987. Without their initialisation, which saves time only.

use crate::ground::observer::Watch;
use crate::ground::types::Weight;

/// The column of each of `n` rows, and the least sum of `cost(row, column)`.
///
/// Of several best assignments always the same one.
///
/// ```
/// use viem::partition::remap::cheapest_assignment;
///
/// let costs = [[4, 1, 3], [2, 0, 5], [3, 2, 2]];
/// assert_eq!(cheapest_assignment(3, |row, column| costs[row][column]), (vec![1, 0, 2], 5));
/// ```
pub fn cheapest_assignment(n: usize, cost: impl Fn(usize, usize) -> Weight) -> (Vec<usize>, i128) {
    cheapest_assignment_until(n, cost, &mut Watch::new(&())).expect("nobody stops it")
}

/// The same, or nothing if the watch says so before the end.
pub(super) fn cheapest_assignment_until(
    n: usize,
    cost: impl Fn(usize, usize) -> Weight,
    watch: &mut Watch<'_>,
) -> Option<(Vec<usize>, i128)> {
    let cost = |row, column| i128::from(cost(row, column));
    let mut matching = Matching { row_of: vec![n; n], row_price: vec![0; n], column_price: vec![0; n] };
    for row in 0..n {
        matching.augment(row, cost, watch)?;
    }
    let mut column_of = vec![0; n];
    for (column, &row) in matching.row_of.iter().enumerate() {
        column_of[row] = column;
    }
    let sum = column_of.iter().enumerate().map(|(row, &column)| cost(row, column)).sum();
    Some((column_of, sum))
}

/// Rows that are assigned already, and prices such that no cost of theirs is below the sum of the prices of its row and column.
///
/// Sums of n costs need more than 64 bits.
struct Matching {
    /// By column; the number of rows where there is none.
    row_of: Vec<usize>,
    row_price: Vec<i128>,
    column_price: Vec<i128>,
}

impl Matching {
    /// Assigns one more row along a cheapest path of changes; nothing if the watch says so before the path is found.
    fn augment(
        &mut self,
        start: usize,
        cost: impl Fn(usize, usize) -> i128,
        watch: &mut Watch<'_>,
    ) -> Option<()> {
        let n = self.row_of.len();
        let mut distance = vec![i128::MAX; n];
        // The column before each column on the cheapest path to it; `n` stands for the start.
        let mut before = vec![n; n];
        let mut is_done = vec![false; n];
        let (mut row, mut from, mut length) = (start, n, 0);
        let end = loop {
            if watch.stops_after(n) {
                return None;
            }
            for column in (0..n).filter(|&column| !is_done[column]) {
                let reduced = cost(row, column) - self.row_price[row] - self.column_price[column];
                if length + reduced < distance[column] {
                    (distance[column], before[column]) = (length + reduced, from);
                }
            }
            let open = (0..n).filter(|&column| !is_done[column]);
            let next = open.min_by_key(|&column| distance[column]).expect("a column is free");
            (is_done[next], length, from) = (true, distance[next], next);
            row = self.row_of[next];
            if row == n {
                break next;
            }
        };
        self.row_price[start] += length;
        for column in (0..n).filter(|&column| is_done[column] && column != end) {
            self.column_price[column] -= length - distance[column];
            self.row_price[self.row_of[column]] += length - distance[column];
        }
        let mut column = end;
        while before[column] != n {
            self.row_of[column] = self.row_of[before[column]];
            column = before[column];
        }
        self.row_of[column] = start;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::rng::Rng;

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
