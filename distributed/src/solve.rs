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

use std::time::Instant;

use viem::graph::CsrGraph;
use viem::ground::error::{ErrorKind, HasKind};
use viem::ground::rng::derive;
use viem::ground::threads::{self, ThreadsError};
use viem::ground::types::{BlockId, Cost, Weight};
use viem::machine::{Machine, MachineError};
use viem::mapping::solve::{
    ManyToOneConfig, MapPreset, SolveError, load_bounds, map_many_to_one, remap_many_to_one,
    remap_many_to_one_around,
};
use viem::partition::remap::{Homes as WholeHomes, HomesError, MigrationWeight, RemapError};
use viem::partition::{
    BoundViolation, FixedError, FixedVertices, Partitioner, Remapping, Targets, TargetsError,
};

use crate::band::{Band, band};
use crate::cluster::{ClusterConfig, cluster};
use crate::comm::{Comm, Letters, sum};
use crate::contract::{Contraction, contract};
use crate::error::{DistError, agree};
use crate::gather::gather;
use crate::graph::DistGraph;
use crate::objective::{BlockDistances, Homes};
use crate::refine::{self, Quality, RefineConfig, Task};

/// Settings of a run, the same on all ranks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DistConfig {
    /// The same seed gives the same result.
    pub seed: u64,
    /// Threads of each rank.
    pub threads: usize,
    /// How much a block may weigh beyond its share: 0.03 means 3 %.
    pub imbalance: f64,
    /// The effort for the coarsest graph.
    pub preset: MapPreset,
    /// How often the coarsest graph is divided, on all ranks together.
    pub attempts: usize,
    /// Graphs with at most so many vertices are coarsened no further.
    pub coarsest: usize,
    /// The same for each block.
    pub coarsest_per_block: usize,
    /// Clusters of a level weigh at most so many times the mean weight of its vertices. Balances the number of levels against their quality.
    pub growth: f64,
    /// How clusters are found.
    pub cluster: ClusterConfig,
    /// How partitions are refined.
    pub refine: RefineConfig,
    /// How bands are refined.
    pub band: BandConfig,
}

/// How the surroundings of borders are refined by the library for one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandConfig {
    /// Most steps from a border; 0 refines no band.
    pub steps: usize,
    /// Most vertices of a band: each rank has all of it. Where there are more, it has fewer steps, or there is none.
    pub most: usize,
    /// How often a band is refined from the same start, on all ranks together; the best survives.
    pub attempts: usize,
    /// How often that is repeated around the borders as they are then, as long as it helps.
    pub rounds: usize,
}

impl Default for BandConfig {
    fn default() -> Self {
        Self { steps: 3, most: 600_000, attempts: 2, rounds: 2 }
    }
}

impl Default for DistConfig {
    fn default() -> Self {
        Self {
            seed: 0,
            threads: 1,
            imbalance: 0.03,
            preset: MapPreset::Eco,
            attempts: 2,
            coarsest: 50_000,
            coarsest_per_block: 40,
            growth: 6.0,
            cluster: ClusterConfig::default(),
            refine: RefineConfig::default(),
            band: BandConfig::default(),
        }
    }
}

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

/// The blocks, or PEs, of a rank's vertices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DistSolution {
    /// By own vertex.
    pub blocks: Vec<BlockId>,
    /// The same on all ranks, times aside.
    pub report: DistReport,
}

/// What is known of a partition or mapping.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DistReport {
    /// J, if a graph was mapped: each edge counts twice.
    pub cost: Option<Cost>,
    /// The weight of the edges between blocks, each counted once.
    pub cut: Cost,
    /// The weight of each block.
    pub loads: Vec<Weight>,
    /// What each block may weigh.
    pub bounds: Vec<Weight>,
    /// The sum of all excess over the bounds.
    pub overload: Weight,
    /// The weight of the vertices that are not where they were, if they were anywhere.
    pub migration: Option<Weight>,
    /// How often the graph was coarsened.
    pub levels: usize,
    /// The number of vertices of the coarsest graph.
    pub coarsest: usize,
    /// Seconds for coarsening.
    pub coarsening: f64,
    /// Seconds for the coarsest graph.
    pub dividing: f64,
    /// Seconds for refinement.
    pub refining: f64,
}

