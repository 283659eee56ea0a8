//! A whole run: embedding, machine, population, proof of optimality.

use std::time::Instant;

use super::machine::OnMachine;
use super::settings::QapConfig;
use crate::base::error::{ErrorKind, HasKind};
use crate::base::observer::{Limited, Observer, Phase, Watch};
use crate::base::settings::ConfigError;
use crate::base::threads::{self, ThreadsError};
use crate::base::types::{Cost, NodeId};
use crate::mapping::construct::identity_around;
use crate::mapping::dense::{Qap, QapError, Search, embed, exact, lower_bound, lower_bound_around};
use crate::mapping::{Mapping, MappingError};
use crate::partition::{FixedError, FixedVertices};
use crate::solve::SolveError;

/// Upper limit on the steps of the search for an embedding; each takes some nanoseconds.
const STEPS: u64 = 1_000_000;

/// The reason why there is no assignment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum QapSolveError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Problem(#[from] QapError),
    #[error("the start has {found} objects, the problem {expected}")]
    StartSize { found: usize, expected: usize },
    #[error("the start: {0}")]
    Start(#[from] MappingError),
    #[error("the mapping to a machine: {0}")]
    Machine(#[from] SolveError),
    #[error(transparent)]
    Fixed(#[from] FixedError),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl HasKind for QapSolveError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Config(error) => error.kind(),
            Self::Problem(error) => error.kind(),
            Self::Start(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Fixed(error) => error.kind(),
            Self::Threads(error) => error.kind(),
            Self::StartSize { .. } => ErrorKind::BadData,
        }
    }
}

/// An assignment with its properties.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct QapSolution {
    /// The place of each object.
    #[serde(skip)]
    pub mapping: Mapping,
    /// J.
    pub cost: Cost,
    /// J of the identity.
    pub cost_of_identity: Cost,
    /// J of the start, if one was given.
    pub cost_of_start: Option<Cost>,
    /// A lower bound on J, if one was computed.
    pub lower_bound: Option<Cost>,
    /// True if the assignment is proved optimal.
    pub is_optimal: bool,
    /// True if the run ended early: because of the observer, or because the time limit left no time for the
    /// search or for a proof.
    pub stopped: bool,
    /// Time of the whole run, in seconds.
    pub seconds: f64,
}

/// A quadratic assignment problem and its constraints; see the example at [`Qap`].
///
/// ```
/// use viem::partition::FixedVertices;
/// use viem::qap::{Qap, QapConfig, QapRequest};
///
/// let flow = vec![0, 1, 9, 1, 0, 2, 9, 2, 0];
/// let distance = vec![0, 1, 2, 1, 0, 1, 2, 1, 0];
/// let qap = Qap::from_matrices(3, flow, distance)?;
/// // The second job must be on the first machine.
/// let fixed = FixedVertices::new(&[None, Some(0), None], 3)?;
/// let solution = QapRequest::new(&qap).fixed(&fixed).solve(&QapConfig::default())?;
/// assert_eq!(solution.mapping.pes(), [2, 0, 1]);
/// assert!(solution.is_optimal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct QapRequest<'a> {
    qap: &'a Qap,
    start: Option<&'a Mapping>,
    fixed: Option<&'a FixedVertices>,
    observer: &'a dyn Observer,
}

impl<'a> QapRequest<'a> {
    /// A problem without constraints.
    pub fn new(qap: &'a Qap) -> Self {
        Self { qap, start: None, fixed: None, observer: &() }
    }

    /// An assignment that the result must not be worse than, or none.
    #[must_use]
    pub fn start(self, start: impl Into<Option<&'a Mapping>>) -> Self {
        Self { start: start.into(), ..self }
    }

    /// Objects that must be at given places, or none. The start must respect them.
    #[must_use]
    pub fn fixed(self, fixed: impl Into<Option<&'a FixedVertices>>) -> Self {
        Self { fixed: fixed.into(), ..self }
    }

