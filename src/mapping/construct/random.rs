//! A random mapping: every permutation is equally likely, as far as the seed allows; O(n).

use crate::base::rng::Rng;
use crate::base::types::PeId;
use crate::mapping::Mapping;
use crate::mapping::construct::task::{ConstructionError, Task};

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let mut pe_of: Vec<PeId> = (0..task.problem.size() as PeId).collect();
    Rng::new(task.seed).shuffle(&mut pe_of);
    Ok(Mapping::from_permutation(pe_of))
}
