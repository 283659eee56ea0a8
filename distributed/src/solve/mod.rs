//! Partitions and many-to-one mappings of distributed graphs.
//!
//! *Algorithm.* The graph is coarsened by [clusters](crate::cluster) until it is small. Then each rank has [all of it](crate::gather), and divides
//! or maps it by the library for one machine, each attempt with a seed of its own; the attempts are dealt to the ranks. The best survives: the least
//! excess over the bounds, then the least cost, then the first attempt. It is projected from level to level, and [refined](crate::refine) on each.
//! On levels where the surroundings of the borders are small enough for one machine, its library refines these once more: with flows and searches
//! that are hard to distribute.
//!
//! The result depends on graph, settings and seed, and on nothing else: it is the same for any number of ranks and threads, however the graph is
//! distributed, except for the order of its vertices.
//!
//! *Memory of a rank.* Its part of the graph, of the coarser ones, and the whole coarsest one.

mod borders;
mod config;
mod error;
mod levels;
mod report;
mod whole;

use std::time::Instant;

use viem::ground::rng::derive;
use viem::ground::types::{BlockId, Weight};
use viem::machine::Machine;
use viem::partition::{MigrationWeight, Targets};

use crate::comm::{Comm, sum};
use crate::error::{DistError, agree};
use crate::graph::DistGraph;
use crate::objective::{BlockDistances, Homes};
use crate::refine::{self, RefineConfig, Task};

pub use config::{BandConfig, DistConfig};
pub use error::DivideError;
pub use report::{DistReport, DistSolution};

/// What a graph is divided into.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Goal<'a> {
    /// So many blocks of equal weight, with a small cut.
    Blocks(usize),
    /// The PEs of a machine, with a small J.
    Pes(&'a dyn Machine),
}

/// Where the vertices of a rank were.
#[derive(Clone, Copy, Debug)]
pub struct Old<'a> {
    /// The block of each own vertex; [`Homes::NONE`] for new ones.
    pub blocks: &'a [BlockId],
    /// What moving a vertex of weight 1 costs, as in the library for one machine.
    pub weight: MigrationWeight,
}

/// Divides a graph. Collective: all ranks give the same goal and settings, and fail alike.
///
/// ```
/// use viem_distributed::generate;
/// use viem_distributed::solve::{DistConfig, Goal, divide};
/// use viem_distributed::threads;
///
/// let machine = viem::machine::Hierarchy::parse("4:2", "1:10")?;
/// let reports = threads::run(2, |comm| {
///     let graph = generate::grid(comm, &[40, 30])?;
///     Ok::<_, viem_distributed::error::DistError>(
///         divide(comm, &graph, Goal::Pes(&machine), None, &DistConfig::default())?.report,
///     )
/// });
/// let report = reports[0].as_ref().expect("the graph is small");
/// assert!(report.overload == 0 && report.loads.iter().all(|&load| load <= 154)); // 3 % above 150
/// # Ok::<(), viem::machine::HierarchyError>(())
/// ```
pub fn divide(
    comm: &impl Comm,
    graph: &DistGraph,
    goal: Goal<'_>,
    old: Option<Old<'_>>,
    config: &DistConfig,
) -> Result<DistSolution, DistError> {
    let begin = Instant::now();
    let run = Run::new(comm, graph, goal, old, config)?;
    let (contractions, homes) = run.coarsen()?;
    let coarsening = begin.elapsed().as_secs_f64();
    let coarsest = contractions.last().map_or(graph, |last| &last.coarse);
    let (mut blocks, bounds) = run.divide_whole(coarsest, homes.last().map(Vec::as_slice))?;
    let dividing = begin.elapsed().as_secs_f64() - coarsening;

    for level in (0..=contractions.len()).rev() {
        let here = level.checked_sub(1).map_or(graph, |below| &contractions[below].coarse);
        if let Some(coarser) = contractions.get(level) {
            blocks = coarser.project(comm, &blocks);
        }
        blocks.resize(here.num_local(), 0);
        here.update(comm, &mut blocks);
        let homes = homes.get(level).map(|homes| run.homes(homes.clone()));
        let task = Task { graph: here, distances: &run.distances, bounds: &bounds, homes: homes.as_ref() };
        let RefineConfig { loss, coarse_loss, .. } = config.refine;
        let loss = if level == 0 { loss } else { coarse_loss };
        let seed = derive(derive(config.seed, REFINEMENT), level as u64);
        refine::refine(comm, task, &mut blocks, loss, &config.refine, seed);
        if old.is_none() {
            for round in 0..config.band.rounds as u64 {
                if !run.refine_band(here, &mut blocks, &bounds, derive(seed, round))? {
                    break;
                }
            }
        }
    }
    let mut report = run.report(&blocks, bounds);
    report.levels = contractions.len();
    report.coarsest = coarsest.ranges().total() as usize;
    (report.coarsening, report.dividing) = (coarsening, dividing);
    report.refining = begin.elapsed().as_secs_f64() - coarsening - dividing;
    blocks.truncate(graph.num_own());
    Ok(DistSolution { blocks, report })
}

