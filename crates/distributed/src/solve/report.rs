//! The report of a run.

use viem::base::types::{BlockId, Cost, Weight};
use viem::partition::{BoundViolation, Targets};
use viem::solve::LoadLimits;

use super::goal::Goal;
use super::run::Run;
use crate::comm::{Comm, sum, sum_table};
use crate::objective::{BlockDistances, PreviousAssignment};
use crate::refine::{self, Bounds};

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
    /// The loads of the blocks. Of several weights, those by the one whose bound is exceeded most, or comes nearest to it.
    pub loads: DistLoads,
    /// The loads by each of several weights; empty if vertices have one.
    pub loads_by_weight: Vec<DistLoads>,
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

/// The loads of the blocks by a weight of the vertices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DistLoads {
    /// The weight of each block.
    pub of_blocks: Vec<Weight>,
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
}

impl DistLoads {
    /// The greatest ratio of a load to its bound.
    fn fullness(&self) -> f64 {
        let fullness =
            |(&load, &bound): (&Weight, &Weight)| if load == 0 { 0.0 } else { load as f64 / bound as f64 };
        self.of_blocks.iter().zip(&self.bounds).map(fullness).fold(0.0, f64::max)
    }
}

/// The report on fixed vertices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FixedReport {
    /// The number of fixed vertices.
    pub number: u64,
    /// The weight of those of each block; of several weights, by that of the [loads](DistReport::loads).
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
            let sizes = self.sizes.as_deref().unwrap_or(graph.node_weights());
            let pairs = old.blocks.iter().zip(blocks).zip(sizes);
            let away = pairs.filter(|((home, block), _)| **home != PreviousAssignment::NONE && home != block);
            sum(comm, away.map(|(_, size)| size).sum())
        });
        let counts = refine::counts(comm, graph, blocks, self.num_blocks);
        let empty = bounds.quality(&loads, &counts, 0).empty;
        let by_weight = (0..graph.num_weights()).map(|weight| self.loads_by(weight, &loads, &bounds));
        let mut by_weight: Vec<DistLoads> = by_weight.collect();
        let fullest = fullest(&by_weight);
        DistReport {
            cost,
            cut,
            loads: by_weight[fullest].clone(),
            loads_by_weight: if by_weight.len() > 1 { std::mem::take(&mut by_weight) } else { Vec::new() },
            empty: empty as usize,
            migration,
            fixed: self.fixed.as_deref().map(|fixed| self.fixed_report(fixed, fullest)),
            levels: 0,
            coarsest: 0,
            v_cycles: 0,
            coarsening: 0.0,
            dividing: 0.0,
            refining: 0.0,
        }
    }

    /// The loads by a weight, of those by all.
    fn loads_by(&self, weight: usize, loads: &[Weight], bounds: &Bounds) -> DistLoads {
        let by = |all: &[Weight]| all.iter().skip(weight).step_by(bounds.num_weights).copied().collect();
        let (of_blocks, most, least): (Vec<Weight>, Vec<Weight>, Vec<Weight>) =
            (by(loads), by(&bounds.most), by(&bounds.least));
        let BoundViolation { overload, shortfall, .. } = BoundViolation::of(&of_blocks, &most, &least);
        let capacities = self.capacities(weight);
        let has_share = match self.limits_of(weight) {
            None => self.config.least_load > 0.0,
            Some(LoadLimits::Proportional { balance, least_loads, .. }) => {
                balance.least_load > 0.0 && least_loads.is_none()
            }
            Some(_) => false,
        };
        let share = || Targets::share_without_least(self.graph.totals()[weight], &capacities, &least);
        DistLoads {
            share_without_least: has_share.then(share).flatten(),
            overload,
            below_half: Targets::num_below_half(&capacities, &of_blocks),
            below_least: of_blocks.iter().zip(&least).filter(|(load, least)| load < least).count(),
            shortfall,
            of_blocks,
            bounds: most,
            least,
        }
    }

    /// The report on fixed vertices, with their loads by a weight.
    fn fixed_report(&self, fixed: &[BlockId], weight: usize) -> FixedReport {
        let mut loads = vec![0; self.num_blocks];
        let weights = self.graph.weights().iter().skip(weight).step_by(self.graph.num_weights());
        let pairs = fixed.iter().zip(weights).filter(|(block, _)| **block != PreviousAssignment::NONE);
        let mut number = 0;
        for (&block, weight) in pairs {
            loads[block as usize] += weight;
            number += 1;
        }
        sum_table(self.comm, &mut loads);
        FixedReport { number: sum(self.comm, number) as u64, loads }
    }
}

/// The weight whose bound is exceeded most, or comes nearest to it.
fn fullest(by_weight: &[DistLoads]) -> usize {
    let fullness: Vec<f64> = by_weight.iter().map(DistLoads::fullness).collect();
    let compare = |&a: &usize, &b: &usize| fullness[a].total_cmp(&fullness[b]).then(b.cmp(&a));
    (0..by_weight.len()).max_by(compare).unwrap_or(0)
}
