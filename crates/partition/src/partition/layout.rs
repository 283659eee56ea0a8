//! How the blocks of a partition relate to each other: parts, distances, placement.

use std::ops::Range;

use super::assignment::Problem;
use super::compact::Stored;
use super::objective::{BlockDistances, Objective};
use crate::base::types::BlockId;
use crate::graph::CsrGraph;

/// Blocks that are divided into parts recursively. Part 0 is the whole; every part is a range of blocks, and the children of
/// a part divide its range in order. A part without children is divided into its blocks at once.
///
/// ```
/// use viem::partition::BlockTree;
///
/// // Two nodes of three cores each.
/// let tree = BlockTree::new(6, |range| if range.len() == 6 { vec![3, 3] } else { vec![] });
/// assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 2]);
/// assert_eq!(tree.range(2), 3..6);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTree {
    parts: Vec<BlockPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct BlockPart {
    range: Range<usize>,
    children: Range<usize>,
}

impl BlockTree {
    /// Divides `num_blocks` blocks: `divide` maps the range of a part to the number of blocks of each of its children, or to
    /// nothing if it has none. Sizes of 0 are skipped; a division into fewer than two parts counts as none.
    pub fn new(num_blocks: usize, mut divide: impl FnMut(Range<usize>) -> Vec<usize>) -> Self {
        let leaf = |range: Range<usize>| BlockPart { children: 0..0, range };
        let mut parts = vec![leaf(0..num_blocks)];
        let mut next = 0;
        while next < parts.len() {
            let range = parts[next].range.clone();
            let sizes: Vec<usize> = divide(range.clone()).into_iter().filter(|&size| size > 0).collect();
            if sizes.len() > 1 && sizes.iter().sum::<usize>() == range.len() {
                parts[next].children = parts.len()..parts.len() + sizes.len();
                let mut begin = range.start;
                for size in sizes {
                    parts.push(leaf(begin..begin + size));
                    begin += size;
                }
            }
            next += 1;
        }
        Self { parts }
    }

    /// Returns whether a single step divides the whole into blocks.
    pub fn is_flat(&self) -> bool {
        self.children(0).all(|child| self.range(child).len() == 1)
    }

    /// By part, the sum of the distances cut by the steps from it down to its blocks, along the costliest path. A step cuts
    /// the distance of the first and the last block of its part.
    pub(super) fn distances_below(&self, distances: &dyn BlockDistances) -> Vec<f64> {
        let mut below = vec![0.0f64; self.parts.len()];
        for (part, BlockPart { range, children }) in self.parts.iter().enumerate().rev() {
            if range.len() > 1 {
                let distance = distances.between(range.start as BlockId, range.end as BlockId - 1);
                let inside = below[children.clone()].iter().copied().fold(0.0, f64::max);
                below[part] = distance.max(1) as f64 + inside;
            }
        }
        below
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.parts[0].range.len()
    }

    /// The blocks of a part.
    pub fn range(&self, part: usize) -> Range<usize> {
        self.parts[part].range.clone()
    }

    /// The children of a part, in the order of their blocks.
    pub fn children(&self, part: usize) -> Range<usize> {
        self.parts[part].children.clone()
    }
}

/// How the blocks relate to each other.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Layout<'a> {
    /// How they are divided into parts.
    pub tree: &'a BlockTree,
    /// How far they are apart.
    pub distances: &'a dyn BlockDistances,
    /// Places whole blocks, if that can be better than the places that the tree gives them.
    pub place: Option<&'a dyn BlockPlacement>,
}

impl<'a> Layout<'a> {
    /// Blocks that are divided along this tree and are this far apart.
    pub fn new(tree: &'a BlockTree, distances: &'a dyn BlockDistances) -> Self {
        Self { tree, distances, place: None }
    }

    /// The same with a way to place whole blocks.
    pub fn with_place(self, place: &'a dyn BlockPlacement) -> Self {
        Self { place: Some(place), ..self }
    }
}

/// A way to place whole blocks, such as a one-to-one mapping of the quotient graph.
///
/// It is handed to the partitioner and is no step between two calls of it: a pool makes its partitions as it needs them, none if a start is optimal,
/// and any number until a time limit, and each is placed between its division and its refinement. What maps blocks is above the partitioner and
/// uses it in turn, so the partitioner cannot name it.
pub trait BlockPlacement: Sync {
    /// The block that each block of a partition becomes, given its quotient graph: a permutation. The same seed gives the same result.
    fn place(&self, quotient: &CsrGraph, seed: u64) -> Vec<BlockId>;
}

/// Places whole blocks, as far as vertices that are fixed stay in theirs.
pub(crate) fn place_blocks<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    blocks: &mut [BlockId],
    num_blocks: usize,
    placement: &dyn BlockPlacement,
    seed: u64,
) {
    let becomes = placement.place(&level.contract(blocks, num_blocks).to_csr(), seed);
    let stays = |block: BlockId| becomes[block as usize] == block;
    if level.nodes().filter_map(|node| level.objective.fixed_block(node)).all(stays) {
        blocks.iter_mut().for_each(|block| *block = becomes[*block as usize]);
    }
}
