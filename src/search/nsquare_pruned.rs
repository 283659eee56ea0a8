//! N²_p: all pairs inside intervals of consecutive processes (Brandfass, Alrutz and Gerhold, "Rank
//! reordering for MPI communication optimization", 2013).
//!
//! The intervals are searched one after the other, each as [`nsquare`](super::nsquare) searches its whole.
//! As an exchange in one may open an improvement in another, that is repeated until none has any.

use super::SearchOutcome;
use super::nsquare::{OneByOne, descend_rows};
use super::swap::SwapSearch;
use crate::mapping::Mapping;
use crate::observer::Observer;
use crate::problem::Problem;
use crate::topology::DistanceOracle;
use crate::types::NodeId;

pub(super) fn search<O: DistanceOracle>(
    problem: &Problem<'_, O>,
    start: &Mapping,
    block_size: usize,
    observer: &dyn Observer,
) -> SearchOutcome {
    let mut search = SwapSearch::new(problem, start, observer);
    let n = problem.size();
    let mut rows = OneByOne::new(n);
    let mut improved = true;
    while improved {
        improved = false;
        for start in (0..n).step_by(block_size) {
            let end = n.min(start.saturating_add(block_size));
            let (start, end) = (start as NodeId, end as NodeId);
            improved |= descend_rows(&mut search, start..end, |search, row| rows.visit(search, row, end));
        }
    }
    search.finish()
}
