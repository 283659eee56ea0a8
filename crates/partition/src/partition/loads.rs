//! The loads of blocks whose vertices have several weights, next to their bounds.
//!
//! Refinement counts one weight per vertex, its *size*: the sum of its shares of all weights ([`sizes`]). It decides what is contracted, and
//! between equal gains. The bounds of all weights are kept by [`Loads`], which follows each move; a move takes O(c) for c weights.

use std::sync::atomic::{AtomicI64, Ordering};

use super::bounds::{BoundViolation, Drift, Room};
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

/// The sum of the sizes of all vertices by one of their weights, about.
pub(crate) fn scale(num_weights: usize) -> Weight {
    TOTAL_SIZE / num_weights as Weight
}

/// The size of each vertex: the sum of its shares of all weights, each rounded up.
pub(crate) fn sizes(weights: &VertexWeights) -> impl Fn(NodeId) -> Weight + '_ {
    let scale = i128::from(scale(weights.num_weights()));
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
    pub groups: GroupBounds,
}

/// Groups of blocks, such as the PEs of a node, and what each may weigh together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupBounds {
    /// The group of each block; empty if there are none.
    pub of_block: Vec<u32>,
    /// The bounds of one group after the other by all weights; [`NO_BOUND`] where there is none.
    pub most: Vec<Weight>,
    /// The blocks of each group.
    members: Vec<Vec<BlockId>>,
}

/// The bound of a group that has none.
pub(crate) const NO_BOUND: Weight = Weight::MAX;

impl GroupBounds {
    /// The groups of the blocks, all of which have numbers below the number of groups, and their bounds by so many weights.
    pub fn new(of_block: Vec<u32>, most: Vec<Weight>, num_weights: usize) -> Self {
        let mut members = vec![Vec::new(); most.len() / num_weights];
        (0..).zip(&of_block).for_each(|(block, &group)| members[group as usize].push(block));
        Self { of_block, most, members }
    }

    /// Returns whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.of_block.is_empty()
    }

    /// The groups of two blocks, if these are different ones.
    #[inline]
    pub fn crossed(&self, [from, to]: [BlockId; 2]) -> Option<[usize; 2]> {
        if self.is_empty() {
            return None;
        }
        let [from, to] = [from, to].map(|block| self.of_block[block as usize] as usize);
        (from != to).then_some([from, to])
    }

    /// The loads of the groups, of those of the blocks; O(c k).
    pub fn loads(&self, loads: &[Weight], num_weights: usize) -> Vec<Weight> {
        let mut sums = vec![0; self.most.len()];
        for (&group, own) in self.of_block.iter().zip(loads.chunks(num_weights)) {
            add_each(&mut sums[group as usize * num_weights..][..num_weights], own);
        }
        sums
    }
}

fn add_each(sums: &mut [Weight], own: &[Weight]) {
    sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
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
        let widened = |(at, &bound): (usize, &Weight)| bound.saturating_add(excess(at).min(bound / share));
        let wider = |most: &[Weight]| most.iter().enumerate().map(widened).collect();
        let groups = GroupBounds { most: wider(&self.groups.most), ..self.groups.clone() };
        Self { most: wider(&self.most), groups, ..self.clone() }
    }

    /// The bounds of a block alone, without its group.
    pub fn of_block(&self, block: usize) -> Self {
        let range = block * self.num_weights..(block + 1) * self.num_weights;
        let least = self.least.get(range.clone()).unwrap_or_default().to_vec();
        let (num_weights, most) = (self.num_weights, self.most[range].to_vec());
        Self { num_weights, most, least, groups: GroupBounds::default() }
    }

    /// The sums of all that these loads exceed their bounds by, and lack of their least loads; O(c k).
    pub fn violation(&self, loads: &[Weight]) -> BoundViolation {
        let of_groups = self.groups.loads(loads, self.num_weights);
        let all = loads.iter().zip(&self.most).chain(of_groups.iter().zip(&self.groups.most));
        let overload = all.map(|(load, bound)| (load - bound).max(0)).fold(0, Weight::saturating_add);
        let short = self.least.iter().zip(loads).map(|(least, load)| (least - load).max(0));
        BoundViolation::new(overload, short.fold(0, Weight::saturating_add))
    }

    /// By how much these loads miss the bounds; O(c k).
    pub fn excess(&self, loads: &[Weight]) -> Excess {
        let of_groups = self.groups.loads(loads, self.num_weights);
        let all = loads.iter().zip(&self.most).chain(of_groups.iter().zip(&self.groups.most));
        let over = all.map(|(&load, &bound)| relative(load - bound, bound));
        let short = self.least.iter().zip(loads).map(|(&least, &load)| relative(least - load, least));
        let (worst, total) =
            over.fold((0i64, 0i64), |(worst, total), over| (worst.max(over), total.saturating_add(over)));
        Excess { worst, total, shortfall: short.fold(0, i64::saturating_add) }
    }
}

/// What is above 0 of a difference, relative to a bound and rounded up.
pub(crate) fn relative(difference: Weight, bound: Weight) -> i64 {
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
    /// The same of groups of blocks.
    of_groups: Vec<AtomicI64>,
}