    /// An observer that receives the progress of the run, and may ask it to stop.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Assigns objects to places to minimise J. The result is not worse than the identity, which has fixed objects at their places and the others in
    /// order at the remaining ones. If an observer asks to stop, the result is the best assignment found so far.
    ///
    /// # Errors
    ///
    /// Settings out of their ranges, a start or fixed objects that do not fit the problem, and too little memory.
    pub fn solve(&self, config: &QapConfig) -> Result<QapSolution, QapSolveError> {
        let Self { qap, start, fixed, observer } = *self;
        config.validate()?;
        let begin = Instant::now();
        let expected = qap.size();
        if let Some(start) = start {
            let found = start.num_processes();
            if found != expected {
                return Err(QapSolveError::StartSize { found, expected });
            }
            Mapping::from_pes(start.pes().to_vec())?;
        }
        if let Some(fixed) = fixed {
            fixed.check(expected, expected)?;
            fixed.check_room(|_| 1)?;
            start.map_or(Ok(()), |start| fixed.check_respected(start.pes()))?;
        }
        let limited = Limited::new(observer, begin, config.time_limit, Cost::MAX);
        let solve = || match fixed.filter(|fixed| !fixed.is_empty()) {
            None => Run { qap, fixed: &[], config, observer: &limited, begin }.solution(None, start),
            Some(fixed) => solve_around(fixed, (qap, config), start, &limited, begin),
        };
        let mut solution = threads::run(config.threads, solve)??;
        solution.stopped = (solution.stopped || observer.should_stop()) && !solution.is_optimal;
        solution.seconds = begin.elapsed().as_secs_f64();
        Ok(solution)
    }
}

/// Solves a problem with fixed objects. Objects are renamed so that the fixed ones come last.
fn solve_around(
    fixed: &FixedVertices,
    (qap, config): (&Qap, &QapConfig),
    start: Option<&Mapping>,
    observer: &dyn Observer,
    begin: Instant,
) -> Result<QapSolution, QapSolveError> {
    let objects = 0..qap.size() as NodeId;
    let free = objects.clone().filter(|&object| fixed.of(object).is_none());
    let order: Vec<NodeId> = free.chain(fixed.iter().map(|(object, _)| object)).collect();
    let first_fixed = qap.size() - fixed.count();
    let places: Vec<(usize, usize)> =
        (first_fixed..).zip(fixed.iter()).map(|(object, (_, place))| (object, place as usize)).collect();
    let identity = identity_around(Some(fixed), objects.collect()).renumbered(&order);
    let start = start.map(|start| start.renumbered(&order));
    let renamed = qap.with_objects_in(&order);
    let run = Run { qap: &renamed, fixed: &places, config, observer, begin };
    let mut solution = run.solution(Some(identity), start.as_ref())?;
    solution.mapping = solution.mapping.numbered_back(&order);
    Ok(solution)
}

/// The input of a run.
struct Run<'a> {
    qap: &'a Qap,
    /// The last objects, if they must be at given places.
    fixed: &'a [(usize, usize)],
    config: &'a QapConfig,
    observer: &'a dyn Observer,
    begin: Instant,
}

