//! The two matrices as the search uses them: in the narrowest numbers that hold every sum exactly.
//!
//! Where one of both matrices is symmetric, the other may be added to its transpose: then a pair of objects counts once,
//! and half the work is left. Common factors are divided out. The sums that a search forms are then most often below 2^24,
//! where single precision is exact, and the entries are below 2^15, so that a vector holds many of them. Else the sums are below 2^53,
//! where double precision is exact. What exceeds that is summed in 64-bit integers.

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Mul, Sub};

use super::form::{Qap, QapError, array, pairs_in_tiles};
use super::sparse::{Sparse, is_sparse};
use super::vector;
use crate::ground::types::{Cost, greatest_common_divisor};

/// Sums and changes of J that are handled at once.
pub(super) const LANES: usize = 8;

/// Short entries that are handled at once; rows of matrices are padded to a multiple of it.
pub(super) const SHORT_LANES: usize = 16;

/// A number that is a whole one, and in which sums are exact up to some bound.
pub(super) trait Number:
    Copy
    + Debug
    + PartialOrd
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + 'static
{
    /// The entries of the matrices. Sums of products of them are numbers of this kind.
    type Entry: Copy + Debug + Default + PartialEq + Send + Sync + 'static;
    /// More than any sum.
    const LARGE: Self;
    fn of(number: i64) -> Self;
    fn to(self) -> i64;
    /// The nearest number of double precision.
    fn float(self) -> f64;
    fn entry(number: i64) -> Self::Entry;
    fn of_entry(entry: Self::Entry) -> Self;
    /// The sum of `(a[k] - b[k]) · (c[k] - d[k])` over rows of matrices.
    fn product(rows: [&[Self::Entry]; 4]) -> Self;
    /// The sum of `a · (c - d)`.
    fn sum(terms: impl Iterator<Item = [Self::Entry; 3]>) -> Self;
}

macro_rules! number {
    ($number:ty, $entry:ty, $sum:ty, $large:expr, $product:expr) => {
        impl Number for $number {
            type Entry = $entry;
            const LARGE: Self = $large;
            #[inline(always)]
            fn of(number: i64) -> Self {
                number as Self
            }
            #[inline(always)]
            fn to(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn float(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn entry(number: i64) -> $entry {
                number as $entry
            }
            #[inline(always)]
            fn of_entry(entry: $entry) -> Self {
                entry as Self
            }
            #[inline(always)]
            fn product(rows: [&[$entry]; 4]) -> Self {
                $product(rows) as Self
            }
            #[inline(always)]
            fn sum(terms: impl Iterator<Item = [$entry; 3]>) -> Self {
                let term = |[a, c, d]: [$entry; 3]| a as $sum * (c as $sum - d as $sum);
                terms.fold(0 as $sum, |sum, entries| sum + term(entries)) as Self
            }
        }
    };
}

number!(f32, i16, i32, f32::INFINITY, vector::product_of_short);
number!(f64, f64, f64, f64::INFINITY, vector::product);
number!(i64, i64, i64, i64::MAX / 2, vector::product);

/// The smallest of these numbers that holds every sum of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Width {
    /// `f32`, entries `i16`
    Single,
    /// `f64`
    Double,
    /// `i64`
    Whole,
}

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

    /// A matrix of so many rows; O(n²).
    fn of(size: usize, matrix: &[i64], entry: fn(i64) -> T) -> Result<Self, QapError> {
        let mut square = Self::zeros(size)?;
        let rows = square.entries.chunks_exact_mut(square.stride.max(1));
        for (row, from) in rows.zip(matrix.chunks_exact(size.max(1))) {
            row.iter_mut().zip(from).for_each(|(own, &other)| *own = entry(other));
        }
        Ok(square)
    }

    /// The transpose; O(n²).
    fn transposed(&self) -> Result<Self, QapError> {
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

/// A problem in numbers of one kind. `J = scale · (sum of a·b over pairs + sum of the diagonals)`, where the pairs are
/// unordered if both matrices are symmetric, else ordered.
pub(super) struct Dense<T: Number> {
    pub(super) size: usize,
    pub(super) scale: i64,
    pub(super) a: Square<T::Entry>,
    pub(super) b: Square<T::Entry>,
    /// The transposes, unless both are symmetric.
    pub(super) transposed: Option<[Square<T::Entry>; 2]>,
    /// The diagonals, unless one of both is zero.
    pub(super) diagonals: Option<(Vec<T>, Vec<T>)>,
    /// The matrix of objects and its transpose (itself, if both are symmetric) once more, if it is sparse.
    pub(super) sparse: Option<[Sparse<T::Entry>; 2]>,
}

/// The matrices before they are put into numbers of a kind.
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

    /// The same in numbers of a kind that holds every sum.
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
    /// J in units of the scale, by the definition; O(n²).
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

/// Adds its transpose to a matrix, which makes it symmetric: true.
fn add_transpose(n: usize, matrix: &mut [i64]) -> bool {
    pairs_in_tiles(n).for_each(|(i, j)| {
        let sum = matrix[i * n + j] + matrix[j * n + i];
        (matrix[i * n + j], matrix[j * n + i]) = (sum, sum);
    });
    true
}

/// Divides all entries by their greatest common divisor, which is returned.
fn divide(entries: &mut [i64]) -> i64 {
    // No entry is the least number, which has no absolute value.
    let common = entries.iter().fold(0, |common, &entry| greatest_common_divisor(common, entry.abs())).max(1);
    entries.iter_mut().for_each(|entry| *entry /= common);
    common
}

/// The kind of numbers that holds every J, every change of J, and the sums that these are formed of.
fn width(
    n: usize,
    a: &[i64],
    b: &[i64],
    diagonals: Option<&(Vec<i64>, Vec<i64>)>,
    is_symmetric: bool,
) -> Width {
    let most =
        |matrix: &[i64]| matrix.iter().map(|entry| i128::from(entry.unsigned_abs())).max().unwrap_or(0);
    let range = |matrix: &[i64]| {
        let (least, greatest) =
            matrix.iter().fold((0, 0), |(least, greatest), &entry| (entry.min(least), entry.max(greatest)));
        i128::from(greatest) - i128::from(least)
    };
    let heaviest = |matrix: &[i64]| {
        let mut columns = vec![0; n];
        let mut heaviest = 0;
        for row in matrix.chunks_exact(n.max(1)) {
            let weights = || row.iter().map(|entry| i128::from(entry.unsigned_abs()));
            heaviest = heaviest.max(weights().sum());
            columns.iter_mut().zip(weights()).for_each(|(column, weight)| *column += weight);
        }
        columns.into_iter().fold(heaviest, i128::max)
    };
    // A change of J is a sum of n products of differences, of rows and columns each. The sums along one row of a sparse matrix are
    // within the same bound.
    let (range_a, range_b) = (range(a), range(b));
    let sides = if is_symmetric { 1 } else { 2 };
    let products =
        (n as i128 * range_a * range_b).min(2 * heaviest(a) * range_b).min(2 * heaviest(b) * range_a);
    // Updates are products of differences of differences; and some products of two entries are added.
    let extra = 16 * (most(a) + 1) * (most(b) + 1);
    let own = diagonals.map_or(0, |(a, b)| 4 * (most(a) + 1) * (most(b) + 1));
    let is_short = range_a.max(range_b) < 1 << 15;
    // The table of deltas adds two changes of J.
    match 2 * (sides * products + sides * extra + own) {
        sum if sum < 1 << 24 && is_short => Width::Single,
        sum if sum < 1 << 53 => Width::Double,
        _ => Width::Whole,
    }
}

#[cfg(test)]
mod tests {
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
