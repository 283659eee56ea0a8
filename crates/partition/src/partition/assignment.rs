//! Which vertex is in which block, and what that costs.

use super::affinities::BlockAffinities;
use super::bounds::{BoundViolation, LoadBounds};
use super::compact::{CompactGraph, Stored};
use super::objective::Objective;
use crate::base::types::{BlockId, NodeId, Weight};

/// A partitioning problem: the graph of a level, and what its partitions cost.
#[derive(Debug)]
pub(crate) struct Problem<'a, W, O> {
    pub graph: &'a CompactGraph<'a, W>,
    pub objective: &'a O,
}

impl<W, O> Clone for Problem<'_, W, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, O> Copy for Problem<'_, W, O> {}

impl<'a, W, O> std::ops::Deref for Problem<'a, W, O> {
    type Target = CompactGraph<'a, W>;

    #[inline]
    fn deref(&self) -> &CompactGraph<'a, W> {
        self.graph
    }
}

impl<W, O: Objective> Problem<'_, W, O> {
    /// How much the cost falls if a vertex of these affinities moves.
    #[inline]
    pub fn gain(&self, node: NodeId, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        self.objective.gain(affinities, from, to) + self.own_gain(node, from, to)
    }

    /// The same for what the vertex costs by itself.
    #[inline]
    pub fn own_gain(&self, node: NodeId, from: BlockId, to: BlockId) -> Weight {
        self.objective.own_cost(node, from) - self.objective.own_cost(node, to)
    }

    /// An upper bound of the gain of any move of a vertex in this block, given the weights of its edges inside the block and
    /// out of it.
    #[inline]
    pub fn greatest_gain(&self, node: NodeId, block: BlockId, internal: Weight, external: Weight) -> Weight {
        self.objective.greatest_gain(internal, external) + self.objective.greatest_own_gain(node, block)
    }
}

/// A partition with its block weights and its cost.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub blocks: Vec<BlockId>,
    pub weights: Vec<Weight>,
    /// What the objective sums up over edges, each edge once, and vertices.
    pub cost: Weight,
}

impl Assignment {
    /// Computes weights and cost from the blocks.
    pub fn new<W: Stored, O: Objective>(
        level: Problem<'_, W, O>,
        blocks: Vec<BlockId>,
        num_blocks: usize,
    ) -> Self {
        let weights = level.block_weights(&blocks, num_blocks);
        let cost = level.objective.cost(level.graph, &blocks);
        Self { blocks, weights, cost }
    }

    /// By how much blocks miss their bounds; O(k).
    pub fn violation(&self, bounds: LoadBounds<'_>) -> BoundViolation {
        bounds.violation(&self.weights)
    }

    /// The total weight by which blocks exceed these bounds.
    pub fn overload(&self, most: &[Weight]) -> Weight {
        self.violation(most.into()).overload
    }

    /// What partitions are compared by: overload first, then shortfall, then cost.
    pub fn score(&self, bounds: LoadBounds<'_>) -> (BoundViolation, Weight) {
        (self.violation(bounds), self.cost)
    }

    /// Moves a vertex of the given weight; `gain` is how much the cost falls.
    #[inline]
    pub fn shift(&mut self, node: NodeId, weight: Weight, to: BlockId, gain: Weight) {
        let from = std::mem::replace(&mut self.blocks[node as usize], to);
        self.weights[from as usize] -= weight;
        self.weights[to as usize] += weight;
        self.cost -= gain;
    }
}
