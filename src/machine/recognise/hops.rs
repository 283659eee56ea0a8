//! Distances that count hops.

use super::proposal::Matrix;

/// A matrix whose least entry stands for one hop, and each further hop adds the same.
pub(super) struct Hops<'a> {
    matrix: &'a Matrix<'a>,
    least: i64,
    step: i64,
}

impl<'a> Hops<'a> {
    /// The hops of a matrix, if one of its first two rows has at least two distinct entries; O(n log n). From the middle of a mesh
    /// of three all others are one hop away.
    ///
    /// Differences may wrap around: no machine has such hops, so the check fails.
    pub(super) fn of(matrix: &'a Matrix<'a>) -> Option<Self> {
        let all: Vec<usize> = (0..matrix.size).collect();
        let distinct = |row| matrix.distinct(row, &all, matrix.size).filter(|distinct| distinct.len() > 1);
        let distinct = distinct(0).or_else(|| distinct(1))?;
        let (least, next) = (distinct[0], distinct[1]);
        let step = next.wrapping_sub(least);
        let is_counted = |entry: &i64| entry.wrapping_sub(least) % step == 0;
        (step > 0 && distinct.iter().all(is_counted)).then_some(Self { matrix, least, step })
    }

    pub(super) fn size(&self) -> usize {
        self.matrix.size
    }

    /// The hops between two rows.
    pub(super) fn between(&self, k: usize, l: usize) -> i64 {
        match k == l {
            true => 0,
            false => (self.matrix.at(k, l).wrapping_sub(self.least) / self.step).wrapping_add(1),
        }
    }

    /// The rows that are a hop away.
    pub(super) fn near(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.size()).filter(move |&l| l != k && self.matrix.at(k, l) == self.least)
    }

    /// Returns the distance of a hop, and the entry for no hop.
    pub(super) fn factor_and_offset(&self) -> (i64, i64) {
        (self.step, self.least.wrapping_sub(self.step))
    }
}
