//! A whole run: embedding, machine, population, proof of optimality.

use std::time::Instant;

use super::bound::lower_bound;
use super::dense::Plain;
use super::form::{Qap, QapError};
use super::machine::OnMachine;
use super::memetic::Memetic;
use super::number::Number;
use super::settings::QapConfig;
use super::width::Width;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::observer::{Limited, Observer, Phase, Watch};
use crate::ground::settings::ConfigError;
use crate::ground::threads::{self, ThreadsError};
use crate::ground::types::Cost;
use crate::mapping::solve::SolveError;
use crate::mapping::{Mapping, MappingError};
use crate::qap::{embed, exact};

/// Upper limit on the steps of the search for an embedding; each takes some nanoseconds.
const STEPS: u64 = 1_000_000;

/// Why there is no assignment.
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
    Threads(#[from] ThreadsError),
}

impl HasKind for QapSolveError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Config(error) => error.kind(),
            Self::Problem(error) => error.kind(),
            Self::Start(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Threads(error) => error.kind(),
            Self::StartSize { .. } => ErrorKind::BadData,
        }
    }
}

/// An assignment with its properties.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QapSolution {
    /// The place of each object.
    pub mapping: Mapping,
    /// J.
    pub cost: Cost,
    /// J of the identity.
    pub cost_of_identity: Cost,
    /// J of the start, if one was given.
    pub cost_of_start: Option<Cost>,
    /// A lower bound on J, if one was computed.
    pub lower_bound: Option<Cost>,
    /// Whether the assignment is proved optimal.
    pub is_optimal: bool,
    /// Whether the run ended early: because of the observer, or because the time limit left no time for the
    /// search or for a proof.
    pub stopped: bool,
    /// Time of the whole run, in seconds.
    pub seconds: f64,
}

/// Assigns objects to places to minimise J; see the example at [`Qap`].
pub fn solve(qap: &Qap, config: &QapConfig) -> Result<QapSolution, QapSolveError> {
    solve_watched(qap, config, None, &())
}

/// As [`solve`], with a start and an observer.
///
/// The result is not worse than the identity or the start. If the observer asks to stop, the result is the
/// best assignment found so far.
pub fn solve_watched(
    qap: &Qap,
    config: &QapConfig,
    start: Option<&Mapping>,
    observer: &dyn Observer,
) -> Result<QapSolution, QapSolveError> {
    config.validate()?;
    let begin = Instant::now();
    let expected = qap.size();
    if let Some(found) = start.map(Mapping::num_processes).filter(|&found| found != expected) {
        return Err(QapSolveError::StartSize { found, expected });
    }
    let start = start.map(|start| Mapping::new(start.pes().to_vec())).transpose()?;
    let limited = Limited::new(observer, begin, config.time_limit, Cost::MAX);
    let mut solution =
        threads::run(config.threads, || Run { qap, config, observer: &limited, begin }.solution(start))??;
    solution.stopped = (solution.stopped || observer.should_stop()) && !solution.is_optimal;
    solution.seconds = begin.elapsed().as_secs_f64();
    Ok(solution)
}

/// The input of a run.
struct Run<'a> {
    qap: &'a Qap,
    config: &'a QapConfig,
    observer: &'a dyn Observer,
    begin: Instant,
}

