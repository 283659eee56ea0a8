//! The report of a run.

use viem::base::types::{BlockId, Cost, Weight};
use viem::partition::Targets;

use super::goal::Goal;
use super::run::Run;
use crate::comm::{Comm, sum, sum_table};
use crate::objective::{BlockDistances, PreviousAssignment};
use crate::refine::{self, Bounds, Quality};

/// The blocks, or PEs, of a rank's vertices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DistSolution {
    /// The block of each own vertex.
    pub blocks: Vec<BlockId>,
    /// The same on all ranks, times aside.
    pub report: DistReport,
}

/// The report of a partition or mapping.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DistReport {
    /// J, if a graph was mapped: each edge counts twice.
    pub cost: Option<Cost>,
    /// The weight of the edges between blocks, each counted once.
    pub cut: Cost,
    /// The weight of each block.
    pub loads: Vec<Weight>,
    /// The upper bound of each block.
    pub bounds: Vec<Weight>,
    /// The lower bound of each block, without regard to its upper bound.
    pub least: Vec<Weight>,
    /// The greatest share of a block whose least load is 0, as it is rounded down, if there is one although least loads were asked for.
    pub share_without_least: Option<f64>,
    /// The sum of all excess over the bounds.
    pub overload: Weight,
    /// The number of blocks with less than half of their share.
    pub below_half: usize,
    /// The number of blocks below their least loads.
    pub below_least: usize,
    /// The sum of the deficits of blocks below their least loads.
    pub shortfall: Weight,
    /// The number of blocks without vertices that need not be empty.
    pub empty: usize,
    /// The weight, or the sizes, of the vertices that are not where they were, if they were anywhere.
    pub migration: Option<Weight>,
    /// The vertices that had to be in given blocks, if there were any.
    pub fixed: Option<FixedReport>,
    /// The number of coarsenings.
    pub levels: usize,
    /// The number of vertices of the coarsest graph.
    pub coarsest: usize,
    /// The number of repetitions that have improved the partition.
    pub v_cycles: usize,
    /// Seconds for coarsening.
    pub coarsening: f64,
    /// Seconds for the coarsest graph.
    pub dividing: f64,
    /// Seconds for refinement and all repetitions.
    pub refining: f64,
}

/// The report on fixed vertices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FixedReport {
    /// The number of fixed vertices.
    pub number: u64,
    /// The weight of those of each block.
    pub loads: Vec<Weight>,
}

impl<C: Comm> Run<'_, C> {
    /// Returns the report of a division of the graph, given for each local vertex.
    pub(super) fn report(&self, blocks: &[BlockId], bounds: Bounds) -> DistReport {
        let Self { comm, graph, .. } = *self;
        let loads = refine::loads(comm, graph, blocks, self.num_blocks);
        let cut = refine::cost(comm, graph, &BlockDistances::cut(), blocks) / 2;
        let is_mapped = matches!(self.goal, Goal::Pes(_));
        let cost = is_mapped.then(|| refine::cost(comm, graph, &self.distances, blocks));
        let migration = self.old.map(|old| {
            let sizes = self.sizes.unwrap_or(graph.node_weights());
            let pairs = old.blocks.iter().zip(blocks).zip(sizes);
            let away = pairs.filter(|((home, block), _)| **home != PreviousAssignment::NONE && home != block);
            sum(comm, away.map(|(_, size)| size).sum())
        });
        let counts = refine::counts(comm, graph, blocks, self.num_blocks);
        let Quality { overload, shortfall, empty, .. } = bounds.quality(&loads, &counts, 0);
        let below_half = Targets::num_below_half(&self.capacities(), &loads);
        let below_least = loads.iter().zip(&bounds.least).filter(|(load, least)| load < least).count();
        let share_without_least = Targets::share_without_least(self.total, &self.capacities(), &bounds.least);
        let has_least = self.config.least_load > 0.0 && self.targets.is_none();
        DistReport {
            share_without_least: share_without_least.filter(|_| has_least),
            cost,
            cut,
            loads,
            bounds: bounds.most,
            least: bounds.least,
            overload,
            below_half,
            below_least,
            shortfall,
            empty: empty as usize,
            migration,
            fixed: self.fixed.as_deref().map(|fixed| self.fixed_report(fixed)),
            levels: 0,
            coarsest: 0,
            v_cycles: 0,
            coarsening: 0.0,
            dividing: 0.0,
            refining: 0.0,
        }
    }

    fn fixed_report(&self, fixed: &[BlockId]) -> FixedReport {
        let mut loads = vec![0; self.num_blocks];
        let pairs = fixed
            .iter()
            .zip(self.graph.node_weights())
            .filter(|(block, _)| **block != PreviousAssignment::NONE);
        let mut number = 0;
        for (&block, weight) in pairs {
            loads[block as usize] += weight;
            number += 1;
        }
        sum_table(self.comm, &mut loads);
        FixedReport { number: sum(self.comm, number) as u64, loads }
    }
}
