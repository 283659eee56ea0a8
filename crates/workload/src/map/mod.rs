//! Mapping of the tasks of a workload to PEs such that it ends early, by the estimate F and by simulation.
//!
//! # Algorithm
//!
//! ```text
//! identity, input mapping ─┐
//! near PEs in succession ──┤
//! mapping of small J ──────┤
//! the same, loads lowered ─┤
//! messages to neighbours ──┼─▶ local search on F ─▶ the best shaken and ─▶ all simulated, local search on
//! circle through a grid ───┤    (each)               searched again         simulated time from the fastest
//! greedy with look-ahead ──┤
//! both, loads evened out ──┘
//! ```
//!
//! | member | purpose |
//! |---|---|
//! | `greedy` | the greedy of Perego and De Petris |
//! | `loads` | a measure of how evenly messages are spread over links |
//! | `simulated_time` | simulated time as a measure |
//! | `walk` | tasks along a circle through a grid |
//! | `dealt` | tasks dealt to groups of PEs in turn |
//! | `descent` | local search by moves and exchanges |
//! | `search` | the whole search |
//!
//! At the end, the starts and the mappings found are simulated, as far as that does not take too long ([`TaskMapConfig::simulated`]):
//! the best by F, then the identity and the input mapping, then all others. Mappings that deal tasks to nodes in turn, and to smaller
//! and larger groups, are simulated last. Local search on simulated time continues from the fastest. The result is therefore not
//! slower in the simulator than any start that was simulated, and never slower than the identity if two mappings could be simulated.
//! If nothing is simulated, the result is the best by F, and not worse by F than any start. On congested links F is not accurate: it
//! hardly grows with the number of messages that share a link. So there is one more start for each other [objective](JobObjective) of
//! jobs: the mapping of small J, after a search for that objective.
//!
//! # Reference
//!
//! R. Perego and G. De Petris, *A new mapping heuristic for last generation multicomputers*, CNUCE C94-09,
//! 1994. Its greedy algorithm is one of the starts; the rest is our own.

mod dealt;
mod descent;
mod greedy;
mod loads;
mod search;
mod simulated_time;
mod view;
mod walk;

pub use descent::DescentConfig;
pub use search::Start;

use std::time::{Duration, Instant};

use crate::Workload;
use crate::contention::{BottleneckConfig, JobObjective};
use crate::estimate::{Estimate, EstimateError, PARTS, WorkloadModel};
use crate::simulate::{Costs, Sharing, SimulationConfig, SimulationError};
use descent::{Measure as _, Steps};
use greedy::Greedy;
use hashbrown::HashSet;
use search::{Candidate, Fastest, Search, State};
use viem::base::error::{ErrorKind, HasKind};
use viem::base::observer::{Limited, Observer, Phase};
use viem::base::rng::derive;
use viem::base::settings::{ConfigError, check, check_at_least_one};
use viem::base::threads;
use viem::base::types::{Cost, PeId};
pub use viem::graph::embedding::monomorphism::{self, Budget};
use viem::machine::{Machine, MachineError, distances_of};
use viem::mapping::Mapping;
use viem::mapping::problem::{self, ProblemError};
use viem::solve::{
    Config, Lowering, MapPreset, OneToOneConfig, PreparedMachine, Request, Secondary as _, SolveError,
};
use view::MachineView;

/// All settings of a mapping of a workload.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TaskMapConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// Threads to use, at least 1; the result does not depend on it.
    pub threads: usize,
    /// If given, the run ends soon after this time. Serialised in seconds.
    #[serde(with = "viem::base::settings::seconds")]
    pub time_limit: Option<Duration>,
    /// Settings of the mapping of small J.
    pub mapping: OneToOneConfig,
    /// Cycles of SEND and RECEIVE.
    pub costs: Costs,
    /// How messages share links in the simulator. F knows turns only.
    pub sharing: Sharing,
    /// Local search from each start.
    pub descent: DescentConfig,
    /// How often the best mapping is perturbed and searched again.
    pub rounds: usize,
    /// Upper limit on the hops of messages simulated at the end, for finding the fastest of the mappings and
    /// for local search from it. If not even two mappings of a workload can be simulated, it is mapped by F alone; with a
    /// limit of 0, all are.
    pub simulated: u64,
}

