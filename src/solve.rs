//! Mapping in one call: distances, construction, search, and a report of each phase.
//!
//! The result is never worse than the identity, nor than a mapping given as a start: the search begins at
//! the best of these and the construction, and never makes a mapping worse.

use std::ops::Range;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::construct::{Construction, ConstructionConfig, construct};
use crate::graph::CsrGraph;
use crate::mapping::Mapping;
use crate::objective::cost;
use crate::observer::{Limited, Observer, Phase};
use crate::partition::Preset;
use crate::problem::{Problem, ProblemError};
use crate::rng::derive;
use crate::search::{
    Improvement, Neighbourhood, SearchConfig, SearchOutcome, finds_optimum, improve, local_search,
};
use crate::threads::{self, ThreadsError};
use crate::topology::{DistanceKind, DistanceOracle, Hierarchy, StoredDistances, StoredDistancesError};
use crate::types::Cost;

/// Problems of fewer processes are always divided down to the innermost groups, which takes no time to speak
/// of and finds regular structures.
const SMALL: usize = 1024;

/// Small problems of more processes and arcs for each process than this are dense.
const DENSE: usize = 10;

/// Problems of at most this many processes are improved best by many cheap partitions.
const TINY: usize = 128;

/// From this many processes on, a preset does less for each,
const LARGE: usize = 1 << 16;

/// and from this many on less still.
const HUGE: usize = 1 << 19;

/// The part of a time limit that is kept for the last local search.
const LAST_PART: u32 = 20;

/// How much time to spend on how good a mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(into = "&'static str")]
#[allow(missing_docs)]
pub enum MapPreset {
    Strong,
    #[default]
    Eco,
    Fast,
}

impl MapPreset {
    /// Every preset, in the order in which they are listed.
    pub const ALL: [MapPreset; 3] = [MapPreset::Strong, MapPreset::Eco, MapPreset::Fast];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            MapPreset::Strong => "strong",
            MapPreset::Eco => "eco",
            MapPreset::Fast => "fast",
        }
    }
}

impl From<MapPreset> for &'static str {
    fn from(preset: MapPreset) -> Self {
        preset.name()
    }
}

/// Everything that decides about a mapping besides the problem itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapConfig {
    /// Names every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// How distances are had; `None` takes the faster way. The result does not depend on it.
    pub distances: Option<DistanceKind>,
    /// The first mapping.
    pub construction: ConstructionConfig,
    /// How many constructions are tried, each with random choices of its own.
    pub constructions: Constructions,
    /// Its improvement before local search; left out if the neighbourhood is none.
    pub improvement: Improvement,
    /// If given, improvement goes on, from new constructions and from the best mapping by turns, until this time
    /// after the beginning, and the run ends soon after it at the latest.
    pub time_limit: Option<Duration>,
    /// The local search at the end.
    pub search: SearchConfig,
    /// The result is not worse than with the effort of this preset, which is tried besides.
    pub not_worse_than: Option<MapPreset>,
}

impl MapConfig {
    /// The settings of a preset, with seed 0 and one thread.
    pub fn preset(preset: MapPreset) -> Self {
        let (partitions, undivided, constructions, improvement) = match preset {
            MapPreset::Strong => (
                Preset::Eco,
                0,
                Constructions { effort: 360, size: 120_000, careful: usize::MAX },
                Improvement::STRONG,
            ),
            MapPreset::Eco => (
                Preset::Eco,
                64,
                Constructions { effort: 78, size: 50_000, careful: usize::MAX },
                Improvement::ECO,
            ),
            MapPreset::Fast => (
                Preset::Eco,
                64,
                Constructions { effort: 28, size: 45_000, careful: 45_000 },
                Improvement::FAST,
            ),
        };
        let algorithm = Construction::default();
        Self {
            seed: 0,
            threads: 1,
            distances: None,
            construction: ConstructionConfig { algorithm, partitions, inner: Preset::Fast, undivided },
            constructions,
            improvement,
            time_limit: None,
            search: SearchConfig::default(),
            not_worse_than: (preset == MapPreset::Strong).then_some(MapPreset::Eco),
        }
    }

