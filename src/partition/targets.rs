//! What the blocks shall weigh.

use crate::graph::CsrGraph;
use crate::types::Weight;

/// The weight each block should have and the greatest weight it may have.
///
/// With vertices of weight 1 and `epsilon = 0` the blocks are exactly as large as asked. With other vertex
/// weights exact sizes may not exist; then the bounds count, and a partition says how far it misses them
/// ([`Partition::overload`](super::Partition::overload)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Targets {
    sizes: Vec<Weight>,
    bounds: Vec<Weight>,
}

/// Why targets were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum TargetsError {
    #[error("a partition has at least one block")]
    NoBlocks,
    #[error("a partition has at most {} blocks, not {count}", u32::MAX)]
    TooManyBlocks { count: usize },
    #[error("the imbalance must be a number from 0 on, not {epsilon}")]
    BadEpsilon { epsilon: f64 },
    #[error("block {block} has size {size}; sizes must not be negative")]
    NegativeSize { block: usize, size: Weight },
    #[error("the block sizes sum up to {sum}, the vertex weights to {total}")]
    SumDiffers { sum: i128, total: Weight },
}

impl Targets {
    /// Whether any graph has so many blocks of equal weight and such an imbalance, to be asked before one is read.
    pub fn check(num_blocks: usize, epsilon: f64) -> Result<(), TargetsError> {
        check(num_blocks, epsilon)
    }

    /// `num_blocks` blocks of equal weight, each at most `(1 + epsilon) * ceil(total / num_blocks)`.
    ///
    /// With vertices of weight 1 and `epsilon = 0`, the first `n mod num_blocks` blocks have one vertex
    /// more than the others.
    pub fn equal(graph: &CsrGraph, num_blocks: usize, epsilon: f64) -> Result<Self, TargetsError> {
        check(num_blocks, epsilon)?;
        let total = graph.total_node_weight();
        let floor = total / num_blocks as Weight;
        let larger = (total % num_blocks as Weight) as usize;
        let sizes: Vec<Weight> = (0..num_blocks).map(|block| floor + Weight::from(block < larger)).collect();
        let exact = epsilon == 0.0 && graph.node_weights().iter().all(|&weight| weight == 1);
        let bounds = if exact {
            sizes.clone()
        } else {
            vec![relax(floor + Weight::from(larger > 0), epsilon); num_blocks]
        };
        Ok(Self { sizes, bounds })
    }

    /// Blocks of the given weights, which must sum up to the weight of the graph; block `b` weighs at most
    /// `(1 + epsilon) * sizes[b]`.
    pub fn sizes(graph: &CsrGraph, sizes: Vec<Weight>, epsilon: f64) -> Result<Self, TargetsError> {
        check(sizes.len(), epsilon)?;
        if let Some((block, &size)) = sizes.iter().enumerate().find(|(_, size)| **size < 0) {
            return Err(TargetsError::NegativeSize { block, size });
        }
        let sum = sizes.iter().map(|&size| i128::from(size)).sum();
        let total = graph.total_node_weight();
        if sum != i128::from(total) {
            return Err(TargetsError::SumDiffers { sum, total });
        }
        let bounds = sizes.iter().map(|&size| relax(size, epsilon)).collect();
        Ok(Self { sizes, bounds })
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.sizes.len()
    }

    /// Whether no block may weigh more than it should.
    pub fn are_exact(&self) -> bool {
        self.sizes == self.bounds
    }

    /// The weight each block should have, by block.
    pub fn block_sizes(&self) -> &[Weight] {
        &self.sizes
    }

    /// The greatest weight each block may have, by block.
    pub fn bounds(&self) -> &[Weight] {
        &self.bounds
    }
}

fn check(num_blocks: usize, epsilon: f64) -> Result<(), TargetsError> {
    if num_blocks == 0 {
        return Err(TargetsError::NoBlocks);
    }
    if num_blocks > u32::MAX as usize {
        return Err(TargetsError::TooManyBlocks { count: num_blocks });
    }
    if !(epsilon >= 0.0 && epsilon.is_finite()) {
        return Err(TargetsError::BadEpsilon { epsilon });
    }
    Ok(())
}

/// `(1 + epsilon) * size`, rounded down, never below `size` and never above half of what a sum can hold.
fn relax(size: Weight, epsilon: f64) -> Weight {
    // A product such as 1.03 * 100 must not lose a unit to the binary fraction.
    let extra = (size as f64 * epsilon * (1.0 + 1e-12)).floor();
    size.saturating_add(extra as Weight).min((Weight::MAX / 2).max(size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn edgeless(num_nodes: usize) -> CsrGraph {
        GraphBuilder::new(num_nodes).build().unwrap()
    }

    #[test]
    fn equal_sizes_differ_by_at_most_one() {
        let targets = Targets::equal(&edgeless(10), 4, 0.0).unwrap();
        assert_eq!(targets.block_sizes(), [3, 3, 2, 2]);
        assert_eq!(targets.bounds(), [3, 3, 2, 2]);
    }

    #[test]
    fn the_bound_is_relaxed_from_the_rounded_average() {
        let bound = |n, k, epsilon| Targets::equal(&edgeless(n), k, epsilon).unwrap().bounds()[0];
        assert_eq!(bound(200, 2, 0.03), 103);
        assert_eq!(bound(199, 2, 0.03), 103);
        assert_eq!(bound(10, 4, 0.1), 3);
        assert_eq!(bound(10, 1, 1e300), Weight::MAX / 2);
    }

    #[test]
    fn impossible_targets_are_refused() {
        let graph = edgeless(5);
        assert_eq!(Targets::equal(&graph, 0, 0.0), Err(TargetsError::NoBlocks));
        assert!(matches!(Targets::equal(&graph, 2, f64::NAN), Err(TargetsError::BadEpsilon { .. })));
        assert!(matches!(Targets::equal(&graph, 2, -0.1), Err(TargetsError::BadEpsilon { .. })));
        let sizes = |sizes| Targets::sizes(&graph, sizes, 0.0);
        assert_eq!(sizes(vec![2, 2]), Err(TargetsError::SumDiffers { sum: 4, total: 5 }));
        assert_eq!(sizes(vec![6, -1]), Err(TargetsError::NegativeSize { block: 1, size: -1 }));
        assert!(sizes(vec![0, 5]).is_ok());
    }
}
