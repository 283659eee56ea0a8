//! No neighbourhood: the mapping stays as it is; O(m) for its J.

use super::swap::SwapSearch;
use crate::mapping::search::task::{SearchOutcome, Task};

pub(super) fn search(task: &Task<'_>) -> SearchOutcome {
    SwapSearch::new(task.problem, task.start, task.observer).finish()
}
