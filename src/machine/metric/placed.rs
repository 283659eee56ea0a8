//! The PEs of a machine as keys of a metric.

use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::{DistanceOracle, Metric};

/// The distances between PEs that have given keys of a metric: any list of the PEs of a machine, in any order, where a PE occurs more
/// than once if it has room for several processes.
///
/// Memory: a key per PE.
#[derive(Clone, Debug)]
pub struct Placed<M: Metric> {
    metric: M,
    keys: Vec<M::Key>,
    /// True if some PEs have the same key.
    are_shared: bool,
}

impl<M: Metric> Placed<M> {
    /// PE i has key `keys[i]`.
    pub fn new(metric: M, keys: Vec<M::Key>) -> Self {
        Self { metric, keys, are_shared: false }
    }

    /// PE i has the key that `key` returns for `list[i]`. The list may name a PE more than once.
    pub(in crate::machine) fn at(metric: M, list: &[PeId], key: impl Fn(&M, PeId) -> M::Key) -> Self {
        let keys = list.iter().map(|&pe| key(&metric, pe)).collect();
        Self { metric, keys, are_shared: has_repeats(list) }
    }

    /// PE i of the result is PE `list[i]` of this. The list may name a PE more than once.
    pub fn listed(&self, list: &[PeId]) -> Self
    where
        M: Clone,
    {
        let keys = list.iter().map(|&pe| self.keys[pe as usize]).collect();
        Self { metric: self.metric.clone(), keys, are_shared: self.are_shared || has_repeats(list) }
    }
}

/// Returns whether a list names a PE more than once.
pub(in crate::machine) fn has_repeats(list: &[PeId]) -> bool {
    let mut sorted = list.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

impl<M: Metric> Metric for Placed<M> {
    type Key = M::Key;

    #[inline]
    fn between(&self, a: M::Key, b: M::Key) -> Distance {
        self.metric.between(a, b)
    }

    #[inline(always)]
    fn costs<W: Copy + Into<Weight>, const N: usize>(
        &self,
        from: [M::Key; N],
        arcs: &[(NodeId, W)],
        keys: &[M::Key],
    ) -> [Cost; N] {
        self.metric.costs(from, arcs, keys)
    }

    fn max_distance(&self) -> Distance {
        self.metric.max_distance()
    }

    #[inline]
    fn interchangeable(&self, a: M::Key, b: M::Key) -> bool {
        // Two PEs of a group are not interchangeable for a third one that has the key of one of them.
        if self.are_shared { a == b } else { self.metric.interchangeable(a, b) }
    }

    fn has_triangle_inequality(&self) -> bool {
        self.metric.has_triangle_inequality()
    }
}

impl<M: Metric> DistanceOracle for Placed<M> {
    fn num_pes(&self) -> usize {
        self.keys.len()
    }

    #[inline]
    fn key(&self, pe: PeId) -> M::Key {
        self.keys[pe as usize]
    }
}
