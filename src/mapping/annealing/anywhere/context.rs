//! The site of an annealing.

use crate::base::observer::Observer;
use crate::machine::Metric;
use crate::mapping::annealing::near::Near;

/// The kind of places whose processes are not exchanged.
pub const FIXED: u32 = u32::MAX;

/// The places where processes are annealed: those of a machine, or of a part of one.
#[non_exhaustive]
pub struct AnnealingContext<'a, M: Metric> {
    /// The distances.
    pub metric: &'a M,
    /// The key of each place.
    pub key_of: &'a [M::Key],
    /// The places near each place.
    pub near: &'a Near,
    /// The kind of each place if processes may be exchanged only between places of the same kind; otherwise
    /// empty. Processes on places of kind [`FIXED`] stay there.
    pub kinds: &'a [u32],
    /// May end the annealing early; the result is then the best mapping so far.
    pub observer: &'a dyn Observer,
}
