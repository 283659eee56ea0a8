//! Many-to-one mapping: maps an application graph with many vertices per PE to a machine.
//!
//! *Problem.* Vertices have weights, PEs have capacities. Every PE gets at most `(1 + imbalance) · ceil(total
//! weight · capacity / total capacity)`. Minimise J over the vertices.
//!
//! *Algorithm.* The multilevel partitioner with J as its objective
//! ([`partition::ManyToOnePartitioner`](ManyToOnePartitioner)). Blocks are the PEs in the order of the parts
//! of the machine, so every part is a range of blocks. Partitioning first and mapping the blocks afterwards
//! gives a higher J, since that partitioner minimises the cut without knowing the distances.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hashbrown::HashMap;

use crate::graph::{CsrGraph, quotient};
use crate::ground::observer::{Limited, Observer, Phase};
use crate::ground::settings::{ConfigError, check, check_at_least_one};
use crate::ground::threads;
use crate::ground::types::{BlockId, Cost, Distance, PeId, Weight};
use crate::machine::division::divide;
use crate::machine::{DistanceOracle, DistanceVisitor, Listed, Machine, Parts, distances_of};
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::mapping::problem;
use crate::mapping::solve::{Given, MapConfig, MapPreset, SolveError, solve_watched};
use crate::partition::{
    BlockDistances, BlockTree, FixedError, FixedVertices, Homes, Layout, ManyToOnePartition,
    ManyToOnePartitionConfig, ManyToOnePartitioner, Migration, MigrationWeight, RemapError, Remapping,
    Targets, cost,
};

/// Upper limit on the parts of a machine that is not a tree that are divided at once. Balances the sum of all
/// cuts against time: such parts are repeatedly halved, and distances within them hardly differ.
const MOST_CHILDREN: usize = 16;

/// All settings of a many-to-one mapping.
///
/// ```
/// use viem::mapping::solve::{ManyToOneConfig, MapPreset};
///
/// let config = ManyToOneConfig::preset(MapPreset::Fast).with_seed(7).with_imbalance(0.05);
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[non_exhaustive]
pub struct ManyToOneConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// How much heavier than its share a PE may be: 0.03 means 3 %.
    pub imbalance: f64,
    /// The partitioner.
    pub settings: ManyToOnePartitionConfig,
    /// If given, mappings are computed and combined until this time after the start. Serialised in seconds.
    #[cfg_attr(feature = "serde", serde(with = "crate::ground::settings::seconds"))]
    pub time_limit: Option<Duration>,
}

impl ManyToOneConfig {
    /// The settings of a preset, with seed 0, one thread and an imbalance of 3 %.
    pub fn preset(preset: MapPreset) -> Self {
        let settings = match preset {
            MapPreset::Strong => ManyToOnePartitionConfig::strong(),
            MapPreset::Eco => ManyToOnePartitionConfig::eco(),
            MapPreset::Fast => ManyToOnePartitionConfig::fast(),
        };
        Self { seed: 0, threads: 1, imbalance: 0.03, settings, time_limit: None }
    }

    /// The same with another seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The same with this number of threads.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The same with another imbalance: 0.03 means 3 %.
    pub fn with_imbalance(self, imbalance: f64) -> Self {
        Self { imbalance, ..self }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("threads", self.threads)?;
        let is_imbalance = self.imbalance >= 0.0 && self.imbalance.is_finite();
        check("imbalance", self.imbalance, is_imbalance, "a finite number from 0 on")?;
        self.settings.validate().map_err(|error| error.inside("settings"))
    }
}

/// The loads of the PEs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PeLoads {
    /// The smallest load of a PE.
    pub least: Weight,
    /// The mean load of a PE.
    pub mean: f64,
    /// The largest load of a PE.
    pub greatest: Weight,
    /// The largest bound of a PE.
    pub bound: Weight,
    /// The largest ratio of the load of a PE to its bound; above 1 if a bound is exceeded.
    pub fullest: f64,
    /// The sum of all excess over the bounds.
    pub overload: Weight,
}

