//! The cores of a node, shared among its ranks: a processing element for each rank.
//!
//! Problem: given the leaves of a node (cores or hardware threads) in their tree, `ranks` disjoint sets of `size` leaves each. Each
//! part of the node (socket, NUMA node, cache) shall have as many of them as suits its size, and a set shall be in two parts only if
//! there is no part left that it fits in.
//!
//! Algorithm: from the outside in, ranks are distributed to the parts in proportion to their leaves, and to no part more than fit in.
//! If the parts have no room for all ranks, each is filled, and what is left over in them makes up the other sets. If a set is
//! larger than any part, each rank gets a sequence of neighbouring parts. Sets of parts that are single leaves are next to each other.
//!
//! A set that is in two parts of a level counts as a part of its own there: it is as far from the sets in both of them as these are
//! from each other.
//!
//! Cost: O(p l) time and O(p) memory for p leaves and l levels, plus sorting.

use std::ops::Range;

use super::shape::{Leaf, close_gaps, joined, nearer};

/// The processing elements of a node, in the order of their places.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shares {
    pub(super) leaves: Vec<Leaf>,
    /// The number of them that are in two parts although a part has room for one, and at which level.
    pub(super) num_split: usize,
    pub(super) split_level: usize,
}

/// Processing elements of `size` leaves for as many ranks; there must be as many leaves as that makes.
pub(super) fn shares(leaves: &[Leaf], ranks: usize, size: usize) -> Shares {
    let levels = leaves.first().map_or(0, |leaf| leaf.digits.len());
    if size == 1 && ranks == leaves.len() {
        return Shares { leaves: leaves.to_vec(), num_split: 0, split_level: 0 };
    }
    let mut sharing =
        Sharing { leaves, size, shares: Vec::with_capacity(ranks), num_split: 0, split_level: 0 };
    sharing.share(0..leaves.len(), levels, ranks);
    let Sharing { mut shares, num_split, split_level, .. } = sharing;
    shares.sort_by(|a, b| a.digits.iter().rev().cmp(b.digits.iter().rev()));
    close_gaps(&mut shares, levels);
    Shares { leaves: shares, num_split, split_level }
}

struct Sharing<'a> {
    leaves: &'a [Leaf],
    size: usize,
    shares: Vec<Leaf>,
    num_split: usize,
    split_level: usize,
}

