//! The recursive division of a machine into parts.
//!
//! A tree of parts over an order of the PEs in which every part is a range: plain data, whatever the shape of the machine.
//! Constructions divide processes along it, and improvement takes its regions from it.

use std::ops::Range;

use crate::base::types::{NodeId, PeId};
use crate::graph::CsrGraph;

/// A tree of parts. Part 0 is the whole machine; the children of a part divide its range in order.
///
/// Memory: 4 bytes per PE and 16 per part; a machine of n PEs has fewer than 2n parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    order: Vec<PeId>,
    parts: Vec<Part>,
}

/// A part of a machine: a range of places in the order of its PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    begin: u32,
    end: u32,
    first_child: u32,
    num_children: u32,
}

/// A division in the form in which recursion yields it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PartTree {
    /// PEs that are not divided further.
    Whole(Vec<PeId>),
    /// Parts of a part.
    Divided(Vec<PartTree>),
}

impl PartTree {
    fn size(&self) -> usize {
        match self {
            PartTree::Whole(pes) => pes.len(),
            PartTree::Divided(children) => children.iter().map(PartTree::size).sum(),
        }
    }
}

/// Some PEs of a part, in ascending order of their numbers there, each with its position in a list.
#[derive(Clone, Debug)]
pub(super) struct Members(Vec<(PeId, PeId)>);

impl Members {
    /// Those of a list, which names each once.
    pub fn all_of(list: &[PeId]) -> Self {
        let mut members: Vec<(PeId, PeId)> = list.iter().copied().zip(0..).collect();
        members.sort_unstable();
        Self(members)
    }

    /// The least and the greatest value of a function of their numbers.
    pub fn span(&self, value: impl Fn(PeId) -> u32) -> Option<(u32, u32)> {
        let values = self.0.iter().map(|&(pe, _)| value(pe));
        values.fold(None, |span, value| {
            let (least, greatest) = span.unwrap_or((value, value));
            Some((value.min(least), value.max(greatest)))
        })
    }

    /// Those whose numbers fulfil a condition, and the others.
    pub fn separated(self, is_first: impl Fn(PeId) -> bool) -> [Self; 2] {
        let (first, second) = self.0.into_iter().partition(|&(pe, _)| is_first(pe));
        [Self(first), Self(second)]
    }

    /// The same with other numbers, in the same order.
    pub fn renumbered(self, number: impl Fn(PeId) -> PeId) -> Self {
        Self(self.0.into_iter().map(|(pe, position)| (number(pe), position)).collect())
    }

    /// The parts of groups of consecutive numbers. `sizes` are those of the groups, the innermost first, each a divisor of the next one.
    pub fn divided_by(&self, sizes: &[PeId]) -> PartTree {
        divided_by(&self.0, sizes)
    }
}

fn positions(members: &[(PeId, PeId)]) -> Vec<PeId> {
    members.iter().map(|&(_, position)| position).collect()
}

fn divided_by(members: &[(PeId, PeId)], sizes: &[PeId]) -> PartTree {
    match sizes {
        [inner @ .., size] if members.len() > 1 => {
            let groups = members.chunk_by(|(first, _), (second, _)| first / size == second / size);
            PartTree::Divided(groups.map(|group| divided_by(group, inner)).collect())
        }
        _ => PartTree::Whole(positions(members)),
    }
}

impl Part {
    fn leaf(range: Range<usize>) -> Self {
        Self { begin: range.start as u32, end: range.end as u32, first_child: 0, num_children: 0 }
    }
}

impl Parts {
    /// The whole machine as one part, with its PEs in this order.
    pub fn whole(order: Vec<PeId>) -> Self {
        let parts = vec![Part::leaf(0..order.len())];
        Self { order, parts }
    }

    /// Divides recursively: `divide` gets the PEs of a part, may reorder them, and returns the number of PEs of each child, or
    /// nothing if the part stays whole. O(depth · n) plus the time of `divide`.
    pub fn divide(order: Vec<PeId>, mut divide: impl FnMut(&mut [PeId]) -> Vec<usize>) -> Self {
        let mut parts = Self::whole(order);
        let mut next = 0;
        while next < parts.parts.len() {
            let range = parts.range(next);
            let sizes = divide(&mut parts.order[range.clone()]);
            parts.split(next, &sizes);
            next += 1;
        }
        parts
    }

