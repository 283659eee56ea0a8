//! Machines given by a distance for each pair of PEs.
//!
//! Machines have few distinct distances, so a table holds indices into a list of them: one byte a pair up to 256
//! distinct distances, four bytes beyond. The part of the table that a search touches stays in cache longer.

use rayon::prelude::*;

use super::{Distances, Division, Machine, MachineError, Metric, Placed};
use crate::types::{Distance, PeId};

/// An index into a list of distinct distances.
pub trait Index: Copy + Send + Sync + std::fmt::Debug + 'static {
    /// Distinct distances that can be told apart.
    const COUNT: usize;
    /// The index with this value; it fits.
    fn of(value: usize) -> Self;
    /// The value.
    fn value(self) -> usize;
}

impl Index for u8 {
    const COUNT: usize = 1 << 8;
    #[inline]
    fn of(value: usize) -> u8 {
        value as u8
    }
    #[inline]
    fn value(self) -> usize {
        self as usize
    }
}

impl Index for u32 {
    const COUNT: usize = 1 << 32;
    #[inline]
    fn of(value: usize) -> u32 {
        value as u32
    }
    #[inline]
    fn value(self) -> usize {
        self as usize
    }
}

/// The distance of every pair of places, looked up.
#[derive(Clone, Debug)]
pub struct Table<I> {
    num_places: usize,
    /// Row by row, the index of each distance in `distinct`.
    indices: Vec<I>,
    /// Ascending.
    distinct: Vec<Distance>,
}

impl<I: Index> Table<I> {
    fn new(num_places: usize, distances: &[Distance], distinct: Vec<Distance>) -> Self {
        let index = |distance| I::of(distinct.partition_point(|other| other < distance));
        let indices = distances.par_iter().map(index).collect();
        Self { num_places, indices, distinct }
    }

    /// The distance of two places.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> Distance {
        self.distinct[self.indices[a as usize * self.num_places + b as usize].value()]
    }

    /// The greatest distance.
    pub fn greatest(&self) -> Distance {
        self.distinct.last().copied().unwrap_or(0)
    }
}

impl Table<u32> {
    /// A table of any distances, row by row.
    pub(super) fn wide(num_places: usize, distances: &[Distance]) -> Self {
        Self::new(num_places, distances, distinct(distances))
    }
}

/// A table as narrow as the distances allow.
#[derive(Clone, Debug)]
pub(super) enum AnyTable {
    Narrow(Table<u8>),
    Wide(Table<u32>),
}

impl AnyTable {
    /// The distances of `num_places` places, row by row; O(n² log d) for d distinct distances.
    pub(super) fn new(num_places: usize, distances: &[Distance]) -> Self {
        let distinct = distinct(distances);
        if distinct.len() <= u8::COUNT {
            AnyTable::Narrow(Table::new(num_places, distances, distinct))
        } else {
            AnyTable::Wide(Table::new(num_places, distances, distinct))
        }
    }
}

/// The distinct distances, ascending; O(n log d) for d of them, and memory for 2 d.
fn distinct(distances: &[Distance]) -> Vec<Distance> {
    const FEW: usize = 1 << 12;
    let mut distinct: Vec<Distance> = Vec::new();
    let mut rest = distances;
    while !rest.is_empty() {
        // As many new ones as there are old ones, so that sorting all of them again is worth it.
        let (next, others) = rest.split_at(rest.len().min(distinct.len().max(FEW)));
        distinct.extend_from_slice(next);
        distinct.sort_unstable();
        distinct.dedup();
        rest = others;
    }
    distinct
}

impl<I: Index> Metric for Table<I> {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        self.distance(a, b)
    }

    fn max_distance(&self) -> Distance {
        self.greatest()
    }
}

/// A machine given by its distance matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistanceMatrix {
    num_pes: usize,
    distances: Vec<Distance>,
}

impl DistanceMatrix {
    /// A machine of n PEs with these n² distances, row by row: symmetric, not negative, 0 from a PE to itself.
    ///
    /// O(n²). Fails at the first entry that breaks the rules.
    pub fn new(num_pes: usize, distances: Vec<Distance>) -> Result<Self, MachineError> {
        if num_pes == 0 {
            return Err(MachineError::NoPes);
        }
        if num_pes > PeId::MAX as usize {
            return Err(MachineError::TooManyPes);
        }
        if num_pes.checked_mul(num_pes) != Some(distances.len()) {
            return Err(MachineError::NotSquare { num_pes, entries: distances.len() });
        }
        for (p, row) in distances.chunks_exact(num_pes).enumerate() {
            for (q, &distance) in row.iter().enumerate() {
                let back = distances[q * num_pes + p];
                if distance < 0 {
                    return Err(MachineError::NegativeEntry { row: p, column: q, distance });
                }
                if p == q && distance != 0 {
                    return Err(MachineError::NotZero { pe: p, distance });
                }
                if distance != back {
                    return Err(MachineError::Asymmetric { row: p, column: q, distance, back });
                }
            }
        }
        Ok(Self { num_pes, distances })
    }

    /// A machine of n PEs whose distances a function tells; it is asked for each pair once. O(n²).
    pub fn from_fn(num_pes: usize, distance: impl Fn(PeId, PeId) -> Distance) -> Result<Self, MachineError> {
        let entries = num_pes.checked_mul(num_pes).ok_or(MachineError::TooManyPes)?;
        let mut distances = Vec::new();
        let refused =
            MachineError::OutOfMemory { what: "distances", count: num_pes, bytes: 8 * entries as u128 };
        distances.try_reserve_exact(entries).map_err(|_| refused)?;
        distances.resize(entries, 0);
        for p in 0..num_pes {
            for q in 0..p {
                let between = distance(p as PeId, q as PeId);
                distances[p * num_pes + q] = between;
                distances[q * num_pes + p] = between;
            }
        }
        Self::new(num_pes, distances)
    }
}

impl Machine for DistanceMatrix {
    fn num_pes(&self) -> usize {
        self.num_pes
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        let keys = (0..self.num_pes as PeId).collect();
        Ok(match AnyTable::new(self.num_pes, &self.distances) {
            AnyTable::Narrow(table) => Distances::Table(Placed::new(table, keys)),
            AnyTable::Wide(table) => Distances::WideTable(Placed::new(table, keys)),
        })
    }

    fn division(&self) -> Division {
        Division::ByDistance
    }

    fn describe(&self) -> String {
        format!("distance matrix of {} processing elements", self.num_pes)
    }
}
