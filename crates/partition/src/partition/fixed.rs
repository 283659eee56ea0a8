//! Vertices that must be in a given block, and processes that must be on a given PE.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::text::counted;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;

/// No block: the vertex is free.
pub(crate) const FREE: BlockId = BlockId::MAX;

/// Vertices that must be in a given block of a partition; the others are free. In mappings, blocks are PEs.
///
/// ```
/// use viem::partition::FixedVertices;
///
/// let fixed = FixedVertices::new(&[None, Some(2), None], 4)?;
/// assert_eq!((fixed.of(0), fixed.of(1), fixed.count()), (None, Some(2), 1));
/// assert!(FixedVertices::new(&[Some(4)], 4).is_err());
/// # Ok::<(), viem::partition::FixedError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedVertices {
    /// By vertex; [`FREE`] if it is free.
    block_of: Vec<BlockId>,
    num_blocks: usize,
}

/// The reason why fixed vertices were refused. Vertices and blocks are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum FixedError {
    #[error("vertex {vertex} is fixed to block {block}, but the blocks are 0..{num_blocks}")]
    NoSuchBlock { vertex: NodeId, block: BlockId, num_blocks: usize },
    #[error("vertex {vertex} is fixed, but the vertices are 0..{num_vertices}")]
    NoSuchVertex { vertex: NodeId, num_vertices: usize },
    #[error("vertex {vertex} is fixed to block {block}, and to block {earlier} as well")]
    Twice { vertex: NodeId, block: BlockId, earlier: BlockId },
    #[error("vertex {vertex} is fixed to block {block}, which has no capacity")]
    NoCapacity { vertex: NodeId, block: BlockId },
    #[error(
        "the fixed vertices are of a graph of {vertices}, but this one has {expected}",
        vertices = counted(found, "vertex", "vertices")
    )]
    Vertices { found: usize, expected: usize },
    #[error(
        "the fixed vertices are for {blocks}, not for {expected}",
        blocks = counted(found, "block", "blocks")
    )]
    Blocks { found: usize, expected: usize },
    #[error("process {process} is fixed on PE {pe}, and so is process {earlier}")]
    PeTaken { process: NodeId, pe: BlockId, earlier: NodeId },
    #[error("process {process} is fixed on PE {pe}, which has room for {capacity} and is full")]
    PeFull { process: NodeId, pe: BlockId, capacity: u32 },
    #[error("process {process} is fixed on PE {expected}, but the given mapping puts it on PE {found}")]
    Contradicted { process: NodeId, expected: BlockId, found: BlockId },
}

impl HasKind for FixedError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchBlock { .. }
            | Self::NoSuchVertex { .. }
            | Self::Twice { .. }
            | Self::NoCapacity { .. }
            | Self::Vertices { .. }
            | Self::Blocks { .. }
            | Self::PeTaken { .. }
            | Self::PeFull { .. }
            | Self::Contradicted { .. } => ErrorKind::BadData,
        }
    }
}

impl FixedVertices {
    /// The block of each vertex, or none where it is free. Fails at the first block that does not exist.
    pub fn new(blocks: &[Option<BlockId>], num_blocks: usize) -> Result<Self, FixedError> {
        let mut fixed = Self::none(blocks.len(), num_blocks);
        for (vertex, block) in (0..).zip(blocks) {
            if let Some(block) = *block {
                fixed.fix(vertex, block)?;
            }
        }
        Ok(fixed)
    }

    /// All vertices are free.
    pub fn none(num_vertices: usize, num_blocks: usize) -> Self {
        Self { block_of: vec![FREE; num_vertices], num_blocks }
    }

    /// Fixes a vertex to a block. Fails if either does not exist, or the vertex is fixed to another block.
    pub fn fix(&mut self, vertex: NodeId, block: BlockId) -> Result<(), FixedError> {
        let (num_blocks, num_vertices) = (self.num_blocks, self.block_of.len());
        if block as usize >= num_blocks || block == FREE {
            return Err(FixedError::NoSuchBlock { vertex, block, num_blocks });
        }
        let own = self.block_of.get_mut(vertex as usize);
        let own = own.ok_or(FixedError::NoSuchVertex { vertex, num_vertices })?;
        if *own != FREE && *own != block {
            return Err(FixedError::Twice { vertex, block, earlier: *own });
        }
        *own = block;
        Ok(())
    }

    /// The block that a vertex is fixed to, if it is.
    #[inline]
    pub fn of(&self, vertex: NodeId) -> Option<BlockId> {
        Some(self.block_of[vertex as usize]).filter(|&block| block != FREE)
    }

    /// Number of vertices, fixed or free.
    pub fn num_vertices(&self) -> usize {
        self.block_of.len()
    }

    /// Number of blocks.
    pub fn num_blocks(&self) -> usize {
        self.num_blocks
    }