    /// The same with the effort of a preset.
    fn with_effort_of(&self, preset: MapPreset) -> Self {
        let Self { construction, constructions, improvement, not_worse_than, .. } = Self::preset(preset);
        let construction = ConstructionConfig { algorithm: self.construction.algorithm, ..construction };
        Self { construction, constructions, improvement, not_worse_than, ..*self }
    }

    /// Whether every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.threads == 0 {
            return Err(ConfigError::NoThreads);
        }
        match self.search.neighbourhood {
            Neighbourhood::NSquarePruned if self.search.block_size == 0 => Err(ConfigError::NoBlockSize),
            Neighbourhood::Communication if self.search.max_hops == 0 => Err(ConfigError::NoHops),
            _ => Ok(()),
        }
    }
}

impl Default for MapConfig {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}

/// The effort for a problem of this size, where `effort` is that for some thousands of processes: small ones
/// take no time to speak of and get `small` times as much, tiny ones a third of that, so that the program has hardly
/// started when it ends, and large ones shall not take minutes. Efforts are spent the faster, the denser a
/// graph is; small dense ones need some rounds nevertheless, and so do tiny ones, however little is to be spent.
fn scaled(effort: usize, small: usize, graph: &CsrGraph) -> usize {
    match graph.num_nodes() {
        0..=TINY => (effort.saturating_mul(small) / 3).max(32),
        n if n < SMALL => effort.saturating_mul(small * size(graph).max(DENSE * n)) / (DENSE * n),
        n if n < LARGE => effort,
        n if n < HUGE => effort / 2,
        _ => effort / 4,
    }
}

/// The effort of rebuilding the best of some constructions: the best of many needs it less than the only one.
fn rebuilding(effort: u32, constructions: usize, graph: &CsrGraph) -> u32 {
    let effort = (effort as usize).saturating_mul(constructions.saturating_add(1)) / constructions / 2;
    u32::try_from(scaled(effort, 4, graph)).unwrap_or(u32::MAX)
}

/// Processes and arcs.
fn size(graph: &CsrGraph) -> usize {
    graph.num_nodes() + graph.num_arcs()
}

/// How many constructions are tried: the smaller a problem, the more one differs from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constructions {
    /// Their number times (1 + mean degree) at most, as the time of one grows with the edges; at least one is
    /// tried.
    pub effort: usize,
    /// If they are more than one, the processes and arcs of all of them together are about as many at most, twice as
    /// many for small problems.
    pub size: usize,
    /// Problems of more processes and arcs are divided into the outermost groups with no more effort than inside
    /// of those.
    pub careful: usize,
}

impl Constructions {
    fn number(self, graph: &CsrGraph) -> usize {
        let size = size(graph).max(1);
        let greatest = if graph.num_nodes() < SMALL { self.size.saturating_mul(2) } else { self.size };
        let all = scaled(self.effort, 1, graph).saturating_mul(graph.num_nodes()).min(greatest);
        (all.saturating_add(size / 2) / size).max(1)
    }
}

/// A number of a [`MapConfig`] that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation
pub enum ConfigError {
    #[error("at least 1 thread is needed")]
    NoThreads,
    #[error("intervals of the nsquarepruned neighbourhood have at least 1 process")]
    NoBlockSize,
    #[error(
        "the communication neighbourhood reaches at least 1 hop; for no search take the neighbourhood none"
    )]
    NoHops,
}

/// Why there is no mapping.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation
pub enum SolveError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Distances(#[from] StoredDistancesError),
    #[error("the start mapping has {found} processes, the graph {expected}")]
    StartSize { found: usize, expected: usize },
    #[error("cannot start the threads: {0}")]
    Threads(#[from] ThreadsError),
}

/// A mapping and how it came about.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The mapping.
    pub mapping: Mapping,
    /// Sizes, objective and time of each phase.
    pub report: Report,
}

