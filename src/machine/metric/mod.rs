//! Distances as searches see them: metrics, and the plain data of trees, grids, networks and rails that they are computed from.
//! Nothing here knows [`Machine`](super::Machine).

pub(super) mod ball_tree;
pub(super) mod differences;
pub(super) mod dimension;
pub(super) mod grid;
pub(super) mod hamming;
pub(super) mod hierarchy;
pub(super) mod hosts;
pub(super) mod network;
pub(super) mod own;
pub(super) mod paths;
pub(super) mod placed;
pub(super) mod rails;
pub(super) mod small;
pub(super) mod stored;
pub(super) mod table;
pub(super) mod uneven;

use std::ops::Range;

use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};

/// Distances between keys, symmetric and not negative.
pub trait Metric: Send + Sync {
    /// The data that determine the distances of a PE. Searches store the key of each process's PE instead of the PE.
    type Key: Copy + Eq + Send + Sync + std::fmt::Debug;

    /// The distance between the PEs with these keys; 0 if the keys are equal.
    fn between(&self, a: Self::Key, b: Self::Key) -> Distance;

    /// An upper bound on all distances; for regular trees the greatest one.
    fn max_distance(&self) -> Distance;

    /// The cost of some arcs from each of several PEs: the sum of weight times distance. An arc is the index of its head in
    /// `keys`, and its weight. Asking for several PEs at once reads the heads only once.
    #[inline(always)]
    fn costs<W: Copy + Into<Weight>, const N: usize>(
        &self,
        from: [Self::Key; N],
        arcs: &[(NodeId, W)],
        keys: &[Self::Key],
    ) -> [Cost; N] {
        let mut costs = [0; N];
        for &(head, weight) in arcs {
            let there = keys[head as usize];
            for (cost, here) in costs.iter_mut().zip(from) {
                *cost += weight.into() * self.between(here, there);
            }
        }
        costs
    }

    /// Returns whether two PEs have the same distance to every third PE, so that exchanging the processes on them cannot change the
    /// objective. May be false for want of knowing, as it must be quick.
    #[inline]
    fn interchangeable(&self, a: Self::Key, b: Self::Key) -> bool {
        a == b
    }

    /// Returns whether the triangle inequality is known to hold: d(a, c) <= d(a, b) + d(b, c).
    fn has_triangle_inequality(&self) -> bool {
        false
    }
}

/// A metric, and the key of each PE of a machine.
pub trait DistanceOracle: Metric {
    /// Number of PEs.
    fn num_pes(&self) -> usize;

    /// The key of a PE.
    fn key(&self, pe: PeId) -> Self::Key;

    /// The keys of all PEs.
    fn keys(&self) -> Vec<Self::Key> {
        (0..self.num_pes() as PeId).map(|pe| self.key(pe)).collect()
    }

    /// The distance between two PEs.
    #[inline]
    fn distance(&self, p: PeId, q: PeId) -> Distance {
        self.between(self.key(p), self.key(q))
    }

    /// The distances from a PE to all PEs, if they are stored.
    fn row(&self, _pe: PeId) -> Option<&[u8]> {
        None
    }

    /// A range of PEs that holds every PE nearer to `pe` than `distance`, as narrow as can be found quickly.
    fn nearer_than(&self, _pe: PeId, _distance: Distance) -> Range<PeId> {
        0..self.num_pes() as PeId
    }

    /// The innermost groups of the machine, if its distances are known to be an ultrametric:
    /// d(a, c) <= max(d(a, b), d(b, c)).
    fn ultrametric(&self) -> Option<Ultrametric> {
        None
    }
}

/// The innermost groups of a machine whose distances are an ultrametric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ultrametric {
    /// Number of PEs in an innermost group.
    pub group_size: usize,
    /// Distance between two PEs of an innermost group: less than all others.
    pub inside: Distance,
    /// The least distance between two PEs of different innermost groups; `inside` if there is only one.
    pub outside: Distance,
}

/// [`Metric::costs`] for metrics that store rows of distances: each row holds the distance to the arc's head by the key of that.
#[inline(always)]
pub(crate) fn costs_in_rows<D: Copy + Into<Distance>, W: Copy + Into<Weight>, const N: usize>(
    rows: [&[D]; N],
    arcs: &[(NodeId, W)],
    keys: &[PeId],
) -> [Cost; N] {
    let mut costs = [0; N];
    for &(head, weight) in arcs {
        let there = keys[head as usize] as usize;
        for (cost, row) in costs.iter_mut().zip(rows) {
            *cost += weight.into() * row[there].into();
        }
    }
    costs
}
