//! The labels of a partition that keep most weight in place.
//!
//! *Problem.* A partition from scratch labels its blocks arbitrarily. Which PE should take which block, so that the weight
//! of the vertices that stay is greatest, and neither bounds nor objective suffer?
//!
//! *Algorithm.* For the cut, all labels are equal: an assignment of blocks to PEs of greatest overlap. On a tree of parts,
//! only parts of the same shape can change places. So the best assignment of the children of a part to those of another is
//! found for each pair of parts, from the innermost on: each pair needs the values of its children only. O(sum over the
//! levels of p² c³) for p parts of c children on a level, and 8 k² bytes.

use std::ops::Range;

use crate::base::linear_assignment::cheapest_assignment_until;
use crate::base::observer::{Observer, Watch};
use crate::base::types::{BlockId, Weight};
use crate::partition::bounds::LoadBounds;
use crate::partition::layout::BlockTree;

/// Which block may take which label, and how much weight that keeps in place.
pub(super) struct Relabelling<'a> {
    pub tree: &'a BlockTree,
    /// The weight that stays if block `b` gets the label `l`, at `b · k + l`.
    pub overlaps: Vec<Weight>,
    /// More than can stay in all blocks together.
    pub most: Weight,
    pub num_blocks: usize,
    /// Whether a block may get a label.
    pub fits: &'a dyn Fn(usize, usize) -> bool,
    pub observer: &'a dyn Observer,
}

impl Relabelling<'_> {
    /// The label of each block; their own labels if the observer asks to stop.
    pub fn best(&self) -> Vec<BlockId> {
        let found = self.of_parts(0, 0, &mut Watch::new(self.observer));
        found.map_or_else(|| (0..self.num_blocks as BlockId).collect(), |(_, labels)| labels)
    }

    /// The weight that stays if a part gets the labels of another, and the label of each of its blocks; nothing if they
    /// differ in shape, if a block is too heavy, or if the watch stops the search.
    fn of_parts(&self, part: usize, other: usize, watch: &mut Watch<'_>) -> Option<(Weight, Vec<BlockId>)> {
        let (blocks, labels) = (self.tree.range(part), self.tree.range(other));
        let (own, others) = (self.tree.children(part), self.tree.children(other));
        if blocks.len() != labels.len() || own.len() != others.len() {
            return None;
        }
        if own.is_empty() {
            let overlap = |block, label, _: &mut Watch<'_>| {
                (self.fits)(block, label).then(|| (self.overlap(block, label), vec![label as BlockId]))
            };
            return self.match_all(blocks, labels, overlap, watch);
        }
        self.match_all(own, others, |child, other, watch| self.of_parts(child, other, watch), watch)
    }

    /// The best assignment of parts or blocks to as many others.
    fn match_all(
        &self,
        own: Range<usize>,
        others: Range<usize>,
        value: impl Fn(usize, usize, &mut Watch<'_>) -> Option<(Weight, Vec<BlockId>)>,
        watch: &mut Watch<'_>,
    ) -> Option<(Weight, Vec<BlockId>)> {
        let count = own.len();
        let pairs = own.flat_map(|one| others.clone().map(move |other| (one, other)));
        let mut values: Vec<_> = pairs.map(|(one, other)| value(one, other, watch)).collect();
        let cost =
            |row: usize, column: usize| values[row * count + column].as_ref().map_or(self.most, |v| -v.0);
        let (column_of, _) = cheapest_assignment_until(count, cost, watch)?;
        let mut labels = Vec::new();
        let mut sum = 0;
        for (row, column) in column_of.into_iter().enumerate() {
            let (kept, inner) = values[row * count + column].take()?;
            sum += kept;
            labels.extend(inner);
        }
        Some((sum, labels))
    }

    fn overlap(&self, block: usize, label: usize) -> Weight {
        self.overlaps[block * self.num_blocks + label]
    }
}

/// Returns whether a block of this weight may get a label: where it neither exceeds nor lacks more than under its own, and no vertex is where there must be
/// none.
pub(super) fn fits(bounds: LoadBounds<'_>, weight: Weight, block: usize, label: usize) -> bool {
    if bounds.is_closed(label as BlockId) != bounds.is_closed(block as BlockId) {
        return false;
    }
    let overload = |label: usize| (weight - bounds.most[label]).max(0);
    let lack = |label: usize| bounds.lack(label as BlockId, weight);
    overload(label) <= overload(block) && lack(label) <= lack(block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::testing::Stops;

    fn random(count: usize, most: u32, rng: &mut Rng) -> Vec<Weight> {
        (0..count).map(|_| Weight::from(rng.below(most))).collect()
    }

    /// Returns whether labels keep blocks of one part in one part, and whole parts of this arity together.
    fn respects_parts(labels: &[usize], arity: usize) -> bool {
        labels.chunks(arity).all(|part| part.iter().all(|label| label / arity == part[0] / arity))
    }

    /// The greatest overlap of all permutations that are allowed.
    fn by_enumeration(
        relabelling: &Relabelling<'_>,
        allowed: &impl Fn(&[usize]) -> bool,
        labels: &mut Vec<usize>,
        at: usize,
    ) -> Weight {
        if at == labels.len() {
            let fit = labels.iter().enumerate().all(|(block, &label)| (relabelling.fits)(block, label));
            let overlaps = labels.iter().enumerate().map(|(b, &label)| relabelling.overlap(b, label));
            return if fit && allowed(labels) { overlaps.sum() } else { -1 };
        }
        let mut best = -1;
        for other in at..labels.len() {
            labels.swap(at, other);
            best = best.max(by_enumeration(relabelling, allowed, labels, at + 1));
            labels.swap(at, other);
        }
        best
    }

    #[test]
    fn labels_agree_with_enumeration_on_trees_and_without() {
        let mut rng = Rng::new(2);
        for round in 0..60 {
            let arity = [6, 3, 2][round % 3];
            let children =
                |range: Range<usize>| if range.len() == 6 { vec![arity; 6 / arity] } else { vec![] };
            let tree = BlockTree::new(6, children);
            let overlaps = random(36, 9, &mut rng);
            let weights: Vec<Weight> = overlaps.chunks(6).map(|row| row.iter().sum()).collect();
            let bounds = random(6, 60, &mut rng);
            let fits = |block: usize, label| fits(bounds[..].into(), weights[block], block, label);
            let relabelling = Relabelling {
                tree: &tree,
                most: overlaps.iter().sum::<Weight>() + 1,
                overlaps,
                num_blocks: 6,
                fits: &fits,
                observer: &(),
            };
            let labels: Vec<usize> = relabelling.best().into_iter().map(|label| label as usize).collect();
            assert!(respects_parts(&labels, arity));
            let overlaps = labels.iter().enumerate().map(|(b, &label)| relabelling.overlap(b, label));
            let allowed = |labels: &[usize]| respects_parts(labels, arity);
            let best = by_enumeration(&relabelling, &allowed, &mut (0..6).collect(), 0);
            assert_eq!(overlaps.sum::<Weight>(), best);
        }
    }

    #[test]
    fn blocks_keep_their_labels_if_it_is_stopped() {
        let count = 500;
        let tree = BlockTree::new(count, |_| Vec::new());
        let overlaps = random(count * count, 9, &mut Rng::new(3));
        let stopped = Relabelling {
            tree: &tree,
            most: overlaps.iter().sum::<Weight>() + 1,
            overlaps,
            num_blocks: count,
            fits: &|_, _| true,
            observer: &Stops,
        };
        assert!(stopped.best().into_iter().eq(0..count as BlockId));
    }
}
