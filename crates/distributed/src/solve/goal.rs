//! The division of a graph, and the given blocks of its vertices.

use viem::base::types::BlockId;
use viem::machine::Machine;
use viem::partition::MigrationWeight;

use crate::objective::Places;

/// The division of a graph that is asked for.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Goal<'a> {
    /// This many blocks of equal weight, with a small cut.
    Blocks(usize),
    /// The PEs of a machine, with a small J.
    Pes(&'a dyn Machine),
}

/// The previous blocks of the vertices of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Old<'a> {
    /// The block of each own vertex; [`PreviousAssignment::NONE`](crate::objective::PreviousAssignment::NONE) for new ones.
    pub blocks: &'a [BlockId],
    /// The cost of moving a vertex of weight 1, as in the library for one machine.
    pub weight: MigrationWeight,
}

/// The given blocks of the vertices of a rank.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Given<'a> {
    /// Their previous blocks.
    pub old: Option<Old<'a>>,
    /// The block where each own vertex must be, or [`Given::FREE`]. Nothing if all of this rank are free.
    pub fixed: Option<&'a [BlockId]>,
}

impl<'a> Given<'a> {
    /// No block.
    pub const FREE: BlockId = Places::NONE;

    /// The same with older places, on all ranks or none.
    pub fn with_old(self, old: Option<Old<'a>>) -> Self {
        Self { old, ..self }
    }

    /// The same with fixed vertices. They are in their blocks whatever that costs; where they alone exceed a bound, the report has the overload.
    pub fn with_fixed(self, fixed: Option<&'a [BlockId]>) -> Self {
        Self { fixed, ..self }
    }
}
