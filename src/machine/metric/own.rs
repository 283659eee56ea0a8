//! Distances that a machine of one's own computes, where no metric of this library has them.

use std::fmt::Debug;
use std::sync::Arc;

use crate::ground::types::{Distance, PeId};
use crate::machine::{Distances, Metric, Placed};

/// The distances of a machine of one's own, computed from two PEs; no table of all pairs is needed.
///
/// ```
/// use viem::ground::types::PeId;
/// use viem::machine::{Distances, Machine, MachineError, OwnDistances};
///
/// /// PEs on a line, of which every tenth is the first of a rack.
/// #[derive(Clone, Copy, Debug)]
/// struct Racks(u32);
///
/// impl OwnDistances for Racks {
///     fn num_pes(&self) -> usize {
///         self.0 as usize
///     }
///     fn distance(&self, a: PeId, b: PeId) -> i64 {
///         i64::from(a != b) + 9 * i64::from((a / 10).abs_diff(b / 10))
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
///         Ok(Distances::own(*self))
///     }
/// }
///
/// let ring = viem::graph::generate::ring(40);
/// assert!(viem::solve(&ring, &Racks(40), &Default::default())?.report.cost <= 2 * (36 + 4 * 28));
/// # Ok::<(), viem::SolveError>(())
/// ```
pub trait OwnDistances: Debug + Send + Sync {
    /// Number of PEs.
    fn num_pes(&self) -> usize;

    /// The distance of two different PEs: the same both ways, from 0 to [`max_distance`](Self::max_distance). What is
    /// less or more counts as the nearer of these bounds.
    fn distance(&self, a: PeId, b: PeId) -> Distance;

    /// A distance that no two PEs exceed. The proof that J does not overflow depends on it.
    fn max_distance(&self) -> Distance;

    /// Whether no way is shorter with a stop: `d(a, c) <= d(a, b) + d(b, c)` for all PEs. Searches are faster then.
    fn has_triangle_inequality(&self) -> bool {
        false
    }
}

impl Distances {
    /// The distances of a machine of one's own.
    pub fn own(distances: impl OwnDistances + 'static) -> Self {
        let keys = (0..distances.num_pes() as PeId).collect();
        let max_distance = distances.max_distance().max(0);
        Self::Own(Placed::new(Own { distances: Arc::new(distances), max_distance }, keys))
    }
}

/// Distances behind a pointer.
#[derive(Clone, Debug)]
pub struct Own {
    distances: Arc<dyn OwnDistances>,
    max_distance: Distance,
}

impl Metric for Own {
    type Key = PeId;

    fn between(&self, a: PeId, b: PeId) -> Distance {
        if a == b { 0 } else { self.distances.distance(a, b).clamp(0, self.max_distance) }
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    fn has_triangle_inequality(&self) -> bool {
        self.distances.has_triangle_inequality()
    }
}