/// Sizes, objective and time of each phase.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Report {
    /// Number of processes, n.
    pub num_processes: usize,
    /// Number of edges of the communication graph, m.
    pub num_edges: usize,
    /// J of the identity.
    pub cost_of_identity: Cost,
    /// J of the mapping given as a start, if any.
    pub cost_of_start: Option<Cost>,
    /// The least J of the mappings constructed.
    pub cost_of_construction: Cost,
    /// J of the result.
    pub cost: Cost,
    /// Pairs whose exchange was evaluated.
    pub swaps_tried: u64,
    /// Exchanges made.
    pub swaps_made: u64,
    /// Whether the observer or the time limit ended the construction, or the search before it reached a local
    /// optimum.
    pub stopped: bool,
    /// Time of each phase.
    pub seconds: Seconds,
}

/// Time of each phase, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Seconds {
    /// Setting up the distances.
    pub distances: f64,
    /// Constructing the first mappings.
    pub construction: f64,
    /// Improving it.
    pub search: f64,
    /// Everything.
    pub total: f64,
}

/// Maps the processes of `graph` one to one to the PEs of `hierarchy`.
///
/// `start`, if given, is a mapping that the result must not be worse than. The observer may end the run
/// early; the result then is the best mapping found so far.
pub fn solve(
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    config: &MapConfig,
    start: Option<&Mapping>,
    observer: &dyn Observer,
) -> Result<Solution, SolveError> {
    config.validate()?;
    let begin = Instant::now();
    let run = Run { graph, hierarchy, config, start, observer, begin };
    threads::run(config.threads, || match config.distances {
        Some(DistanceKind::Hierarchy) => {
            // The matrix takes n² bytes, so let a problem that cannot be solved fail before.
            Problem::new(graph, &hierarchy.online64())?;
            run.with(&StoredDistances::new(hierarchy)?)
        }
        Some(DistanceKind::HierarchyOnline) | None => match hierarchy.online32() {
            Some(oracle) => run.with(&oracle),
            None => run.with(&hierarchy.online64()),
        },
    })?
}

/// What a run is given.
struct Run<'a> {
    graph: &'a CsrGraph,
    hierarchy: &'a Hierarchy,
    config: &'a MapConfig,
    start: Option<&'a Mapping>,
    observer: &'a dyn Observer,
    begin: Instant,
}