impl Run<'_> {
    /// Number of objects that may move.
    fn movable(&self) -> usize {
        self.qap.size() - self.fixed.len()
    }

    fn solution(
        &self,
        identity: Option<Mapping>,
        start: Option<&Mapping>,
    ) -> Result<QapSolution, QapSolveError> {
        let Self { qap, fixed, observer, .. } = *self;
        let identity = identity.unwrap_or_else(|| Mapping::identity(qap.size()));
        let cost_of = |mapping: &Mapping| qap.cost(mapping.pes());
        let mut solution = QapSolution {
            cost: cost_of(&identity),
            cost_of_identity: cost_of(&identity),
            cost_of_start: start.map(cost_of),
            mapping: identity,
            lower_bound: None,
            is_optimal: self.movable() < 2,
            stopped: false,
            seconds: 0.0,
        };
        if let Some(start) = start {
            solution.take(cost_of(start), start.pes().to_vec());
        }
        if solution.is_optimal {
            return Ok(solution);
        }
        observer.begins(Phase::Search);
        let mut watch = Watch::new(observer);
        let embedded = Some(qap).filter(|_| fixed.is_empty());
        if let Some((cost, place_of)) = embedded.and_then(|qap| embed::optimum(qap, STEPS, &mut watch)) {
            solution.take(cost, place_of);
            solution.prove(cost);
            observer.reached(cost);
            return Ok(solution);
        }
        solution.lower_bound =
            if fixed.is_empty() { lower_bound(qap) } else { lower_bound_around(qap, fixed) };
        if !self.is_reached(&solution) && !self.map(&mut solution)? {
            self.search(&mut solution)?;
        }
        if solution.lower_bound == Some(solution.cost) {
            solution.prove(solution.cost);
        } else if self.movable() <= self.config.exact_size && !self.is_reached(&solution) {
            self.enumerate(&mut solution, &mut watch);
        }
        Ok(solution)
    }

    /// Searches for a better assignment by branch and bound. A time limit replaces the limit on branches.
    fn enumerate(&self, solution: &mut QapSolution, watch: &mut Watch<'_>) {
        let branches = self.config.time_limit.map_or(self.config.branches, |_| u64::MAX);
        let proof = exact::search(self.qap, self.fixed, solution.cost, branches, watch);
        if let Some((cost, place_of)) = proof.better {
            solution.take(cost, place_of);
        }
        if proof.is_complete {
            solution.prove(solution.cost);
        } else {
            self.stops(solution);
        }
    }

    /// Returns whether the run must end before it is complete; if so, records that in the solution.
    fn stops(&self, solution: &mut QapSolution) -> bool {
        solution.stopped = self.observer.should_stop();
        solution.stopped
    }

    /// Maps to the machine whose distances form one matrix; returns whether that ends the run.
    fn map(&self, solution: &mut QapSolution) -> Result<bool, QapSolveError> {
        let Self { qap, fixed, config, observer, begin } = *self;
        let problem = config.machine.and_then(|_| OnMachine::new(qap));
        let Some(problem) = problem.filter(|problem| problem.is_large() || problem.is_sparse()) else {
            return Ok(false);
        };
        // The dense search gets the other half of the time.
        let share = if problem.is_large() { 1 } else { 2 };
        let time_limit = config.time_limit.map(|limit| limit.saturating_sub(begin.elapsed()) / share);
        let place_of = problem.solve(config, time_limit, solution.cost, fixed, observer)?;
        solution.take(qap.cost(&place_of), place_of);
        Ok(problem.is_large() || self.is_reached(solution))
    }

    fn is_reached(&self, solution: &QapSolution) -> bool {
        self.config.target.is_some_and(|target| solution.cost <= target)
    }

    /// Searches for a better assignment of both matrices.
    fn search(&self, solution: &mut QapSolution) -> Result<(), QapError> {
        if self.stops(solution) {
            return Ok(());
        }
        let Self { qap, config, observer, .. } = *self;
        // An assignment that reaches the lower bound is good enough.
        let target = config.target.into_iter().chain(solution.lower_bound).max();
        let mut effort = config.effort();
        if self.movable() <= config.exact_size {
            // A problem that will be solved to optimality needs no long search.
            effort.children = Some(0);
        }
        let target = target.unwrap_or(Cost::MIN);
        let search = Search { qap, movable: self.movable(), effort: &effort, target, observer };
        let place_of = search.run(solution.mapping.pes())?;
        solution.take(qap.cost(&place_of), place_of);
        Ok(())
    }
}

impl QapSolution {
    /// Takes an assignment if it is better.
    fn take(&mut self, cost: Cost, place_of: Vec<u32>) {
        if cost < self.cost {
            self.mapping = Mapping::from_permutation(place_of);
            self.cost = cost;
        }
    }

    /// Records a proof that no J is below `cost`.
    fn prove(&mut self, cost: Cost) {
        self.lower_bound = Some(cost);
        self.is_optimal = true;
    }
}
