//! Distances inside nodes, and between them.

use crate::base::types::Distance;
use crate::machine::{Metric, Prefixes, Table};

/// The position of a PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostKey {
    /// The code in the tree of its node.
    pub(in crate::machine) code: u64,
    pub(in crate::machine) node: u32,
    pub(in crate::machine) to_network: u32,
}

/// Distances inside nodes, and between them.
#[derive(Clone, Debug)]
pub struct BetweenHosts {
    pub(in crate::machine) inside: Prefixes<u64>,
    pub(in crate::machine) between: Table<u32>,
    pub(in crate::machine) max_distance: Distance,
}

impl Metric for BetweenHosts {
    type Key = HostKey;

    #[inline]
    fn between(&self, a: HostKey, b: HostKey) -> Distance {
        if a.node == b.node {
            self.inside.between(a.code, b.code)
        } else {
            let to_networks = Distance::from(a.to_network) + Distance::from(b.to_network);
            self.between.distance(a.node, b.node) + to_networks
        }
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    #[inline]
    fn interchangeable(&self, a: HostKey, b: HostKey) -> bool {
        (a.node, a.to_network) == (b.node, b.to_network) && self.inside.interchangeable(a.code, b.code)
    }
}
