//! The machines, a file each. Data that distances or links are computed from are plain types of `metric`; their files here make machines of them.

pub(super) mod blocks;
pub(super) mod capacities;
pub(super) mod divided;
pub(super) mod listed;
pub(super) mod matrix;
pub(super) mod network;
pub(super) mod node_matrix;
pub(super) mod uneven;

use super::spec::MachineKind;
use crate::base::settings::listed;

listed! {
    /// The kinds that are written as text, by machine.
    pub(super) const KINDS: [&[MachineKind]] = KINDS in {
        pub(super) mod grid;
        pub(super) mod cube;
        pub(super) mod rails;
        pub(super) mod hierarchy;
    }
}
