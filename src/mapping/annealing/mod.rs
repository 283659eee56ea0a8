//! Simulated annealing: improves a mapping by random exchanges of two processes. The more an exchange worsens
//! J and the lower the temperature, the less often it is accepted (Metropolis et al. 1953; Kirkpatrick,
//! Gelatt and Vecchi 1983). The result is not worse than the start.
//!
//! | member | where | state that is kept up to date | proposal | cost of a proposal; additional cost of an exchange |
//! |---|---|---|---|---|
//! | `anywhere` | any machine | communication cost of each process | a process, and the best of several partners near one of its neighbours | O(degree) distances; O(degree) |
//! | `tree` | regions of regular trees | gain of each process in each innermost group | the tail of a random arc, and a process near its head | O(1); O(degree · groups) |
//! | `dense` | two dense matrices | the assignment, or the change of J by every exchange | every pair in a fixed order | O(n); O(n), or O(1); O(n²) |
//!
//! The members use the same terms. A *sweep* makes the proposals of one temperature. The *schedule* defines
//! the number of sweeps and their temperatures. The *acceptance* test draws from the exponential distribution
//! (`metropolis`): from a table of quantiles if most proposals must be rejected
//! quickly, otherwise exactly.
//!
//! The first two members share the loop over sweeps (`schedule`), which keeps the best mapping. Their sweeps
//! are separate: one spends its time on distances, the other on a table in cache. A common sweep would add a
//! call per proposal. `dense` makes its proposals by the kernel of local search (`base::exchange`) and has its own loop over sweeps: it may
//! change its data structure in the middle of a schedule, and it ends with the last assignment, since its callers keep the best one.
//!
//! `near` lists the places near each place, from which partners are drawn.

mod anywhere;
pub(crate) mod dense;
mod near;
mod schedule;
pub(crate) mod tree;

pub use anywhere::{AnnealingContext, Cooling, FIXED};
pub use near::Near;
pub use tree::TreeCooling;

use crate::base::types::{Cost, PeId};

/// An improved mapping, or the same one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Improved {
    /// The place of each process, in the numbering of the improved problem.
    pub place_of: Vec<PeId>,
    /// The decrease of J.
    pub gain: Cost,
    /// Exchanges evaluated.
    pub tried: u64,
    /// Exchanges made.
    pub made: u64,
}

impl Improved {
    /// The mapping, not improved.
    pub(crate) fn unchanged(place_of: Vec<PeId>) -> Self {
        Self { place_of, gain: 0, tried: 0, made: 0 }
    }
}
