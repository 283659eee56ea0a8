//! Machines: how far apart two processing elements (PEs) are.
//!
//! | member | memory | a distance costs |
//! |---|---|---|
//! | [`HierarchyOnline`] | O(1) | an exclusive or, a count of leading zeros, one look-up in 33 (65) entries |
//! | [`StoredDistances`] | n² bytes | two dependent look-ups |
//!
//! Algorithms are generic over [`DistanceOracle`]; which oracle runs is decided once, at the call.

mod hierarchy;
mod stored;

pub use hierarchy::{Code, Hierarchy, HierarchyError, HierarchyOnline};
pub use stored::{StoredDistances, StoredDistancesError};

use std::ops::Range;

use crate::types::{Distance, PeId};

/// How the distances of a hierarchy are had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(into = "&'static str")]
pub enum DistanceKind {
    /// Stored in a matrix: [`StoredDistances`].
    Hierarchy,
    /// Computed from two ids: [`HierarchyOnline`].
    HierarchyOnline,
}

impl DistanceKind {
    /// Every kind, in the order in which they are listed.
    pub const ALL: [DistanceKind; 2] = [DistanceKind::Hierarchy, DistanceKind::HierarchyOnline];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            DistanceKind::Hierarchy => "hierarchy",
            DistanceKind::HierarchyOnline => "hierarchyonline",
        }
    }
}

impl From<DistanceKind> for &'static str {
    fn from(kind: DistanceKind) -> Self {
        kind.name()
    }
}

/// The innermost groups of a machine whose distances are an ultrametric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ultrametric {
    /// PEs of an innermost group.
    pub group_size: usize,
    /// Distance of two PEs of an innermost group: less than all others.
    pub inside: Distance,
    /// The least distance of two PEs of different innermost groups; `inside` if there is but one.
    pub outside: Distance,
}

/// Distances between the PEs of a machine: symmetric, not negative, 0 from a PE to itself.
pub trait DistanceOracle: Sync {
    /// What the oracle wants to know of a PE to look up its distances: searches keep the key of the PE
    /// of each process at hand instead of the PE.
    type Key: Copy + Eq + Send + Sync + std::fmt::Debug;

    /// Number of PEs.
    fn num_pes(&self) -> usize;

    /// The key of a PE.
    fn key(&self, pe: PeId) -> Self::Key;

    /// The distance of the PEs with these keys.
    fn between(&self, a: Self::Key, b: Self::Key) -> Distance;

    /// The distance of two PEs.
    #[inline]
    fn distance(&self, p: PeId, q: PeId) -> Distance {
        self.between(self.key(p), self.key(q))
    }

    /// The greatest distance of two PEs.
    fn max_distance(&self) -> Distance;

    /// A range of PEs that holds every PE nearer to `pe` than `distance`, as narrow as can be told at once.
    fn nearer_than(&self, _pe: PeId, _distance: Distance) -> Range<PeId> {
        0..self.num_pes() as PeId
    }

    /// The innermost groups of the machine if its distances are an ultrametric (no two PEs are farther apart
    /// than the farther of both from a third), as far as that can be told at once.
    fn ultrametric(&self) -> Option<Ultrametric> {
        None
    }

    /// Whether two PEs have the same distance to every third PE, as far as that can be told at once:
    /// exchanging the processes on them then cannot change the objective.
    fn interchangeable(&self, a: Self::Key, b: Self::Key) -> bool;
}
