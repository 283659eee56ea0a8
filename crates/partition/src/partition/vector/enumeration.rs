//! The loads by several weights while the partitions of a tiny graph are enumerated.

use super::targets::VectorTargets;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::VertexWeights;
use crate::partition::loads::{Excess, VectorBounds};
use crate::partition::scheme::enumeration::Tally;

/// The loads of the blocks by all weights.
pub(super) struct VectorTally<'a> {
    weights: &'a VertexWeights,
    targets: &'a VectorTargets,
    bounds: &'a VectorBounds,
    loads: Vec<Weight>,
    /// The number of vertices that are not assigned yet.
    left: usize,
}

impl<'a> VectorTally<'a> {
    pub fn new(weights: &'a VertexWeights, targets: &'a VectorTargets, bounds: &'a VectorBounds) -> Self {
        let (loads, left) = (vec![0; bounds.most.len()], weights.num_vertices());
        Self { weights, targets, bounds, loads, left }
    }

    fn add(&mut self, node: NodeId, block: usize, sign: Weight) {
        let own = self.weights.of(node);
        let loads = &mut self.loads[block * own.len()..][..own.len()];
        loads.iter_mut().zip(own).for_each(|(load, weight)| *load += sign * weight);
    }
}

impl Tally for VectorTally<'_> {
    type Missed = Excess;

    fn num_blocks(&self) -> usize {
        self.bounds.num_blocks()
    }

    fn is_closed(&self, block: BlockId) -> bool {
        self.targets.is_closed(block)
    }

    fn put(&mut self, (node, _): (NodeId, Weight), block: usize) {
        self.add(node, block, 1);
        self.left -= 1;
    }

    fn take(&mut self, (node, _): (NodeId, Weight), block: usize) {
        self.add(node, block, -1);
        self.left += 1;
    }

    /// What exceeds bounds only grows, what is missing of least loads only shrinks.
    fn missed(&self) -> Excess {
        let excess = self.bounds.excess(&self.loads);
        if self.left == 0 { excess } else { excess.without_shortfall() }
    }
}