/// The report of a many-to-one mapping.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ManyToOneReport {
    /// Number of vertices.
    pub num_nodes: usize,
    /// Number of edges.
    pub num_edges: usize,
    /// J of the mapping given as a start, if any.
    pub cost_of_start: Option<Cost>,
    /// J of the result.
    pub cost: Cost,
    /// The total weight of the edges between vertices on different PEs, each edge counted once.
    pub cut: Cost,
    /// The migration, if an older mapping was given.
    pub migration: Option<Migration>,
    /// The loads of the PEs.
    pub loads: PeLoads,
    /// Whether the observer ended the run early, or the time limit ended a run that would have ended by
    /// itself.
    pub stopped: bool,
    /// Time of the whole run, in seconds.
    pub seconds: f64,
}

/// A many-to-one mapping and its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ManyToOneSolution {
    /// The PE of each vertex.
    pub mapping: Mapping,
    /// Objective, loads, time.
    pub report: ManyToOneReport,
}

/// Maps the vertices of an application graph to the PEs of a machine, many per PE.
///
/// PeLoads are proportional to the [capacities](Machine::capacity) of the PEs. A vertex heavier than every
/// bound is not an error: [`PeLoads::overload`] is then positive.
///
/// ```
/// use viem::graph::generate;
/// use viem::mapping::solve::{ManyToOneConfig, MapPreset, map_many_to_one};
/// use viem::machine::Hierarchy;
///
/// let mesh = generate::mesh(40, 30, 1);
/// let machine = Hierarchy::parse("4:2", "1:10")?;
/// let solution = map_many_to_one(&mesh, &machine, &ManyToOneConfig::preset(MapPreset::Fast))?;
/// assert!(solution.report.loads.greatest <= 154); // 3 % above 150
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn map_many_to_one(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
) -> Result<ManyToOneSolution, SolveError> {
    map_many_to_one_watched(graph, machine, config, None, &())
}

/// As [`map_many_to_one`], with a start and an observer.
///
/// `start`, if given, is the PE of each vertex in a mapping. The result is not worse than it: first by the
/// total excess over the bounds, then by J. The observer may end the run early; the bounds are then respected
/// as otherwise, but J may be poor.
pub fn map_many_to_one_watched<'a>(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    given: impl Into<Given<'a>>,
    observer: &dyn Observer,
) -> Result<ManyToOneSolution, SolveError> {
    config.validate()?;
    let Given { start, fixed, .. } = given.into();
    let begin = Instant::now();
    threads::run(config.threads, || {
        let distances = distances_of(machine)?;
        let parts = divide(machine, &distances, &Limited::silent(observer, begin, config.time_limit));
        check_start(graph, machine, start)?;
        check_fixed(graph, machine, fixed)?;
        if let Some((start, fixed)) = start.zip(fixed) {
            fixed.check_respected(start.pes())?;
        }
        let from = start.map_or(Origin::Nothing, Origin::Start);
        let run = Run { graph, machine, parts: &parts, config, from, fixed, observer, begin };
        distances.visit(run)
    })?
}

/// The report of a given mapping, without any search.
///
/// ```
/// use viem::Mapping;
/// use viem::graph::generate;
/// use viem::mapping::solve::{ManyToOneConfig, MapPreset, evaluate_many_to_one};
/// use viem::machine::Hierarchy;
///
/// let (path, machine) = (generate::grid(4, 1), Hierarchy::parse("2", "1")?);
/// let mapping = Mapping::many(2, vec![0, 0, 1, 1])?;
/// let kept = evaluate_many_to_one(&path, &machine, &ManyToOneConfig::preset(MapPreset::Eco), mapping)?;
/// assert_eq!((kept.report.cut, kept.report.loads.greatest), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate_many_to_one(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    mapping: Mapping,
) -> Result<ManyToOneSolution, SolveError> {
    config.validate()?;
    let begin = Instant::now();
    check_start(graph, machine, Some(&mapping))?;
    let distances = distances_of(machine)?;
    let cost = threads::run(config.threads, || evaluate(graph, &distances, &mapping))??;
    let pe_of = mapping.pes();
    let report = ManyToOneReport {
        num_nodes: graph.num_nodes(),
        num_edges: graph.num_edges(),
        cost_of_start: Some(cost),
        cost,
        cut: quotient::contract(graph, pe_of, machine.num_pes()).total_arc_weight() / 2,
        migration: None,
        loads: pe_loads(graph, &load_bounds(graph, machine, config.imbalance), pe_of),
        stopped: false,
        seconds: begin.elapsed().as_secs_f64(),
    };
    Ok(ManyToOneSolution { mapping, report })
}