    /// Number of fixed vertices; O(n).
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// Returns whether no vertex is fixed; O(n).
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The fixed vertices in ascending order, each with its block.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, BlockId)> + '_ {
        (0..).zip(self.block_of.iter().copied()).filter(|&(_, block)| block != FREE)
    }

    /// The first fixed vertex that is in another block of a partition than its own.
    pub fn violated_by(&self, blocks: &[BlockId]) -> Option<NodeId> {
        self.iter()
            .find(|&(vertex, block)| blocks.get(vertex as usize) != Some(&block))
            .map(|(vertex, _)| vertex)
    }

    /// The weight of the vertices that are fixed to each block; O(n).
    pub fn loads(&self, graph: &CsrGraph) -> Vec<Weight> {
        let mut loads = vec![0; self.num_blocks];
        for (vertex, block) in self.iter() {
            loads[block as usize] += graph.node_weight(vertex);
        }
        loads
    }

    /// The block of each vertex, which is known to exist, or none where it is free.
    pub fn known(blocks: impl Iterator<Item = Option<BlockId>>, num_blocks: usize) -> Self {
        Self { block_of: blocks.map(|block| block.unwrap_or(FREE)).collect(), num_blocks }
    }

    /// The block of each vertex, or [`FREE`].
    pub(crate) fn blocks(&self) -> &[BlockId] {
        &self.block_of
    }

    /// Puts the fixed vertices of a partition into their blocks.
    pub fn enforce(&self, blocks: &mut [BlockId]) {
        for (vertex, block) in self.iter() {
            blocks[vertex as usize] = block;
        }
    }

    /// Those of some vertices, in this order, in blocks that `block` names.
    pub fn among(
        &self,
        vertices: impl Iterator<Item = NodeId>,
        num_blocks: usize,
        block: impl Fn(BlockId) -> BlockId,
    ) -> Self {
        let name = |vertex| self.of(vertex).map_or(FREE, &block);
        Self { block_of: vertices.map(name).collect(), num_blocks }
    }

    /// The same with other numbers for all blocks: block `b` becomes `names[b]`.
    pub fn renamed(&self, names: &[BlockId]) -> Self {
        self.among(0..self.block_of.len() as NodeId, self.num_blocks, |block| names[block as usize])
    }

    /// The same for the vertices in another order: vertex i is `order[i]`.
    pub fn in_order(&self, order: &[NodeId]) -> Self {
        self.among(order.iter().copied(), self.num_blocks, |block| block)
    }

    /// The same as if these blocks, which ascend and have all fixed vertices, were all: block `blocks[b]` becomes block b.
    pub fn in_others(&self, blocks: &[BlockId]) -> Self {
        let number = |block: BlockId| blocks.partition_point(|&other| other < block) as BlockId;
        self.among(0..self.block_of.len() as NodeId, blocks.len(), number)
    }

    /// Fails at the first process that a mapping puts elsewhere.
    pub fn check_respected(&self, pe_of: &[BlockId]) -> Result<(), FixedError> {
        let contradicts = |&(process, pe): &(NodeId, BlockId)| {
            pe_of.get(process as usize).is_some_and(|&found| found != pe)
        };
        match self.iter().find(contradicts) {
            Some((process, expected)) => {
                let found = pe_of[process as usize];
                Err(FixedError::Contradicted { process, expected, found })
            }
            None => Ok(()),
        }
    }

    /// Fails if more processes are fixed on a PE than it has room for.
    pub fn check_room(&self, capacity: impl Fn(BlockId) -> u32) -> Result<(), FixedError> {
        let mut last: Vec<(u32, NodeId)> = vec![(0, 0); self.num_blocks];
        for (process, pe) in self.iter() {
            let (taken, earlier) = &mut last[pe as usize];
            match capacity(pe) {
                1 if *taken == 1 => return Err(FixedError::PeTaken { process, pe, earlier: *earlier }),
                capacity if *taken >= capacity => return Err(FixedError::PeFull { process, pe, capacity }),
                _ => (*taken, *earlier) = (*taken + 1, process),
            }
        }
        Ok(())
    }

    /// Fails unless they are for a graph with this number of vertices and a partition into this number of blocks.
    pub fn check(&self, num_vertices: usize, num_blocks: usize) -> Result<(), FixedError> {
        if self.block_of.len() != num_vertices {
            return Err(FixedError::Vertices { found: self.block_of.len(), expected: num_vertices });
        }
        if self.num_blocks != num_blocks {
            return Err(FixedError::Blocks { found: self.num_blocks, expected: num_blocks });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_the_vertex() {
        let mut fixed = FixedVertices::none(3, 2);
        assert_eq!(fixed.fix(1, 2), Err(FixedError::NoSuchBlock { vertex: 1, block: 2, num_blocks: 2 }));
        assert_eq!(fixed.fix(3, 0), Err(FixedError::NoSuchVertex { vertex: 3, num_vertices: 3 }));
        assert_eq!(fixed.fix(1, 1), Ok(()));
        assert_eq!(fixed.fix(1, 1), Ok(()));
        assert_eq!(fixed.fix(1, 0), Err(FixedError::Twice { vertex: 1, block: 0, earlier: 1 }));
        assert_eq!(fixed.check(3, 3), Err(FixedError::Blocks { found: 2, expected: 3 }));
        assert_eq!(fixed.check(4, 2), Err(FixedError::Vertices { found: 3, expected: 4 }));
        assert_eq!((fixed.violated_by(&[0, 0, 0]), fixed.violated_by(&[0, 1, 0])), (Some(1), None));
    }

    #[test]
    fn blocks_get_other_numbers() {
        let fixed = FixedVertices::new(&[Some(3), None, Some(1)], 4).unwrap();
        assert_eq!(fixed.in_others(&[1, 3]), FixedVertices::new(&[Some(1), None, Some(0)], 2).unwrap());
        assert_eq!(fixed.renamed(&[3, 2, 1, 0]).blocks(), [0, FREE, 2]);
    }
}
