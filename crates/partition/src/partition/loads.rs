//! The loads of blocks whose vertices have several weights, next to their bounds.
//!
//! Refinement counts one weight per vertex, its *size*: the sum of its shares of all weights ([`sizes`]). It decides what is contracted, and
//! between equal gains. The bounds of all weights are kept by [`Loads`], which follows each move; a move takes O(c) for c weights.

use std::sync::atomic::{AtomicI64, Ordering};

use super::bounds::{Drift, Room};
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::VertexWeights;

/// The size of all vertices together, about. All sums of sizes fit 32 bits.
const TOTAL_SIZE: Weight = 1 << 30;

/// The unit of relative excess: a bound is exceeded by this many of them where the load is twice the bound.
const WHOLE: i128 = 1 << 32;

/// Returns whether all sums of [`sizes`] fit 32 bits.
pub(crate) fn are_sizes_narrow(weights: &VertexWeights) -> bool {
    weights.values().len() < TOTAL_SIZE as usize
}

/// The size of each vertex: the sum of its shares of all weights, each rounded up.
pub(crate) fn sizes(weights: &VertexWeights) -> impl Fn(NodeId) -> Weight + '_ {
    let scale = i128::from(TOTAL_SIZE / weights.num_weights() as Weight);
    let share = move |(&weight, &total): (&Weight, &Weight)| -> Weight {
        let total = i128::from(total.max(1));
        ((i128::from(weight) * scale + total - 1) / total) as Weight
    };
    move |node| weights.of(node).iter().zip(weights.totals()).map(share).sum()
}

/// By how much loads miss their bounds, each relative to its bound in units of 2^-32. When two are compared, the bound that is exceeded most
/// comes first (the L-infinity norm), then the sum over all bounds (the L1 norm), then what is missing of least loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Excess {
    worst: i64,
    total: i64,
    shortfall: i64,
}

impl Excess {
    pub const NONE: Self = Self { worst: 0, total: 0, shortfall: 0 };

    /// The same without what is missing of least loads.
    pub fn without_shortfall(self) -> Self {
        Self { shortfall: 0, ..self }
    }

    /// Returns whether an upper bound is exceeded.
    pub fn is_over(self) -> bool {
        self.worst > 0
    }
}

/// The upper and lower bounds of all blocks by all weights: those of one block after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VectorBounds {
    pub num_weights: usize,
    pub most: Vec<Weight>,
    /// Empty if there are no least loads.
    pub least: Vec<Weight>,
}

impl VectorBounds {
    pub fn num_blocks(&self) -> usize {
        self.most.len() / self.num_weights
    }

    /// The upper bounds of a block.
    #[inline]
    pub fn most(&self, block: BlockId) -> &[Weight] {
        let begin = block as usize * self.num_weights;
        &self.most[begin..begin + self.num_weights]
    }

    /// The same with upper bounds that are greater by this excess, given their place, or by a share of them if that is less.
    pub fn widened(&self, excess: impl Fn(usize) -> Weight, share: Weight) -> Self {
        let widened = |(at, &bound): (usize, &Weight)| bound + excess(at).min(bound / share);
        let most = self.most.iter().enumerate().map(widened).collect();
        Self { most, ..self.clone() }
    }

    /// By how much these loads miss the bounds; O(c k).
    pub fn excess(&self, loads: &[Weight]) -> Excess {
        let over = loads.iter().zip(&self.most).map(|(&load, &bound)| relative(load - bound, bound));
        let short = self.least.iter().zip(loads).map(|(&least, &load)| relative(least - load, least));
        let (worst, total) =
            over.fold((0i64, 0i64), |(worst, total), over| (worst.max(over), total.saturating_add(over)));
        Excess { worst, total, shortfall: short.fold(0, i64::saturating_add) }
    }
}

/// What is above 0 of a difference, relative to a bound and rounded up.
fn relative(difference: Weight, bound: Weight) -> i64 {
    if difference <= 0 {
        return 0;
    }
    let bound = i128::from(bound.max(1));
    ((i128::from(difference) * WHOLE + bound - 1) / bound).min(i128::from(i64::MAX)) as i64
}

/// The loads of the blocks of a level by all weights, and their bounds.
pub(crate) struct Loads<'a> {
    pub weights: &'a VertexWeights,
    pub bounds: &'a VectorBounds,
    /// The loads of one block after the other, which threads read while none writes.
    loads: Vec<AtomicI64>,
}