/// Random streams.
const CLUSTERS: u64 = 1;
const REFINEMENT: u64 = 2;

struct Run<'a, C> {
    comm: &'a C,
    graph: &'a DistGraph,
    goal: Goal<'a>,
    old: Option<Old<'a>>,
    config: &'a DistConfig,
    distances: BlockDistances,
    num_blocks: usize,
    /// The weight of all vertices.
    total: Weight,
}

impl<'a, C: Comm> Run<'a, C> {
    fn new(
        comm: &'a C,
        graph: &'a DistGraph,
        goal: Goal<'a>,
        old: Option<Old<'a>>,
        config: &'a DistConfig,
    ) -> Result<Self, DistError> {
        let distances = agree(comm, distances_of(goal, config))?;
        let num_blocks = match goal {
            Goal::Blocks(count) => count,
            Goal::Pes(machine) => machine.num_pes(),
        };
        let total = sum(comm, graph.node_weights().iter().sum());
        let run = Self { comm, graph, goal, old, config, distances, num_blocks, total };
        let arcs: Weight =
            (0..graph.num_own()).map(|own| graph.arcs(own).map(|(_, weight)| weight).sum::<Weight>()).sum();
        agree(comm, run.check(sum(comm, arcs)))?;
        Ok(run)
    }

    /// Whether no cost overflows, and vertices were in blocks that there are.
    fn check(&self, arcs: Weight) -> Result<(), DivideError> {
        let (penalty, scale) = self.penalty();
        let edges = i128::from(arcs).checked_mul(i128::from(self.distances.greatest()) * i128::from(scale));
        let migration = i128::from(self.total) * i128::from(penalty);
        if edges.is_none_or(|edges| edges + migration > i128::from(Weight::MAX)) {
            return Err(DivideError::Overflow);
        }
        let Some(Old { blocks, .. }) = self.old else { return Ok(()) };
        let (found, expected) = (blocks.len(), self.graph.num_own());
        if found != expected {
            return Err(DivideError::OldLength { found, expected });
        }
        let num_blocks = self.num_blocks;
        let is_wrong = |&block: &BlockId| block != Homes::NONE && block as usize >= num_blocks;
        match blocks.iter().position(is_wrong) {
            None => Ok(()),
            Some(own) => {
                let (vertex, block) = (self.graph.global(own), blocks[own]);
                Err(DivideError::OldBlock { vertex, block, num_blocks })
            }
        }
    }

    /// What a vertex of weight 1 pays for migration, and an edge of weight 1 for a distance of 1.
    fn penalty(&self) -> (Weight, Weight) {
        let Some(Old { weight, .. }) = self.old else { return (0, 1) };
        let (numerator, denominator) = weight.fraction();
        // J counts each edge twice, the change of a move once.
        let twice = if self.distances.is_cut() { 1 } else { 2 };
        (numerator, twice * denominator)
    }

    fn homes(&self, blocks: Vec<BlockId>) -> Homes {
        let (penalty, scale) = self.penalty();
        Homes { blocks, penalty, scale }
    }
}

/// How far apart the blocks of a goal are, if goal and settings are possible.
fn distances_of(goal: Goal<'_>, config: &DistConfig) -> Result<BlockDistances, DivideError> {
    if config.attempts == 0 {
        return Err(DivideError::NoAttempt);
    }
    match goal {
        Goal::Blocks(count) => {
            Targets::check(count, config.imbalance)?;
            Ok(BlockDistances::cut())
        }
        Goal::Pes(machine) => {
            Targets::check(machine.num_pes(), config.imbalance)?;
            Ok(BlockDistances::of(machine.distances()?))
        }
    }
}

#[cfg(test)]
mod tests;
