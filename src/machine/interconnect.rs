//! The connection of the PEs of a machine.

use crate::base::types::PeId;
use crate::machine::{Grid, Hierarchy, Network, Rails, UnevenTree};

/// The medium of messages; `viem-workload` derives links and routes from it.
#[derive(Clone, Debug)]
pub enum Interconnect {
    /// Routers in a grid, each with a PE or a tree of PEs.
    Grid(Grid),
    /// Switches in a tree.
    Tree(Hierarchy),
    /// Switches in a tree whose groups have any number of members.
    UnevenTree(UnevenTree),
    /// Leaf switches of rails, under the switches of pods.
    Rails(Rails),
    /// Links between routers and PEs.
    Network(Network),
    /// The medium of a machine of which only some PEs are used; PE i is PE `list[i]` there.
    Listed {
        /// The medium of all PEs.
        whole: Box<Interconnect>,
        /// The PEs that are used.
        list: Vec<PeId>,
    },
    /// Only distances are known: each PE has a port for sending and one for receiving.
    Ports,
}