impl TaskMapConfig {
    /// The settings of a preset, with seed 0 and one thread.
    pub fn preset(preset: MapPreset) -> Self {
        let (tries, random, work, rounds, simulated) = match preset {
            MapPreset::Fast => (8, 1, 100, 0, 300_000),
            MapPreset::Strong => (32, 6, 5_000, 8, 60_000_000),
            _ => (12, 2, 250, 0, 1_500_000),
        };
        Self {
            seed: 0,
            threads: 1,
            time_limit: None,
            mapping: OneToOneConfig::preset(preset),
            costs: Costs::default(),
            sharing: Sharing::default(),
            descent: DescentConfig { tries, random, work },
            rounds,
            simulated,
        }
    }

    /// Checks that every number is in its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check_at_least_one("threads", self.threads)?;
        self.mapping.validate().map_err(|error| error.inside("mapping"))?;
        let Costs { send, receive } = self.costs;
        check("costs", send.max(receive), send.max(receive) <= Costs::MOST, "at most 2^20")?;
        let latency = self.sharing.latency();
        check("latency", latency, latency <= Costs::MOST, "at most 2^20")
    }
}

impl Default for TaskMapConfig {
    fn default() -> Self {
        Self::preset(MapPreset::default())
    }
}

/// The reason why a workload is not mapped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum TaskMapError {
    #[error(transparent)]
    Solve(#[from] SolveError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

impl HasKind for TaskMapError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Solve(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Problem(error) => error.kind(),
            Self::Config(error) => error.kind(),
            Self::Estimate(error) => error.kind(),
            Self::Simulation(error) => error.kind(),
        }
    }
}

/// A mapping of a workload and its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskMapping {
    /// The PE of each task.
    pub mapping: Mapping,
    /// The report of the run.
    pub report: TaskMapReport,
}

/// The report of a run. Times of the workload are in cycles, those of the run in seconds.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct TaskMapReport {
    /// J of the mapping: flits times distance, over ordered pairs.
    pub cost: Cost,
    /// F of the mapping.
    pub estimate: f64,
    /// F without distances and contention, with a PE for each task.
    pub ideal: f64,
    /// The simulated completion time of the mapping, if it was simulated.
    pub completion_time: Option<u64>,
    /// The simulated completion time of the identity (task i on the i-th place), if it was simulated.
    pub completion_time_of_identity: Option<u64>,
    /// The start that led to the mapping.
    pub start: Start,
    /// All starts.
    pub starts: Vec<StartReport>,
    /// Steps of local search tried.
    pub tried: u64,
    /// Steps made.
    pub made: u64,
    /// True if the run was ended early.
    pub stopped: bool,
    /// Time of the whole run, in seconds.
    pub seconds: f64,
}

/// F of a start, before and after local search.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct StartReport {
    /// The start.
    pub start: Start,
    /// F before local search.
    pub before: f64,
    /// F after local search.
    pub after: f64,
}

/// Work of the greedy algorithm, as a multiple of that of a local search.
const GREEDY_WORK: usize = 4;

/// Arcs that the search for each objective other than J may visit, as a multiple of the work of a local search on F. For a job of 64 tasks with the
/// settings of `eco`, these are some ten thousand moves, which take less time than its simulations.
const LOAD_WORK: usize = 64;

/// The starts, and the mapping of small J, each get one part in this many of a time limit. The rest is for
/// local search, which gains more.
const FIRST_SHARE: u32 = 4;

/// Number of starts for local search on F: the input mapping, and the best others.
const SEARCHED: usize = 3;

