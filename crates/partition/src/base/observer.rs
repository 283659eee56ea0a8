//! Watching a run from outside: stopping it early and following its progress.
//!
//! Algorithms ask an [`Observer`] by the amount of work done, never inside the innermost loops, so it may read a
//! clock or an atomic flag. Loops whose steps cost as much as the degree of a vertex count with a [`Watch`]: a run
//! then ends as soon on a graph with hubs as on any other.

use std::fmt;
use std::time::{Duration, Instant};

use crate::base::types::Cost;

/// A part of a run that takes time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Building the first mapping.
    Construction,
    /// Improving it.
    Search,
}

/// Receives the progress of a run, and may stop it. Every method has a default that does nothing; `()` watches nothing.
pub trait Observer: Sync {
    /// Returns whether the run should end soon with the best it has.
    fn should_stop(&self) -> bool {
        false
    }

    /// A phase begins.
    fn begins(&self, _phase: Phase) {}

    /// The search has reached this J; never rises within a run.
    fn reached(&self, _cost: Cost) {}
}

impl Observer for () {}

impl fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// The seed of a run, and its observer.
#[derive(Clone, Copy, Debug)]
pub struct Seeded<'a> {
    /// The seed of all random streams.
    pub seed: u64,
    /// The observer.
    pub observer: &'a dyn Observer,
}

impl<'a> Seeded<'a> {
    /// A run that nobody observes.
    pub fn new(seed: u64) -> Self {
        Self { seed, observer: &() }
    }

    /// The same with an observer.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }
}

/// Work units between two polls of the observer by a [`Watch`]. An arc costs 1 to 100 ns, depending on where it lies in memory, so a question
/// comes every few milliseconds at the latest, and costs nothing compared with the work.
pub const WORK_BETWEEN_QUESTIONS: usize = 1 << 16;

/// Counts the work of a loop and asks an observer after every [`WORK_BETWEEN_QUESTIONS`].
pub struct Watch<'a> {
    observer: &'a dyn Observer,
    /// Work until the next question.
    left: usize,
    /// Work before the last question.
    before: usize,
    stopped: bool,
}

impl<'a> Watch<'a> {
    /// A watch that has not counted anything yet.
    pub fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, left: WORK_BETWEEN_QUESTIONS, before: 0, stopped: false }
    }

    /// Counts work, in arcs or entries scanned; returns whether the run should end. Once it should, that does not change.
    #[inline]
    pub fn stops_after(&mut self, work: usize) -> bool {
        if work < self.left {
            self.left -= work;
        } else {
            self.before += WORK_BETWEEN_QUESTIONS - self.left + work;
            self.left = WORK_BETWEEN_QUESTIONS;
            self.stopped = self.stopped || self.observer.should_stop();
        }
        self.stopped
    }

    /// All work that was counted.
    pub fn work(&self) -> usize {
        self.before + (WORK_BETWEEN_QUESTIONS - self.left)
    }
}

/// Ends a run at a point in time, and forwards only costs below a bound.
pub struct Limited<'a> {
    /// Who else watches.
    pub observer: &'a dyn Observer,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// Costs from here on are not forwarded.
    pub bound: Cost,
}

impl<'a> Limited<'a> {
    /// Ends a run this long after its beginning, if there is a limit.
    pub fn new(observer: &'a dyn Observer, begin: Instant, limit: Option<Duration>, bound: Cost) -> Self {
        Self { observer, deadline: limit.and_then(|limit| begin.checked_add(limit)), bound }
    }

    /// The same, but forwards no costs.
    pub fn silent(observer: &'a dyn Observer, begin: Instant, limit: Option<Duration>) -> Self {
        Self::new(observer, begin, limit, Cost::MIN)
    }
}

impl Observer for Limited<'_> {
    fn should_stop(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline) || self.observer.should_stop()
    }

    fn reached(&self, cost: Cost) {
        if cost < self.bound {
            self.observer.reached(cost);
        }
    }
}
