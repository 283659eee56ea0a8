//! Mapping in one call: distances, construction, search, and a report of each phase.
//!
//! | member | what it holds |
//! |---|---|
//! | `presets` | all settings, and the presets as whole values of them |
//! | `effort` | how much a preset does on a problem of a size |
//! | `run` | constructions, improvement and the final local search |
//! | `kept_groups` | mappings that keep groups of processes on a node |
//! | `many_to_one` | mappings with many vertices per PE |
//! | `report` | what a run reports |
//!
//! The result is never worse than the identity or a mapping given as a start: the search begins with the best
//! of these and the construction, and never makes a mapping worse.

mod effort;
mod kept_groups;
mod many_to_one;
mod presets;
mod report;
mod run;

pub use effort::Constructions;
pub use kept_groups::{GroupError, ProcessGroups, solve_keeping_groups};
pub use many_to_one::{
    ManyToOneConfig, ManyToOneReport, ManyToOneSolution, PeLoads, SmallProblemConfig, evaluate_many_to_one,
    load_bounds, map_many_to_one, map_many_to_one_watched, pe_loads, remap_many_to_one,
    remap_many_to_one_around, remap_many_to_one_for,
};
pub use presets::{MapConfig, MapPreset};
pub use report::{MapReport, MapSeconds};

use std::time::Instant;

use crate::graph::CsrGraph;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::observer::{Limited, Observer};
pub use crate::ground::settings::ConfigError;
use crate::ground::threads::{self, ThreadsError};
use crate::ground::types::{NodeId, PeId};
use crate::machine::{
    DistanceKind, Distances, Listed, Machine, MachineError, Places, StoredDistances, distances_of,
};
use crate::mapping::construct::ConstructionError;
use crate::mapping::problem::{self, ProblemError};
use crate::mapping::{Mapping, MappingError};
use crate::partition::{FixedError, FixedVertices, RemapError, TargetsError};
use run::Run;

/// Why there is no mapping.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum SolveError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Construction(#[from] ConstructionError),
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Remap(#[from] RemapError),
    #[error("the start mapping has {found} processes, the graph {expected}")]
    StartSize { found: usize, expected: usize },
    #[error("the start mapping: {0}")]
    Start(#[from] MappingError),
    #[error(transparent)]
    Fixed(#[from] FixedError),
    #[error(transparent)]
    Groups(#[from] GroupError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl HasKind for SolveError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Config(error) => error.kind(),
            Self::Problem(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Construction(error) => error.kind(),
            Self::Remap(error) => error.kind(),
            Self::Start(error) => error.kind(),
            Self::Fixed(error) => error.kind(),
            Self::Groups(error) => error.kind(),
            Self::Threads(error) => error.kind(),
            Self::Targets(..) | Self::StartSize { .. } => ErrorKind::BadData,
        }
    }
}

/// A mapping and its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solution {
    /// The mapping.
    pub mapping: Mapping,
    /// Sizes, objective and time of each phase.
    pub report: MapReport,
}

/// Maps the processes of `graph` to the PEs of a machine, each PE up to its capacity.
///
/// The result is never worse than the identity, which puts process i on the i-th place in the order of the
/// PEs. If there are far fewer processes than PEs of a tree or a hypercube, only its first PEs are used,
/// about eight per process; of a grid, those in a box at its origin and those of the identity.
///
/// ```
/// use viem::graph::generate;
/// use viem::mapping::solve::{MapConfig, solve};
/// use viem::machine::Grid;
///
/// let graph = generate::mesh(16, 8, 1);
/// let machine = Grid::torus(&[8, 4, 4])?;
/// let solution = solve(&graph, &machine, &MapConfig::default())?;
/// assert!(solution.report.cost <= solution.report.cost_of_identity);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve(graph: &CsrGraph, machine: &dyn Machine, config: &MapConfig) -> Result<Solution, SolveError> {
    solve_watched(graph, machine, config, None, &())
}

/// Upper limit on the places per process, on machines that offer a compact part of that size: all effort is
/// proportional to the number of places. A lower limit misses good mappings that leave places free. For a
/// mesh of 64 processes, a tree 4:16:m with distances 1:10:100 gives J between 4294 and 4348 for m up to 3,
/// and 4294 for m = 4, 8 and 16, with any seed.
const ENOUGH_PLACES: usize = 8;

