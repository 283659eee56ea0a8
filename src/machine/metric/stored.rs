//! A stored distance matrix.
//!
//! Machines have few distinct distances, so the matrix holds a one-byte index into a table of them:
//! n² bytes instead of 8n², so the part of the matrix that a search touches stays in cache longer.

use std::ops::Range;

use crate::base::memory;
use crate::base::settings::named;
use crate::base::types::{Distance, PeId};
use crate::machine::{DistanceOracle, Hierarchy, HierarchyOnline, Metric, StoredDistancesError, Ultrametric};

/// The distance between every two PEs, looked up.
#[derive(Clone, Debug)]
pub struct StoredDistances {
    num_pes: usize,
    /// Row by row, the index of each distance in `distinct`.
    matrix: Vec<u8>,
    distinct: Box<[Distance; 256]>,
    /// The machine without levels that do not matter.
    hierarchy: Hierarchy,
    max_distance: Distance,
}

named! {
    /// The representation of the distances of a hierarchy.
    pub enum DistanceKind: "kind of distances" {
        /// Stored in a matrix: [`StoredDistances`].
        Stored = "hierarchy",
        /// Computed from two PEs whenever they are needed: [`HierarchyOnline`].
        Online = "hierarchyonline",
    }
}

impl StoredDistances {
    /// The distances of a hierarchy; O(n²) time and n² bytes.
    ///
    /// Fails if the matrix is larger than the memory that is free, or that the process may use.
    pub fn new(hierarchy: &Hierarchy) -> Result<Self, StoredDistancesError> {
        let num_pes = hierarchy.num_pes();
        let needed = num_pes as u128 * num_pes as u128;
        let available = memory::available();
        let refused = StoredDistancesError::OutOfMemory { num_pes, needed, available };
        let mut matrix: Vec<u8> = Vec::new();
        if needed > u128::from(available) || matrix.try_reserve_exact(needed as usize).is_err() {
            return Err(refused);
        }
        let simple = hierarchy.simplified();
        // Index 0 is the distance of a PE to itself; at most 32 levels have two members or more.
        let mut distinct = Box::new([0; 256]);
        distinct[1..=simple.distances().len()].copy_from_slice(simple.distances());
        matrix.resize(needed as usize, 0);
        for (p, row) in matrix.chunks_exact_mut(num_pes).enumerate() {
            // Fill the groups that hold p, from the outermost inwards; each overwrites a part of the one before.
            let mut group = num_pes;
            for (level, &arity) in simple.arities().iter().enumerate().rev() {
                let start = p / group * group;
                row[start..start + group].fill(level as u8 + 1);
                group /= arity as usize;
            }
            row[p] = 0;
        }
        Ok(Self { num_pes, matrix, distinct, max_distance: hierarchy.max_distance(), hierarchy: simple })
    }
}

impl StoredDistances {
    /// The same distances, computed.
    pub(in crate::machine) fn computed(&self) -> HierarchyOnline<u64> {
        self.hierarchy.online64()
    }
}

impl Metric for StoredDistances {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        self.distinct[self.matrix[a as usize * self.num_pes + b as usize] as usize]
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    #[inline]
    fn interchangeable(&self, a: PeId, b: PeId) -> bool {
        let innermost = self.hierarchy.arities().first().copied().unwrap_or(1);
        a / innermost == b / innermost
    }

    fn has_triangle_inequality(&self) -> bool {
        self.hierarchy.distances().is_sorted()
    }
}

impl DistanceOracle for StoredDistances {
    fn num_pes(&self) -> usize {
        self.num_pes
    }

    #[inline]
    fn key(&self, pe: PeId) -> PeId {
        pe
    }

    fn nearer_than(&self, pe: PeId, distance: Distance) -> Range<PeId> {
        self.hierarchy.nearer_than(pe, distance)
    }

    fn ultrametric(&self) -> Option<Ultrametric> {
        self.hierarchy.ultrametric()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_beyond_memory_is_refused() {
        let hierarchy = Hierarchy::parse("4:65536:8192", "1:10:100").unwrap();
        let error = StoredDistances::new(&hierarchy).unwrap_err();
        assert!(error.to_string().contains("hierarchyonline"), "{error}");
    }
}
