//! N²: all pairs, in cyclic order (Heider 1972).
//!
//! Rows i = 0, 1, … of pairs (i, i + 1), (i, i + 2), …; after the last row the first again, until a round
//! has made no exchange. Memory: O(n).

use std::ops::Range;

use super::swap::{SwapSearch, Time};
use crate::topology::DistanceOracle;
use crate::types::NodeId;

pub(super) fn descend<O: DistanceOracle>(search: &mut SwapSearch<'_, O>) {
    let n = search.problem().size();
    Rounds::new(n).descend(search, 0..n as NodeId);
}

/// Rounds over all pairs inside an interval of processes.
pub(super) struct Rounds {
    /// When the last visit to a row began; 0 if never.
    visited: Vec<Time>,
}

impl Rounds {
    pub fn new(num_processes: usize) -> Self {
        Self { visited: vec![0; num_processes] }
    }

    /// Tries all pairs inside the interval until none improves; tells whether any did.
    pub fn descend<O: DistanceOracle>(
        &mut self,
        search: &mut SwapSearch<'_, O>,
        interval: Range<NodeId>,
    ) -> bool {
        let start = search.now();
        loop {
            let round = search.now();
            for row in interval.clone() {
                if search.should_stop() {
                    return search.now() > start;
                }
                self.visit(search, row, interval.end);
            }
            if search.now() == round {
                return round > start;
            }
        }
    }

    /// Tries the pairs of `row` with the processes after it, up to `end`, that may have come to improve
    /// since the last visit.
    fn visit<O: DistanceOracle>(&mut self, search: &mut SwapSearch<'_, O>, row: NodeId, end: NodeId) {
        let last_visit = std::mem::replace(&mut self.visited[row as usize], search.now());
        for partner in row + 1..end {
            if search.touched(row).max(search.touched(partner)) > last_visit {
                search.try_swap(row, partner);
            }
        }
    }
}
