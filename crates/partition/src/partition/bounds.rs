//! What the blocks of a partition may weigh, and by how much they miss that.

use crate::base::types::{BlockId, NodeId, Weight};

/// By how much blocks miss their bounds. What exceeds a bound comes first when two are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct BoundViolation {
    /// The total weight by which blocks exceed their bounds.
    pub overload: Weight,
    /// The total weight that blocks lack of their least loads.
    pub shortfall: Weight,
}

impl BoundViolation {
    /// All blocks are within their bounds.
    pub const NONE: Self = Self { overload: 0, shortfall: 0 };

    /// This overload and this shortfall.
    pub fn new(overload: Weight, shortfall: Weight) -> Self {
        Self { overload, shortfall }
    }

    /// By how much blocks of these weights exceed their greatest weights and miss their least loads, of which there may be none; O(k).
    pub fn of(weights: &[Weight], most: &[Weight], least: &[Weight]) -> Self {
        let excess = |(weight, bound): (&Weight, &Weight)| (weight - bound).max(0);
        let lack = |(weight, least): (&Weight, &Weight)| (least - weight).max(0);
        Self {
            overload: weights.iter().zip(most).map(excess).sum(),
            shortfall: weights.iter().zip(least).map(lack).sum(),
        }
    }
}

/// The greatest and the least weight of each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoadBounds<'a> {
    pub most: &'a [Weight],
    /// Empty if no block has a least load.
    pub least: &'a [Weight],
    /// Blocks that get no vertices, not even vertices of weight 0; in ascending order.
    pub closed: &'a [BlockId],
}

impl<'a> From<&'a [Weight]> for LoadBounds<'a> {
    /// Bounds without least loads and closed blocks.
    fn from(most: &'a [Weight]) -> Self {
        Self { most, least: &[], closed: &[] }
    }
}

impl LoadBounds<'_> {
    pub fn num_blocks(&self) -> usize {
        self.most.len()
    }

    pub fn is_closed(&self, block: BlockId) -> bool {
        self.closed.binary_search(&block).is_ok()
    }

    #[inline]
    pub fn least(&self, block: BlockId) -> Weight {
        self.least.get(block as usize).copied().unwrap_or(0)
    }

    /// By how much a block of this weight exceeds its bound.
    #[inline]
    pub fn excess(&self, block: BlockId, weight: Weight) -> Weight {
        (weight - self.most[block as usize]).max(0)
    }

    /// How much a block of this weight lacks of its least load.
    #[inline]
    pub fn lack(&self, block: BlockId, weight: Weight) -> Weight {
        (self.least(block) - weight).max(0)
    }

    /// By how much the deficit of a block of weight `before` grows if it loses `weight`.
    #[inline]
    pub fn lack_without(&self, block: BlockId, before: Weight, weight: Weight) -> Weight {
        if self.least.is_empty() {
            return 0;
        }
        self.lack(block, before - weight) - self.lack(block, before)
    }

    /// Whether a move of this weight is worth what the block `from` comes to lack: as it takes more from the overload of that block and
    /// the lack of the other. `weights` are those of the blocks.
    #[inline]
    pub fn is_worth(
        &self,
        weights: &[Weight],
        (weight, lost): (Weight, Weight),
        [from, to]: [BlockId; 2],
    ) -> bool {
        if lost == 0 {
            return true;
        }
        let excess = self.excess(from, weights[from as usize]);
        lost < excess.min(weight) + self.lack(to, weights[to as usize]).min(weight)
    }

    /// Whether a move of this weight between blocks of these weights keeps the bounds as far as they were kept.
    #[inline]
    pub fn allow(&self, weights: &[Weight], weight: Weight, [from, to]: [BlockId; 2]) -> bool {
        let lost = self.lack_without(from, weights[from as usize], weight);
        weights[to as usize] + weight <= self.most[to as usize]
            && self.is_worth(weights, (weight, lost), [from, to])
    }

    /// By how much blocks of these weights miss the bounds; O(k).
    pub fn violation(&self, weights: &[Weight]) -> BoundViolation {
        BoundViolation::of(weights, self.most, self.least)
    }
}

/// What refiners of all blocks ask of bounds, whether vertices have one weight or several.
pub(crate) trait Room: Copy {
    /// Whether a vertex of this weight may move between two blocks: bounds are kept as far as they were kept. `weights` are those of the blocks.
    fn takes(self, weights: &[Weight], vertex: (NodeId, Weight), pair: [BlockId; 2]) -> bool;

    /// The weight that a block has room for; it decides between equal gains.
    fn room(self, weights: &[Weight], block: BlockId) -> Weight;

    /// Follows the move of a vertex from one block to another.
    #[inline]
    fn follow(self, _node: NodeId, _pair: [BlockId; 2]) {}
}

impl Room for LoadBounds<'_> {
    #[inline]
    fn takes(self, weights: &[Weight], (_, weight): (NodeId, Weight), pair: [BlockId; 2]) -> bool {
        self.allow(weights, weight, pair)
    }

    #[inline]
    fn room(self, weights: &[Weight], block: BlockId) -> Weight {
        self.most[block as usize] - weights[block as usize]
    }
}

/// Bounds of a level or of a step, which are wider than those in the end.
#[derive(Clone, Debug)]
pub(crate) struct WiderBounds {
    pub most: Vec<Weight>,
    pub least: Vec<Weight>,
}

impl WiderBounds {
    pub fn as_bounds(&self) -> LoadBounds<'_> {
        LoadBounds { most: &self.most, least: &self.least, closed: &[] }
    }
}
