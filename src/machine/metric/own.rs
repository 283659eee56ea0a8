//! Distances that code outside of this library computes, where none of its metrics has them.

use std::fmt::Debug;
use std::sync::Arc;

use crate::base::types::{Distance, PeId};
use crate::machine::{MachineError, Metric, Placed, key_memory};

/// The distances of a machine of your own, computed for two PEs at a time. No table of all pairs is needed.
///
/// ```
/// use viem::base::types::PeId;
/// use viem::{Config, PreparedMachine, Request};
/// use viem::machine::{Distances, Machine, MachineError, OwnDistances};
///
/// /// PEs on a line, of which every tenth is the first of a rack.
/// #[derive(Clone, Copy, Debug)]
/// struct Racks(u32);
///
/// impl OwnDistances for Racks {
///     fn distance(&self, a: PeId, b: PeId) -> i64 {
///         1 + 9 * i64::from((a / 10).abs_diff(b / 10))
///     }
///     fn max_distance(&self) -> i64 {
///         self.distance(0, self.0 - 1)
///     }
/// }
///
/// impl Machine for Racks {
///     fn num_pes(&self) -> usize {
///         self.0 as usize
///     }
///     fn distances(&self) -> Result<Distances, MachineError> {
///         Distances::own(self.num_pes(), *self)
///     }
/// }
///
/// let (path, machine) = (viem::graph::generate::grid(40, 1), PreparedMachine::new(&Racks(40)));
/// let solution = Request::new(&path, &machine).solve(&Config::eco())?;
/// assert!(solution.report.cost <= 2 * (36 + 3 * 10));
/// # Ok::<(), viem::SolveError>(())
/// ```
pub trait OwnDistances: Debug + Send + Sync {
    /// The distance between two PEs, of which `a` has the smaller number; it is the same both ways. From 0 to
    /// [`max_distance`](Self::max_distance): anything less counts as 0, anything greater as that. It must not change from one call
    /// to the next.
    fn distance(&self, a: PeId, b: PeId) -> Distance;

    /// An upper bound on all distances. The closer it is the better: the check that J does not overflow depends on it.
    fn max_distance(&self) -> Distance;

    /// Returns whether the triangle inequality `d(a, c) <= d(a, b) + d(b, c)` holds for all PEs. Searches are faster then.
    fn has_triangle_inequality(&self) -> bool {
        false
    }
}

/// The metric of [`OwnDistances`].
#[derive(Clone, Debug)]
pub struct Own {
    distances: Arc<dyn OwnDistances>,
    max_distance: Distance,
}

impl Own {
    /// The distances between this many PEs. Fails if there is no memory for a key of each.
    pub(in crate::machine) fn placed(
        num_pes: usize,
        distances: impl OwnDistances + 'static,
    ) -> Result<Placed<Self>, MachineError> {
        let end = PeId::try_from(num_pes).map_err(|_| MachineError::TooManyPes)?;
        let mut keys = key_memory::room_for_keys(num_pes)?;
        keys.extend(0..end);
        let max_distance = distances.max_distance().max(0);
        Ok(Placed::new(Own { distances: Arc::new(distances), max_distance }, keys))
    }
}

impl Metric for Own {
    type Key = PeId;

    fn between(&self, a: PeId, b: PeId) -> Distance {
        if a == b { 0 } else { self.distances.distance(a.min(b), a.max(b)).clamp(0, self.max_distance) }
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    fn has_triangle_inequality(&self) -> bool {
        self.distances.has_triangle_inequality()
    }
}
