//! The diagonal about which a matrix is symmetric, found while it is read.

use viem::base::rng::derive;

/// Sums over the entries of a matrix of n rows, from which follows how it is symmetric; entries are not kept.
///
/// A matrix whose lines are printed from the last to the first is mirrored: what was on its diagonal is on the other one.
pub(super) struct Mirror {
    size: u64,
    /// Sums of fingerprints of all entries, and of the same reflected about the other diagonal.
    sum: u64,
    reflected: u64,
    is_on_main: bool,
    is_on_other: bool,
}

impl Mirror {
    pub(super) fn new(size: u64) -> Self {
        Self { size, sum: 0, reflected: 0, is_on_main: false, is_on_other: false }
    }

    /// Adds an entry that is not zero. One beyond the size belongs to no such matrix.
    pub(super) fn add(&mut self, row: u64, column: u64, weight: u64) {
        let Some(last) = self.size.checked_sub(1 + row.max(column)).map(|_| self.size - 1) else { return };
        self.sum = self.sum.wrapping_add(fingerprint(row, column, weight));
        self.reflected = self.reflected.wrapping_add(fingerprint(last - column, last - row, weight));
        self.is_on_main |= row == column;
        self.is_on_other |= row == last - column;
    }

    /// Returns whether the matrix is zero on the other diagonal and symmetric about it, as traffic is about the main one, which is not zero.
    pub(super) fn is_upside_down(&self) -> bool {
        self.is_on_main && !self.is_on_other && self.sum == self.reflected
    }
}

/// A number for an entry, such that different entries hardly ever have the same sum.
fn fingerprint(row: u64, column: u64, weight: u64) -> u64 {
    derive(derive(row, column), weight)
}
