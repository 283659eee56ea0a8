//! What sizes the blocks shall have.

use crate::graph::CsrGraph;
use crate::types::Weight;

/// Bounds on the weight of each block.
///
/// With vertices of weight 1 and epsilon 0 the blocks are exactly as large as asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Targets {
    /// The weight each block should have.
    pub(crate) sizes: Vec<Weight>,
    /// The greatest weight each block may have.
    pub(crate) bounds: Vec<Weight>,
}

/// Why targets were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)]
pub enum TargetsError {
    #[error("a partition has at least one block")]
    NoBlocks,
}

impl Targets {
    /// `num_blocks` blocks of equal weight; each at most `(1 + epsilon) * ceil(total / num_blocks)`.
    pub fn equal(graph: &CsrGraph, num_blocks: usize, epsilon: f64) -> Result<Self, TargetsError> {
        let _ = (graph, num_blocks, epsilon);
        todo!("owned by the partition work")
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.sizes.len()
    }
}
