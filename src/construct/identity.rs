//! The identity: the order in which an application numbers its processes often follows its geometry.

use crate::machine::Places;
use crate::mapping::Mapping;

/// Process i on the i-th place in the order of the PEs.
pub(super) fn construct(machine: &Places) -> Mapping {
    Mapping::from_permutation(machine.by_pe())
}