    /// The parts of a tree whose leaves hold every PE exactly once; O(depth · n).
    pub fn from_tree(tree: &PartTree) -> Self {
        fn collect(tree: &PartTree, order: &mut Vec<PeId>) {
            match tree {
                PartTree::Whole(pes) => order.extend_from_slice(pes),
                PartTree::Divided(children) => children.iter().for_each(|child| collect(child, order)),
            }
        }
        let mut order = Vec::with_capacity(tree.size());
        collect(tree, &mut order);
        let mut parts = Self::whole(order);
        let mut waiting = vec![(0, tree)];
        while let Some((part, tree)) = waiting.pop() {
            if let PartTree::Divided(children) = tree {
                let sizes: Vec<usize> = children.iter().map(PartTree::size).collect();
                parts.split(part, &sizes);
                let filled =
                    children.iter().zip(&sizes).filter(|&(_, &size)| size > 0).map(|(child, _)| child);
                match parts.children(part) {
                    // The part has become its only child.
                    same if same.is_empty() => waiting.extend(filled.map(|child| (part, child))),
                    children => waiting.extend(children.zip(filled)),
                }
            }
        }
        parts
    }

    /// Gives a part children of these sizes. Empty ones are left out, and a single child is no division.
    fn split(&mut self, part: usize, sizes: &[usize]) {
        let range = self.range(part);
        debug_assert!(sizes.is_empty() || sizes.iter().sum::<usize>() == range.len());
        if sizes.iter().filter(|&&size| size > 0).count() < 2 {
            return;
        }
        self.parts[part].first_child = self.parts.len() as u32;
        let mut begin = range.start;
        for &size in sizes.iter().filter(|&&size| size > 0) {
            self.parts.push(Part::leaf(begin..begin + size));
            self.parts[part].num_children += 1;
            begin += size;
        }
    }

    /// The PEs, in the order in which every part is a range.
    pub fn order(&self) -> &[PeId] {
        &self.order
    }

    /// Number of parts.
    pub fn num_parts(&self) -> usize {
        self.parts.len()
    }

    /// The positions of a part's PEs in the order.
    pub fn range(&self, part: usize) -> Range<usize> {
        self.parts[part].begin as usize..self.parts[part].end as usize
    }

    /// The children of a part, in the order of their PEs; none if it is not divided.
    pub fn children(&self, part: usize) -> Range<usize> {
        let Part { first_child, num_children, .. } = self.parts[part];
        first_child as usize..(first_child + num_children) as usize
    }

    /// The parts of the listed PEs alone, which are then numbered by their position in the list; O(n + parts).
    ///
    /// Empty parts disappear, and a part with a single child becomes that child.
    pub fn listed(&self, list: &[PeId]) -> Self {
        let mut position = vec![PeId::MAX; self.order.len()];
        for (index, &pe) in list.iter().enumerate() {
            position[pe as usize] = index as PeId;
        }
        // Listed PEs before each place.
        let mut before = Vec::with_capacity(self.order.len() + 1);
        before.push(0);
        let mut order = Vec::with_capacity(list.len());
        for &pe in &self.order {
            order.extend(Some(position[pe as usize]).filter(|&position| position != PeId::MAX));
            before.push(order.len());
        }
        self.resized(order, &before)
    }

    /// The same parts, where every PE occurs in the order as many times as it has capacity.
    pub fn with_capacities(&self, capacity: impl Fn(PeId) -> u32) -> Self {
        let mut before = Vec::with_capacity(self.order.len() + 1);
        before.push(0);
        let mut order = Vec::with_capacity(self.order.len());
        for &pe in &self.order {
            order.extend(std::iter::repeat_n(pe, capacity(pe) as usize));
            before.push(order.len());
        }
        self.resized(order, &before)
    }

    /// The parts of the places with these ascending positions alone, numbered in their order. O(n + parts).
    pub(crate) fn at(&self, positions: &[PeId]) -> Self {
        let mut before: Vec<usize> = vec![0; self.order.len() + 1];
        positions.iter().for_each(|&position| before[position as usize + 1] = 1);
        for position in 0..self.order.len() {
            before[position + 1] += before[position];
        }
        self.resized((0..positions.len() as PeId).collect(), &before)
    }

    /// Returns the height of each part: 0 if it has no children. O(parts).
    pub(crate) fn heights(&self) -> Vec<u32> {
        let mut heights = vec![0; self.parts.len()];
        for part in (0..self.parts.len()).rev() {
            heights[part] = self.children(part).map(|child| heights[child] + 1).max().unwrap_or(0);
        }
        heights
    }

    /// The largest parts of at most this height, in their order; `heights` are those of all parts. O(parts).
    pub(crate) fn up_to(&self, heights: &[u32], height: u32) -> Vec<usize> {
        let (mut found, mut waiting) = (Vec::new(), vec![0]);
        while let Some(part) = waiting.pop() {
            if heights[part] <= height {
                found.push(part);
            } else {
                waiting.extend(self.children(part).rev());
            }
        }
        found
    }