/// Remaps a graph, starting from the present PEs of its vertices. Minimises J plus `weight` times the weight
/// of the vertices that migrate.
///
/// The homes are PEs. With weight 0, the mapping is the one computed from scratch, except that equivalent PEs
/// and parts of a tree are permuted to reduce migration at equal J. A time limit ends the run early; the run
/// does not continue until then.
///
/// ```
/// use viem::graph::generate;
/// use viem::partition::Homes;
/// use viem::mapping::solve::{ManyToOneConfig, MapPreset, map_many_to_one, remap_many_to_one};
/// use viem::machine::{Capacities, Hierarchy};
///
/// let mesh = generate::mesh(40, 30, 1);
/// let machine = Hierarchy::parse("4:2", "1:10")?;
/// let config = ManyToOneConfig::preset(MapPreset::Eco);
/// let old = map_many_to_one(&mesh, &machine, &config)?.mapping;
/// // PE 2 has become slow.
/// let slower = Capacities::new(machine, vec![2, 2, 1, 2, 2, 2, 2, 2])?;
/// let homes = Homes::new(old.pes(), &[], 8)?;
/// let new = remap_many_to_one(&mesh, &slower, &config, &homes, "5".parse()?)?;
/// assert!(new.report.migration.unwrap().vertices < 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn remap_many_to_one(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    homes: &Homes,
    weight: MigrationWeight,
) -> Result<ManyToOneSolution, SolveError> {
    remap_many_to_one_watched(graph, machine, config, homes, weight, &())
}

/// As [`remap_many_to_one`], with an observer. If it asks to stop, the bounds are respected as otherwise, but J may be poor.
pub fn remap_many_to_one_watched(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    homes: &Homes,
    weight: MigrationWeight,
    observer: &dyn Observer,
) -> Result<ManyToOneSolution, SolveError> {
    remap_many_to_one_around(graph, machine, config, Remapping::new(homes, weight), None, observer)
}

/// As [`remap_many_to_one_watched`], with vertices that must be on given PEs, wherever they come from.
pub fn remap_many_to_one_around(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    Remapping { homes, weight }: Remapping<'_>,
    fixed: Option<&FixedVertices>,
    observer: &dyn Observer,
) -> Result<ManyToOneSolution, SolveError> {
    config.validate()?;
    homes.check(graph.num_nodes(), machine.num_pes()).map_err(RemapError::from)?;
    let begin = Instant::now();
    threads::run(config.threads, || {
        let distances = distances_of(machine)?;
        let parts = divide(machine, &distances, &Limited::silent(observer, begin, config.time_limit));
        check_fixed(graph, machine, fixed)?;
        let from = Origin::Homes(homes, weight);
        let run = Run { graph, machine, parts: &parts, config, from, fixed, observer, begin };
        distances.visit(run)
    })?
}

/// The upper bound on the load of each PE, by PE: `(1 + imbalance)` times its share, rounded up.
pub fn load_bounds(graph: &CsrGraph, machine: &dyn Machine, imbalance: f64) -> Vec<Weight> {
    Targets::shares(graph, &capacities(machine, 0..machine.num_pes() as PeId), imbalance)
}

fn capacities(machine: &dyn Machine, pes: impl Iterator<Item = PeId>) -> Vec<u32> {
    pes.map(|pe| machine.capacity(pe)).collect()
}