impl Sharing<'_> {
    /// Shares a part, whose leaves differ below `level` only, among this many ranks, for which it has room. Returns the leaves that are
    /// left over.
    fn share(&mut self, part: Range<usize>, level: usize, ranks: usize) -> Vec<usize> {
        if ranks == 0 {
            return part.collect();
        }
        let Some(inner) = level.checked_sub(1) else {
            // All digits are the same: this is one leaf.
            self.add(&part.collect::<Vec<_>>(), None);
            return Vec::new();
        };
        let parts = self.parts(part.clone(), inner);
        if parts.len() == 1 {
            return self.share(part, inner, ranks);
        }
        if parts.len() == part.len() {
            return self.chunks(part.collect(), inner, parts.len(), ranks);
        }
        let room: usize = parts.iter().map(|part| part.len() / self.size).sum();
        if room == 0
            && let Some(left) = self.sequences(&parts, inner, ranks)
        {
            return left;
        }
        let ranks_of = ranks_of(&parts, ranks.min(room), self.size);
        let left =
            parts.iter().zip(ranks_of).flat_map(|(part, ranks)| self.share(part.clone(), inner, ranks));
        let left: Vec<usize> = left.collect();
        let num_split = ranks.saturating_sub(room);
        if room > 0 && num_split > 0 {
            (self.num_split, self.split_level) = (self.num_split + num_split, self.split_level.max(inner));
        }
        self.chunks(left, inner, parts.len(), num_split)
    }

    /// The parts of a part: leaves that agree at a level.
    fn parts(&self, part: Range<usize>, level: usize) -> Vec<Range<usize>> {
        let mut start = part.start;
        let groups = self.leaves[part].chunk_by(|a, b| a.digits[level] == b.digits[level]);
        let range = |group: &[Leaf]| {
            start += group.len();
            start - group.len()..start
        };
        groups.map(range).collect()
    }

    /// A sequence of neighbouring parts for each rank, if all of these are large enough.
    fn sequences(&mut self, parts: &[Range<usize>], level: usize, ranks: usize) -> Option<Vec<usize>> {
        let (first, total) = (parts[0].start, parts.iter().map(Range::len).sum::<usize>());
        let sequence_of = |part: &Range<usize>| (part.start - first) * ranks / total;
        let sequences: Vec<Range<usize>> = parts
            .chunk_by(|a, b| sequence_of(a) == sequence_of(b))
            .map(|sequence| sequence[0].start..sequence[sequence.len() - 1].end)
            .collect();
        if sequences.len() < ranks || sequences.iter().any(|sequence| sequence.len() < self.size) {
            return None;
        }
        let mut left = Vec::new();
        for (number, sequence) in sequences.into_iter().enumerate() {
            let (taken, rest) =
                (sequence.start..sequence.start + self.size, sequence.start + self.size..sequence.end);
            self.add(&taken.collect::<Vec<_>>(), Some((level, parts.len() + number)));
            left.extend(rest);
        }
        Some(left)
    }

    /// Shares leaves of several parts in their order. Returns those that are left over.
    fn chunks(&mut self, leaves: Vec<usize>, level: usize, num_parts: usize, ranks: usize) -> Vec<usize> {
        let is_part = self.size == 1;
        for (number, set) in leaves.chunks_exact(self.size).take(ranks).enumerate() {
            self.add(set, (!is_part).then_some((level, num_parts + number)));
        }
        leaves[(ranks * self.size).min(leaves.len())..].to_vec()
    }

    /// Adds the processing element of these leaves. If they differ at a level, it counts as a part of its own there.
    fn add(&mut self, set: &[usize], own: Option<(usize, usize)>) {
        let Some(&first) = set.first() else { return };
        let mut digits = self.leaves[first].digits.clone();
        if let Some((level, number)) = own {
            digits[..level].fill(0);
            digits[level] = number as u32;
        }
        let of = |index: &usize| &self.leaves[*index];
        let mut cpus: Vec<u32> = set.iter().flat_map(|leaf| of(leaf).cpus.iter().copied()).collect();
        let mut gpus: Vec<u32> = set.iter().flat_map(|leaf| of(leaf).gpus.iter().copied()).collect();
        cpus.sort_unstable();
        // GPUs may share a core.
        cpus.dedup();
        gpus.sort_unstable();
        let cores = joined(set.iter().flat_map(|leaf| of(leaf).cores.iter().copied()).collect());
        let to_network = set.iter().map(|leaf| of(leaf).to_network).fold(None, nearer);
        self.shares.push(Leaf { digits, cores, cpus, gpus, to_network });
    }
}

/// Returns the number of ranks of each part: in proportion to its leaves, but no more than there is room for. All parts together must have room.
fn ranks_of(parts: &[Range<usize>], ranks: usize, size: usize) -> Vec<usize> {
    let (first, total) = (parts[0].start, parts.iter().map(Range::len).sum::<usize>());
    let up_to = |end: usize| ((end - first) * ranks).div_ceil(total);
    let room = |part: &Range<usize>| part.len() / size;
    let share = |part: &Range<usize>| (up_to(part.end) - up_to(part.start)).min(room(part));
    let mut ranks_of: Vec<usize> = parts.iter().map(share).collect();
    let mut missing = ranks - ranks_of.iter().sum::<usize>();
    for (ranks, part) in ranks_of.iter_mut().zip(parts) {
        let more = missing.min(room(part) - *ranks);
        *ranks += more;
        missing -= more;
    }
    ranks_of
}

#[cfg(test)]
mod tests {
    use super::super::shape::{Levels, Unit, regular};
    use super::*;
    use crate::files::hwloc::{Object, ObjectKind};
    use viem::machine::CoreRange;

    fn leaves(node: &Object, unit: Unit) -> Vec<Leaf> {
        Levels::new(std::slice::from_ref(node), unit).leaves(node)
    }

