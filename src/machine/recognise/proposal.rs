//! A matrix of distances, and a machine that may have them.

use crate::base::types::{Distance, PeId};
use crate::machine::{Distances, Machine};

/// A machine that has the distances of a matrix.
#[non_exhaustive]
pub struct Recognised {
    /// The machine.
    pub machine: Box<dyn Machine>,
    /// The PE of each row.
    pub pe_of: Vec<PeId>,
    /// An entry is `factor` times a distance plus `offset`. At least 1.
    pub factor: i64,
    /// The offset of each distance.
    pub offset: i64,
}

/// A matrix, row by row.
pub(super) struct Matrix<'a> {
    pub(super) size: usize,
    pub(super) entries: &'a [i64],
}

impl Matrix<'_> {
    pub(super) fn at(&self, k: usize, l: usize) -> i64 {
        self.entries[k * self.size + l]
    }

    /// The distinct entries of a row outside the diagonal, ascending, if there are at most `most`; O(n log n).
    pub(super) fn distinct(&self, k: usize, among: &[usize], most: usize) -> Option<Vec<i64>> {
        let mut distinct = Vec::new();
        for entry in among.iter().filter(|&&l| l != k).map(|&l| self.at(k, l)) {
            if let Err(at) = distinct.binary_search(&entry) {
                distinct.insert(at, entry);
            }
            if distinct.len() > most {
                return None;
            }
        }
        Some(distinct)
    }
}

impl Recognised {
    /// Returns whether every entry outside the diagonal is that of the machine, and each PE has a row; O(n²).
    pub(super) fn is_exact(&self, matrix: &Matrix<'_>) -> bool {
        let mut is_taken = vec![false; matrix.size];
        let mut take =
            |pe: PeId| is_taken.get_mut(pe as usize).is_some_and(|taken| !std::mem::replace(taken, true));
        let is_permutation = self.pe_of.len() == matrix.size && self.pe_of.iter().all(|&pe| take(pe));
        is_permutation
            && self.machine.num_pes() == matrix.size
            && self.machine.distances().is_ok_and(|distances| self.has_entries_of(matrix, &distances))
    }

    /// Returns whether every entry outside the diagonal is that for the distance of its two PEs.
    fn has_entries_of(&self, matrix: &Matrix<'_>, distances: &Distances) -> bool {
        let mut row = vec![0; matrix.size];
        (0..matrix.size).all(|k| {
            distances.fill_row(self.pe_of[k], &self.pe_of, &mut row);
            (0..matrix.size).all(|l| k == l || self.entry(row[l]) == Some(matrix.at(k, l)))
        })
    }

    /// The greatest distance between two rows of the matrix, if it fits.
    pub fn greatest(&self, entries: &[i64]) -> Option<Distance> {
        let size = self.pe_of.len();
        let outside = entries.iter().enumerate().filter(|&(at, _)| at / size != at % size);
        Some(outside.map(|(_, &entry)| entry).max()?.checked_sub(self.offset)? / self.factor)
    }

    /// The entry for a distance.
    fn entry(&self, distance: Distance) -> Option<i64> {
        self.factor.checked_mul(distance)?.checked_add(self.offset)
    }
}