impl Run<'_> {
    fn with<O: DistanceOracle>(&self, oracle: &O) -> Result<Solution, SolveError> {
        let Run { graph, start, observer, begin, .. } = *self;
        let problem = Problem::new(graph, oracle)?;
        let num_processes = problem.size();
        if let Some(found) = start.map(Mapping::num_processes).filter(|&found| found != num_processes) {
            return Err(SolveError::StartSize { found, expected: num_processes });
        }
        let distances_done = Instant::now();

        observer.begins(Phase::Construction);
        let constructed = self.constructed(&problem);
        let is_cut_short = self.improving(Cost::MAX).should_stop();
        let costs = constructed.iter().map(|&(cost, _)| cost);
        let cost_of_construction = costs.min().expect("there is a construction");
        let identity = Mapping::identity(num_processes);
        let cost_of_identity = cost(&problem, &identity);
        let cost_of_start = start.map(|start| cost(&problem, start));
        let construction_done = Instant::now();

        observer.begins(Phase::Search);
        let given = [cost_of_start.zip(start), Some((cost_of_identity, &identity))];
        let given: Vec<(Cost, &Mapping)> = given.into_iter().flatten().collect();
        let outcome = self.search_with_rival(&problem, &constructed, &given);
        let search_done = Instant::now();

        let seconds = |from: Instant, to: Instant| (to - from).as_secs_f64();
        let report = Report {
            num_processes,
            num_edges: graph.num_edges(),
            cost_of_identity,
            cost_of_start,
            cost_of_construction,
            cost: outcome.cost,
            swaps_tried: outcome.tried,
            swaps_made: outcome.made,
            stopped: outcome.stopped || is_cut_short,
            seconds: Seconds {
                distances: seconds(begin, distances_done),
                construction: seconds(distances_done, construction_done),
                search: seconds(construction_done, search_done),
                total: seconds(begin, search_done),
            },
        };
        Ok(Solution { mapping: outcome.mapping, report })
    }

    /// The observer, who also asks to stop once this time has passed.
    fn limited(&self, limit: Option<Duration>, bound: Cost) -> Limited<'_> {
        let deadline = limit.and_then(|limit| self.begin.checked_add(limit));
        Limited { observer: self.observer, deadline, bound }
    }

    /// As above, for all that comes before the last local search.
    fn improving(&self, bound: Cost) -> Limited<'_> {
        self.limited(self.config.time_limit.map(|limit| limit - limit / LAST_PART), bound)
    }

    /// The first constructions, each with its J.
    fn constructed<O: DistanceOracle>(&self, problem: &Problem<'_, O>) -> Vec<(Cost, Mapping)> {
        let limited = self.improving(Cost::MAX);
        let numbers = 0..self.num_constructions();
        self.constructions(numbers, &limited).map(|mapping| (cost(problem, &mapping), mapping)).collect()
    }

    /// Improves the best of some constructions and given mappings; the result is not worse than what the preset named
    /// by [`MapConfig::not_worse_than`] finds.
    fn search_with_rival<O: DistanceOracle>(
        &self,
        problem: &Problem<'_, O>,
        constructed: &[(Cost, Mapping)],
        given: &[(Cost, &Mapping)],
    ) -> SearchOutcome {
        let Run { graph, hierarchy, config, .. } = *self;
        let is_final = config.search.neighbourhood == Neighbourhood::None;
        let rival = config.not_worse_than.filter(|_| !is_final && !finds_optimum(graph, hierarchy));
        let Some(preset) = rival else {
            return self.search(problem, constructed, given);
        };
        // Within the same time, but only once.
        let limited = self.improving(Cost::MAX);
        let rival_config = MapConfig { time_limit: None, ..config.with_effort_of(preset) };
        let rival = Run { config: &rival_config, observer: &limited, ..*self };
        let rival = rival.search(problem, &rival.constructed(problem), given);
        let quiet = Limited { observer: self.observer, deadline: None, bound: rival.cost };
        let own = Run { observer: &quiet, ..*self }.search(problem, constructed, given);
        let (tried, made) = (own.tried + rival.tried, own.made + rival.made);
        let stopped = own.stopped;
        SearchOutcome { tried, made, stopped, ..if rival.cost < own.cost { rival } else { own } }
    }

    /// How many constructions are made before the best are improved.
    fn num_constructions(&self) -> usize {
        let config = self.config;
        let is_final = config.search.neighbourhood == Neighbourhood::None;
        // Without edges, all are as good.
        if is_final || self.graph.num_arcs() == 0 { 1 } else { config.constructions.number(self.graph) }
    }

    /// The constructions of these numbers that are begun before the observer asks to stop, but always number 0.
    fn constructions<'a>(
        &'a self,
        numbers: Range<usize>,
        observer: &'a dyn Observer,
    ) -> impl ParallelIterator<Item = Mapping> + 'a {
        let always = (numbers.start == 0).then_some(0);
        let others = (numbers.start + always.map_or(0, |_| 1)..numbers.end).into_par_iter();
        let others = others.take_any_while(move |_| !observer.should_stop());
        let begun = always.into_par_iter().chain(others);
        begun.map(move |number| self.construct(number, observer))
    }

    /// The construction of this number.
    fn construct(&self, number: usize, observer: &dyn Observer) -> Mapping {
        let (graph, mut config) = (self.graph, self.config.construction);
        if self.config.search.neighbourhood == Neighbourhood::None {
            config.undivided = 0;
            config.inner = config.partitions;
        } else if size(graph) > self.config.constructions.careful {
            config.partitions = config.inner;
        } else if graph.num_nodes() < SMALL {
            config.undivided = 0;
            if graph.num_nodes() <= TINY {
                config.partitions = config.inner;
            }
            if number == 1 && config.algorithm == Construction::HierarchyTopDown {
                // Regular structures are at times built better from the other end.
                config.algorithm = Construction::HierarchyBottomUp;
                config.partitions = config.inner;
            }
        }
        construct(
            graph,
            self.hierarchy,
            &config,
            derive(derive(self.config.seed, 0), number as u64),
            observer,
        )
    }

    /// Improves the best of some mappings as the preset says, and then until no exchange of the
    /// neighbourhood does.
    fn search<O: DistanceOracle>(
        &self,
        problem: &Problem<'_, O>,
        constructed: &[(Cost, Mapping)],
        given: &[(Cost, &Mapping)],
    ) -> SearchOutcome {
        let Run { hierarchy, config, .. } = *self;
        let seed = derive(config.seed, 1);
        // Constructions improve more than others do, so only what is better yet is tried beside them.
        let least = constructed.iter().map(|&(cost, _)| cost).min();
        let mut starts: Vec<(Cost, &Mapping)> =
            constructed.iter().map(|(cost, mapping)| (*cost, mapping)).collect();
        starts.extend(given.iter().filter(|&&(cost, _)| least.is_none_or(|least| cost < least)));
        let descend = |start| {
            let limited = self.limited(config.time_limit, Cost::MAX);
            local_search(problem, start, &config.search, derive(seed, 0), &limited)
        };
        if config.search.neighbourhood == Neighbourhood::None {
            let best = starts.iter().min_by_key(|&(cost, _)| cost);
            return descend(best.expect("there always is a construction").1);
        }
        let mut improvement = config.improvement;
        let each = self.num_constructions();
        improvement.rebuilding = rebuilding(improvement.rebuilding, each, problem.graph());
        let given: Vec<&Mapping> = starts.iter().map(|&(_, start)| start).collect();
        let run = |cycle: usize, starts: &[&Mapping], improvement: &Improvement, limited: &Limited<'_>| {
            let seed = derive(derive(seed, 1), cycle as u64);
            improve(problem, hierarchy, starts, improvement, seed, limited)
        };
        let mut best = run(0, &given, &improvement, &self.improving(Cost::MAX));
        // Until the time is over, by turns start again from new constructions, and go on from the best mapping, with
        // ever more effort.
        let goes_on = config.time_limit.is_some() && !finds_optimum(problem.graph(), hierarchy);
        for cycle in 1.. {
            let limited = self.improving(best.cost);
            if !goes_on || limited.should_stop() {
                break;
            }
            let next = if cycle % 2 == 1 {
                run(cycle, &[&best.mapping], &improvement, &limited)
            } else {
                improvement.rebuilding = improvement.rebuilding.saturating_mul(2);
                improvement.qualifying = improvement.qualifying.saturating_mul(2);
                let first = (cycle / 2).saturating_mul(each);
                let numbers = first..first.saturating_add(each);
                let more: Vec<Mapping> = self.constructions(numbers, &limited).collect();
                if more.is_empty() {
                    break;
                }
                run(cycle, &more.iter().collect::<Vec<_>>(), &improvement, &limited)
            };
            let (tried, made) = (best.tried + next.tried, best.made + next.made);
            best = SearchOutcome { tried, made, ..if next.cost < best.cost { next } else { best } };
        }
        let descended = descend(&best.mapping);
        SearchOutcome { tried: best.tried + descended.tried, made: best.made + descended.made, ..descended }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;

    #[test]
    fn efforts_do_not_wrap() {
        for n in [96, 1000] {
            let graph = generate::random_geometric(n, 6.0, 1);
            // Three quarters of 2^32, and the like: times 4, or 4 thirds, this is a multiple of 2^32.
            for effort in [3 << 30, 1 << 30, u32::MAX] {
                assert!(rebuilding(effort, 1, &graph) >= effort, "{n} {effort}");
            }
            let constructions = Constructions { effort: usize::MAX, size: usize::MAX, careful: 0 };
            assert!(constructions.number(&graph) > 1 << 32);
        }
    }
}
