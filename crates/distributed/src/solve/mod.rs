//! Partitions and many-to-one mappings of distributed graphs.
//!
//! *Algorithm.* The graph is coarsened by [clusters](crate::cluster) until it is small. Then it is divided or mapped by the library for one machine, in
//! attempts with a seed each. They are dealt to the first ranks, which have [all of it](crate::gather). The best survives: the least
//! excess over the bounds, then the least cost, then the first attempt. It is projected from level to level, and [refined](crate::refine) on each.
//! On levels where the surroundings of the borders are small enough for one machine, its library refines these once more: with flows and searches
//! that are hard to distribute. *V-cycles* repeat that: the graph is coarsened again, by clusters inside the blocks that were found, so
//! that the coarsest graph has that partition, too, and refinement goes on from it. (Walshaw, "Multilevel Refinement for Combinatorial Optimisation
//! Problems", 2004.)
//!
//! *Fixed vertices* are in their blocks on every level: no cluster has vertices of two fixed blocks, one with any is fixed itself, the coarsest graph is
//! divided around those, and refinement moves none.
//!
//! The result depends on graph, settings and seed, and on nothing else: it is the same for any number of ranks and threads, however the graph is
//! distributed, except for the order of its vertices.
//!
//! *Older places.* A graph that is not coarsened has the result of the library for one machine, which does not contradict those for other
//! weights of migration if the graph is small. Others are refined with the weight that was asked for.
//!
//! *Several weights.* Clusters count the [sizes](DistGraph::node_weights) of vertices, so none has more than a small part of a block by any weight. The coarsest
//! graph and the bands have all weights, and refinement keeps the bounds of each. Where single moves leave one exceeded, the library for one machine
//! gets the whole graph, if it is small enough for a rank ([`HeavyTailedConfig::most_whole`]). Migration is counted by the first weight.
//!
//! *Heavy-tailed degrees.* Label propagation finds poor clusters of such graphs, so they are coarsened less than others (`heavy_tailed.rs`).
//!
//! *Memory of a rank.* Its part of the graph, and of the coarser ones; where it makes an attempt, the whole coarsest one.

mod borders;
mod config;
mod error;
mod goal;
mod heavy_tailed;
mod levels;
mod report;
mod run;
mod v_cycles;
mod whole;

use std::time::Instant;

use viem::base::rng::derive;
use viem::base::types::BlockId;

use self::levels::Levels;
use self::run::{REFINEMENT, Run};
use crate::comm::Comm;
use crate::error::DistError;
use crate::graph::DistGraph;
use crate::refine::{self, Bounds, RefineConfig, Task};

pub use config::{BandConfig, DistConfig, HeavyTailedConfig, VCycleConfig};
pub use error::DivideError;
pub use goal::{Given, Goal, Old};
pub use report::{DistLoads, DistReport, DistSolution, FixedReport};

/// Divides a graph. No block is empty, and none below its least load, unless vertices and bounds leave no other way; more blocks than vertices are
/// refused, more PEs are not. Collective: all ranks give the same goal and settings, and fail alike.
///
/// ```
/// use viem_distributed::generate;
/// use viem_distributed::solve::{DistConfig, Given, Goal, divide};
/// use viem_distributed::threads;
///
/// let machine = viem::machine::Hierarchy::parse("4:2", "1:10")?;
/// let reports = threads::run(2, |comm| {
///     let graph = generate::grid(comm, &[40, 30])?;
///     Ok::<_, viem_distributed::error::DistError>(
///         divide(comm, &graph, Goal::Pes(&machine), Given::default(), &DistConfig::default())?.report,
///     )
/// });
/// let report = reports[0].as_ref().expect("the graph is small");
/// assert!(report.loads.overload == 0 && report.loads.of_blocks.iter().all(|&load| load <= 154)); // 3 % above 150
/// # Ok::<(), viem::machine::HierarchyError>(())
/// ```
pub fn divide(
    comm: &impl Comm,
    graph: &DistGraph,
    goal: Goal<'_>,
    given: Given<'_>,
    config: &DistConfig,
) -> Result<DistSolution, DistError> {
    let begin = Instant::now();
    let run = Run::new(comm, graph, goal, given, config)?;
    let levels = run.coarsen(run.places(), config.seed)?;
    let coarsening = begin.elapsed().as_secs_f64();
    let (mut blocks, bounds) = run.divide_whole(&levels)?;
    let dividing = begin.elapsed().as_secs_f64() - coarsening;
    run.refine_levels(&levels, &bounds, &mut blocks, config.seed)?;
    let (depth, coarsest) = (levels.contractions.len(), levels.coarsest(graph).ranges().total() as usize);
    drop(levels);
    let v_cycles = if depth > 0 { run.repeat(&bounds, &mut blocks)? } else { 0 };
    if depth > 0 {
        run.relieve(&bounds, &mut blocks)?;
    }

    let mut report = run.report(&blocks, bounds);
    (report.levels, report.coarsest, report.v_cycles) = (depth, coarsest, v_cycles);
    (report.coarsening, report.dividing) = (coarsening, dividing);
    report.refining = begin.elapsed().as_secs_f64() - coarsening - dividing;
    blocks.truncate(graph.num_own());
    Ok(DistSolution { blocks, report })
}

impl<C: Comm> Run<'_, C> {
    /// Projects a partition of the coarsest graph to finer and finer ones, and refines it on each. It is given for the coarsest graph's own vertices; then
    /// it is for all local ones of the finest.
    fn refine_levels(
        &self,
        levels: &Levels,
        bounds: &Bounds,
        blocks: &mut Vec<BlockId>,
        seed: u64,
    ) -> Result<(), DistError> {
        for level in (0..=levels.contractions.len()).rev() {
            if let Some(coarser) = levels.contractions.get(level) {
                *blocks = coarser.project(self.comm, blocks);
            }
            let seed = derive(derive(seed, REFINEMENT), level as u64);
            self.refine_level(levels, level, bounds, blocks, seed)?;
        }
        Ok(())
    }

    /// Refines a partition of a level, given for its own vertices; then it is for all local ones.
    fn refine_level(
        &self,
        levels: &Levels,
        level: usize,
        bounds: &Bounds,
        blocks: &mut Vec<BlockId>,
        seed: u64,
    ) -> Result<(), DistError> {
        let (graph, places) = (levels.graph(self.graph, level), &levels.places[level]);
        blocks.resize(graph.num_local(), 0);
        graph.update(self.comm, blocks);
        let is_heavy_tailed = self.is_heavy_tailed(graph, places);
        let is_only = levels.contractions.is_empty();
        if is_heavy_tailed && level == levels.contractions.len() || is_only && self.old.is_some() {
            // Rounds of moves find nothing there that the library for one machine has not, or what contradicts its results for other weights.
            return Ok(());
        }
        let homes = places.homes.as_ref().map(|homes| self.homes(homes.clone(), places.sizes.clone()));
        let (homes, fixed) = (homes.as_ref(), places.fixed.as_deref());
        let task = Task { graph, distances: &self.distances, bounds, homes, fixed };
        let RefineConfig { loss, coarse_loss, .. } = self.config.refine;
        let loss = if level == 0 { loss } else { coarse_loss };
        refine::refine(self.comm, task, blocks, loss, &self.config.refine, seed);
        if self.old.is_some() || is_heavy_tailed {
            return Ok(());
        }
        for round in 0..self.config.band.rounds as u64 {
            if !self.refine_band(graph, (places, blocks), bounds, derive(seed, round))? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
