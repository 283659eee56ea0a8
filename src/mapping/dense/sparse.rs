//! The nonzero entries of a matrix, row by row.
//!
//! The change of J by an exchange takes time proportional to the entries of two rows of the matrix of
//! objects. If there are few nonzero ones, visiting them individually is faster than processing all entries
//! with vector instructions. The sums are equal.

use super::form::{QapError, array};
use super::number::Number;
use super::square::Square;

/// A matrix is used as sparse if at most one in this many entries is nonzero. Balances vector instructions
/// for all entries against visiting the nonzero ones individually. On problems of 32 to 800 objects, both
/// take about as long with one nonzero entry in eight.
const ENTRIES_FOR_ONE: usize = 12;

/// A sparse matrix.
#[derive(Clone, Debug)]
pub(super) struct Sparse<E> {
    /// The start of each row in the other arrays, and the end of the last one.
    begins: Vec<usize>,
    columns: Vec<u32>,
    entries: Vec<E>,
}

/// Returns whether a matrix, given row by row, is sparse enough.
pub(super) fn is_sparse(size: usize, matrix: &[i64]) -> bool {
    matrix.iter().filter(|&&entry| entry != 0).count().saturating_mul(ENTRIES_FOR_ONE) <= size * size
}

impl<E: Copy + Default + PartialEq> Sparse<E> {
    /// The nonzero entries of a matrix of `size` rows; O(n²).
    pub(super) fn of(matrix: &Square<E>, size: usize) -> Result<Self, QapError> {
        let is_there = |entry: &E| *entry != E::default();
        let count = matrix.entries.iter().filter(|entry| is_there(entry)).count();
        let (mut columns, mut entries) = (array(count, 0)?, array(count, E::default())?);
        let mut begins = array(size + 1, 0)?;
        let mut at = 0;
        for i in 0..size {
            for (j, &entry) in matrix.row(i).iter().enumerate().filter(|(_, entry)| is_there(entry)) {
                (columns[at], entries[at]) = (j as u32, entry);
                at += 1;
            }
            begins[i + 1] = at;
        }
        Ok(Self { begins, columns, entries })
    }

    /// The sum of `(a[i][k] - a[j][k]) · (c[k] - d[k])` over all k, in time proportional to the entries of
    /// both rows.
    #[inline(always)]
    pub(super) fn product<T: Number<Entry = E>>(&self, i: usize, j: usize, c: &[E], d: &[E]) -> T {
        self.along::<T>(i, c, d) - self.along::<T>(j, c, d)
    }

    #[inline(always)]
    fn along<T: Number<Entry = E>>(&self, i: usize, c: &[E], d: &[E]) -> T {
        let range = self.begins[i]..self.begins[i + 1];
        let entries = self.columns[range.clone()].iter().zip(&self.entries[range]);
        T::sum(entries.map(|(&k, &entry)| [entry, c[k as usize], d[k as usize]]))
    }
}