/// A workload and a machine, to whose PEs its tasks are mapped, each PE up to its capacity, so that the workload ends early.
///
/// ```
/// use viem_workload::map::{TaskMapConfig, TaskRequest};
/// use viem_workload::generate::{Pattern, Size, workload};
/// use viem::machine::Grid;
///
/// let (ring, mesh) = (workload(Pattern::Ring, &[16], Size::default(), 0)?, Grid::mesh(&[4, 4])?);
/// let found = TaskRequest::new(&ring, &mesh).solve(&TaskMapConfig::default())?;
/// // Every message travels between neighbours, without contention.
/// assert_eq!(found.report.estimate, found.report.ideal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct TaskRequest<'a> {
    workload: &'a Workload,
    machine: &'a dyn Machine,
    start: Option<&'a Mapping>,
    observer: &'a dyn Observer,
}

impl<'a> TaskRequest<'a> {
    /// A mapping without an additional start.
    pub fn new(workload: &'a Workload, machine: &'a dyn Machine) -> Self {
        Self { workload, machine, start: None, observer: &() }
    }

    /// An additional start, or none.
    #[must_use]
    pub fn start(self, start: impl Into<Option<&'a Mapping>>) -> Self {
        Self { start: start.into(), ..self }
    }

    /// An observer. If it asks to stop, the result is the best mapping found so far.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Maps the tasks.
    ///
    /// # Errors
    ///
    /// A setting is out of its range, the machine has too little room, or the start does not fit.
    pub fn solve(&self, config: &TaskMapConfig) -> Result<TaskMapping, TaskMapError> {
        config.validate()?;
        let Self { workload, machine, start, observer } = *self;
        let begin = Instant::now();
        let work = || map_since(begin, workload, machine, config, start, observer);
        threads::run(config.threads, work).map_err(SolveError::from)?
    }
}

/// Maps on the current threads; the time limit counts from `begin`.
fn map_since(
    begin: Instant,
    workload: &Workload,
    machine: &dyn Machine,
    config: &TaskMapConfig,
    given: Option<&Mapping>,
    observer: &dyn Observer,
) -> Result<TaskMapping, TaskMapError> {
    problem::check_room(workload.num_tasks(), machine)?;
    let limit = config.time_limit;
    let early = Limited::silent(observer, begin, limit.map(|limit| limit / FIRST_SHARE));
    let late = Limited::silent(observer, begin, limit);
    let (model, view) = (WorkloadModel::new(workload, config.costs)?, MachineView::new(machine, &late)?);
    let graph = workload.graph();
    observer.begins(Phase::Construction);
    let search = Search {
        workload,
        graph: &graph,
        model: &model,
        view: &view,
        descent: &config.descent,
        settings: SimulationConfig::new(config.costs).with_sharing(config.sharing),
        seed: config.seed,
        observer: &late,
    };
    let mut state = State { estimate: Estimate::new(&model, &view.routing)?, steps: Steps::default() };
    let Best { found, completion_time, completion_time_of_identity, starts } =
        Run { machine, config, search, early: &early, late: &late }.best(given, &mut state)?;
    let steps = state.steps;
    let mapping =
        Mapping::on(machine, found.pe_of.clone()).expect("no PE has more tasks than it has room for");
    let cost = Cost::try_from(view.cost(workload, mapping.pes())).unwrap_or(Cost::MAX);
    let report = TaskMapReport {
        cost,
        estimate: found.cycles(),
        ideal: model.completion_time as f64,
        completion_time,
        completion_time_of_identity,
        start: found.start,
        starts,
        tried: steps.counts.tried,
        made: steps.counts.made,
        stopped: steps.stopped,
        seconds: begin.elapsed().as_secs_f64(),
    };
    Ok(TaskMapping { mapping, report })
}

impl Candidate {
    /// F in cycles.
    fn cycles(&self) -> f64 {
        self.value.0 as f64 / PARTS as f64
    }

    /// The report of a start and its result after local search.
    fn report(&self, after: &Self) -> StartReport {
        StartReport { start: self.start, before: self.cycles(), after: after.cycles() }
    }
}