impl Run<'_> {
    fn solution(&self, start: Option<Mapping>) -> Result<QapSolution, QapSolveError> {
        let Self { qap, observer, .. } = *self;
        let identity = Mapping::identity(qap.size());
        let cost_of = |mapping: &Mapping| qap.cost(mapping.pes());
        let mut solution = QapSolution {
            cost: cost_of(&identity),
            cost_of_identity: cost_of(&identity),
            cost_of_start: start.as_ref().map(cost_of),
            mapping: identity,
            lower_bound: None,
            is_optimal: qap.size() < 2,
            stopped: false,
            seconds: 0.0,
        };
        if let (Some(start), Some(cost)) =
            (start, solution.cost_of_start.filter(|&cost| cost < solution.cost))
        {
            (solution.mapping, solution.cost) = (start, cost);
        }
        if solution.is_optimal {
            return Ok(solution);
        }
        observer.begins(Phase::Search);
        let mut watch = Watch::new(observer);
        if let Some((cost, place_of)) = embed::optimum(qap, STEPS, &mut watch) {
            solution.take(cost, place_of);
            solution.prove(cost);
            observer.reached(cost);
            return Ok(solution);
        }
        solution.lower_bound = lower_bound(qap);
        if !self.is_reached(&solution) && !self.map(&mut solution)? {
            self.search(&mut solution)?;
        }
        if solution.lower_bound == Some(solution.cost) {
            solution.prove(solution.cost);
        } else if qap.size() <= self.config.exact_size && !self.is_reached(&solution) {
            self.enumerate(&mut solution, &mut watch);
        }
        Ok(solution)
    }

    /// Searches for a better assignment by branch and bound. A time limit replaces the limit on branches.
    fn enumerate(&self, solution: &mut QapSolution, watch: &mut Watch<'_>) {
        let branches = self.config.time_limit.map_or(self.config.branches, |_| u64::MAX);
        let proof = exact::search(self.qap, solution.cost, branches, watch);
        if let Some((cost, place_of)) = proof.better {
            solution.take(cost, place_of);
        }
        if proof.is_complete {
            solution.prove(solution.cost);
        } else {
            self.stops(solution);
        }
    }

    /// Whether the run must end before it is complete; if so, records that in the solution.
    fn stops(&self, solution: &mut QapSolution) -> bool {
        solution.stopped = self.observer.should_stop();
        solution.stopped
    }

    /// Maps to the machine whose distances form one matrix; returns whether that ends the run.
    fn map(&self, solution: &mut QapSolution) -> Result<bool, QapSolveError> {
        let Self { qap, config, observer, begin } = *self;
        let problem = config.machine.and_then(|_| OnMachine::new(qap));
        let Some(problem) = problem.filter(|problem| problem.is_large() || problem.is_sparse()) else {
            return Ok(false);
        };
        // The dense search gets the other half of the time.
        let share = if problem.is_large() { 1 } else { 2 };
        let time_limit = config.time_limit.map(|limit| limit.saturating_sub(begin.elapsed()) / share);
        let place_of = problem.solve(config, time_limit, solution.cost, observer)?;
        solution.take(qap.cost(&place_of), place_of);
        Ok(problem.is_large() || self.is_reached(solution))
    }

    fn is_reached(&self, solution: &QapSolution) -> bool {
        self.config.target.is_some_and(|target| solution.cost <= target)
    }

    /// Searches with the narrowest exact number type, unless the run ends before the matrices are converted.
    fn search(&self, solution: &mut QapSolution) -> Result<(), QapError> {
        if self.stops(solution) {
            return Ok(());
        }
        let plain = Plain::new(self.qap);
        if self.stops(solution) {
            return Ok(());
        }
        let place_of = match plain.width {
            Width::Single => self.search_in::<f32>(&plain, solution)?,
            Width::Double => self.search_in::<f64>(&plain, solution)?,
            Width::Whole => self.search_in::<i64>(&plain, solution)?,
        };
        solution.take(self.qap.cost(&place_of), place_of);
        Ok(())
    }

    fn search_in<T: Number>(&self, plain: &Plain, solution: &QapSolution) -> Result<Vec<u32>, QapError> {
        let dense = plain.dense::<T>()?;
        let Self { config, observer, .. } = *self;
        // An assignment that reaches the lower bound is good enough.
        let target = config.target.into_iter().chain(solution.lower_bound).max();
        let target = target.map_or(Cost::MIN, |target| target.div_euclid(dense.scale));
        // A problem that will be solved to optimality needs no long search.
        let is_small = self.qap.size() <= config.exact_size;
        let short = QapConfig { children: 0, time_limit: None, ..*config };
        let config = if is_small { &short } else { config };
        let starts = [solution.mapping.pes().to_vec()];
        Ok(Memetic { dense: &dense, config, target, observer }.run(&starts)?.place_of)
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
