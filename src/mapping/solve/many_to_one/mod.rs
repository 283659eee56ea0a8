//! Many-to-one mapping: maps an application graph with many vertices per PE to a machine.
//!
//! *Problem.* Vertices have weights, PEs have capacities. Every PE gets at most `(1 + imbalance) · ceil(total
//! weight · capacity / total capacity)`, and at least a given part of its share, if one is asked for. Minimise J over the vertices.
//!
//! *Algorithm.* The multilevel partitioner with J as its objective
//! ([`partition::ManyToOnePartitioner`](ManyToOnePartitioner)). Blocks are the PEs in the order of the parts
//! of the machine, so every part is a range of blocks. Partitioning first and mapping the blocks afterwards
//! mostly gives a higher J, since that partitioner minimises the cut without knowing the distances.
//!
//! Where PEs have few vertices, bounds leave hardly any vertex a move, and J depends on which vertices share a PE. Such small
//! problems start from a mapping in two steps as well, and end with a one-to-one mapping of vertices to the places of the PEs, whose
//! search exchanges vertices (`small`).

mod layout;
mod numbering;
mod run;
mod search;

use std::time::{Duration, Instant};

use self::run::{Origin, Run};
use crate::graph::{CsrGraph, quotient};
use crate::ground::observer::{Limited, Observer};
use crate::ground::settings::{ConfigError, check, check_at_least_one};
use crate::ground::threads;
use crate::ground::types::{BlockId, Cost, PeId, Weight};
use crate::machine::division::divide;
use crate::machine::{Machine, distances_of};
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::mapping::solve::{Given, MapPreset, SolveError};
use crate::partition::{
    BoundViolation, Envelope, FixedError, FixedVertices, Homes, ManyToOnePartitionConfig, Migration,
    MigrationWeight, PartitionPreset, RemapError, Remapping, Targets,
};

/// All settings of a many-to-one mapping.
///
/// ```
/// use viem::mapping::solve::{ManyToOneConfig, MapPreset};
///
/// let config = ManyToOneConfig::preset(MapPreset::Fast).with_seed(7).with_imbalance(0.05);
/// assert!(config.validate().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ManyToOneConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// How much heavier than its share a PE may be: 0.03 means 3 %.
    pub imbalance: f64,
    /// The least part of its share that a PE gets, from 0 to 1: 0.5 means half. Bounds go before least loads.
    pub least_load: f64,
    /// The partitioner.
    pub settings: ManyToOnePartitionConfig,
    /// What is done in addition for small problems.
    pub small: Option<SmallProblemConfig>,
    /// If given, the effort of this preset is tried too, and the result is not worse.
    pub not_worse_than: Option<MapPreset>,
    /// If given, mappings are computed and combined until this time after the start. Serialised in seconds.
    #[serde(with = "crate::ground::settings::seconds")]
    pub time_limit: Option<Duration>,
}

impl ManyToOneConfig {
    /// The settings of a preset, with seed 0, one thread, an imbalance of 3 % and no least load.
    pub fn preset(preset: MapPreset) -> Self {
        let small = SmallProblemConfig {
            most_places: 4096,
            two_steps: PartitionPreset::Eco,
            exchange: preset,
            most_arcs: 1 << 15,
        };
        let (settings, small, not_worse_than) = match preset {
            MapPreset::Strong => (ManyToOnePartitionConfig::strong(), Some(small), Some(MapPreset::Eco)),
            MapPreset::Eco => (ManyToOnePartitionConfig::eco(), Some(small), Some(MapPreset::Fast)),
            MapPreset::Fast => (ManyToOnePartitionConfig::fast(), None, None),
        };
        Self {
            seed: 0,
            threads: 1,
            imbalance: 0.03,
            least_load: 0.0,
            settings,
            small,
            not_worse_than,
            time_limit: None,
        }
    }

    /// The same with the effort of a preset, and no time limit.
    fn with_effort_of(&self, preset: MapPreset) -> Self {
        let &Self { seed, threads, imbalance, least_load, .. } = self;
        Self { seed, threads, imbalance, least_load, ..Self::preset(preset) }
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

    /// The same with another least load: 0.5 asks for half of its share on each PE.
    pub fn with_least_load(self, least_load: f64) -> Self {
        Self { least_load, ..self }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("threads", self.threads)?;
        let is_imbalance = self.imbalance >= 0.0 && self.imbalance.is_finite();
        check("imbalance", self.imbalance, is_imbalance, "a finite number from 0 on")?;
        let is_part = (0.0..=1.0).contains(&self.least_load);
        check("least_load", self.least_load, is_part, "from 0 to 1")?;
        self.settings.validate().map_err(|error| error.inside("settings"))
    }
}

/// What is done for problems that are small enough to try more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SmallProblemConfig {
    /// The greatest number of places, which is the sum of the bounds of all PEs, of a small problem.
    pub most_places: usize,
    /// The effort of a further start: a partition of small cut whose blocks are then mapped.
    pub two_steps: PartitionPreset,
    /// The effort of the one-to-one mapping of vertices to places at the end, if all vertices weigh 1.
    pub exchange: MapPreset,
    /// The greatest number of arcs of a graph whose vertices are exchanged. Balances J against time, which grows with the arcs.
    pub most_arcs: usize,
}