/// The total weight of the vertices in each block.
fn weights_of(graph: &CsrGraph, blocks: &[BlockId], num_blocks: usize) -> Vec<Weight> {
    let mut weights = vec![0; num_blocks];
    for (&weight, &block) in graph.node_weights().iter().zip(blocks) {
        weights[block as usize] += weight;
    }
    weights
}

/// The loads of a mapping to PEs with these bounds.
pub fn pe_loads(graph: &CsrGraph, bounds: &[Weight], pe_of: &[PeId]) -> PeLoads {
    let weights = weights_of(graph, pe_of, bounds.len());
    let fullness = |(&weight, &bound): (&Weight, &Weight)| match weight {
        0 => 0.0,
        _ => weight as f64 / bound as f64,
    };
    PeLoads {
        least: weights.iter().copied().min().unwrap_or(0),
        mean: graph.total_node_weight() as f64 / bounds.len().max(1) as f64,
        greatest: weights.iter().copied().max().unwrap_or(0),
        bound: bounds.iter().copied().max().unwrap_or(0),
        fullest: weights.iter().zip(bounds).map(fullness).fold(0.0, f64::max),
        overload: weights.iter().zip(bounds).map(|(weight, bound)| (weight - bound).max(0)).sum(),
    }
}

fn check_start(graph: &CsrGraph, machine: &dyn Machine, start: Option<&Mapping>) -> Result<(), SolveError> {
    let Some(start) = start else { return Ok(()) };
    let (found, expected) = (start.num_processes(), graph.num_nodes());
    if found != expected {
        return Err(SolveError::StartSize { found, expected });
    }
    Ok(Mapping::many(machine.num_pes(), start.pes().to_vec()).map(|_| ())?)
}

/// Checks that there are such vertices and PEs, and that these have capacity.
fn check_fixed(
    graph: &CsrGraph,
    machine: &dyn Machine,
    fixed: Option<&FixedVertices>,
) -> Result<(), FixedError> {
    let Some(fixed) = fixed else { return Ok(()) };
    fixed.check(graph.num_nodes(), machine.num_pes())?;
    match fixed.iter().find(|&(_, pe)| machine.capacity(pe) == 0) {
        Some((vertex, block)) => Err(FixedError::NoCapacity { vertex, block }),
        None => Ok(()),
    }
}

/// The input of a run.
struct Run<'a> {
    graph: &'a CsrGraph,
    machine: &'a dyn Machine,
    parts: &'a Parts,
    config: &'a ManyToOneConfig,
    from: Origin<'a>,
    /// Vertices that must be on given PEs.
    fixed: Option<&'a FixedVertices>,
    observer: &'a dyn Observer,
    begin: Instant,
}

/// The starting point of a mapping.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Nothing,
    /// A mapping to improve.
    Start(&'a Mapping),
    /// The present PEs of the vertices, and the weight of migration.
    Homes(&'a Homes, MigrationWeight),
}

impl Origin<'_> {
    /// The same in blocks; block i is the i-th PE of `order`.
    fn in_blocks(self, order: &[PeId]) -> Blocks {
        let block_of = block_of_each_pe(order);
        match self {
            Self::Nothing => Blocks::Nothing,
            Self::Start(start) => {
                Blocks::Start(start.pes().iter().map(|&pe| block_of[pe as usize]).collect())
            }
            Self::Homes(homes, weight) => Blocks::Homes(homes.renamed(&block_of), weight),
        }
    }

    /// The migration of a mapping, if it counts.
    fn migration(self, graph: &CsrGraph, pe_of: &[PeId]) -> Option<Migration> {
        match self {
            Self::Homes(homes, _) => Some(homes.migration(graph, pe_of)),
            Self::Nothing | Self::Start(_) => None,
        }
    }
}