/// The mappings given to a run.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Given<'a> {
    /// A mapping that the result must not be worse than.
    pub start: Option<&'a Mapping>,
    /// The first mapping, instead of a construction. If fixed processes are elsewhere, it is repaired.
    pub first: Option<&'a Mapping>,
    /// Processes that must be on given PEs. The start must respect them. The result does, and is not worse than
    /// the identity around them: the other processes, in order, on the remaining places.
    pub fixed: Option<&'a FixedVertices>,
}

impl<'a> Given<'a> {
    /// The same with a first mapping, or none.
    pub fn with_first(self, first: impl Into<Option<&'a Mapping>>) -> Self {
        Self { first: first.into(), ..self }
    }

    /// The same with processes that must be on given PEs, or none.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::machine::Grid;
    /// use viem::mapping::solve::{Given, MapConfig, solve_watched};
    /// use viem::partition::FixedVertices;
    ///
    /// let (graph, machine) = (generate::grid(8, 8), Grid::torus(&[8, 8])?);
    /// let mut fixed = FixedVertices::none(64, 64);
    /// fixed.fix(0, 0)?;
    /// fixed.fix(63, 9)?;
    /// let given = Given::default().with_fixed(&fixed);
    /// let mapping = solve_watched(&graph, &machine, &MapConfig::default(), given, &())?.mapping;
    /// assert_eq!((mapping.pe_of(0), mapping.pe_of(63)), (0, 9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_fixed(self, fixed: impl Into<Option<&'a FixedVertices>>) -> Self {
        Self { fixed: fixed.into(), ..self }
    }

    /// Fails if fixed processes do not fit the machine, or the start does not respect them.
    fn check_fixed(&self, num_processes: usize, machine: &dyn Machine) -> Result<(), FixedError> {
        let Some(fixed) = self.fixed else { return Ok(()) };
        fixed.check(num_processes, machine.num_pes())?;
        fixed.check_room(|pe| machine.capacity(pe))?;
        self.start.map_or(Ok(()), |start| fixed.check_respected(start.pes()))
    }
}

impl<'a> From<Option<&'a Mapping>> for Given<'a> {
    fn from(start: Option<&'a Mapping>) -> Self {
        Self { start, first: None, fixed: None }
    }
}

/// As [`solve`], with given mappings and an observer.
///
/// `given` may be just a start: a mapping that the result must not be worse than. If the observer asks to
/// stop, the result is the best mapping found so far.
pub fn solve_watched<'a>(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &MapConfig,
    given: impl Into<Given<'a>>,
    observer: &dyn Observer,
) -> Result<Solution, SolveError> {
    config.validate()?;
    let given = given.into();
    let Given { start, first, fixed } = given;
    let begin = Instant::now();
    let num_processes = graph.num_nodes();
    problem::check_room(num_processes, machine)?;
    given.check_fixed(num_processes, machine)?;
    let part = machine.first_pes(num_processes.saturating_mul(ENOUGH_PLACES)).filter(|part| {
        let is_inside = |given: &Mapping| given.pes().iter().all(|&pe| (pe as usize) < part.num_pes());
        let holds_fixed = |fixed: &FixedVertices| fixed.iter().all(|(_, pe)| (pe as usize) < part.num_pes());
        start.into_iter().chain(first).all(is_inside) && fixed.is_none_or(holds_fixed)
    });
    if part.is_none()
        && let Some(list) = few_pes(num_processes, machine, given)?
    {
        return solve_on(list, graph, machine, config, given, observer);
    }
    let machine = part.as_deref().unwrap_or(machine);
    threads::run(config.threads, || {
        let silent = Limited::silent(observer, begin, config.time_limit);
        let places = Places::new(machine, distances(graph, machine, config)?, &silent)?;
        let padded = (num_processes < places.len()).then(|| graph.with_isolated_nodes(places.len()));
        let graph = padded.as_ref().unwrap_or(graph);
        let seat = |given: &Mapping| -> Result<Mapping, SolveError> {
            check_size(given, num_processes)?;
            let given = Mapping::on(machine, given.pes().to_vec())?;
            Ok(Mapping::from_permutation(places.seats(given.pes())))
        };
        let (start, first) = (start.map(seat).transpose()?, first.map(seat).transpose()?);
        let (start, first) = (start.as_ref(), first.as_ref());
        let fixed = fixed.map(|fixed| fixed_places(fixed, &places));
        let fixed = fixed.as_ref().filter(|fixed| !fixed.is_empty());
        let run = Run { graph, machine: &places, config, start, first, fixed, observer, begin };
        let (outcome, report) = run.with(places.distances(), num_processes)?;
        let seats = &outcome.pes()[..num_processes];
        let pe_of = seats.iter().map(|&place| places.pe_of()[place as usize]).collect();
        Ok(Solution { mapping: Mapping::from_places(pe_of), report })
    })?
}