/// J of a mapping: the flits of each pair of tasks, both directions together, times their distance, over
/// ordered pairs.
pub fn cost(workload: &Workload, machine: &dyn Machine, pe_of: &[PeId]) -> Result<i128, MachineError> {
    Ok(view::cost(&distances_of(machine)?, workload, pe_of))
}

/// The best mapping found.
struct Best {
    found: Candidate,
    /// The simulated completion times of the mapping and of the identity, if they were simulated.
    completion_time: Option<u64>,
    completion_time_of_identity: Option<u64>,
    starts: Vec<StartReport>,
}

/// The first `most` different mappings.
fn distinct(candidates: impl Iterator<Item = Candidate>, most: usize) -> Vec<Candidate> {
    let mut seen = HashSet::new();
    candidates.filter(|candidate| seen.insert(candidate.pe_of.clone())).take(most).collect()
}

struct Run<'a> {
    machine: &'a dyn Machine,
    config: &'a TaskMapConfig,
    search: Search<'a>,
    /// The observers with the time limits of the starts and of the whole run.
    early: &'a Limited<'a>,
    late: &'a Limited<'a>,
}

impl<'a> Run<'a> {
    /// The best mapping; an ideal one ends the run as soon as it is found.
    fn best(&self, given: Option<&Mapping>, state: &mut State<'a>) -> Result<Best, TaskMapError> {
        let mut starts = self.plain(given, state)?;
        let regular = self.regular(state);
        if let Some(ideal) = self.ideal(&regular, state)? {
            self.late.observer.begins(Phase::Search);
            return Ok(ideal);
        }
        let sought = self.sought(given, state)?;
        self.late.observer.begins(Phase::Search);
        if let Some(ideal) = self.ideal(starts.iter().chain(&sought), state)? {
            return Ok(ideal);
        }
        starts.extend(regular);
        starts.extend(sought);
        Ok(self.best_of(starts, state)?)
    }

    /// Returns whether F cannot be improved: each PE has one task, no two PEs are at the same place, and there are no
    /// costs of distance and contention.
    fn is_ideal(&self, candidate: &Candidate) -> bool {
        let view = self.search.view;
        let has_one_each = view.has_distances() && view.room.iter().all(|&room| room == 1);
        has_one_each && candidate.value.0 <= self.search.model.completion_time as i64 * PARTS
    }

