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
//! *Heavy-tailed degrees.* Label propagation finds poor clusters of such graphs, so they are coarsened less than others (`heavy_tailed.rs`).
//!
//! *Memory of a rank.* Its part of the graph, and of the coarser ones; where it makes an attempt, the whole coarsest one.

mod borders;
mod config;
mod error;
mod heavy_tailed;
mod levels;
mod report;
mod v_cycles;
mod whole;

use std::borrow::Cow;
use std::time::Instant;

use viem::ground::rng::derive;
use viem::ground::types::{BlockId, Weight};
use viem::machine::Machine;
use viem::mapping::model::ModelError;
use viem::partition::{FixedError, MigrationWeight, Targets};

use crate::alike;
use crate::comm::{Comm, greatest, sum};
use crate::error::{DistError, agree};
use crate::graph::DistGraph;
use crate::objective::{BlockDistances, Homes, Places};
use crate::refine::{self, Bounds, RefineConfig, Task};

use self::levels::Levels;

pub use config::{BandConfig, DistConfig, HeavyTailedConfig, VCycleConfig};
pub use error::DivideError;
pub use report::{DistReport, DistSolution, FixedReport};

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

/// What is given of the vertices of a rank, besides the graph.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Given<'a> {
    /// Where they were.
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
/// assert!(report.overload == 0 && report.loads.iter().all(|&load| load <= 154)); // 3 % above 150
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

    let mut report = run.report(&blocks, bounds);
    (report.levels, report.coarsest, report.v_cycles) = (depth, coarsest, v_cycles);
    (report.coarsening, report.dividing) = (coarsening, dividing);
    report.refining = begin.elapsed().as_secs_f64() - coarsening - dividing;
    blocks.truncate(graph.num_own());
    Ok(DistSolution { blocks, report })
}

/// Random streams.
const CLUSTERS: u64 = 1;
const REFINEMENT: u64 = 2;
const V_CYCLES: u64 = 3;

struct Run<'a, C> {
    comm: &'a C,
    graph: &'a DistGraph,
    goal: Goal<'a>,
    old: Option<Old<'a>>,
    /// Where each own vertex must be, if any vertex of any rank must.
    fixed: Option<Cow<'a, [BlockId]>>,
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
        Given { old, fixed }: Given<'a>,
        config: &'a DistConfig,
    ) -> Result<Self, DistError> {
        let distances = agree(comm, distances_of(goal, config))?;
        alike::check(comm, &shared(graph, goal, old, config))?;
        let num_blocks = match goal {
            Goal::Blocks(count) => count,
            Goal::Pes(machine) => machine.num_pes(),
        };
        let is_any_fixed = greatest(comm, fixed.is_some().into()) == 1;
        let free = || Cow::Owned(vec![Given::FREE; graph.num_own()]);
        let fixed = is_any_fixed.then(|| fixed.map_or_else(free, Cow::Borrowed));
        let total = sum(comm, graph.node_weights().iter().sum());
        let run = Self { comm, graph, goal, old, fixed, config, distances, num_blocks, total };
        let arcs: Weight =
            (0..graph.num_own()).map(|own| graph.arcs(own).map(|(_, weight)| weight).sum::<Weight>()).sum();
        agree(comm, run.check(sum(comm, arcs)))?;
        Ok(run)
    }

    /// Whether no cost overflows, and vertices were, and must be, in blocks that there are.
    fn check(&self, arcs: Weight) -> Result<(), DivideError> {
        let (num_blocks, num_nodes) = (self.num_blocks, self.graph.ranges().total() as usize);
        if matches!(self.goal, Goal::Blocks(_)) && num_blocks > num_nodes {
            return Err(ModelError::NumBlocks { num_blocks, num_nodes }.into());
        }
        let (penalty, scale) = self.penalty();
        let edges = i128::from(arcs).checked_mul(i128::from(self.distances.greatest()) * i128::from(scale));
        let migration = i128::from(self.total) * i128::from(penalty);
        if edges.is_none_or(|edges| edges + migration > i128::from(Weight::MAX)) {
            return Err(DivideError::Overflow);
        }
        self.check_fixed()?;
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

    fn check_fixed(&self) -> Result<(), DivideError> {
        let Some(fixed) = &self.fixed else { return Ok(()) };
        let (found, expected, num_blocks) = (fixed.len(), self.graph.num_own(), self.num_blocks);
        if found != expected {
            return Err(DivideError::FixedLength { found, expected });
        }
        let is_closed = |block| matches!(self.goal, Goal::Pes(machine) if machine.capacity(block) == 0);
        for (own, &block) in fixed.iter().enumerate().filter(|(_, block)| **block != Given::FREE) {
            let vertex = self.graph.global(own);
            if block as usize >= num_blocks {
                return Err(FixedError::NoSuchBlock { vertex, block, num_blocks }.into());
            }
            if is_closed(block) {
                return Err(FixedError::NoCapacity { vertex, block }.into());
            }
        }
        Ok(())
    }

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
        let homes = places.homes.as_ref().map(|homes| self.homes(homes.clone()));
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

/// What all ranks must give alike, with its names. Ranks may have different numbers of threads.
fn shared(
    graph: &DistGraph,
    goal: Goal<'_>,
    old: Option<Old<'_>>,
    config: &DistConfig,
) -> [(&'static str, u64); 9] {
    let (num_blocks, machine) = match goal {
        Goal::Blocks(count) => (count as u64, 0),
        Goal::Pes(machine) => (machine.num_pes() as u64, alike::digest_of_machine(machine)),
    };
    let weight = old.map(|old| format!("{:?}", old.weight)).unwrap_or_default();
    let others = DistConfig { threads: 1, ..config.clone() };
    [
        (
            "division of the vertices among the ranks",
            alike::digest(graph.ranges().first().iter().map(|&first| first.into())),
        ),
        ("number of blocks", num_blocks),
        ("machine", machine),
        ("migration weight", alike::digest_of_text(&weight)),
        ("seed", config.seed),
        ("imbalance", config.imbalance.to_bits()),
        ("least load", config.least_load.to_bits()),
        ("preset", alike::digest_of_text(config.preset.name())),
        ("setting", alike::digest_of_text(&format!("{others:?}"))),
    ]
}

/// How far apart the blocks of a goal are, if goal and settings are possible.
fn distances_of(goal: Goal<'_>, config: &DistConfig) -> Result<BlockDistances, DivideError> {
    if config.attempts == 0 {
        return Err(DivideError::NoAttempt);
    }
    Targets::check_least_load(config.least_load)?;
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