/// The block of each PE; block i is the i-th PE of `order`.
fn block_of_each_pe(order: &[PeId]) -> Vec<BlockId> {
    let mut block_of = vec![0; order.len()];
    for (block, &pe) in order.iter().enumerate() {
        block_of[pe as usize] = block as BlockId;
    }
    block_of
}

/// An [`Origin`] in blocks instead of PEs.
enum Blocks {
    Nothing,
    Start(Vec<BlockId>),
    Homes(Homes, MigrationWeight),
}

impl Blocks {
    fn start(&self) -> Option<&[BlockId]> {
        match self {
            Self::Start(blocks) => Some(blocks),
            Self::Nothing | Self::Homes(..) => None,
        }
    }

    /// The initial load of each block, if given.
    fn loads(&self, graph: &CsrGraph, num_blocks: usize) -> Option<Vec<Weight>> {
        match self {
            Self::Nothing => None,
            Self::Start(blocks) => Some(weights_of(graph, blocks, num_blocks)),
            Self::Homes(homes, _) => Some(homes.loads(graph)),
        }
    }
}

impl DistanceVisitor for Run<'_> {
    type Output = Result<ManyToOneSolution, SolveError>;

    fn visit<O: DistanceOracle>(self, oracle: &O) -> Self::Output {
        let Run { graph, machine, parts, config, from, fixed, observer, begin } = self;
        problem::check_cost(graph, oracle.max_distance())?;
        let order = parts.order();
        let capacities = capacities(machine, order.iter().copied());
        let between = Between { oracle, keys: order.iter().map(|&pe| oracle.key(pe)).collect() };
        let is_tree = machine.hierarchy().is_some() || oracle.ultrametric().is_some();
        let tree = block_tree(parts, is_tree);
        let first = from.in_blocks(order);
        let mut targets = Targets::proportional(graph, &capacities, config.imbalance)?;
        if let Some(before) = first.loads(graph, order.len()) {
            targets = targets.near(&capacities, &before);
        }
        let fixed = fixed.map(|fixed| fixed.renamed(&block_of_each_pe(order)));
        if let Some(fixed) = fixed.clone() {
            targets = targets.with_fixed(graph, fixed)?;
        }
        observer.begins(Phase::Construction);
        let limited = Limited::new(observer, begin, config.time_limit, Cost::MAX);
        let watched = Watched { limited: &limited, goes_on: AtomicBool::new(false) };
        let partitioner = ManyToOnePartitioner::new(config.settings.clone(), config.seed)?;
        // In a tree, the parts are already places; if PEs have unequal capacities, blocks cannot change
        // places.
        let may_place = !is_tree && capacities.iter().all(|&capacity| capacity == capacities[0]);
        // Blocks with fixed vertices keep their places.
        let num_blocks = order.len();
        let own = fixed.map(|fixed| {
            let mut own = vec![None; num_blocks];
            fixed.iter().for_each(|(_, block)| own[block as usize] = Some(block));
            FixedVertices::known(own.into_iter(), num_blocks)
        });
        let place = |quotient: &CsrGraph, seed: u64| {
            place((machine, order), (quotient, own.as_ref()), seed, &limited)
        };
        let layout = Layout { tree: &tree, distances: &between, place: may_place.then_some(&place) };
        let ManyToOnePartition { partition, cost: reached } = match &first {
            Blocks::Homes(homes, weight) => {
                let resumed = Remapping::new(homes, *weight);
                partitioner.remap(graph, &targets, layout, resumed, &watched)?
            }
            Blocks::Nothing | Blocks::Start(_) => {
                let goes_on = config.time_limit.is_some();
                partitioner.partition(graph, &targets, layout, first.start(), goes_on, &watched)
            }
        };
        observer.reached(reached);
        let pe_of: Vec<PeId> = partition.blocks().iter().map(|&block| order[block as usize]).collect();
        let report = ManyToOneReport {
            num_nodes: graph.num_nodes(),
            num_edges: graph.num_edges(),
            cost_of_start: first.start().map(|start| cost(graph, &between, start)),
            cost: reached,
            cut: partition.cut(),
            migration: from.migration(graph, &pe_of),
            loads: pe_loads(graph, &load_bounds(graph, machine, config.imbalance), &pe_of),
            // A run that continues until the time limit was complete before.
            stopped: match watched.goes_on.into_inner() {
                true => observer.should_stop(),
                false => limited.should_stop(),
            },
            seconds: begin.elapsed().as_secs_f64(),
        };
        Ok(ManyToOneSolution { mapping: Mapping::from_places(pe_of), report })
    }
}

