//! Machines given by a distance for each pair of PEs.

use crate::base::types::{Distance, PeId};
use crate::machine::metric::table::AnyTable;
use crate::machine::{Distances, Division, Machine, MachineError};

/// A machine given by its distance matrix. Only the table that searches use is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistanceMatrix {
    num_pes: usize,
    table: AnyTable,
    /// The description, if there is more than the size.
    description: Option<String>,
}

impl DistanceMatrix {
    /// A machine of n PEs with these n² distances, row by row: symmetric, not negative, 0 from a PE to itself.
    ///
    /// Takes the time to build a table, O(n²) in general. Fails at the first entry that breaks the rules.
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
        Ok(Self { num_pes, table: AnyTable::new(num_pes, &distances), description: None })
    }

    /// The same, described as this.
    pub fn with_description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// A machine of n PEs whose distances a function computes, called once for each pair. O(n²).
    pub fn from_fn(num_pes: usize, distance: impl Fn(PeId, PeId) -> Distance) -> Result<Self, MachineError> {
        let entries = num_pes.checked_mul(num_pes).ok_or(MachineError::TooManyPes)?;
        let mut distances = Vec::new();
        let refused =
            MachineError::OutOfMemory { what: "distances", count: entries, bytes: 8 * entries as u128 };
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
        Ok(Distances::looked_up(self.table.clone(), self.num_pes))
    }

    fn division(&self) -> Division {
        Division::ByDistance
    }

    fn describe(&self) -> String {
        let size = || format!("distance matrix of {} processing elements", self.num_pes);
        self.description.clone().unwrap_or_else(size)
    }
}
