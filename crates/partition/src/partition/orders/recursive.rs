//! Recursive bisection of sets of vertices, by any way to halve them.

use super::grouping::Parts;
use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::orders::input::PartitionInput;
use crate::partition::targets::Targets;

/// Something that halves sets of vertices.
pub(super) trait Halving: Sync {
    /// A set of vertices, with what is needed to halve it.
    type Set: Send;

    /// The number of vertices of a set.
    fn len(set: &Self::Set) -> usize;

    /// The vertices of a set, in the order of their numbers.
    fn nodes(set: Self::Set) -> Vec<NodeId>;

    /// Halves a set, as near to the share as its order of vertices allows. If all vertices weigh 1 and the share of their number
    /// is whole, it is met exactly.
    fn halve(&self, set: Self::Set, share: Share, seed: u64) -> [Self::Set; 2];
}

/// The share of the weight of a set that its first half should have: `first / all`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    first: i128,
    all: i128,
}

impl Share {
    /// The part of a weight, rounded to the nearest.
    pub(super) fn of(self, weight: Weight) -> i128 {
        // Weights are below 2^63, so that twice their product fits.
        let Self { first, all } = self;
        if all == 0 { 0 } else { (i128::from(weight) * first + all / 2) / all }
    }
}

/// The part of each vertex: the set of all of them is halved until one part is left for each set.
pub(super) fn parts<H: Halving>(
    halving: &H,
    all: H::Set,
    input: &PartitionInput<'_>,
    targets: &Targets,
) -> Vec<BlockId> {
    let sizes = targets.block_sizes().iter().enumerate();
    let parts = sizes.map(|(part, &size)| (part as BlockId, size)).collect();
    let mut blocks = vec![0; H::len(&all)];
    for (part, set) in divide(halving, all, parts, input, input.seed) {
        H::nodes(set).into_iter().for_each(|node| blocks[node as usize] = part);
    }
    blocks
}

fn divide<H: Halving>(
    halving: &H,
    set: H::Set,
    parts: Parts,
    input: &PartitionInput<'_>,
    seed: u64,
) -> Vec<(BlockId, H::Set)> {
    if let [(part, _)] = parts[..] {
        return vec![(part, set)];
    }
    let groups = input.grouping.groups(parts);
    let [first, second] =
        groups.each_ref().map(|group| group.iter().map(|&(_, size)| i128::from(size)).sum());
    let halves = halving.halve(set, Share { first, all: first + second }, seed);
    let ([first, second], [first_parts, second_parts]) = (halves, groups);
    let (mut sets, others) = threads::join(
        || divide(halving, first, first_parts, input, derive(seed, 0)),
        || divide(halving, second, second_parts, input, derive(seed, 1)),
    );
    sets.extend(others);
    sets
}

/// An order of the vertices in which every half is a range. All vertices must weigh 1.
pub(super) fn order<H: Halving>(halving: &H, all: H::Set, seed: u64) -> Vec<NodeId> {
    let mut order = vec![0; H::len(&all)];
    arrange(halving, all, seed, &mut order);
    order
}

fn arrange<H: Halving>(halving: &H, set: H::Set, seed: u64, places: &mut [NodeId]) {
    let count = places.len();
    if count <= 1 {
        return places.copy_from_slice(&H::nodes(set));
    }
    let share = Share { first: count.div_ceil(2) as i128, all: count as i128 };
    let [first, second] = halving.halve(set, share, seed);
    let (before, after) = places.split_at_mut(H::len(&first));
    threads::join(
        || arrange(halving, first, derive(seed, 0), before),
        || arrange(halving, second, derive(seed, 1), after),
    );
}