impl<'a> Loads<'a> {
    /// Sums the loads of a partition; O(c (n + k)).
    pub fn new(weights: &'a VertexWeights, bounds: &'a VectorBounds, blocks: &[BlockId]) -> Self {
        let loads = weights.loads(blocks, bounds.num_blocks()).into_iter().map(AtomicI64::new).collect();
        Self { weights, bounds, loads }
    }

    #[inline]
    fn at(&self, block: BlockId) -> std::ops::Range<usize> {
        let begin = block as usize * self.bounds.num_weights;
        begin..begin + self.bounds.num_weights
    }

    /// The loads of a block by weight.
    #[inline]
    pub fn of(&self, block: BlockId) -> impl Iterator<Item = Weight> + '_ {
        self.loads[self.at(block)].iter().map(load_of)
    }

    /// By how much all loads miss their bounds; O(c k).
    pub fn excess(&self) -> Excess {
        self.bounds.excess(&self.all())
    }

    fn all(&self) -> Vec<Weight> {
        self.loads.iter().map(load_of).collect()
    }

    /// Returns whether a block exceeds one of its bounds.
    #[inline]
    pub fn is_over(&self, block: BlockId) -> bool {
        self.of(block).zip(self.bounds.most(block)).any(|(load, &bound)| load > bound)
    }

    /// Returns whether a block lacks something of one of its least loads.
    pub fn is_short(&self, block: BlockId) -> bool {
        let short =
            |at: usize| self.bounds.least.get(at).is_some_and(|&least| load_of(&self.loads[at]) < least);
        self.at(block).any(short)
    }

    /// Returns whether a block would keep its bounds with these loads, and its least loads as far as it has them.
    pub fn would_fit(&self, block: BlockId, loads: &[Weight]) -> bool {
        let below = |(&load, &bound): (&Weight, &Weight)| load <= bound;
        let keeps = |at: usize| {
            let least = self.bounds.least[at].min(load_of(&self.loads[at]));
            loads[at - self.at(block).start] >= least
        };
        loads.iter().zip(self.bounds.most(block)).all(below)
            && (self.bounds.least.is_empty() || self.at(block).all(keeps))
    }

    /// How much the sum of what a block exceeds of its bounds, and lacks of its least loads, relative to these, changes if it gains, with `sign` 1, or
    /// loses, with -1, these weights.
    #[inline]
    pub fn change(&self, block: BlockId, weights: &[Weight], sign: Weight) -> f64 {
        let range = self.at(block);
        let mut change = 0.0;
        for ((at, &weight), &bound) in range.zip(weights).zip(self.bounds.most(block)) {
            if weight != 0 {
                let load = load_of(&self.loads[at]);
                let over = (load - bound).max(0);
                let then = (load + sign * weight - bound).max(0);
                change += (then - over) as f64 / bound.max(1) as f64;
                if let Some(&least) = self.bounds.least.get(at) {
                    let short = (least - load).max(0);
                    let then = (least - load - sign * weight).max(0);
                    change += (then - short) as f64 / least.max(1) as f64;
                }
            }
        }
        change
    }

    /// Returns whether a vertex may move between two blocks: bounds are kept as far as they were kept.
    pub fn allows(&self, node: NodeId, pair: [BlockId; 2]) -> bool {
        self.allows_beside(node, pair, |_, _| 0)
    }

    /// The same where loads differ, given a block and the number of a weight. A weight of 0 fits a block even if that is above its bound.
    #[inline]
    fn allows_beside(
        &self,
        node: NodeId,
        [from, to]: [BlockId; 2],
        drift: impl Fn(BlockId, usize) -> Weight,
    ) -> bool {
        let own = self.weights.of(node);
        let of_block = |block: BlockId| self.at(block).enumerate().zip(own).filter(|(_, own)| **own != 0);
        let load = |block, at: usize, number| load_of(&self.loads[at]) + drift(block, number);
        of_block(to).all(|((number, at), own)| load(to, at, number) + own <= self.bounds.most[at])
            && (self.bounds.least.is_empty()
                || of_block(from)
                    .all(|((number, at), own)| load(from, at, number) - own >= self.bounds.least[at]))
    }

    /// Follows the move of a vertex from one block to another.
    #[inline]
    pub fn follow(&self, node: NodeId, [from, to]: [BlockId; 2]) {
        let (from, to) = (self.at(from).start, self.at(to).start);
        for (weight, &own) in self.weights.of(node).iter().enumerate() {
            add(&self.loads[from + weight], -own);
            add(&self.loads[to + weight], own);
        }
    }
}

