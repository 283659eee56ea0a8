//! N²_p: all pairs inside intervals of consecutive processes (Brandfass, Alrutz and Gerhold, "Rank
//! reordering for MPI communication optimization", 2013).
//!
//! The intervals are searched one after another, each as [`nsquare`](super::nsquare) searches all processes.
//! Since an exchange in one interval may enable an improvement in another, this is repeated until there is
//! none.

use super::nsquare::{OneByOne, descend_rows};
use super::swap::SwapSearch;
use crate::base::types::NodeId;
use crate::machine::{DistanceOracle, with_oracle};
use crate::mapping::problem::Problem;
use crate::mapping::search::task::{SearchOutcome, Task};

pub(super) fn search(task: &Task<'_>) -> SearchOutcome {
    with_oracle!(task.problem.oracle(), |oracle| search_with(task, &task.problem.with_oracle(oracle)))
}

fn search_with<O: DistanceOracle>(task: &Task<'_>, problem: &Problem<'_, O>) -> SearchOutcome {
    let Task { start, observer, .. } = *task;
    let block_size = task.block_size;
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
