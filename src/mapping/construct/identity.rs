//! The identity: the order in which an application numbers its processes often follows its geometry.

use crate::mapping::Mapping;
use crate::mapping::construct::fixed::identity_around;
use crate::mapping::construct::task::{ConstructionError, Task};

/// Process i on the i-th place in the order of the PEs.
pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    Ok(identity_around(task.problem.fixed(), task.machine.by_pe()))
}