/// Records whether a mapping was complete before the time limit, so that only further mappings were computed
/// until then.
struct Watched<'a> {
    limited: &'a Limited<'a>,
    goes_on: AtomicBool,
}

impl Observer for Watched<'_> {
    fn should_stop(&self) -> bool {
        self.limited.should_stop()
    }

    fn begins(&self, phase: Phase) {
        self.goes_on.fetch_or(phase == Phase::Search, Ordering::Relaxed);
        self.limited.observer.begins(phase);
    }

    fn reached(&self, cost: Cost) {
        self.limited.reached(cost);
    }
}

/// The distances of PEs in the order of the parts.
struct Between<'a, O: DistanceOracle> {
    oracle: &'a O,
    keys: Vec<O::Key>,
}

impl<O: DistanceOracle> BlockDistances for Between<'_, O> {
    fn num_blocks(&self) -> usize {
        self.keys.len()
    }

    fn between(&self, a: BlockId, b: BlockId) -> Distance {
        self.oracle.between(self.keys[a as usize], self.keys[b as usize])
    }

    fn greatest(&self) -> Distance {
        self.oracle.max_distance()
    }

    fn has_triangle_inequality(&self) -> bool {
        self.oracle.has_triangle_inequality()
    }
}

/// The parts of a machine as steps of multisection: each level separately in a tree, several levels of halves
/// at once otherwise.
fn block_tree(parts: &Parts, is_tree: bool) -> BlockTree {
    let part_of: HashMap<(usize, usize), usize> =
        (0..parts.num_parts()).map(|part| ((parts.range(part).start, parts.range(part).end), part)).collect();
    BlockTree::new(parts.order().len(), |range: Range<usize>| {
        let part = part_of[&(range.start, range.end)];
        let children = if is_tree { parts.children(part).collect() } else { descendants(parts, part) };
        children.into_iter().map(|child| parts.range(child).len()).collect()
    })
}

/// The parts below a part in the last generation of at most [`MOST_CHILDREN`] parts, or its children if there
/// are more.
fn descendants(parts: &Parts, part: usize) -> Vec<usize> {
    let mut children: Vec<usize> = parts.children(part).collect();
    loop {
        let divided = |&part: &usize| match parts.children(part) {
            none if none.is_empty() => part..part + 1,
            children => children,
        };
        let next: Vec<usize> = children.iter().flat_map(divided).collect();
        if next.len() == children.len() || next.len() > MOST_CHILDREN {
            return children;
        }
        children = next;
    }
}

/// Maps whole blocks one-to-one, starting from the order of the parts. Changes nothing if that is impossible.
/// Fixed blocks keep their places.
fn place(
    (machine, order): (&dyn Machine, &[PeId]),
    (quotient, fixed): (&CsrGraph, Option<&FixedVertices>),
    seed: u64,
    observer: &dyn Observer,
) -> Vec<BlockId> {
    let as_it_is = (0..order.len() as BlockId).collect();
    let Ok(machine) = Listed::new(machine, order.to_vec()) else { return as_it_is };
    let threads = rayon::current_num_threads();
    let config = MapConfig::preset(MapPreset::Fast).with_seed(seed).with_threads(threads);
    // The values it reports are not J of the graph.
    let silent = Limited { observer, deadline: None, bound: Cost::MIN };
    match solve_watched(quotient, &machine, &config, Given::default().with_fixed(fixed), &silent) {
        Ok(solution) => solution.mapping.into_pes(),
        Err(_) => as_it_is,
    }
}
