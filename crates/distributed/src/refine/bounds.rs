//! The bounds of the loads of blocks by each weight of the vertices, and how well a partition keeps them.

use std::ops::Range;

use viem::base::types::{BlockId, Weight};
use viem::partition::BoundViolation;

/// The bounds of the loads of blocks. Of several weights, those of one block after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The number of weights of a vertex.
    pub num_weights: usize,
    /// The greatest weight of each block.
    pub most: Vec<Weight>,
    /// The least weight of each block.
    pub least: Vec<Weight>,
    /// Per block: true if it must stay empty.
    pub closed: Vec<bool>,
}

impl Bounds {
    /// Bounds by one weight, without least loads and closed blocks.
    pub fn of(most: Vec<Weight>) -> Self {
        Self { num_weights: 1, least: vec![0; most.len()], closed: vec![false; most.len()], most }
    }

    /// Bounds by each of several weights: for each, a list with an entry for each block.
    pub fn by_weight(most: &[Vec<Weight>], least: &[Vec<Weight>], closed: Vec<bool>) -> Self {
        Self { num_weights: most.len(), most: by_block(most), least: by_block(least), closed }
    }

    /// Returns the number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.closed.len()
    }

    /// The places of the bounds and the loads of a block.
    #[inline]
    pub(super) fn at(&self, block: BlockId) -> Range<usize> {
        let first = block as usize * self.num_weights;
        first..first + self.num_weights
    }

    /// The greatest load of a block by each weight.
    #[inline]
    pub(super) fn most_of(&self, block: BlockId) -> &[Weight] {
        &self.most[self.at(block)]
    }

    /// The least load of a block by each weight.
    #[inline]
    pub(super) fn least_of(&self, block: BlockId) -> &[Weight] {
        &self.least[self.at(block)]
    }

    /// Returns whether none of these loads exceeds its bound. O(c k).
    pub fn hold(&self, loads: &[Weight]) -> bool {
        loads.iter().zip(&self.most).all(|(load, most)| load <= most)
    }

    /// Returns the quality of a partition whose blocks have these loads and numbers of vertices. O(c k).
    pub fn quality(&self, loads: &[Weight], counts: &[i64], cost: i128) -> Quality {
        let empty = counts.iter().zip(&self.closed).filter(|&(&count, &closed)| count == 0 && !closed);
        let empty = empty.count() as u64;
        if self.num_weights == 1 {
            let BoundViolation { overload, shortfall, .. } =
                BoundViolation::of(loads, &self.most, &self.least);
            return Quality { worst: 0, overload, shortfall, empty, cost };
        }
        let over = loads.iter().zip(&self.most).map(|(&load, &most)| relative(load - most, most));
        let short = loads.iter().zip(&self.least).map(|(&load, &least)| relative(least - load, least));
        Quality {
            worst: over.clone().max().unwrap_or(0),
            overload: over.fold(0, Weight::saturating_add),
            shortfall: short.fold(0, Weight::saturating_add),
            empty,
            cost,
        }
    }
}

/// Lists with an entry for each block as one, all entries of a block side by side.
fn by_block(lists: &[Vec<Weight>]) -> Vec<Weight> {
    let count = lists.first().map_or(0, Vec::len);
    (0..count).flat_map(|block| lists.iter().map(move |list| list[block])).collect()
}

/// What is above 0 of a difference, relative to a bound, in units of 2^-32 and rounded up.
fn relative(difference: Weight, bound: Weight) -> Weight {
    let (difference, bound) = (i128::from(difference.max(0)) << 32, i128::from(bound.max(1)));
    ((difference + bound - 1) / bound).min(i128::from(Weight::MAX)) as Weight
}

/// The quality of a partition: the excess over the bounds, the deficit below the least loads, the number of empty blocks, then the cost.
///
/// Excess and deficits of several weights are relative to the bounds, in units of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quality {
    /// Of several weights, the greatest excess over a bound; 0 if vertices have one weight.
    pub worst: Weight,
    /// The sum of all excess over the bounds.
    pub overload: Weight,
    /// The sum of the deficits of blocks below their least loads.
    pub shortfall: Weight,
    /// The number of blocks without vertices that need not be empty.
    pub empty: u64,
    /// Each arc counts, so each edge counts twice; with homes in the unit of these.
    pub cost: i128,
}

impl Quality {
    /// Returns whether the excess is less, or what is lacking, or the cost less by a greater part than `least_gain`.
    pub fn is_much_better_than(self, other: Self, least_gain: f64) -> bool {
        let bounds = |quality: Self| Self { cost: 0, ..quality };
        bounds(self) < bounds(other) || (self.cost as f64) < other.cost as f64 * (1.0 - least_gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excess_by_several_weights_is_relative_to_the_bounds() {
        let (most, least) = ([vec![10, 20], vec![4, 0]], [vec![5, 0], vec![0, 0]]);
        let bounds = Bounds::by_weight(&most, &least, vec![false; 2]);
        let quality = bounds.quality(&[15, 3, 0, 0], &[3, 0], 7);
        let half = 1 << 31;
        assert_eq!(quality, Quality { worst: half, overload: half, shortfall: 0, empty: 1, cost: 7 });
        assert!(!bounds.hold(&[15, 3, 0, 0]) && bounds.hold(&[10, 4, 20, 0]));
        // A block that may have nothing of a weight has a bound of 1 in place of 0.
        assert_eq!(bounds.quality(&[4, 4, 0, 2], &[1, 1], 0).worst, 2 << 32);
        assert_eq!(bounds.quality(&[4, 4, 0, 0], &[1, 1], 0).shortfall, (1i64 << 32).div_euclid(5) + 1);
    }
}
