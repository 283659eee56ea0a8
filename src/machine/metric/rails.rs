//! Rail-optimised fabrics: GPU i of each node is on rail i, the switch that joins the GPUs i of a pod.
//!
//! Nodes and pods are those of a regular tree. Only the distance of two nodes of a pod depends on the PEs: those with the same number in their
//! nodes are on one rail, all others change rails. Beyond a pod all pass through the spine.

use crate::base::types::{Distance, PeId};
use crate::machine::{Hierarchy, HierarchyError, OwnDistances};

/// Nodes of equally many GPUs in pods, and pods in further levels if there are any. Two GPUs of a node have the first distance, two of the same
/// number in different nodes of a pod the second one, others of a pod the third one; further distances are those of further levels.
///
/// ```
/// use viem::machine::{Machine as _, Metric as _, Rails};
///
/// // Pods of 4 nodes of 8 GPUs.
/// let rails = Rails::parse("8:4:2", "1:5:6:10")?;
/// let distances = rails.distances()?;
/// assert_eq!([1, 8, 9, 32].map(|pe| distances.between(0, pe)), [1, 5, 6, 10]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rails {
    /// The tree of the distances between PEs on different rails.
    tree: Hierarchy,
    same_rail: Distance,
}

impl Rails {
    /// Rails from the numbers of GPUs in a node, of nodes in a pod, and of groups of further levels; each at least 1. There is one distance more
    /// than levels.
    pub fn new(arities: Vec<u32>, distances: Vec<Distance>) -> Result<Self, HierarchyError> {
        let (levels, found) = (arities.len(), distances.len());
        if levels < 2 || found != levels + 1 {
            return Err(HierarchyError::Rails { levels, distances: found });
        }
        if let Some(level) = distances.iter().position(|&distance| distance < 0) {
            return Err(HierarchyError::NegativeDistance { level, distance: distances[level] });
        }
        let mut of_levels = distances;
        let same_rail = of_levels.remove(1);
        Ok(Self { tree: Hierarchy::new(arities, of_levels)?, same_rail })
    }

    /// Rails from strings such as `8:4:16` and `1:5:6:10`.
    pub fn parse(arities: &str, distances: &str) -> Result<Self, HierarchyError> {
        Self::new(Hierarchy::parse_arities(arities)?, Hierarchy::parse_distances(distances)?)
    }

    /// Returns the distance of GPUs of the same number in different nodes of a pod.
    pub fn same_rail(&self) -> Distance {
        self.same_rail
    }

    /// The machine without rails: GPUs of different nodes are as far apart as those that change rails.
    pub fn tree(&self) -> &Hierarchy {
        &self.tree
    }
}

impl OwnDistances for Rails {
    fn distance(&self, a: PeId, b: PeId) -> Distance {
        let of_node = self.tree.arities()[0];
        match self.tree.level(a, b) {
            None => 0,
            Some(1) if a % of_node == b % of_node => self.same_rail,
            Some(level) => self.tree.distances()[level],
        }
    }

    fn max_distance(&self) -> Distance {
        self.tree.max_distance().max(self.same_rail)
    }

    /// Distances grow from the inside out, and no way over another GPU of a node is shorter than to change rails.
    fn has_triangle_inequality(&self) -> bool {
        let [in_node, other_rail, ..] = *self.tree.distances() else { return false };
        let grow = in_node <= self.same_rail && self.same_rail <= other_rail;
        grow && self.tree.distances().is_sorted() && other_rail - in_node <= self.same_rail
    }
}
