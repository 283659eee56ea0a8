//! Watching a run from outside: stopping it early and hearing of its progress.
//!
//! Algorithms ask an [`Observer`] between steps of some microseconds, never inside the innermost loops, so
//! it may read a clock or an atomic flag.

use std::time::Instant;

use crate::types::Cost;

/// A part of a run that takes time of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Building the first mapping.
    Construction,
    /// Improving it.
    Search,
}

/// Someone who watches a run. Every method has a default that does nothing; `()` watches nothing.
pub trait Observer: Sync {
    /// Whether the run shall end soon with the best it has.
    fn should_stop(&self) -> bool {
        false
    }

    /// A phase begins.
    fn begins(&self, _phase: Phase) {}

    /// The search has reached this J; never rises within a run.
    fn reached(&self, _cost: Cost) {}
}

impl Observer for () {}

/// Lets a run end at a point in time, and hears only of what is below a bound.
pub struct Limited<'a> {
    /// Who watches besides.
    pub observer: &'a dyn Observer,
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// Costs from here on are not passed on.
    pub bound: Cost,
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
