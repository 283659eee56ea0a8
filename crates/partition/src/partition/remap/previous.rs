//! Where vertices were before.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::text::counted;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;

/// The blocks of an older partition that no longer exist, by their old numbers.
#[derive(Clone, Copy, Debug)]
pub struct RemovedBlocks<'a>(pub &'a [BlockId]);

/// The block from which each vertex comes, in present block numbers.
///
/// Blocks may have left and joined: those that stay keep their order and are numbered from 0, those that joined come last.
///
/// ```
/// use viem::partition::{PreviousAssignment, RemovedBlocks};
///
/// // Block 1 of three has left, and another one has joined: block 2 is block 1 now.
/// let homes = PreviousAssignment::after(&[0, 0, 1, 2], RemovedBlocks(&[1]), 3)?;
/// assert_eq!((homes.of(0), homes.of(2), homes.of(3)), (Some(0), None, Some(1)));
/// // The last vertex was refined into two.
/// let refined = homes.of_children(&[0, 1, 2, 3, 3])?;
/// assert_eq!(refined.of(4), Some(1));
/// # Ok::<(), viem::partition::PreviousAssignmentError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousAssignment {
    /// By vertex; a number from `num_blocks` on stands for a block that has left.
    pub(super) homes: Vec<u32>,
    pub(super) num_blocks: usize,
    /// What moves with each vertex; empty if that is its weight.
    sizes: Vec<Weight>,
}

/// The reason why homes were refused. Vertices and blocks are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum PreviousAssignmentError {
    #[error(
        "vertex {vertex} was in block {block}, now number {now}, but the last block is {last}; say which blocks have left",
        last = num_blocks.saturating_sub(1)
    )]
    NoSuchBlock { vertex: usize, block: BlockId, now: usize, num_blocks: usize },
    #[error("block {block} is listed twice among those that have left")]
    LeftTwice { block: BlockId },
    #[error(
        "vertex {vertex} has the parent {parent}, but the old partition has {vertices}",
        vertices = counted(num_parents, "vertex", "vertices")
    )]
    NoSuchParent { vertex: usize, parent: NodeId, num_parents: usize },
    #[error(
        "the old partition has {vertices}, the graph {expected}; name the parents of refined vertices",
        vertices = counted(found, "vertex", "vertices")
    )]
    Length { found: usize, expected: usize },
    #[error(
        "the old partition is for {blocks} of now, not for {expected}",
        blocks = counted(found, "block", "blocks")
    )]
    Blocks { found: usize, expected: usize },
    #[error(
        "there are sizes of {vertices}, but the old partition has {expected}",
        vertices = counted(found, "vertex", "vertices")
    )]
    Sizes { found: usize, expected: usize },
    #[error(
        "vertex {vertex} has size {size}; sizes must not be negative, nor their sum above {}",
        Weight::MAX
    )]
    SizeOutOfRange { vertex: usize, size: Weight },
}

impl HasKind for PreviousAssignmentError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchBlock { .. }
            | Self::LeftTwice { .. }
            | Self::NoSuchParent { .. }
            | Self::Length { .. }
            | Self::Blocks { .. }
            | Self::Sizes { .. }
            | Self::SizeOutOfRange { .. } => ErrorKind::BadData,
        }
    }
}

impl PreviousAssignment {
    /// PreviousAssignment in `num_blocks` present blocks, from the former block of each vertex. No block has left. O(n).
    ///
    /// # Errors
    ///
    /// A vertex was in a block that does not exist.
    pub fn new(old: &[BlockId], num_blocks: usize) -> Result<Self, PreviousAssignmentError> {
        Self::after(old, RemovedBlocks(&[]), num_blocks)
    }