    /// The parts over another order, in which `before[position]` entries precede what was at that position.
    fn resized(&self, order: Vec<PeId>, before: &[usize]) -> Self {
        let mut resized = Self::whole(order);
        let mut waiting = vec![(0, 0)];
        while let Some((mut old, new)) = waiting.pop() {
            // Parts that now hold only one child are skipped.
            let mut children;
            loop {
                children = self.children(old).filter(|&child| {
                    let range = self.range(child);
                    before[range.start] < before[range.end]
                });
                let mut rest = children.clone();
                match (rest.next(), rest.next()) {
                    (Some(only), None) => old = only,
                    _ => break,
                }
            }
            let children: Vec<usize> = children.collect();
            let size = |&child: &usize| before[self.range(child).end] - before[self.range(child).start];
            resized.split(new, &children.iter().map(size).collect::<Vec<_>>());
            waiting.extend(children.into_iter().zip(resized.children(new)));
        }
        resized
    }
}

/// The way in which a machine is divided into parts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Division {
    /// Into these parts.
    Parts(Parts),
    /// As its network is cut across few links, expensive ones first.
    Network {
        /// Vertices are routers, edge weights the costs of links.
        graph: CsrGraph,
        /// The vertex that each PE is at.
        vertex_of: Vec<NodeId>,
    },
    /// As the distances suggest.
    ByDistance,
}

impl Division {
    /// Returns the division of listed PEs alone, which are numbered by their position in the list.
    pub fn listed(self, list: &[PeId]) -> Self {
        match self {
            Self::Parts(parts) => Self::Parts(parts.listed(list)),
            Self::Network { graph, vertex_of } => {
                let vertex_of = list.iter().map(|&pe| vertex_of[pe as usize]).collect();
                Self::Network { graph, vertex_of }
            }
            Self::ByDistance => Self::ByDistance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves(n: usize) -> Parts {
        Parts::divide((0..n as PeId).collect(), |pes| match pes.len() {
            0 | 1 => Vec::new(),
            n => vec![n / 2, n - n / 2],
        })
    }

    /// Children divide their parent, and every part is what `keep` left of a part before.
    fn check(parts: &Parts) {
        let mut seen = vec![false; parts.order().len()];
        for &pe in parts.order() {
            assert!(!std::mem::replace(&mut seen[pe as usize], true), "{pe} is listed twice");
        }
        for part in 0..parts.num_parts() {
            let children = parts.children(part);
            assert!(children.len() != 1);
            let mut at = parts.range(part).start;
            for child in children.clone() {
                assert!(child > part && !parts.range(child).is_empty());
                assert_eq!(parts.range(child).start, at);
                at = parts.range(child).end;
            }
            assert!(children.is_empty() || at == parts.range(part).end);
        }
    }

    #[test]
    fn parts_of_lists_hold_the_listed_pes_in_the_same_order() {
        let parts = halves(13);
        check(&parts);
        for list in [vec![], vec![5], vec![12, 0], vec![1, 2, 3, 9], (0..13).rev().collect()] {
            let listed = parts.listed(&list);
            check(&listed);
            let pes: Vec<PeId> = listed.order().iter().map(|&position| list[position as usize]).collect();
            let expected: Vec<PeId> = parts.order().iter().copied().filter(|pe| list.contains(pe)).collect();
            assert_eq!(pes, expected);
            assert_eq!(listed.num_parts(), (2 * list.len()).max(2) - 1);
        }
    }

    #[test]
    fn parts_are_found_by_their_height() {
        let parts = halves(6);
        let ranges = |height| {
            parts
                .up_to(&parts.heights(), height)
                .into_iter()
                .map(|part| parts.range(part))
                .collect::<Vec<_>>()
        };
        assert_eq!(ranges(0), [0..1, 1..2, 2..3, 3..4, 4..5, 5..6]);
        assert_eq!(ranges(1), [0..1, 1..3, 3..4, 4..6]);
        assert_eq!(ranges(2), [0..3, 3..6]);
        assert_eq!(ranges(3).len(), 1);
        let at = parts.at(&[1, 2, 5]);
        check(&at);
        let ranges = at.up_to(&at.heights(), 1).into_iter().map(|part| at.range(part));
        assert_eq!(ranges.collect::<Vec<_>>(), [0..2, 2..3]);
    }

    #[test]
    fn a_pe_of_some_capacity_takes_as_many_places() {
        let parts = halves(4).with_capacities(|pe| pe);
        assert_eq!(parts.order(), [1, 2, 2, 3, 3, 3]);
        assert_eq!(parts.children(0).map(|part| parts.range(part)).collect::<Vec<_>>(), [0..1, 1..6]);
        assert_eq!(parts.children(2).map(|part| parts.range(part)).collect::<Vec<_>>(), [1..3, 3..6]);
    }
}
