//! A finished partition: the block of each vertex, the cut and the overload.

use super::assignment::Assignment;
use super::bounds::BoundViolation;
use super::targets::Targets;
use crate::base::threads;
use crate::base::types::{BlockId, Cost, NodeId, Weight};
use crate::graph::CsrGraph;

/// A partition of the vertices of a graph into blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    blocks: Vec<BlockId>,
    block_weights: Vec<Weight>,
    cut: Cost,
    violation: BoundViolation,
}

impl Partition {
    /// The partition with these blocks, one per vertex, each a block of the targets; O(n + m). Runs on the threads of the rayon pool it is
    /// called in, or else on the calling thread.
    pub fn of(graph: &CsrGraph, blocks: Vec<BlockId>, targets: &Targets) -> Self {
        let block_weights = block_weights(graph, &blocks, targets.num_blocks());
        let violation = targets.load_bounds().violation(&block_weights);
        let cut = cut(graph, &blocks);
        Self { blocks, block_weights, cut, violation }
    }

    /// The partition of an assignment whose cost is the cut.
    pub(super) fn of_assignment(assignment: Assignment, targets: &Targets) -> Self {
        let violation = assignment.violation(targets.load_bounds());
        let Assignment { blocks, weights, cost } = assignment;
        Self { blocks, block_weights: weights, cut: cost, violation }
    }

    /// The block of each vertex, by vertex.
    pub fn blocks(&self) -> &[BlockId] {
        &self.blocks
    }

    /// The sum of the vertex weights of each block, by block.
    pub fn block_weights(&self) -> &[Weight] {
        &self.block_weights
    }

    /// The sum of the weights of the edges between blocks, each edge once.
    pub fn cut(&self) -> Cost {
        self.cut
    }

    /// The total weight by which blocks exceed their bounds; 0 if all bounds are met.
    pub fn overload(&self) -> Weight {
        self.violation.overload
    }

    /// The total weight that blocks lack of their least loads; 0 if all have them.
    pub fn shortfall(&self) -> Weight {
        self.violation.shortfall
    }

    /// Overload and shortfall.
    pub fn violation(&self) -> BoundViolation {
        self.violation
    }

    /// What partitions are compared by: the bounds first, then the number of empty blocks, then the cut. O(n + k).
    pub fn score(&self) -> (BoundViolation, usize, Cost) {
        (self.violation, self.num_empty(), self.cut)
    }

    /// The number of blocks without vertices; O(n + k).
    pub fn num_empty(&self) -> usize {
        let mut is_used = vec![false; self.block_weights.len()];
        self.blocks.iter().for_each(|&block| is_used[block as usize] = true);
        is_used.into_iter().filter(|is_used| !is_used).count()
    }

    /// The block of each vertex, by vertex.
    pub fn into_blocks(self) -> Vec<BlockId> {
        self.blocks
    }
}

/// Blocks by other names: block `b` becomes `names[b]`.
pub(super) fn renamed(blocks: &[BlockId], names: &[BlockId]) -> Vec<BlockId> {
    blocks.iter().map(|&block| names[block as usize]).collect()
}

/// The sum of the vertex weights of each block, by block; O(n + blocks).
///
/// # Panics
///
/// There are vertices of blocks from `num_blocks` on.
pub fn block_weights(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize) -> Vec<Weight> {
    let mut weights = vec![0; num_blocks];
    for (&block, &weight) in blocks.iter().zip(graph.node_weights()) {
        weights[block as usize] += weight;
    }
    weights
}

/// The sum of the weights of the edges between blocks, each edge once; O(n + m). Runs on the threads of the rayon pool it is called in, or else on
/// the calling thread.
///
/// # Panics
///
/// There are fewer blocks than vertices.
pub fn cut(graph: &CsrGraph, blocks: &[BlockId]) -> Cost {
    let outer = |node: usize| -> Weight {
        let arcs = graph.arcs(node as NodeId);
        arcs.filter(|&(to, _)| blocks[to as usize] != blocks[node]).map(|(_, weight)| weight).sum()
    };
    threads::sum(graph.num_nodes(), outer) / 2
}