    /// The same after blocks have left. O(n log l) for l of them.
    ///
    /// # Errors
    ///
    /// A block has left twice, or a vertex was in a block that neither exists nor has left.
    pub fn after(
        old: &[BlockId],
        left: RemovedBlocks<'_>,
        num_blocks: usize,
    ) -> Result<Self, PreviousAssignmentError> {
        let mut left = left.0.to_vec();
        left.sort_unstable();
        if let Some(pair) = left.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PreviousAssignmentError::LeftTwice { block: pair[0] });
        }
        let home = |(vertex, &block): (usize, &BlockId)| {
            let found = left.binary_search(&block);
            let now = match found {
                Ok(index) => num_blocks.saturating_add(index),
                Err(less) => block as usize - less,
            };
            let is_block = found.is_ok() || now < num_blocks;
            let now_or_none = u32::try_from(now).ok().filter(|_| is_block);
            now_or_none.ok_or(PreviousAssignmentError::NoSuchBlock { vertex, block, now, num_blocks })
        };
        let homes = old.iter().enumerate().map(home).collect::<Result<_, _>>()?;
        Ok(Self { homes, num_blocks, sizes: Vec::new() })
    }

    /// The same where what moves with a vertex is a size of its own, such as the bytes of its data, and not its weight. Migration is the sum of these. O(n).
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::PreviousAssignment;
    ///
    /// let homes = PreviousAssignment::new(&[0, 0, 1], 2)?.with_sizes(vec![5, 7, 9])?;
    /// assert_eq!(homes.migration(&generate::grid(3, 1), &[0, 1, 0]).weight, 16);
    /// # Ok::<(), viem::partition::PreviousAssignmentError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is not a size for each vertex, one is negative, or their sum is too large.
    pub fn with_sizes(self, sizes: Vec<Weight>) -> Result<Self, PreviousAssignmentError> {
        let (found, expected) = (sizes.len(), self.homes.len());
        if found != expected {
            return Err(PreviousAssignmentError::Sizes { found, expected });
        }
        let mut sum: Weight = 0;
        for (vertex, &size) in sizes.iter().enumerate() {
            let fits = sum.checked_add(size).filter(|_| size >= 0);
            sum = fits.ok_or(PreviousAssignmentError::SizeOutOfRange { vertex, size })?;
        }
        Ok(Self { sizes, ..self })
    }

    /// What moves with each vertex of a graph: its size, or its weight if there are no sizes.
    pub(super) fn sizes<'a>(&'a self, graph: &'a CsrGraph) -> &'a [Weight] {
        if self.sizes.is_empty() { graph.node_weights() } else { &self.sizes }
    }

    /// The homes of the vertices of another graph, each of which names the vertex it comes from. They have no sizes.
    pub fn of_children(&self, parents: &[NodeId]) -> Result<Self, PreviousAssignmentError> {
        let num_parents = self.homes.len();
        let home = |(vertex, &parent): (usize, &NodeId)| {
            let home = self.homes.get(parent as usize).copied();
            home.ok_or(PreviousAssignmentError::NoSuchParent { vertex, parent, num_parents })
        };
        let homes = parents.iter().enumerate().map(home).collect::<Result<_, _>>()?;
        Ok(Self { homes, num_blocks: self.num_blocks, sizes: Vec::new() })
    }

    /// The same with other numbers for the present blocks: block `b` becomes `names[b]`; all names are different and below
    /// the number of blocks.
    pub fn renamed(&self, names: &[BlockId]) -> Self {
        let name = |&home: &u32| names.get(home as usize).copied().unwrap_or(home);
        Self { homes: self.homes.iter().map(name).collect(), ..self.clone() }
    }

    /// The same as if all present blocks but these, which ascend, had left: block `blocks[b]` becomes block b.
    pub(crate) fn without_others(&self, blocks: &[BlockId]) -> Self {
        let left = blocks.len() as u32;
        let home = |home: &u32| blocks.binary_search(home).map_or(left, |block| block as u32);
        Self {
            homes: self.homes.iter().map(home).collect(),
            num_blocks: blocks.len(),
            sizes: self.sizes.clone(),
        }
    }

    /// Number of vertices.
    pub fn num_nodes(&self) -> usize {
        self.homes.len()
    }

    /// The present block that a vertex comes from; none if that has left.
    pub fn of(&self, vertex: NodeId) -> Option<BlockId> {
        Some(self.homes[vertex as usize]).filter(|&home| (home as usize) < self.num_blocks)
    }

    /// The weight that comes from each present block; O(n).
    pub fn loads(&self, graph: &CsrGraph) -> Vec<Weight> {
        let mut loads = vec![0; self.num_blocks];
        for (&home, &weight) in self.homes.iter().zip(graph.node_weights()) {
            if let Some(load) = loads.get_mut(home as usize) {
                *load += weight;
            }
        }
        loads
    }

    /// What moves if the vertices of a graph go to these blocks; O(n).
    pub fn migration(&self, graph: &CsrGraph, blocks: &[BlockId]) -> Migration {
        let mut migration = Migration::default();
        for ((&home, &block), &size) in self.homes.iter().zip(blocks).zip(self.sizes(graph)) {
            if home != block {
                migration.weight += size;
                migration.vertices += 1;
            }
        }
        migration
    }

    /// Fails unless they are for a graph with this number of vertices and a partition into this number of blocks.
    pub fn check(&self, num_nodes: usize, num_blocks: usize) -> Result<(), PreviousAssignmentError> {
        if self.homes.len() != num_nodes {
            return Err(PreviousAssignmentError::Length { found: self.homes.len(), expected: num_nodes });
        }
        if self.num_blocks != num_blocks {
            return Err(PreviousAssignmentError::Blocks { found: self.num_blocks, expected: num_blocks });
        }
        Ok(())
    }
}

/// What moves: vertices whose block is not their home, including those whose home no longer exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Migration {
    /// The sum of their weights, or of their sizes if they have [some](PreviousAssignment::with_sizes).
    pub weight: Weight,
    /// Their number.
    pub vertices: usize,
}
