//! Distances between few places, as a table of all pairs.

use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::metric::placed::has_repeats;
use crate::machine::{DistanceOracle, Metric, costs_in_rows};

/// The distance between every two PEs, a byte each.
#[derive(Clone, Debug)]
pub struct SmallTable {
    num_pes: usize,
    distances: Vec<u8>,
    /// PEs of one group are interchangeable.
    group_of: Vec<PeId>,
    max_distance: Distance,
    has_triangle_inequality: bool,
}

impl SmallTable {
    /// The table with these entries, row by row. Interchangeable PEs are consecutive: `is_like_last` tells whether a PE and the one before are.
    pub(in crate::machine) fn new(
        distances: Vec<u8>,
        is_like_last: impl Fn(PeId) -> bool,
        max_distance: Distance,
        has_triangle_inequality: bool,
    ) -> Self {
        let num_pes = distances.len().isqrt();
        let mut group_of: Vec<PeId> = Vec::with_capacity(num_pes);
        for pe in 0..num_pes {
            let is_alike = is_like_last(pe as PeId);
            group_of.push(if is_alike { group_of[pe - 1] } else { pe as PeId });
        }
        Self { num_pes, distances, group_of, max_distance, has_triangle_inequality }
    }

    /// The table of the PEs with these numbers.
    pub(in crate::machine) fn listed(&self, list: &[PeId]) -> Self {
        let row = |&p: &PeId| list.iter().map(move |&q| self.row_of(p)[q as usize]);
        // Two PEs of a group are not interchangeable for a third one that is at the place of one of them.
        let group_of = match has_repeats(list) {
            true => list.to_vec(),
            false => list.iter().map(|&pe| self.group_of[pe as usize]).collect(),
        };
        Self { num_pes: list.len(), distances: list.iter().flat_map(row).collect(), group_of, ..*self }
    }

    #[inline]
    fn row_of(&self, pe: PeId) -> &[u8] {
        &self.distances[pe as usize * self.num_pes..][..self.num_pes]
    }
}

impl Metric for SmallTable {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        Distance::from(self.distances[a as usize * self.num_pes + b as usize])
    }

    #[inline(always)]
    fn costs<W: Copy + Into<Weight>, const N: usize>(
        &self,
        from: [PeId; N],
        arcs: &[(NodeId, W)],
        keys: &[PeId],
    ) -> [Cost; N] {
        costs_in_rows(from.map(|pe| self.row_of(pe)), arcs, keys)
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    #[inline]
    fn interchangeable(&self, a: PeId, b: PeId) -> bool {
        self.group_of[a as usize] == self.group_of[b as usize]
    }

    fn has_triangle_inequality(&self) -> bool {
        self.has_triangle_inequality
    }
}

impl DistanceOracle for SmallTable {
    fn num_pes(&self) -> usize {
        self.num_pes
    }

    #[inline]
    fn key(&self, pe: PeId) -> PeId {
        pe
    }

    fn row(&self, pe: PeId) -> Option<&[u8]> {
        Some(self.row_of(pe))
    }
}
