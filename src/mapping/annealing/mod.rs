//! Simulated annealing of exchanges: from a mapping to one that is not worse, by exchanges of two that are accepted at random, the less often the more
//! they worsen J and the lower the temperature is (Metropolis et al. 1953; Kirkpatrick, Gelatt and Vecchi 1983).
//!
//! | member | where | state: what is kept up to date | proposal | cost of a proposal; of an exchange besides |
//! |---|---|---|---|---|
//! | [`anywhere`] | any machine | what each process pays | a process, and the best of some partners near one of its neighbours | O(degree) distances; O(degree) |
//! | [`tree`] | regions of regular trees | what each process gains in each innermost group | the tail of a random arc, and a process near its head | O(1); O(degree · groups) |
//! | [`dense`] | two dense matrices | the assignment, or the change of J by every exchange | every pair in turn | O(n); O(n), or O(1); O(n²) |
//!
//! The parts have the same names in all of them. A *sweep* makes the proposals of one temperature. The *schedule* says how many sweeps there are and at
//! which temperatures. The *acceptance* is a draw from the exponential distribution ([`metropolis`](crate::ground::metropolis)): from a table
//! of quantiles where most proposals are refused cheaply, else exactly.
//!
//! The first two share the loop over sweeps (`schedule`), which keeps the best mapping. Their sweeps are separate, as one spends its
//! time on distances and the other on a table in cache: what both would have in common is a call for each proposal. `dense` has a loop of its
//! own: it changes its state in the middle of a schedule, multiplies its temperature from sweep to sweep, and ends where the last sweep ends, since what
//! follows keeps the best.
//!
//! [`near`] lists the places near each place, from which partners are drawn.

mod anywhere;
pub(crate) mod dense;
mod near;
mod schedule;
pub(crate) mod tree;

pub use anywhere::{AnnealingSite, Cooling};
pub use near::Near;
pub use tree::TreeCooling;

use crate::ground::types::{Cost, PeId};

/// A mapping that is not worse than the one before.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Improved {
    /// The place of each process, in the numbering of what was improved.
    pub place_of: Vec<PeId>,
    /// By how much J fell.
    pub gain: Cost,
    /// Exchanges evaluated.
    pub tried: u64,
    /// Exchanges made.
    pub made: u64,
}

impl Improved {
    /// The mapping before.
    pub(crate) fn unchanged(place_of: Vec<PeId>) -> Self {
        Self { place_of, gain: 0, tried: 0, made: 0 }
    }
}
