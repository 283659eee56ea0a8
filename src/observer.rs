//! Watching a run from outside: stopping it early and hearing of its progress.
//!
//! Algorithms ask an [`Observer`] between steps of some microseconds, never inside the innermost loops, so
//! it may read a clock or an atomic flag.

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
