//! The division of a graph, and the given blocks of its vertices.

use viem::base::types::{BlockId, Weight};
use viem::machine::Machine;
use viem::partition::MigrationWeight;
use viem::solve::LoadLimits;

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

impl Goal<'_> {
    /// Returns the number of blocks or PEs.
    pub(super) fn num_blocks(self) -> usize {
        match self {
            Self::Blocks(count) => count,
            Self::Pes(machine) => machine.num_pes(),
        }
    }

    /// Returns whether a block must stay empty.
    pub(super) fn is_closed(self, block: BlockId) -> bool {
        matches!(self, Self::Pes(machine) if machine.capacity(block) == 0)
    }
}

/// The previous blocks of the vertices of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Old<'a> {
    /// The block of each own vertex; [`PreviousAssignment::NONE`](crate::objective::PreviousAssignment::NONE) for new ones.
    pub blocks: &'a [BlockId],
    /// The cost of moving a vertex of weight 1, as in the library for one machine.
    pub weight: MigrationWeight,
}

/// The given blocks of the vertices of a rank, and what blocks are to weigh.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Given<'a> {
    /// Their previous blocks.
    pub old: Option<Old<'a>>,
    /// The amount that migrates with each own vertex; `None` if that is its weight. All ranks give sizes, or none does.
    pub sizes: Option<&'a [Weight]>,
    /// The block where each own vertex must be, or [`Given::FREE`]. Nothing if all of this rank are free.
    pub fixed: Option<&'a [BlockId]>,
    /// The limits of the loads by each weight of the vertices, or those that all weights have in common, the same on all ranks; without, they follow from the
    /// settings. With [targets](LoadLimits::Targets), there may be more blocks than vertices.
    pub limits: &'a [LoadLimits<'a>],
}

impl<'a> Given<'a> {
    /// No block.
    pub const FREE: BlockId = Places::NONE;

    /// The same with older places, on all ranks or none.
    pub fn with_old(self, old: Option<Old<'a>>) -> Self {
        Self { old, ..self }
    }

    /// The same with sizes of the vertices that migrate.
    pub fn with_sizes(self, sizes: Option<&'a [Weight]>) -> Self {
        Self { sizes, ..self }
    }

    /// The same with limits of the loads by each weight, or for all. Capacities are those of blocks, too; targets must sum up to the weight of the whole
    /// graph.
    ///
    /// ```
    /// use viem::solve::Balance;
    /// use viem_distributed::comm::Comm;
    /// use viem_distributed::graph::{DistGraph, Rows};
    /// use viem_distributed::solve::{DistConfig, Given, Goal, divide};
    /// use viem_distributed::threads;
    ///
    /// // Two rings of vertices, one on each rank. Each vertex takes the same time, those of the first ring also memory.
    /// let limits = [Balance::default().into(), Balance::default().with_imbalance(0.1).into()];
    /// let results = threads::run(2, |comm| {
    ///     let (rank, count) = (comm.rank() as u32, 40);
    ///     let around = |vertex: u32| [(vertex + count - 1) % count, (vertex + 1) % count];
    ///     let targets = (0..count).flat_map(around).map(|vertex| rank * count + vertex).collect();
    ///     let weights = (0..count).flat_map(|_| [1, i64::from(rank == 0)]).collect();
    ///     let offsets = (0..=count as usize).map(|vertex| 2 * vertex).collect();
    ///     let rows = Rows { offsets, targets, node_weights: Some(weights), num_weights: 2, ..Rows::default() };
    ///     let graph = DistGraph::new(comm, rows)?;
    ///     divide(comm, &graph, Goal::Blocks(2), Given::default().with_limits(&limits), &DistConfig::default())
    /// });
    /// let report = &results[0].as_ref().expect("the graph is small").report;
    /// assert!(report.loads_by_weight[0].of_blocks.iter().all(|&load| load <= 41)); // 3 % above 40
    /// assert!(report.loads_by_weight[1].of_blocks.iter().all(|&load| load <= 22)); // 10 % above 20
    /// ```
    pub fn with_limits(self, limits: &'a [LoadLimits<'a>]) -> Self {
        Self { limits, ..self }
    }

    /// The same with fixed vertices. They are in their blocks whatever that costs; where they alone exceed a bound, the report has the overload.
    pub fn with_fixed(self, fixed: Option<&'a [BlockId]>) -> Self {
        Self { fixed, ..self }
    }
}