/// Why a graph is not divided.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum DivideError {
    #[error(transparent)]
    Solve(#[from] SolveError),
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Homes(#[from] HomesError),
    #[error(transparent)]
    Remap(#[from] RemapError),
    #[error(transparent)]
    Fixed(#[from] FixedError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    #[error("the cost may exceed {}; give smaller weights or distances", Weight::MAX)]
    Overflow,
    #[error("{found} old blocks are given for {expected} vertices")]
    OldLength { found: usize, expected: usize },
    #[error("vertex {vertex} was in block {block}, but there are {num_blocks} blocks")]
    OldBlock { vertex: u32, block: BlockId, num_blocks: usize },
    #[error("the number of attempts must be at least 1")]
    NoAttempt,
}

impl HasKind for DivideError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Solve(error) => error.kind(),
            Self::Targets(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Homes(error) => error.kind(),
            Self::Remap(error) => error.kind(),
            Self::Fixed(error) => error.kind(),
            Self::Threads(error) => error.kind(),
            Self::Overflow | Self::OldLength { .. } | Self::OldBlock { .. } => ErrorKind::BadData,
            Self::NoAttempt => ErrorKind::Usage,
        }
    }
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

/// A level that keeps a greater part of its vertices is the last.
const LEAST_SHRINKAGE: f64 = 0.95;

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

    /// Coarser and coarser graphs, and the homes of the local vertices of each, the first graph included, if vertices were anywhere.
    fn coarsen(&self) -> Result<(Vec<Contraction>, Vec<Vec<BlockId>>), DistError> {
        let Self { comm, config, .. } = *self;
        let mut contractions: Vec<Contraction> = Vec::new();
        let mut homes: Vec<Vec<BlockId>> = Vec::new();
        if let Some(Old { blocks, .. }) = self.old {
            let mut blocks = blocks.to_vec();
            blocks.resize(self.graph.num_local(), 0);
            self.graph.update(comm, &mut blocks);
            homes.push(blocks);
        }
        let target = config.coarsest.max(config.coarsest_per_block.saturating_mul(self.num_blocks));
        loop {
            let level = contractions.len();
            let graph = contractions.last().map_or(self.graph, |last| &last.coarse);
            let count = graph.ranges().total() as usize;
            if count <= target {
                break;
            }
            let mean = self.total as f64 / count as f64;
            let most = (config.growth * mean).min(self.total as f64 / target as f64).ceil() as Weight;
            let seed = derive(derive(config.seed, CLUSTERS), level as u64);
            let labels = cluster(comm, graph, homes.last().map(Vec::as_slice), most, &config.cluster, seed);
            let contraction = contract(comm, graph, &labels)?;
            if f64::from(contraction.coarse.ranges().total()) > LEAST_SHRINKAGE * count as f64 {
                break;
            }
            if let Some(finer) = homes.last() {
                homes.push(coarse_homes(comm, &contraction, finer));
            }
            contractions.push(contraction);
        }
        Ok((contractions, homes))
    }

    /// The best division of a graph that each rank can have as a whole, for the own vertices of this one, and what blocks may weigh.
    fn divide_whole(
        &self,
        graph: &DistGraph,
        homes: Option<&[BlockId]>,
    ) -> Result<(Vec<BlockId>, Vec<Weight>), DistError> {
        let Self { comm, config, .. } = *self;
        let whole = gather(comm, graph)?;
        let homes = homes.map(|homes| self.whole(graph, homes));
        let bounds = agree(comm, self.bounds(&whole))?;
        let homes = homes.as_deref();
        let blocks = self.best_of(config.attempts, config.seed, |seed| {
            let blocks = self.attempt(&whole, homes, seed)?;
            Ok((self.quality(&whole, homes, &blocks, &bounds), blocks))
        })?;
        let own = graph.ranges().own();
        Ok((blocks[own.start as usize..own.end as usize].to_vec(), bounds))
    }

    /// The best blocks of several attempts, which are dealt to the ranks; the first of equally good ones.
    fn best_of(
        &self,
        attempts: usize,
        seed: u64,
        attempt: impl Fn(u64) -> Result<(Quality, Vec<BlockId>), DivideError>,
    ) -> Result<Vec<BlockId>, DistError> {
        let comm = self.comm;
        let mut best: Option<(Quality, usize, Vec<BlockId>)> = None;
        let mut failure = Ok(());
        for number in (comm.rank()..attempts).step_by(comm.size()) {
            match attempt(if number == 0 { seed } else { derive(seed, number as u64) }) {
                Ok((quality, blocks)) => {
                    if best.as_ref().is_none_or(|best| quality < best.0) {
                        best = Some((quality, number, blocks));
                    }
                }
                Err(error) => {
                    failure = Err(error);
                    break;
                }
            }
        }
        agree(comm, failure)?;
        let words = best.as_ref().map(|(quality, number, _)| {
            let cost = quality.cost as u128;
            [quality.overload as u64, (cost >> 64) as u64, cost as u64, *number as u64]
        });
        let all = comm.all_gather(words.as_ref().map_or(&[], |words| &words[..]));
        let first = all.words.as_chunks::<4>().0.iter().min().map_or(0, |words| words[3] as usize);
        let root = first % comm.size();
        let mut words: Vec<u64> = match best {
            Some((.., blocks)) if root == comm.rank() => blocks.into_iter().map(u64::from).collect(),
            _ => Vec::new(),
        };
        comm.broadcast(root, &mut words);
        Ok(words.into_iter().map(|word| word as BlockId).collect())
    }

    /// Refines the band of a partition by the library for one machine, if it is small enough; whether it has become better.
    fn refine_band(
        &self,
        graph: &DistGraph,
        blocks: &mut [BlockId],
        bounds: &[Weight],
        seed: u64,
    ) -> Result<bool, DistError> {
        let Self { comm, num_blocks, .. } = *self;
        let BandConfig { steps, most, attempts, .. } = self.config.band;
        if steps == 0 || attempts == 0 || num_blocks < 2 {
            return Ok(false);
        }
        // As wide as is allowed.
        let mut bands = (1..=steps).rev().map(|steps| band(comm, graph, blocks, num_blocks, steps));
        let Some(Band { labels, is_core, count }) = bands.find(|band| band.count <= most as u64) else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(false);
        }
        let contraction = contract(comm, graph, &labels)?;
        let coarse = &contraction.coarse;
        let start = self.whole(coarse, &coarse_homes(comm, &contraction, blocks));
        let is_core: Vec<BlockId> = is_core.into_iter().map(BlockId::from).collect();
        let is_core = self.whole(coarse, &coarse_homes(comm, &contraction, &is_core));
        let whole = gather(comm, coarse)?;
        let before = self.quality(&whole, None, &start, bounds);
        let fixed: Vec<Option<BlockId>> =
            start.iter().zip(&is_core).map(|(&block, &is_core)| (is_core == 1).then_some(block)).collect();
        let found = self.best_of(attempts, seed, |seed| {
            let found = self.improved(&whole, &start, &fixed, seed)?;
            let quality = self.quality(&whole, None, &found, bounds);
            Ok(if quality < before { (quality, found) } else { (before, start.clone()) })
        })?;
        if found == start {
            return Ok(false);
        }
        let own = coarse.ranges().own();
        let found = contraction.project(comm, &found[own.start as usize..own.end as usize]);
        blocks[..found.len()].copy_from_slice(&found);
        graph.update(comm, blocks);
        Ok(true)
    }

    /// The entries of all vertices, of those of local ones.
    fn whole(&self, graph: &DistGraph, values: &[BlockId]) -> Vec<BlockId> {
        let own: Vec<u64> = values[..graph.num_own()].iter().map(|&value| u64::from(value)).collect();
        self.comm.all_gather(&own).words.into_iter().map(|word| word as BlockId).collect()
    }

    /// A better partition of a graph by the library for one machine, from a given one. Some vertices are in fixed blocks.
    fn improved(
        &self,
        whole: &CsrGraph,
        start: &[BlockId],
        fixed: &[Option<BlockId>],
        seed: u64,
    ) -> Result<Vec<BlockId>, DivideError> {
        let DistConfig { threads, imbalance, preset, .. } = *self.config;
        let fixed = FixedVertices::new(fixed, self.num_blocks)?;
        let homes = WholeHomes::new(start, &[], self.num_blocks)?;
        // Migration is to cost next to nothing: what counts is where the search starts.
        let slight = MigrationWeight::rounded(0.0);
        match self.goal {
            Goal::Blocks(count) => {
                let targets = Targets::equal(whole, count, imbalance)?.with_fixed(whole, fixed)?;
                let partitioner = Partitioner::new(preset.into(), seed);
                threads::run(threads, || {
                    Ok(partitioner.remap(whole, &targets, &homes, slight)?.partition.into_blocks())
                })?
            }
            Goal::Pes(machine) => {
                let config = many_to_one(self.config, seed);
                let remapping = Remapping::new(&homes, slight);
                let solution =
                    remap_many_to_one_around(whole, machine, &config, remapping, Some(&fixed), &())?;
                Ok(solution.mapping.pes().to_vec())
            }
        }
    }

    fn bounds(&self, whole: &CsrGraph) -> Result<Vec<Weight>, DivideError> {
        Ok(match self.goal {
            Goal::Blocks(count) => Targets::equal(whole, count, self.config.imbalance)?.bounds().to_vec(),
            Goal::Pes(machine) => load_bounds(whole, machine, self.config.imbalance),
        })
    }

    /// A division of the coarsest graph by the library for one machine.
    fn attempt(
        &self,
        whole: &CsrGraph,
        homes: Option<&[BlockId]>,
        seed: u64,
    ) -> Result<Vec<BlockId>, DivideError> {
        let DistConfig { threads, imbalance, preset, .. } = *self.config;
        let new = self.num_blocks as BlockId;
        let known = |&home: &BlockId| if home == Homes::NONE { new } else { home };
        let old = homes.map(|homes| homes.iter().map(known).collect::<Vec<_>>());
        let old = old.map(|old| WholeHomes::new(&old, &[new], self.num_blocks)).transpose()?;
        let old = old.zip(self.old.map(|old| old.weight));
        match self.goal {
            Goal::Blocks(count) => {
                let targets = Targets::equal(whole, count, imbalance)?;
                let partitioner = Partitioner::new(preset.into(), seed);
                threads::run(threads, || match &old {
                    None => Ok(partitioner.partition(whole, &targets).into_blocks()),
                    Some((homes, weight)) => {
                        Ok(partitioner.remap(whole, &targets, homes, *weight)?.partition.into_blocks())
                    }
                })?
            }
            Goal::Pes(machine) => {
                let config = many_to_one(self.config, seed);
                let solution = match &old {
                    None => map_many_to_one(whole, machine, &config)?,
                    Some((homes, weight)) => remap_many_to_one(whole, machine, &config, homes, *weight)?,
                };
                Ok(solution.mapping.pes().to_vec())
            }
        }
    }

    /// The quality of a division of a whole graph, in the units of [`refine`].
    fn quality(
        &self,
        whole: &CsrGraph,
        homes: Option<&[BlockId]>,
        blocks: &[BlockId],
        bounds: &[Weight],
    ) -> Quality {
        let mut loads = vec![0; bounds.len()];
        let (mut cost, mut migration) = (0, 0);
        for node in whole.nodes() {
            let block = blocks[node as usize];
            loads[block as usize] += whole.node_weight(node);
            let between = |to: u32| self.distances.between(block, blocks[to as usize]);
            cost += whole.arcs(node).map(|(to, weight)| i128::from(weight * between(to))).sum::<i128>();
            let home = homes.map_or(Homes::NONE, |homes| homes[node as usize]);
            let is_away = home != Homes::NONE && home != block;
            migration += i128::from(is_away) * i128::from(whole.node_weight(node));
        }
        let (penalty, scale) = self.penalty();
        let overload = BoundViolation::of(&loads, bounds, &[]).overload;
        Quality { overload, cost: cost * i128::from(scale) + 2 * migration * i128::from(penalty) }
    }

    /// What is known of a division of the graph, given for each local vertex.
    fn report(&self, blocks: &[BlockId], bounds: Vec<Weight>) -> DistReport {
        let Self { comm, graph, .. } = *self;
        let loads = refine::loads(comm, graph, blocks, self.num_blocks);
        let cut = refine::cost(comm, graph, &BlockDistances::cut(), blocks) / 2;
        let is_mapped = matches!(self.goal, Goal::Pes(_));
        let cost = is_mapped.then(|| refine::cost(comm, graph, &self.distances, blocks));
        let migration = self.old.map(|old| {
            let pairs = old.blocks.iter().zip(blocks).zip(graph.node_weights());
            let away = pairs.filter(|((home, block), _)| **home != Homes::NONE && home != block);
            sum(comm, away.map(|(_, weight)| weight).sum())
        });
        let overload = BoundViolation::of(&loads, &bounds, &[]).overload;
        DistReport {
            cost,
            cut,
            loads,
            bounds,
            overload,
            migration,
            levels: 0,
            coarsest: 0,
            coarsening: 0.0,
            dividing: 0.0,
            refining: 0.0,
        }
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

/// The homes of the local vertices of a coarse graph: those of a cluster have the same.
fn coarse_homes(comm: &impl Comm, contraction: &Contraction, finer: &[BlockId]) -> Vec<BlockId> {
    let Contraction { coarse, coarse_of } = contraction;
    let own = coarse.ranges().own();
    let mut homes = vec![Homes::NONE; coarse.num_local()];
    let mut letters = Letters::default();
    for (&vertex, &home) in coarse_of.iter().zip(finer) {
        match own.contains(&vertex) {
            true => homes[(vertex - own.start) as usize] = home,
            false => letters.push(coarse.ranges().owner(vertex), [u64::from(vertex), u64::from(home)]),
        }
    }
    for &[vertex, home] in letters.send(comm).records() {
        homes[(vertex as u32 - own.start) as usize] = home as BlockId;
    }
    coarse.update(comm, &mut homes);
    homes
}

fn many_to_one(config: &DistConfig, seed: u64) -> ManyToOneConfig {
    let &DistConfig { threads, imbalance, preset, .. } = config;
    ManyToOneConfig::preset(preset).with_seed(seed).with_threads(threads).with_imbalance(imbalance)
}

#[cfg(test)]
mod tests;
