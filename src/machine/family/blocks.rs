//! The blocks of a partition as a machine.

use crate::base::types::PeId;
use crate::graph::CsrGraph;
use crate::machine::{Distances, Division, Hierarchy, HierarchyError, Interconnect, Machine, MachineError};
use crate::partition::TargetsError;

/// The blocks of a partition: PEs at distance 1 from each other, with capacities that are the shares of the blocks. A block of share 0 stays empty.
///
/// ```
/// use viem::Machine as _;
/// use viem::machine::Blocks;
///
/// let blocks = Blocks::proportional(vec![1, 2, 0])?;
/// assert_eq!((blocks.num_pes(), blocks.capacity(1)), (3, 2));
/// # Ok::<(), viem::machine::HierarchyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Blocks {
    flat: Hierarchy,
    shares: Vec<u32>,
    are_equal: bool,
}

impl Blocks {
    /// Blocks of equal shares.
    ///
    /// # Errors
    ///
    /// There is no block, or there are too many.
    pub fn equal(num_blocks: usize) -> Result<Self, HierarchyError> {
        Self::proportional(vec![1; num_blocks])
    }

    /// Blocks whose loads are in proportion to these shares.
    ///
    /// # Errors
    ///
    /// There is no block, or there are too many.
    pub fn proportional(shares: Vec<u32>) -> Result<Self, HierarchyError> {
        let flat = Hierarchy::new(vec![u32::try_from(shares.len()).unwrap_or(u32::MAX)], vec![1])?;
        let are_equal = shares.iter().all(|&share| share == 1);
        Ok(Self { flat, shares, are_equal })
    }

    /// The shares of the blocks.
    pub fn shares(&self) -> &[u32] {
        &self.shares
    }

    /// Checks that there is a vertex for each block that has a share. To be asked before a graph is divided, not where a partition is scored.
    ///
    /// # Errors
    ///
    /// There are fewer vertices.
    pub fn check_enough(&self, graph: &CsrGraph) -> Result<(), TargetsError> {
        let (num_nodes, shares) = (graph.num_nodes(), self.shares.iter());
        match shares.filter(|&&share| share > 0).count() {
            num_blocks if num_blocks > num_nodes => Err(TargetsError::NumBlocks { num_blocks, num_nodes }),
            _ => Ok(()),
        }
    }
}

impl Machine for Blocks {
    fn num_pes(&self) -> usize {
        self.shares.len()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        Machine::distances(&self.flat)
    }

    fn division(&self) -> Division {
        self.flat.division()
    }

    fn interconnect(&self) -> Interconnect {
        self.flat.interconnect()
    }

    fn capacity(&self, pe: PeId) -> u32 {
        self.shares[pe as usize]
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        Some(&self.flat).filter(|_| self.are_equal)
    }

    fn describe(&self) -> String {
        format!("{} blocks", self.shares.len())
    }
}
