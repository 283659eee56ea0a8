//! Initial partitions along a tree of parts: multisection.
//!
//! *Problem.* Blocks are the PEs of a machine that falls into parts. Distances between parts are large, so few edges should
//! lead from one part to another, and it matters less where they lead inside.
//!
//! *Algorithm.* The graph is partitioned into as many blocks as the machine has outermost parts, each block into the parts
//! inside of that one, and so on. Blocks of one step are independent and run in parallel, each with a random stream that is
//! named by its part. Of the room that the final bounds leave, each step gets an equal factor of what is left (adaptive
//! imbalance), so that the last step can still meet them.
//!
//! A multilevel partition of the graph for each level of the tree; memory O(n + m).
//!
//! Schulz, Woydt: Shared-memory hierarchical process mapping. ACDA 2025 (adaptive imbalance, independent blocks in parallel).

use std::ops::Range;

use rayon::prelude::*;

use super::compact::{CompactGraph, Stored};
use super::direct::Place;
use super::pool::Pool;
use super::settings::Settings;
use super::targets::Targets;
use crate::observer::Observer;
use crate::rng::derive;
use crate::types::{BlockId, NodeId, Weight};

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
    /// Steps of multisection that divide it down to its blocks.
    height: u32,
}

impl BlockTree {
    /// Divides `num_blocks` blocks: `divide` is given the range of a part and says how many blocks each of its children has,
    /// or nothing if it has none. Sizes that are 0 are passed over; a division into fewer than two parts is none.
    pub fn new(num_blocks: usize, mut divide: impl FnMut(Range<usize>) -> Vec<usize>) -> Self {
        let leaf =
            |range: Range<usize>| BlockPart { children: 0..0, height: u32::from(range.len() > 1), range };
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
        for part in (0..parts.len()).rev() {
            let below = parts[part].children.clone().map(|child| parts[child].height).max();
            if let Some(below) = below {
                parts[part].height = below + 1;
            }
        }
        Self { parts }
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

/// How a graph is divided along a tree.
#[derive(Clone, Copy)]
pub(crate) struct Multisection<'a> {
    pub tree: &'a BlockTree,
    /// How each step is partitioned.
    pub settings: &'a Settings,
    /// Places the blocks at the end.
    pub place: Option<&'a Place<'a>>,
}

/// What is divided, and into what.
struct Division<'a> {
    multisection: Multisection<'a>,
    sizes: &'a [Weight],
    bounds: &'a [Weight],
    observer: &'a dyn Observer,
}

impl Multisection<'_> {
    /// The block of each vertex. Runs on the threads of the rayon pool it is called in; the result does not depend on them.
    ///
    /// Once the observer asks to stop, what is left is divided in the order of its vertices.
    pub fn run<W: Stored>(
        self,
        graph: &CompactGraph<W>,
        sizes: &[Weight],
        bounds: &[Weight],
        seed: u64,
        observer: &dyn Observer,
    ) -> Vec<BlockId> {
        let mut blocks = Division { multisection: self, sizes, bounds, observer }.divide(graph, 0, seed);
        if let Some(place) = self.place.filter(|_| !observer.should_stop()) {
            let becomes = place(&graph.contract(&blocks, sizes.len()).to_csr(), derive(seed, u64::MAX));
            blocks.iter_mut().for_each(|block| *block = becomes[*block as usize]);
        }
        blocks
    }
}

impl Division<'_> {
    /// The block of each vertex of a part, counted from the first block of the part.
    fn divide<W: Stored>(&self, graph: &CompactGraph<W>, part: usize, seed: u64) -> Vec<BlockId> {
        let whole = self.tree().range(part);
        if whole.len() == 1 {
            return vec![0; graph.num_nodes()];
        }
        let children = self.tree().children(part);
        let ranges: Vec<Range<usize>> = if children.is_empty() {
            whole.clone().map(|block| block..block + 1).collect()
        } else {
            children.clone().map(|child| self.tree().range(child)).collect()
        };
        let targets = self.targets(graph.total_node_weight(), part, &ranges);
        let settings = self.multisection.settings;
        let pool = Pool::of_cut(graph, &targets, settings, derive(seed, part as u64), self.observer);
        let mut blocks = pool.best().blocks;
        if children.is_empty() {
            return blocks;
        }
        let parts: Vec<(CompactGraph<W>, Vec<NodeId>)> = graph.split(&blocks, ranges.len());
        let divided: Vec<(usize, Vec<NodeId>, Vec<BlockId>)> = parts
            .into_par_iter()
            .with_max_len(1)
            .enumerate()
            .map(|(index, (graph, nodes))| (index, nodes, self.divide(&graph, children.start + index, seed)))
            .collect();
        for (index, nodes, inner) in divided {
            let first = (ranges[index].start - whole.start) as BlockId;
            for (node, block) in nodes.into_iter().zip(inner) {
                blocks[node as usize] = first + block;
            }
        }
        blocks
    }

    fn tree(&self) -> &BlockTree {
        self.multisection.tree
    }

    /// What the children of a part of this weight should weigh, and may.
    fn targets(&self, total: Weight, part: usize, ranges: &[Range<usize>]) -> Targets {
        let sum = |weights: &[Weight], range: &Range<usize>| -> i128 {
            weights[range.clone()].iter().map(|&weight| i128::from(weight)).sum()
        };
        let whole = self.tree().range(part);
        let size_of_all = sum(self.sizes, &whole);
        let room = sum(self.bounds, &whole) as f64 / total.max(1) as f64;
        let factor = room.max(1.0).powf(1.0 / f64::from(self.tree().parts[part].height.max(1)));
        // Sums up to the total exactly: each child ends where its share of the whole does.
        let share = |before: i128| match size_of_all {
            0 => 0,
            all => (i128::from(total) * before + all / 2) / all,
        };
        let (mut before, mut sizes, mut bounds) = (0, Vec::new(), Vec::new());
        for (index, range) in ranges.iter().enumerate() {
            let own = sum(self.sizes, range);
            let end = if index + 1 == ranges.len() { i128::from(total) } else { share(before + own) };
            let size = (end - share(before)) as Weight;
            let bound = sum(self.bounds, range).min(i128::from(Weight::MAX / 2)) as Weight;
            before += own;
            sizes.push(size);
            bounds.push(((size as f64 * factor) as Weight).min(bound).max(size));
        }
        Targets::bounded(sizes, bounds)
    }
}