    /// The first of several mappings that is known to be ideal: by F, and, if mappings are simulated, also in
    /// the simulator. The simulator may see contention between messages that F assigns to different phases.
    fn ideal<'c>(
        &self,
        candidates: impl IntoIterator<Item = &'c Candidate>,
        state: &mut State<'a>,
    ) -> Result<Option<Best>, SimulationError> {
        for candidate in candidates.into_iter().filter(|candidate| self.is_ideal(candidate)) {
            let is_simulated = self.size_of(candidate) <= self.config.simulated;
            let simulated =
                if is_simulated { self.search.simulated(&candidate.pe_of, &mut state.steps)? } else { None };
            let completion_time = simulated.map(|mut simulated| simulated.value().0 as u64);
            let least = self.search.model.completion_time;
            if !is_simulated || completion_time.is_some_and(|time| time <= least) {
                let starts = vec![candidate.report(candidate)];
                let completion_time_of_identity =
                    completion_time.filter(|_| candidate.start == Start::Identity);
                let found = candidate.clone();
                return Ok(Some(Best { found, completion_time, completion_time_of_identity, starts }));
            }
        }
        Ok(None)
    }

    /// The identity, the same on near PEs in succession, and the input mapping: the result is not worse than these even if the run ends at once.
    fn plain(&self, given: Option<&Mapping>, state: &mut State<'a>) -> Result<Vec<Candidate>, TaskMapError> {
        let n = self.search.graph.num_nodes();
        let identity = Mapping::in_order(self.machine, n).expect("there is room");
        let mut starts = vec![self.search.candidate(Start::Identity, identity.into_pes(), state)];
        let view = self.search.view;
        if let Some(sorted) = view.sorted() {
            let pe_of = dealt::in_places(view, n, sorted.iter().copied());
            starts.push(self.search.candidate(Start::Sorted, pe_of, state));
        }
        if let Some(given) = given {
            let given = Mapping::on(self.machine, given.pes().to_vec()).map_err(SolveError::Start)?;
            if given.num_processes() != n {
                return Err(SolveError::StartSize { found: given.num_processes(), expected: n }.into());
            }
            starts.push(self.search.candidate(Start::Given, given.into_pes(), state));
        }
        Ok(starts)
    }

    /// The mappings of regular workloads to neighbouring PEs.
    fn regular(&self, state: &mut State<'a>) -> Vec<Candidate> {
        let Search { graph, view, seed, .. } = self.search;
        let mut starts = Vec::new();
        for start in [Start::Embedding, Start::Circle] {
            if self.search.stops(&mut state.steps) {
                break;
            }
            let pe_of = match start {
                Start::Embedding => monomorphism::embed(
                    graph,
                    &view.neighbour_lists(),
                    derive(seed, 2),
                    Budget::THOROUGH,
                    self.early,
                ),
                _ => walk::along_circle(graph, view),
            };
            starts.extend(pe_of.and_then(|pe_of| self.start(start, pe_of, state)));
        }
        starts
    }

    /// The mapping of small J, the mapping for each other objective, and the greedy mapping.
    fn sought(&self, given: Option<&Mapping>, state: &mut State<'a>) -> Result<Vec<Candidate>, TaskMapError> {
        let Search { graph, view, model, seed, .. } = self.search;
        let mut starts = Vec::new();
        if self.search.stops(&mut state.steps) {
            return Ok(starts);
        }
        let left = self.late.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let share = |limit: Duration| (limit / FIRST_SHARE).min(left.unwrap_or(limit));
        let &TaskMapConfig { seed: own_seed, threads, time_limit, mapping, .. } = self.config;
        let mut config = Config::default().with_seed(own_seed).with_threads(threads);
        config = config.with_time_limit(time_limit.map(share));
        config.one_to_one = mapping;
        let machine = PreparedMachine::new(self.machine);
        let solution =
            Request::new(graph, &machine).start(given).observed(self.late.observer).solve(&config)?;
        starts.extend(self.start(Start::Cost, solution.mapping.pes().to_vec(), state));
        let lowering = Lowering::new(graph, &machine, &solution.mapping, solution.report.cost);
        starts.extend(self.lowered(&lowering.observed(self.early), state));
        if self.search.stops(&mut state.steps) {
            return Ok(starts);
        }
        let work = (GREEDY_WORK * self.config.descent.work).saturating_mul(graph.num_nodes()) as u64;
        let greedy = Greedy { graph, model, view, seed: derive(seed, 3), work, observer: self.early };
        let pe_of = greedy.run(&mut state.estimate);
        starts.extend(pe_of.and_then(|pe_of| self.start(Start::Greedy, pe_of, state)));
        Ok(starts)
    }

    /// The mapping of small J after a search for each other objective of jobs.
    fn lowered(&self, given: &Lowering<'_>, state: &mut State<'a>) -> Vec<Candidate> {
        let work = LOAD_WORK.saturating_mul(self.config.descent.work).saturating_mul(given.graph.num_nodes());
        let config = BottleneckConfig { effort: work as u64, ..BottleneckConfig::default() };
        let mut starts = Vec::new();
        for (start, objective) in [
            (Start::Bottleneck, JobObjective::Bottleneck),
            (Start::BusiestNode, JobObjective::BusiestNode),
            (Start::Mixed, JobObjective::Mixed),
        ] {
            if self.search.stops(&mut state.steps) {
                break;
            }
            let config = config.with_objective(objective).with_seed(derive(self.config.seed, 5));
            // If loads could overflow, this start is omitted.
            let Ok(lowered) = config.lower(given) else { continue };
            if lowered.mapping != *given.mapping {
                starts.extend(self.start(start, lowered.mapping.into_pes(), state));
            }
        }
        starts
    }

    /// A start, unless the run must end before its value is known.
    fn start(&self, start: Start, pe_of: Vec<PeId>, state: &mut State<'a>) -> Option<Candidate> {
        (!self.search.stops(&mut state.steps)).then(|| self.search.candidate(start, pe_of, state))
    }

    /// The best mapping found from several starts.
    fn best_of(&self, mut starts: Vec<Candidate>, state: &mut State<'a>) -> Result<Best, SimulationError> {
        let (search, seed) = (self.search, self.search.seed);
        for index in 0..starts.len() {
            if matches!(starts[index].start, Start::Cost | Start::Greedy) {
                starts.extend(search.spread(&starts[index], derive(seed, 500 + index as u64), state));
            }
        }
        let (mut reports, mut found) = (Vec::new(), Vec::new());
        // Starts that are far worse rarely lead to better results.
        starts.sort_by_key(|start| (start.start != Start::Given, start.value));
        for (index, start) in starts.iter().take(SEARCHED).enumerate() {
            let after = search.descend(start, derive(seed, 1000 + index as u64), state);
            reports.push(start.report(&after));
            found.push(after);
        }
        found.extend(starts);
        let best = found.iter().min_by_key(|candidate| candidate.value).expect("the identity").clone();
        let best = search.go_on(best, self.config.rounds, state);
        let fastest = self.fastest(&best, found, state)?;
        Ok(match fastest {
            Some(Fastest { found, completion_time, of_identity }) => Best {
                found,
                completion_time: Some(completion_time),
                completion_time_of_identity: of_identity,
                starts: reports,
            },
            None => Best {
                found: best,
                completion_time: None,
                completion_time_of_identity: None,
                starts: reports,
            },
        })
    }

    /// The fastest of the best mapping by F and all others, as far as these can be simulated; `None` if not even two can be.
    fn fastest(
        &self,
        best: &Candidate,
        mut others: Vec<Candidate>,
        state: &mut State<'a>,
    ) -> Result<Option<Fastest>, SimulationError> {
        let affordable = usize::try_from(self.config.simulated / self.size_of(best)).unwrap_or(usize::MAX);
        if affordable < 2 {
            return Ok(None);
        }
        // The result should not be slower than the mappings that users have without a search.
        let is_plain = |start| matches!(start, Start::Identity | Start::Given | Start::Sorted);
        others.sort_by_key(|other| !is_plain(other.start));
        let mut candidates = distinct(std::iter::once(best.clone()).chain(others), affordable);
        candidates.extend(self.dealt(affordable - candidates.len(), state));
        let work = if self.config.time_limit.is_some() { u64::MAX } else { self.config.simulated };
        self.search.fastest(&candidates, work, state)
    }

    /// At most so many mappings that deal tasks to groups of PEs in turn.
    fn dealt(&self, most: usize, state: &mut State<'a>) -> Vec<Candidate> {
        let Search { graph, view, .. } = self.search;
        let deals = dealt::deals(view, graph.num_nodes()).into_iter().take(most);
        deals.map_while(|pe_of| self.start(Start::Dealt, pe_of, state)).collect()
    }

    /// Approximate hops of all messages with a mapping, plus half a hop per instruction; at least 1.
    fn size_of(&self, candidate: &Candidate) -> u64 {
        let Search { workload, view, .. } = self.search;
        let mut hops = Vec::new();
        let channels = workload.channels().iter().zip(workload.traffic());
        let passed = channels.map(|(channel, traffic)| {
            let ends = [channel.from, channel.to].map(|end| candidate.pe_of[end as usize]);
            hops.clear();
            if ends[0] != ends[1] {
                view.routing.route(ends[0], ends[1], &mut hops);
            }
            traffic.messages * hops.len() as u64
        });
        (passed.sum::<u64>() + workload.num_instructions() / 2).max(1)
    }
}
