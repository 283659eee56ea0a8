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

    /// Whether a move of this weight between two blocks of these loads is worth what the first one comes to lack: as it takes more from the
    /// overload of that block and the lack of the other.
    #[inline]
    fn is_worth(
        &self,
        loads: [Weight; 2],
        (weight, lost): (Weight, Weight),
        [from, to]: [BlockId; 2],
    ) -> bool {
        if lost == 0 {
            return true;
        }
        let excess = self.excess(from, loads[0]);
        lost < excess.min(weight) + self.lack(to, loads[1]).min(weight)
    }

    /// Whether a move of this weight between blocks of these weights keeps the bounds as far as they were kept.
    #[inline]
    pub fn allow(&self, weights: &[Weight], weight: Weight, pair: [BlockId; 2]) -> bool {
        self.allow_between(pair.map(|block| weights[block as usize]), weight, pair)
    }

    /// The same for two blocks of these loads.
    #[inline(always)]
    fn allow_between(&self, loads: [Weight; 2], weight: Weight, [from, to]: [BlockId; 2]) -> bool {
        let lost = self.lack_without(from, loads[0], weight);
        loads[1] + weight <= self.most[to as usize] && self.is_worth(loads, (weight, lost), [from, to])
    }

    /// By how much blocks of these weights miss the bounds; O(k).
    pub fn violation(&self, weights: &[Weight]) -> BoundViolation {
        BoundViolation::of(weights, self.most, self.least)
    }
}

/// What refiners of all blocks ask of bounds, whether vertices have one weight or several.
pub(crate) trait Room: Copy + Sync {
    /// Whether a vertex of this size may move between two blocks: bounds are kept as far as they were kept. `sizes` are those of the blocks, from which
    /// the loads differ by a drift.
    fn takes(self, sizes: &[Weight], drift: &Drift, vertex: (NodeId, Weight), pair: [BlockId; 2]) -> bool;

    /// The weight that a block has room for; it decides between equal gains.
    fn room(self, sizes: &[Weight], drift: &Drift, block: BlockId) -> Weight;

    /// The number of weights of a vertex, if it has several; else 0.
    fn num_weights(self) -> usize {
        0
    }

    /// The weights of a vertex, if it has several.
    #[inline]
    fn weights_of<'a>(self, _node: NodeId) -> &'a [Weight]
    where
        Self: 'a,
    {
        &[]
    }

    /// Follows the move of a vertex from one block to another.
    #[inline]
    fn follow(self, _node: NodeId, _pair: [BlockId; 2]) {}
}

impl Room for LoadBounds<'_> {
    #[inline(always)]
    fn takes(self, sizes: &[Weight], drift: &Drift, (_, size): (NodeId, Weight), pair: [BlockId; 2]) -> bool {
        self.allow_between(pair.map(|block| sizes[block as usize] + drift.of_size(block)), size, pair)
    }

    #[inline]
    fn room(self, sizes: &[Weight], drift: &Drift, block: BlockId) -> Weight {
        self.most[block as usize] - sizes[block as usize] - drift.of_size(block)
    }
}

/// By how much the loads of blocks differ from those that others see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drift {
    /// By block: the size, then each weight if there are several.
    changes: Vec<Weight>,
    num_entries: usize,
    touched: Vec<BlockId>,
}

impl Drift {
    /// No difference, in so many blocks, for vertices of so many weights, or 0 if each has one.
    pub fn clear(&mut self, num_blocks: usize, num_weights: usize) {
        let num_entries = 1 + num_weights;
        if (self.changes.len(), self.num_entries) == (num_blocks * num_entries, num_entries) {
            for block in self.touched.drain(..) {
                self.changes[block as usize * num_entries..][..num_entries].fill(0);
            }
        } else {
            self.touched.clear();
            self.changes.clear();
            self.changes.resize(num_blocks * num_entries, 0);
            self.num_entries = num_entries;
        }
    }

    #[inline]
    pub fn of_size(&self, block: BlockId) -> Weight {
        self.changes[block as usize * self.num_entries]
    }

    /// By how much each of several weights differs.
    #[inline]
    pub fn of_weights(&self, block: BlockId) -> &[Weight] {
        &self.changes[block as usize * self.num_entries..][1..self.num_entries]
    }

    /// Follows the move of a vertex of this size, and these weights if it has several.
    #[inline]
    pub fn shift(&mut self, [from, to]: [BlockId; 2], size: Weight, weights: &[Weight]) {
        for (block, sign) in [(from, -1), (to, 1)] {
            self.touched.push(block);
            let changes = &mut self.changes[block as usize * self.num_entries..][..=weights.len()];
            changes[0] += sign * size;
            changes[1..].iter_mut().zip(weights).for_each(|(change, weight)| *change += sign * weight);
        }
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