/// The loads of the PEs.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
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
    /// The number of PEs with less than half of their share.
    pub below_half: usize,
    /// The number of PEs below the least load that was asked for.
    pub below_least: usize,
    /// The sum of all that PEs lack of the least load.
    pub shortfall: Weight,
    /// The number of PEs without a vertex, besides those of capacity 0.
    pub empty: usize,
}

/// The report of a many-to-one mapping.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
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

impl ManyToOneReport {
    /// By how much PEs miss their bounds.
    pub fn violation(&self) -> BoundViolation {
        let PeLoads { overload, shortfall, .. } = self.loads;
        BoundViolation::new(overload, shortfall)
    }
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
/// bound is not an error: [`PeLoads::overload`] is then positive. No PE with capacity is left without a vertex unless there are too few, or one
/// there would exceed bounds by more. J is not above that of equal strips of the numbering, unless these exceed a bound
/// by more.
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
/// total excess over the bounds, then by what PEs lack of their least loads, then by the number of PEs without a vertex, then by J. The observer may end the run early; the bounds are then respected
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
        Ok(distances.visit(run)?.into_best(MigrationWeight::ZERO)?)
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
        loads: pe_loads(graph, machine, config, pe_of),
        stopped: false,
        seconds: begin.elapsed().as_secs_f64(),
    };
    Ok(ManyToOneSolution { mapping, report })
}

/// Remaps a graph, starting from the present PEs of its vertices. Minimises J plus `weight` times the weight
/// of the vertices that migrate.
///
/// The homes are PEs. With weight 0, J is not above that of the mapping computed from scratch, whose equivalent PEs
/// and parts of a tree are permuted to reduce migration at equal J. A time limit ends the run early; the run
/// does not continue until then.
///
/// On [small graphs](crate::partition::remap), results for different weights do not contradict each other: with a greater one and
/// everything else as it was, no more migrates, and no result for another weight has a lower J plus `weight` times the migration.
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
    remap_many_to_one_around(graph, machine, config, Remapping::new(homes, weight), None, &())
}

/// As [`remap_many_to_one`], with vertices that must be on given PEs, wherever they come from, and an observer. If it asks to stop, the bounds
/// are respected as otherwise, but J may be poor.
///
/// # Errors
///
/// The settings are out of their ranges, the homes or the fixed vertices do not fit graph and machine, or the weight is not possible for them.
pub fn remap_many_to_one_around(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    remapping: Remapping<'_>,
    fixed: Option<&FixedVertices>,
    observer: &dyn Observer,
) -> Result<ManyToOneSolution, SolveError> {
    let found = remap_many_to_one_for(graph, machine, config, remapping, fixed, observer)?;
    Ok(found.into_best(remapping.weight)?)
}

/// As [`remap_many_to_one_around`], with the results for other weights as well.
///
/// # Errors
///
/// Those of [`remap_many_to_one_around`].
pub fn remap_many_to_one_for(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    remapping: Remapping<'_>,
    fixed: Option<&FixedVertices>,
    observer: &dyn Observer,
) -> Result<Envelope<ManyToOneSolution>, SolveError> {
    config.validate()?;
    let homes = remapping.homes;
    homes.check(graph.num_nodes(), machine.num_pes()).map_err(RemapError::from)?;
    let begin = Instant::now();
    threads::run(config.threads, || {
        let distances = distances_of(machine)?;
        let parts = divide(machine, &distances, &Limited::silent(observer, begin, config.time_limit));
        check_fixed(graph, machine, fixed)?;
        let from = Origin::Homes(remapping);
        let run = Run { graph, machine, parts: &parts, config, from, fixed, observer, begin };
        distances.visit(run)
    })?
}

/// The upper bound on the load of each PE, by PE: `(1 + imbalance)` times its share. The share is rounded up, the bound down.
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

/// The loads of a mapping, and how they compare with the imbalance and the least load of the settings, which must be in their ranges.
pub fn pe_loads(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &ManyToOneConfig,
    pe_of: &[PeId],
) -> PeLoads {
    let capacities = capacities(machine, 0..machine.num_pes() as PeId);
    let bounds = &Targets::shares(graph, &capacities, config.imbalance)[..];
    let least = Targets::least_shares(graph, &capacities, config.least_load).unwrap_or_default();
    let weights = weights_of(graph, pe_of, bounds.len());
    let BoundViolation { overload, shortfall } = BoundViolation::of(&weights, bounds, &least);
    let mut is_used: Vec<bool> = capacities.iter().map(|&capacity| capacity == 0).collect();
    pe_of.iter().for_each(|&pe| is_used[pe as usize] = true);
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
        overload,
        below_half: Targets::num_below_half(&capacities, &weights),
        below_least: weights.iter().zip(&least).filter(|(weight, least)| weight < least).count(),
        shortfall,
        empty: is_used.into_iter().filter(|is_used| !is_used).count(),
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
