//! N²: all pairs, in cyclic order (Heider 1972).
//!
//! Processes the rows i = 0, 1, … of pairs (i, i + 1), (i, i + 2), … in rounds, until a round makes no
//! exchange. The gains of a row are computed at once (see [`partner_gains`](super::partner_gains)), and again
//! after each exchange in the row. The exchanges are those of the plain double loop. Machines that are not
//! trees use another order (see [`nearby`](super::nearby)). Memory: O(n).

use std::ops::Range;

use super::nearby;
use super::partner_gains::{Gains, PartnerGains};
use super::swap::{SwapSearch, Time};
use crate::base::types::NodeId;
use crate::machine::{DistanceOracle, with_oracle};
use crate::mapping::problem::Problem;
use crate::mapping::search::task::{SearchOutcome, Task};

pub(super) fn search(task: &Task<'_>) -> SearchOutcome {
    with_oracle!(task.problem.oracle(), |oracle| search_with(task, &task.problem.with_oracle(oracle)))
}

fn search_with<O: DistanceOracle>(task: &Task<'_>, problem: &Problem<'_, O>) -> SearchOutcome {
    let Task { start, observer, .. } = *task;
    let mut search = SwapSearch::new(problem, start, observer);
    if nearby::is_applicable(&search) {
        nearby::descend(&mut search, &mut |_, _| true, nearby::Effort::ALL, 0);
        return search.finish();
    }
    let mut gains = PartnerGains::new(&search);
    let n = problem.size() as NodeId;
    descend_rows(&mut search, 0..n, |search, row| visit_all(search, &mut gains, row));
    search.finish()
}

/// Visits the rows in rounds until a round makes no exchange; returns whether any exchange was made.
pub(super) fn descend_rows<O: DistanceOracle>(
    search: &mut SwapSearch<'_, O>,
    rows: Range<NodeId>,
    mut visit: impl FnMut(&mut SwapSearch<'_, O>, NodeId),
) -> bool {
    let start = search.now();
    loop {
        let round = search.now();
        for row in rows.clone() {
            if search.should_stop() {
                return search.now() > start;
            }
            visit(search, row);
        }
        if search.now() == round {
            return round > start;
        }
    }
}

/// Exchanges `row` with the first improving process after it, then with the first one after that, …
fn visit_all<O: DistanceOracle>(search: &mut SwapSearch<'_, O>, gains: &mut PartnerGains<O>, row: NodeId) {
    let mut last = row;
    loop {
        let improving = gains.improving(search, row).iter();
        let next = improving.copied().filter(|&(partner, _)| partner > last).min();
        let Some((partner, delta)) = next else { return };
        gains.swap(search, row, partner, delta);
        last = partner;
    }
}

/// Tries the pairs of a row one by one.
pub(super) struct OneByOne {
    /// The time at which the last visit to a row began; 0 if never.
    visited: Vec<Time>,
}

impl OneByOne {
    pub fn new(num_processes: usize) -> Self {
        Self { visited: vec![0; num_processes] }
    }

    /// Tries the pairs of `row` with the processes after it, up to `end`, that may have become improving
    /// since the last visit.
    pub fn visit<O: DistanceOracle>(&mut self, search: &mut SwapSearch<'_, O>, row: NodeId, end: NodeId) {
        let last_visit = std::mem::replace(&mut self.visited[row as usize], search.now());
        if search.is_fixed(row) {
            return;
        }
        for partner in row + 1..end {
            if search.touched(row).max(search.touched(partner)) > last_visit {
                search.try_swap(row, partner);
            }
            if search.is_stopped() {
                return;
            }
        }
    }
}
