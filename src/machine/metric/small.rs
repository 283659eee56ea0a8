//! Distances between few places, as a table of all pairs.

use crate::base::threads;
use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::metric::placed::has_repeats;
use crate::machine::{DistanceOracle, DistanceVisitor, Metric, costs_in_rows};

/// Most PEs whose distances are stored: the table of that many takes four megabytes, and most of what a search reads is in cache.
/// On tori of 512 to 2048 PEs, annealing takes about half the time that it takes with computed distances.
const MOST_PES: usize = 1 << 11;

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

/// Makes a table of the distances it visits, if there are few PEs and all are near; O(n²).
pub(in crate::machine) struct Tabulate;

impl DistanceVisitor for Tabulate {
    type Output = Option<SmallTable>;

    fn visit<O: DistanceOracle>(self, oracle: &O) -> Option<SmallTable> {
        let (num_pes, max_distance) = (oracle.num_pes(), oracle.max_distance());
        if num_pes > MOST_PES || max_distance > Distance::from(u8::MAX) {
            return None;
        }
        let keys: Vec<O::Key> = (0..num_pes as PeId).map(|pe| oracle.key(pe)).collect();
        let row = |pe: usize| -> Vec<u8> {
            keys.iter().map(|&there| oracle.between(keys[pe], there) as u8).collect()
        };
        let distances = threads::map(num_pes, 64, &row).concat();
        // Interchangeable PEs are consecutive.
        let mut group_of: Vec<PeId> = Vec::with_capacity(num_pes);
        for pe in 0..num_pes {
            let is_alike = pe > 0 && oracle.interchangeable(keys[pe - 1], keys[pe]);
            group_of.push(if is_alike { group_of[pe - 1] } else { pe as PeId });
        }
        let has_triangle_inequality = oracle.has_triangle_inequality();
        Some(SmallTable { num_pes, distances, group_of, max_distance, has_triangle_inequality })
    }
}

impl SmallTable {
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
