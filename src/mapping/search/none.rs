//! No neighbourhood: the mapping stays as it is; O(m) for its J.

use super::swap::SwapSearch;
use crate::machine::DistanceOracle;
use crate::mapping::search::{SearchOutcome, Task};

pub(super) fn search<O: DistanceOracle>(task: &Task<'_, O>) -> SearchOutcome {
    SwapSearch::new(task.problem, task.start, task.observer).finish()
}