/// The PEs of a machine that few processes need: a compact part, those of the identity, and those of the given mappings. `None` if all PEs may
/// be needed.
fn few_pes(
    num_processes: usize,
    machine: &dyn Machine,
    given: Given<'_>,
) -> Result<Option<Vec<PeId>>, SolveError> {
    let Given { start, first, fixed } = given;
    let Some(mut list) = machine.compact_pes(num_processes.saturating_mul(ENOUGH_PLACES)) else {
        return Ok(None);
    };
    list.extend(0..num_processes as PeId);
    for given in start.into_iter().chain(first) {
        check_size(given, num_processes)?;
        list.extend(Mapping::on(machine, given.pes().to_vec())?.pes());
    }
    list.sort_unstable();
    list.dedup();
    let holds = |fixed: &FixedVertices| fixed.iter().all(|(_, pe)| list.binary_search(&pe).is_ok());
    Ok(fixed.is_none_or(holds).then_some(list))
}

/// Maps to listed PEs of a machine, which include those of the given mappings.
fn solve_on(
    list: Vec<PeId>,
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &MapConfig,
    Given { start, first, fixed }: Given<'_>,
    observer: &dyn Observer,
) -> Result<Solution, SolveError> {
    let position = |pe: PeId| list.partition_point(|&listed| listed < pe) as PeId;
    let among = |given: &Mapping| Mapping::from_places(given.pes().iter().map(|&pe| position(pe)).collect());
    let (start, first) = (start.map(among), first.map(among));
    let fixed = fixed.map(|fixed| fixed.in_others(&list));
    let given = Given { start: start.as_ref(), first: first.as_ref(), fixed: fixed.as_ref() };
    let listed = Listed::new(machine, list.clone())?;
    let Solution { mapping, report } = solve_watched(graph, &listed, config, given, observer)?;
    let pe_of = mapping.pes().iter().map(|&position| list[position as usize]).collect();
    Ok(Solution { mapping: Mapping::from_places(pe_of), report })
}

/// Checks that a given mapping is one of this number of processes.
fn check_size(given: &Mapping, expected: usize) -> Result<(), SolveError> {
    let found = given.num_processes();
    if found == expected { Ok(()) } else { Err(SolveError::StartSize { found, expected }) }
}

/// A place for each fixed process on its PE, which has room for it; processes without edges fill the places.
fn fixed_places(fixed: &FixedVertices, places: &Places) -> FixedVertices {
    let pes: Vec<PeId> = fixed.iter().map(|(_, pe)| pe).collect();
    let mut seats = places.seats(&pes).into_iter();
    let is_fixed = |process: NodeId| (process as usize) < fixed.num_vertices() && fixed.of(process).is_some();
    let seat = |process| is_fixed(process).then(|| seats.next()).flatten();
    FixedVertices::known((0..places.len() as NodeId).map(seat), places.len())
}

/// The distances of the machine, of the kind that the settings select.
fn distances(graph: &CsrGraph, machine: &dyn Machine, config: &MapConfig) -> Result<Distances, SolveError> {
    match (config.distances, machine.hierarchy()) {
        (Some(DistanceKind::Stored), Some(hierarchy)) => {
            // The matrix takes n² bytes, so detect an unsolvable problem first.
            problem::check_cost(graph, hierarchy.max_distance())?;
            let stored = StoredDistances::new(hierarchy).map_err(MachineError::from)?;
            Ok(Distances::StoredTree(stored))
        }
        _ => Ok(distances_of(machine)?),
    }
}