/// A load. Threads only read while loads change nowhere.
#[inline]
fn load_of(load: &AtomicI64) -> Weight {
    load.load(Ordering::Relaxed)
}

/// Only one thread changes loads, so this is no read-modify-write instruction, which would be slow.
#[inline]
fn add(load: &AtomicI64, change: Weight) {
    load.store(load_of(load) + change, Ordering::Relaxed);
}

impl Room for &Loads<'_> {
    #[inline]
    fn takes(self, _: &[Weight], drift: &Drift, (node, _): (NodeId, Weight), pair: [BlockId; 2]) -> bool {
        self.allows_beside(node, pair, |block, number| drift.of_weights(block)[number])
    }

    #[inline]
    fn room(self, sizes: &[Weight], drift: &Drift, block: BlockId) -> Weight {
        -sizes[block as usize] - drift.of_size(block)
    }

    fn num_weights(self) -> usize {
        self.bounds.num_weights
    }

    #[inline]
    fn weights_of<'a>(self, node: NodeId) -> &'a [Weight]
    where
        Self: 'a,
    {
        self.weights.of(node)
    }

    #[inline]
    fn follow(self, node: NodeId, pair: [BlockId; 2]) {
        Loads::follow(self, node, pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn loads_agree_with_recomputation_after_every_move() {
        let mut rng = Rng::new(3);
        for num_weights in 2..5usize {
            let values = (0..40 * num_weights).map(|_| Weight::from(rng.below(9))).collect();
            let weights = VertexWeights::new(num_weights, values).unwrap();
            let mut blocks: Vec<BlockId> = (0..40).map(|_| rng.below(5)).collect();
            let most = (0..5 * num_weights).map(|_| 20 + Weight::from(rng.below(40))).collect();
            let bounds = VectorBounds { num_weights, most, least: Vec::new() };
            let loads = Loads::new(&weights, &bounds, &blocks);
            // The loads of the beginning, and by how much they differ now.
            let (first, mut drift) = (Loads::new(&weights, &bounds, &blocks), Drift::default());
            drift.clear(5, num_weights);
            for _ in 0..300 {
                let (node, to) = (rng.below(40), rng.below(5));
                let from = blocks[node as usize];
                if from == to {
                    continue;
                }
                let total = |loads: &Loads<'_>| loads.excess().total as f64 / WHOLE as f64;
                let before = total(&loads);
                let own = weights.of(node);
                let change = loads.change(from, own, -1) + loads.change(to, own, 1);
                let fits = loads.allows(node, [from, to]);
                assert_eq!((&first).takes(&[], &drift, (node, 0), [from, to]), fits);
                drift.shift([from, to], 1, own);
                loads.follow(node, [from, to]);
                blocks[node as usize] = to;
                let fresh = Loads::new(&weights, &bounds, &blocks);
                assert_eq!(loads.all(), fresh.all());
                assert!((total(&fresh) - before - change).abs() < 1e-6);
                assert!(!fits || change <= 0.0);
            }
        }
    }

    #[test]
    fn sizes_sum_up_to_the_share_of_all_weights() {
        let weights = VertexWeights::new(2, vec![1, 0, 1, 5, 2, Weight::MAX / 2]).unwrap();
        let size = sizes(&weights);
        let total: Weight = (0..3).map(size).sum();
        assert!((TOTAL_SIZE..TOTAL_SIZE + 6).contains(&total));
    }

    #[test]
    fn the_worst_bound_comes_first() {
        let bounds = VectorBounds { num_weights: 2, most: vec![10, 100, 10, 100], least: vec![5, 0, 5, 0] };
        let excess = |loads: [Weight; 4]| bounds.excess(&loads);
        assert_eq!(excess([10, 100, 5, 3]), Excess::NONE);
        assert!(excess([11, 100, 11, 100]) < excess([10, 111, 10, 100]));
        assert!(excess([11, 100, 10, 100]) < excess([11, 101, 10, 100]));
        assert!(excess([10, 100, 4, 3]) > Excess::NONE && !excess([10, 100, 4, 3]).is_over());
    }
}
