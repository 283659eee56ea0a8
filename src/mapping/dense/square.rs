//! Square matrices whose rows are padded to whole vectors.

use super::form::{QapError, array, pairs_in_tiles};
use crate::base::vector::SHORT_LANES;

/// A matrix with zeros on its diagonal, rows padded with zeros.
#[derive(Clone, Debug)]
pub(super) struct Square<T> {
    pub(super) stride: usize,
    pub(super) entries: Vec<T>,
}

impl<T: Copy + Default> Square<T> {
    pub(super) fn zeros(size: usize) -> Result<Self, QapError> {
        let stride = size.next_multiple_of(SHORT_LANES);
        Ok(Self { stride, entries: array(stride * size, T::default())? })
    }

    /// A matrix of `size` rows; O(n²).
    pub(super) fn of(size: usize, matrix: &[i64], entry: fn(i64) -> T) -> Result<Self, QapError> {
        let mut square = Self::zeros(size)?;
        let rows = square.entries.chunks_exact_mut(square.stride.max(1));
        for (row, from) in rows.zip(matrix.chunks_exact(size.max(1))) {
            row.iter_mut().zip(from).for_each(|(own, &other)| *own = entry(other));
        }
        Ok(square)
    }

    /// The transpose; O(n²).
    pub(super) fn transposed(&self) -> Result<Self, QapError> {
        let size = self.entries.len() / self.stride.max(1);
        let mut square = Self::zeros(size)?;
        (0..size).for_each(|i| square.entries[i * self.stride + i] = self.at(i, i));
        for (i, j) in pairs_in_tiles(size) {
            square.entries[i * self.stride + j] = self.at(j, i);
            square.entries[j * self.stride + i] = self.at(i, j);
        }
        Ok(square)
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &[T] {
        &self.entries[i * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub(super) fn at(&self, i: usize, j: usize) -> T {
        self.entries[i * self.stride + j]
    }
}

#[cfg(test)]
mod tests {
    use super::super::number::Number;
    use super::*;

    #[test]
    fn transposes_have_rows_for_columns() {
        for n in [1, 15, 40] {
            let matrix: Vec<i64> = (0..n * n).map(|entry| (entry * entry % 101) as i64).collect();
            let square = Square::of(n, &matrix, <f32 as Number>::entry).unwrap();
            let transposed = square.transposed().unwrap();
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                assert_eq!(square.at(i, j), matrix[i * n + j] as i16);
                assert_eq!(transposed.at(j, i), square.at(i, j));
            }
        }
    }
}
