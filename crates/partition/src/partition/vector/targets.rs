//! Shares, bounds and least loads of the blocks for each of several weights.

use crate::base::types::{BlockId, Weight};
use crate::graph::VertexWeights;
use crate::partition::loads::VectorBounds;
use crate::partition::targets::{Targets, TargetsError};

/// [`Targets`] for each of several weights of the vertices.
///
/// ```
/// use viem::graph::VertexWeights;
/// use viem::partition::{Targets, VectorTargets};
///
/// // Time and memory of four vertices; the first block has more memory than the second.
/// let weights = VertexWeights::new(2, vec![1, 3, 1, 5, 1, 2, 1, 2])?;
/// let time = Targets::equal(&weights.alone(0), 2, 0.0)?;
/// let memory = Targets::proportional(&weights.alone(1), &[2, 1], 0.1)?;
/// let targets = VectorTargets::new(&weights, vec![time, memory])?;
/// assert_eq!((targets.num_blocks(), targets.of_weight(1).block_sizes()), (2, &[8, 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorTargets {
    of_weight: Vec<Targets>,
}

impl VectorTargets {
    /// The targets for each weight, in their order.
    ///
    /// # Errors
    ///
    /// There are more or fewer targets than weights, they differ in their numbers of blocks, or sizes do not sum up to a weight.
    pub fn new(weights: &VertexWeights, of_weight: Vec<Targets>) -> Result<Self, TargetsError> {
        let (found, expected) = (of_weight.len(), weights.num_weights());
        if found != expected {
            return Err(TargetsError::WeightsDiffer { found, expected });
        }
        let expected = of_weight[0].num_blocks();
        if let Some(other) = of_weight.iter().map(Targets::num_blocks).find(|&found| found != expected) {
            return Err(TargetsError::BoundsDiffer { found: other, expected });
        }
        for (targets, &total) in of_weight.iter().zip(weights.totals()) {
            let sum = targets.block_sizes().iter().map(|&size| i128::from(size)).sum();
            if sum != i128::from(total) {
                return Err(TargetsError::SumDiffers { sum, total });
            }
        }
        Ok(Self { of_weight })
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.of_weight[0].num_blocks()
    }

    /// Number of weights.
    pub fn num_weights(&self) -> usize {
        self.of_weight.len()
    }

    /// The targets for one weight.
    ///
    /// # Panics
    ///
    /// There is no such weight.
    pub fn of_weight(&self, weight: usize) -> &Targets {
        &self.of_weight[weight]
    }

    /// The targets of some blocks, or of all blocks in another order: block i is `blocks[i]`.
    pub fn of_blocks(&self, blocks: &[BlockId]) -> Self {
        Self { of_weight: self.of_weight.iter().map(|targets| targets.of_blocks(blocks)).collect() }
    }

    /// Returns whether a block gets no vertices, not even those without any weight: by each weight, it has no capacity.
    pub(super) fn is_closed(&self, block: BlockId) -> bool {
        self.of_weight.iter().all(|targets| targets.is_closed(block))
    }

    /// All bounds, those of one block after the other.
    pub(super) fn bounds(&self) -> VectorBounds {
        let have_least = self.of_weight.iter().any(|targets| !targets.least_loads().is_empty());
        let least = |targets: &Targets, block: usize| targets.least_loads().get(block).copied().unwrap_or(0);
        VectorBounds {
            num_weights: self.num_weights(),
            most: self.by_block(|targets, block| targets.bounds()[block]),
            least: if have_least { self.by_block(least) } else { Vec::new() },
        }
    }

    /// The same with some slack above and below the sizes. `slack` has that of each weight, given the size.
    pub(super) fn relaxed(&self, slack: &dyn Fn(usize, Weight) -> Weight) -> VectorBounds {
        let mut bounds = self.bounds();
        for (at, most) in bounds.most.iter_mut().enumerate() {
            let (block, weight) = (at / self.num_weights(), at % self.num_weights());
            let size = self.of_weight[weight].block_sizes()[block];
            if *most > 0 {
                *most = (*most).max(size.saturating_add(slack(weight, size)).min(Weight::MAX / 2));
            }
            if let Some(least) = bounds.least.get_mut(at) {
                *least = (*least).min(size - slack(weight, size).min(size));
            }
        }
        bounds
    }

    fn by_block(&self, value: impl Fn(&Targets, usize) -> Weight) -> Vec<Weight> {
        let blocks = 0..self.num_blocks();
        blocks
            .flat_map(|block| self.of_weight.iter().map(move |targets| (targets, block)))
            .map(|(t, b)| value(t, b))
            .collect()
    }
}
