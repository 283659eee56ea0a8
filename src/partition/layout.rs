//! How the blocks of a partition lie to each other: parts, distances, and who may place them.

use std::ops::Range;

use super::compact::{CompactGraph, Stored};
use super::objective::BlockDistances;
use crate::graph::CsrGraph;
use crate::ground::types::BlockId;

/// Blocks that fall into parts again and again. Part 0 is the whole; every part is a range of blocks, and the children of a
/// part divide its range in order. A part without children is divided into its blocks at once.
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
    /// Divides `num_blocks` blocks: `divide` is given the range of a part and says how many blocks each of its children has,
    /// or nothing if it has none. Sizes that are 0 are passed over; a division into fewer than two parts is none.
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

    /// Whether a single step divides the whole into blocks.
    pub fn is_flat(&self) -> bool {
        self.children(0).all(|child| self.range(child).len() == 1)
    }

    /// By part, the distances that the steps from it down to its blocks cut, in sum along the costliest way. A step cuts the
    /// distance of the first and the last block of its part.
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

/// How blocks lie to each other.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    /// How they fall into parts.
    pub tree: &'a BlockTree,
    /// How far they are apart.
    pub distances: &'a dyn BlockDistances,
    /// Places whole blocks, if that can be better than how the tree has placed them.
    pub place: Option<&'a Place<'a>>,
}

/// From the quotient graph of a partition and a seed to the block that each block shall become.
pub type Place<'a> = dyn Fn(&CsrGraph, u64) -> Vec<BlockId> + Sync + 'a;

/// Places whole blocks.
pub(crate) fn place_blocks<W: Stored>(
    graph: &CompactGraph<W>,
    blocks: &mut [BlockId],
    num_blocks: usize,
    place: &Place<'_>,
    seed: u64,
) {
    let becomes = place(&graph.contract(blocks, num_blocks).to_csr(), seed);
    blocks.iter_mut().for_each(|block| *block = becomes[*block as usize]);
}