    fn cpus(node: &Object, unit: Unit, ranks: usize, size: usize) -> Vec<Vec<u32>> {
        shares(&leaves(node, unit), ranks, size).leaves.into_iter().map(|leaf| leaf.cpus).collect()
    }

    #[test]
    fn each_part_has_its_share_of_the_ranks() {
        let node = regular(&[4, 2, 2]);
        let first = |ranks, size| {
            cpus(&node, Unit::Core, ranks, size).into_iter().map(|cpus| cpus[0]).collect::<Vec<_>>()
        };
        assert_eq!(first(4, 4), [0, 4, 8, 12]);
        assert_eq!(first(4, 1), [0, 4, 8, 12]);
        assert_eq!(first(2, 8), [0, 8]);
        assert_eq!(first(3, 1), [0, 4, 8]);
        assert_eq!(first(6, 2), [0, 2, 4, 8, 10, 12]);
        assert_eq!(first(8, 2), [0, 2, 4, 6, 8, 10, 12, 14]);
        // Nothing is larger than a NUMA node, but a socket has two of them.
        assert_eq!(cpus(&node, Unit::Core, 2, 6), [(0..6).collect::<Vec<_>>(), (8..14).collect()]);
        assert_eq!(cpus(&node, Unit::Core, 1, 16), [(0..16).collect::<Vec<_>>()]);
        assert!(cpus(&node, Unit::Core, 0, 3).is_empty());
    }

    #[test]
    fn ranks_that_do_not_fill_the_parts_are_split() {
        let node = regular(&[8, 2]);
        let Shares { leaves, num_split, split_level } = shares(&leaves(&node, Unit::Core), 5, 3);
        let cpus: Vec<&[u32]> = leaves.iter().map(|leaf| leaf.cpus.as_slice()).collect();
        assert_eq!(cpus, [&[0, 1, 2][..], &[3, 4, 5], &[8, 9, 10], &[11, 12, 13], &[6, 7, 14]]);
        assert_eq!((num_split, split_level), (1, 1));
        assert_eq!(leaves[4].cores, [CoreRange::new(0, 6, 2), CoreRange::new(1, 6, 1)]);
        // It counts as a socket of its own.
        let digits: Vec<&[u32]> = leaves.iter().map(|leaf| leaf.digits.as_slice()).collect();
        assert_eq!(digits, [&[0, 0][..], &[1, 0], &[0, 1], &[1, 1], &[0, 2]]);
    }

    #[test]
    fn hardware_threads_are_shared_core_by_core() {
        let core =
            |number: u32| Object::new(ObjectKind::Core, vec![Object::pu(number), Object::pu(number + 4)]);
        let node = Object::new(ObjectKind::Machine, (0..4).map(core).collect());
        assert_eq!(cpus(&node, Unit::Pu, 4, 1), [[0], [1], [2], [3]]);
        assert_eq!(cpus(&node, Unit::Pu, 2, 4), [[0, 1, 4, 5], [2, 3, 6, 7]]);
        let Shares { leaves, .. } = shares(&leaves(&node, Unit::Pu), 2, 3);
        assert_eq!(leaves.iter().map(|leaf| leaf.cpus.clone()).collect::<Vec<_>>(), [[0, 1, 4], [2, 3, 6]]);
        assert_eq!(leaves[1].cores, [CoreRange::new(0, 2, 2)]);
    }

    #[test]
    fn parts_of_different_sizes_have_ranks_in_proportion() {
        let part = |first: u32, count: u32| {
            let cores = (first..first + count).map(|pu| Object::new(ObjectKind::Core, vec![Object::pu(pu)]));
            Object::new(ObjectKind::Package, cores.collect())
        };
        let node = Object::new(ObjectKind::Machine, vec![part(0, 2), part(2, 6)]);
        let starts = |ranks, size| {
            cpus(&node, Unit::Core, ranks, size).into_iter().map(|cpus| cpus[0]).collect::<Vec<_>>()
        };
        assert_eq!(starts(4, 2), [0, 2, 4, 6]);
        assert_eq!(starts(4, 1), [0, 2, 3, 4]);
        assert_eq!(starts(2, 3), [2, 5]);
    }
}
