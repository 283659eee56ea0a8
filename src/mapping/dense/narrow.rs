//! The two matrices in the form used by the search: in the narrowest number type in which every sum is exact.
//!
//! If either matrix is symmetric, the transpose of the other may be added to it. A pair of objects then
//! counts once, which halves the work. Common factors are divided out. The sums of a search are then mostly
//! below 2^24, where single precision is exact, and the entries below 2^15, so that a vector holds many of
//! them. Otherwise the sums are nearly always below 2^53, where double precision is exact; larger ones are
//! summed in 64-bit integers.

use super::form::{Qap, QapError, pairs_in_tiles};
use super::number::Number;
use super::sparse::{Sparse, is_sparse};
use super::square::Square;
use super::width::{Width, width};
use crate::base::types::{Cost, greatest_common_divisor};

/// A problem in one number type. `J = scale · (sum of a·b over pairs + sum of the diagonals)`, where the
/// pairs are unordered if both matrices are symmetric, otherwise ordered.
pub(super) struct Dense<T: Number> {
    pub(super) size: usize,
    /// The objects that may move are those before this one; all others stay at their places.
    pub(super) movable: usize,
    pub(super) scale: i64,
    pub(super) a: Square<T::Entry>,
    pub(super) b: Square<T::Entry>,
    /// The transposes, unless both are symmetric.
    pub(super) transposed: Option<[Square<T::Entry>; 2]>,
    /// The diagonals, unless one of them is zero.
    pub(super) diagonals: Option<(Vec<T>, Vec<T>)>,
    /// The matrix of objects and its transpose (itself, if both are symmetric) in sparse form, if it is
    /// sparse.
    pub(super) sparse: Option<[Sparse<T::Entry>; 2]>,
}

/// The matrices before conversion to a number type.
pub(super) struct Plain {
    size: usize,
    scale: i64,
    is_symmetric: bool,
    a: Vec<i64>,
    b: Vec<i64>,
    diagonals: Option<(Vec<i64>, Vec<i64>)>,
    pub(super) is_sparse: bool,
    pub(super) width: Width,
}

impl Plain {
    pub(super) fn new(qap: &Qap) -> Self {
        let n = qap.size();
        let (mut a, mut b) = (qap.a().to_vec(), qap.b().to_vec());
        let diagonal = |matrix: &[i64]| (0..n).map(|i| matrix[i * n + i]).collect::<Vec<_>>();
        let diagonals = (diagonal(&a), diagonal(&b));
        let is_zero = |entries: &[i64]| entries.iter().all(|&entry| entry == 0);
        let diagonals = (!is_zero(&diagonals.0) && !is_zero(&diagonals.1)).then_some(diagonals);
        for i in 0..n {
            (a[i * n + i], b[i * n + i]) = (0, 0);
        }
        let (is_symmetric, both) = match (is_symmetric(n, &a), is_symmetric(n, &b)) {
            (true, true) => (true, true),
            (true, false) => (add_transpose(n, &mut b), false),
            (false, true) => (add_transpose(n, &mut a), false),
            (false, false) => (false, false),
        };
        let mut scale = 1;
        if diagonals.is_none() {
            scale = divide(&mut a) * divide(&mut b) * if both { 2 } else { 1 };
        } else if both {
            a.iter_mut().for_each(|entry| *entry *= 2);
        }
        let width = width(n, &a, &b, diagonals.as_ref(), is_symmetric);
        Self { size: n, scale, is_symmetric, is_sparse: is_sparse(n, &a), a, b, diagonals, width }
    }

    /// The same in a number type that holds every sum.
    pub(super) fn dense<T: Number>(&self) -> Result<Dense<T>, QapError> {
        let n = self.size;
        let numbers = |entries: &[i64]| entries.iter().map(|&entry| T::of(entry)).collect();
        let a = Square::of(n, &self.a, T::entry)?;
        let b = Square::of(n, &self.b, T::entry)?;
        let transposed = match self.is_symmetric {
            true => None,
            false => Some([a.transposed()?, b.transposed()?]),
        };
        let second = transposed.as_ref().map_or(&a, |[a, _]| a);
        let sparse = match self.is_sparse {
            true => Some([Sparse::of(&a, n)?, Sparse::of(second, n)?]),
            false => None,
        };
        Ok(Dense {
            movable: self.size,
            size: n,
            scale: self.scale,
            a,
            b,
            transposed,
            sparse,
            diagonals: self.diagonals.as_ref().map(|(a, b)| (numbers(a), numbers(b))),
        })
    }
}

impl<T: Number> Dense<T> {
    /// J in units of the scale, by definition; O(n²).
    pub(super) fn cost(&self, place_of: &[u32]) -> Cost {
        let n = self.size;
        let first = |i: usize| if self.transposed.is_some() { 0 } else { i + 1 };
        let row = |i: usize| -> Cost {
            let (a, b) = (self.a.row(i), self.b.row(place_of[i] as usize));
            let terms =
                (first(i)..n).map(|j| T::of_entry(a[j]).to() * T::of_entry(b[place_of[j] as usize]).to());
            let own = self.diagonals.as_ref().map_or(0, |(a, b)| a[i].to() * b[place_of[i] as usize].to());
            terms.sum::<Cost>() + own
        };
        (0..n).map(row).sum()
    }
}

fn is_symmetric(n: usize, matrix: &[i64]) -> bool {
    pairs_in_tiles(n).all(|(i, j)| matrix[i * n + j] == matrix[j * n + i])
}

/// Adds the transpose to a matrix, which makes it symmetric; returns true.
fn add_transpose(n: usize, matrix: &mut [i64]) -> bool {
    pairs_in_tiles(n).for_each(|(i, j)| {
        let sum = matrix[i * n + j] + matrix[j * n + i];
        (matrix[i * n + j], matrix[j * n + i]) = (sum, sum);
    });
    true
}

/// Divides all entries by their greatest common divisor and returns it.
fn divide(entries: &mut [i64]) -> i64 {
    // No entry is the minimum of its type, which has no absolute value.
    let common = entries.iter().fold(0, |common, &entry| greatest_common_divisor(common, entry.abs())).max(1);
    entries.iter_mut().for_each(|entry| *entry /= common);
    common
}