impl<'a> Loads<'a> {
    /// Sums the loads of a partition; O(c (n + k)).
    pub fn new(weights: &'a VertexWeights, bounds: &'a VectorBounds, blocks: &[BlockId]) -> Self {
        let loads = weights.loads(blocks, bounds.num_blocks());
        let of_groups = bounds.groups.loads(&loads, bounds.num_weights);
        let shared = |loads: Vec<Weight>| loads.into_iter().map(AtomicI64::new).collect();
        Self { weights, bounds, loads: shared(loads), of_groups: shared(of_groups) }
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

    pub fn all(&self) -> Vec<Weight> {
        self.loads.iter().map(load_of).collect()
    }

    /// Returns whether a block, or the group that it belongs to, exceeds one of its bounds.
    #[inline]
    pub fn is_over(&self, block: BlockId) -> bool {
        let is_above = |(load, &bound): (Weight, &Weight)| load > bound;
        let group = self.bounds.groups.of_block.get(block as usize);
        self.of(block).zip(self.bounds.most(block)).any(is_above)
            || group.is_some_and(|&group| self.of_group(group as usize).any(is_above))
    }

    /// The loads of a group by weight, and its bounds.
    #[inline]
    fn of_group(&self, group: usize) -> impl Iterator<Item = (Weight, &Weight)> + '_ {
        let begin = group * self.bounds.num_weights;
        let range = begin..begin + self.bounds.num_weights;
        self.of_groups[range.clone()].iter().map(load_of).zip(&self.bounds.groups.most[range])
    }

    /// Returns whether a block lacks something of one of its least loads.
    pub fn is_short(&self, block: BlockId) -> bool {
        let short =
            |at: usize| self.bounds.least.get(at).is_some_and(|&least| load_of(&self.loads[at]) < least);
        self.at(block).any(short)
    }

    /// Returns whether two blocks would keep their bounds with these loads, which are those of both together, and their least loads as far as they have
    /// them.
    pub fn would_fit(&self, pair: [BlockId; 2], loads: [&[Weight]; 2]) -> bool {
        (0..2).all(|side| self.would_fit_one(pair[side], loads[side])) && self.groups_would_fit(pair, loads)
    }

    fn groups_would_fit(&self, pair: [BlockId; 2], loads: [&[Weight]; 2]) -> bool {
        let Some(groups) = self.bounds.groups.crossed(pair) else { return true };
        (0..2).all(|side| {
            let (before, after) = (self.of(pair[side]), loads[side].iter());
            let changes = before.zip(after).map(|(before, after)| after - before);
            self.of_group(groups[side]).zip(changes).all(|((load, &bound), change)| load + change <= bound)
        })
    }

    fn would_fit_one(&self, block: BlockId, loads: &[Weight]) -> bool {
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

    /// How much the sum of what groups exceed of their bounds changes if these weights move from one block to another.
    #[inline]
    pub fn change_of_groups(&self, weights: &[Weight], pair: [BlockId; 2]) -> f64 {
        let Some([from, to]) = self.bounds.groups.crossed(pair) else { return 0.0 };
        self.change_of_group(from, weights, -1) + self.change_of_group(to, weights, 1)
    }

    /// How much the same changes if the group of a block loses these weights.
    pub fn change_by_leaving(&self, block: BlockId, weights: &[Weight]) -> f64 {
        let group = self.bounds.groups.of_block.get(block as usize);
        group.map_or(0.0, |&group| self.change_of_group(group as usize, weights, -1))
    }

    fn change_of_group(&self, group: usize, weights: &[Weight], sign: Weight) -> f64 {
        let change = |((load, &bound), &weight): ((Weight, &Weight), &Weight)| {
            let (over, then) = ((load - bound).max(0), (load + sign * weight - bound).max(0));
            (then - over) as f64 / bound.max(1) as f64
        };
        self.of_group(group).zip(weights).map(change).sum()
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
            && self.group_allows_beside(node, [from, to], &drift)
            && (self.bounds.least.is_empty()
                || of_block(from)
                    .all(|((number, at), own)| load(from, at, number) - own >= self.bounds.least[at]))
    }

    /// Returns whether the group of a block has room for a vertex of another group. O(c) and, where the group is bound, the number of its blocks.
    #[inline]
    fn group_allows_beside(
        &self,
        node: NodeId,
        pair: [BlockId; 2],
        drift: &impl Fn(BlockId, usize) -> Weight,
    ) -> bool {
        let Some([_, group]) = self.bounds.groups.crossed(pair) else { return true };
        let mut each = self.of_group(group).zip(self.weights.of(node)).enumerate();
        each.all(|(number, ((load, &bound), &own))| {
            own == 0 || bound == NO_BOUND || {
                let drifts = self.bounds.groups.members[group].iter().map(|&block| drift(block, number));
                load + drifts.sum::<Weight>() + own <= bound
            }
        })
    }

    /// Follows moves of vertices between two blocks, unless one of their groups then exceeds its bounds and has not done so before. Returns whether
    /// it has followed them.
    pub fn follow_unless_groups_overflow(
        &self,
        moves: &[(NodeId, [BlockId; 2])],
        pair: [BlockId; 2],
    ) -> bool {
        let overflows = || {
            let is_over = |group: usize| self.of_group(group).any(|(load, &bound)| load > bound);
            self.bounds.groups.crossed(pair).is_some_and(|groups| groups.into_iter().any(is_over))
        };
        let overflowed = overflows();
        moves.iter().for_each(|&(node, pair)| self.follow(node, pair));
        if overflowed || !overflows() {
            return true;
        }
        moves.iter().for_each(|&(node, [from, to])| self.follow(node, [to, from]));
        false
    }

    /// Follows the move of a vertex from one block to another.
    #[inline]
    pub fn follow(&self, node: NodeId, [from, to]: [BlockId; 2]) {
        if let Some([left, taken]) = self.bounds.groups.crossed([from, to]) {
            let (left, taken) = (left * self.bounds.num_weights, taken * self.bounds.num_weights);
            for (weight, &own) in self.weights.of(node).iter().enumerate() {
                add(&self.of_groups[left + weight], -own);
                add(&self.of_groups[taken + weight], own);
            }
        }
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
            let bound =
                |rng: &mut Rng| if rng.below(4) == 0 { NO_BOUND } else { 40 + Weight::from(rng.below(60)) };
            let groups = match num_weights {
                2 => GroupBounds::default(),
                _ => {
                    let most = (0..3 * num_weights).map(|_| bound(&mut rng)).collect();
                    GroupBounds::new(vec![1, 0, 1, 2, 0], most, num_weights)
                }
            };
            let bounds = VectorBounds { num_weights, most, least: Vec::new(), groups };
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
                let change = loads.change(from, own, -1)
                    + loads.change(to, own, 1)
                    + loads.change_of_groups(own, [from, to]);
                let fits = loads.allows(node, [from, to]);
                assert_eq!((&first).takes(&[], &drift, (node, 0), [from, to]), fits);
                drift.shift([from, to], 1, own);
                loads.follow(node, [from, to]);
                blocks[node as usize] = to;
                let fresh = Loads::new(&weights, &bounds, &blocks);
                assert_eq!(loads.all(), fresh.all());
                let of_groups = |loads: &Loads<'_>| loads.of_groups.iter().map(load_of).collect::<Vec<_>>();
                assert_eq!(of_groups(&loads), of_groups(&fresh));
                let is_over = |block| {
                    let mut alone = bounds.clone();
                    let group = alone.groups.of_block.get(block as usize).copied();
                    alone.groups.most.chunks_mut(num_weights).enumerate().for_each(|(at, most)| {
                        if Some(at as u32) != group {
                            most.fill(NO_BOUND);
                        }
                    });
                    let others = (0..5).filter(|&other| other != block);
                    others.for_each(|other| {
                        alone.most[other as usize * num_weights..][..num_weights].fill(NO_BOUND)
                    });
                    alone.excess(&loads.all()).is_over()
                };
                assert!((0..5).all(|block| loads.is_over(block) == is_over(block)));
                assert!((total(&fresh) - before - change).abs() < 1e-6);
                assert!(!fits || change <= 0.0);
            }
        }
    }

    #[test]
    fn moves_that_fill_a_group_are_not_followed() {
        let weights = VertexWeights::new(2, [[1, 5]; 6].concat()).unwrap();
        let groups = GroupBounds::new(vec![0, 0, 1], vec![NO_BOUND, 21, NO_BOUND, NO_BOUND], 2);
        let bounds = VectorBounds { num_weights: 2, most: vec![99; 6], least: Vec::new(), groups };
        let loads = Loads::new(&weights, &bounds, &[0, 1, 2, 2, 2, 2]);
        let follows = |nodes: &[NodeId], pair: [BlockId; 2]| {
            let moves: Vec<(NodeId, [BlockId; 2])> = nodes.iter().map(|&node| (node, pair)).collect();
            loads.follow_unless_groups_overflow(&moves, pair)
        };
        assert!(follows(&[2, 3], [2, 0]) && !follows(&[4], [2, 1]));
        assert_eq!(loads.all(), Loads::new(&weights, &bounds, &[0, 1, 0, 0, 2, 2]).all());
        // Within a group, its load stays.
        assert!(follows(&[2], [0, 1]) && follows(&[3], [0, 2]) && follows(&[4], [2, 1]));
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
        let (most, least) = (vec![10, 100, 10, 100], vec![5, 0, 5, 0]);
        let bounds = VectorBounds { num_weights: 2, most, least, groups: GroupBounds::default() };
        let excess = |loads: [Weight; 4]| bounds.excess(&loads);
        assert_eq!(excess([10, 100, 5, 3]), Excess::NONE);
        assert!(excess([11, 100, 11, 100]) < excess([10, 111, 10, 100]));
        assert!(excess([11, 100, 10, 100]) < excess([11, 101, 10, 100]));
        assert!(excess([10, 100, 4, 3]) > Excess::NONE && !excess([10, 100, 4, 3]).is_over());
    }
}
