//! The quadratic assignment problem in its original form: two square matrices of integers.

use super::width::fits_widest;
use crate::base::error::{ErrorKind, HasKind};
use crate::base::memory::{self, OutOfMemory};
use crate::base::types::Cost;

/// A quadratic assignment problem: assign objects `0..n` to places `0..n`, one each, to minimise `J = sum
/// over all ordered pairs (i, j) of a[i][j] · b[Pi(i)][Pi(j)]`, including the diagonals.
///
/// The matrices need not be symmetric, and entries may be negative. The constructor proves that no J and no
/// change of J by an exchange exceeds 64 bits.
///
/// ```
/// use viem::qap::{Qap, QapConfig, QapRequest};
///
/// // Three machines in a row, and the flows between three jobs.
/// let flow = vec![0, 1, 9, 1, 0, 2, 9, 2, 0];
/// let distance = vec![0, 1, 2, 1, 0, 1, 2, 1, 0];
/// let qap = Qap::from_matrices(3, flow, distance)?;
/// let solution = QapRequest::new(&qap).solve(&QapConfig::default())?;
/// assert_eq!(solution.cost, 2 * (1 * 2 + 9 * 1 + 2 * 1));
/// assert!(solution.is_optimal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qap {
    size: usize,
    a: Vec<i64>,
    b: Vec<i64>,
}

/// The reason why two matrices are not a quadratic assignment problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum QapError {
    #[error("a problem of n = {size} has two matrices of {} entries each, but {found} were given", size * size)]
    Size { size: usize, found: usize },
    #[error("a problem has at most {greatest} objects, this one has {size}")]
    TooLarge { size: usize, greatest: usize },
    #[error(
        "J can be as large as {bound}, too large for sums of 64 bits (up to {SAFE_COST} is never); divide the entries of a matrix by a \
         common factor"
    )]
    Overflow { bound: u128 },
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl HasKind for QapError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Size { .. } | Self::TooLarge { .. } | Self::Overflow { .. } => ErrorKind::BadData,
            Self::OutOfMemory(error) => error.kind(),
        }
    }
}

/// Bound on J up to which sums of a few changes of J, and products of differences of entries, fit 64 bits whatever the entries are.
const SAFE_COST: Cost = Cost::MAX / 256;

/// Bound on J, for matrices of which it is known that their sums fit: sums of four of them still do.
const MOST_COST: Cost = Cost::MAX / 8;

/// Upper limit on the objects: places are 32 bits, tables have n² entries.
const MOST_OBJECTS: usize = 1 << 16;

/// The greatest common divisors of entries of a matrix.
struct Common {
    diagonal: u64,
    /// The divisor of the entries that are not on the diagonal.
    apart: u64,
    /// The divisor of the sums of each two entries that are opposite to each other.
    both_ways: u64,
    is_symmetric: bool,
}

impl Common {
    fn of(size: usize, entries: &[i64]) -> Self {
        let mut common = Self { diagonal: 0, apart: 0, both_ways: 0, is_symmetric: true };
        for row in 0..size {
            common.diagonal = gcd(common.diagonal, entries[row * size + row].unsigned_abs());
        }
        for (row, column) in pairs_in_tiles(size) {
            let (one, other) = (entries[row * size + column], entries[column * size + row]);
            common.apart = gcd(gcd(common.apart, one.unsigned_abs()), other.unsigned_abs());
            let sum = (i128::from(one) + i128::from(other)).unsigned_abs();
            common.both_ways = gcd(common.both_ways, u64::try_from(sum).unwrap_or(1));
            common.is_symmetric &= one == other;
        }
        common
    }
}

/// The greatest common divisor; that of a number and 0 is the number.
fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// All pairs i > j below n, in tiles, so that the entries of a matrix and of its transpose stay in the cache.
pub(crate) fn pairs_in_tiles(n: usize) -> impl Iterator<Item = (usize, usize)> {
    /// Rows per tile: a cache line has 8 entries.
    const TILE: usize = 32;
    let range = move |tile: usize| tile * TILE..n.min((tile + 1) * TILE);
    let tiles = (0..n.div_ceil(TILE)).flat_map(|row| (0..=row).map(move |column| (row, column)));
    tiles.flat_map(move |(row, column)| {
        range(row).flat_map(move |i| (column * TILE..i.min((column + 1) * TILE)).map(move |j| (i, j)))
    })
}

impl Qap {
    /// The problem with these matrices, row by row; `a` is indexed by objects, `b` by places. O(n²).
    pub fn from_matrices(size: usize, a: Vec<i64>, b: Vec<i64>) -> Result<Self, QapError> {
        if size > MOST_OBJECTS {
            return Err(QapError::TooLarge { size, greatest: MOST_OBJECTS });
        }
        for matrix in [&a, &b] {
            if matrix.len() != size * size {
                return Err(QapError::Size { size, found: matrix.len() });
            }
        }
        let bound = bound(&a, &b);
        let fits = bound <= SAFE_COST as u128 || bound <= MOST_COST as u128 && fits_widest(size, &a, &b);
        if !fits {
            return Err(QapError::Overflow { bound });
        }
        Ok(Self { size, a, b })
    }

    /// Number of objects, which equals the number of places, n.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The matrix of objects, row by row.
    pub fn a(&self) -> &[i64] {
        &self.a
    }

    /// The matrix of places, row by row.
    pub fn b(&self) -> &[i64] {
        &self.b
    }

    /// Row `i` of the matrix of objects.
    pub(super) fn row_a(&self, i: usize) -> &[i64] {
        &self.a[i * self.size..][..self.size]
    }

    /// Row `k` of the matrix of places.
    pub(super) fn row_b(&self, k: usize) -> &[i64] {
        &self.b[k * self.size..][..self.size]
    }

    /// The greatest number of which J is a multiple whatever the assignment, as far as the entries show it; 0 if J is always 0. O(n²).
    pub fn divisor(&self) -> u64 {
        let (a, b) = (Common::of(self.size, &self.a), Common::of(self.size, &self.b));
        let apart = match (a.is_symmetric, b.is_symmetric) {
            (true, _) => a.apart.checked_mul(b.both_ways),
            (_, true) => a.both_ways.checked_mul(b.apart),
            _ => a.apart.checked_mul(b.apart),
        };
        let product = |factor: Option<u64>| factor.unwrap_or(1);
        gcd(product(apart), product(a.diagonal.checked_mul(b.diagonal)))
    }

    /// J by definition, with object `i` at `place_of[i]`; O(n²). Panics unless these are `n` places.
    pub fn cost(&self, place_of: &[u32]) -> Cost {
        assert_eq!(place_of.len(), self.size, "a place for each object");
        let row = |i: usize| -> Cost {
            let to = self.row_b(place_of[i] as usize);
            self.row_a(i).iter().zip(place_of).map(|(&a, &place)| a * to[place as usize]).sum()
        };
        (0..self.size).map(row).sum()
    }

    /// The problem with object `order[i]` renamed to `i`; O(n²).
    pub(crate) fn with_objects_in(&self, order: &[u32]) -> Self {
        let row = |&i: &u32| order.iter().map(move |&j| self.row_a(i as usize)[j as usize]);
        Self { size: self.size, a: order.iter().flat_map(row).collect(), b: self.b.clone() }
    }

    /// The problem with the roles of objects and places exchanged. The inverse of an assignment is an
    /// assignment of it with the same J.
    pub(super) fn exchanged(&self) -> Self {
        Self { size: self.size, a: self.b.clone(), b: self.a.clone() }
    }
}

/// A bound on the absolute value of every entry and of every sum of products of entries of `a` with entries
/// of `b`, each used once: the sum of one times the maximum of the other.
fn bound(a: &[i64], b: &[i64]) -> u128 {
    let sum = |matrix: &[i64]| matrix.iter().map(|&entry| u128::from(entry.unsigned_abs())).sum::<u128>();
    let most = |matrix: &[i64]| matrix.iter().map(|entry| entry.unsigned_abs()).max().unwrap_or(0);
    let product = |sum: u128, most: u64| sum.saturating_mul(u128::from(most));
    let entry = u128::from(most(a).max(most(b)));
    product(sum(a), most(b)).min(product(sum(b), most(a))).max(entry)
}

/// An array, or an error if there is not enough memory.
pub(super) fn array<T: Clone>(count: usize, value: T) -> Result<Vec<T>, QapError> {
    Ok(memory::filled(count, value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_as_large_as_the_sums_allow() {
        for entry in [1i64 << 56, -(1 << 56), (1 << 57) + 1] {
            let qap = Qap::from_matrices(2, vec![0, 1, 1, 0], vec![0, entry, 0, 0]).unwrap();
            assert_eq!([[0, 1], [1, 0]].map(|places: [u32; 2]| qap.cost(&places)), [entry, entry]);
            let solution =
                crate::qap::QapRequest::new(&qap).solve(&crate::qap::QapConfig::default()).unwrap();
            assert_eq!((solution.cost, solution.is_optimal), (entry, true));
        }
        for (a, b) in [
            (vec![0, 1, 1, 0], vec![0, 1 << 62, 0, 0]),
            (vec![0, i64::MAX, 0, 0], vec![0, i64::MAX, i64::MIN, 0]),
        ] {
            assert!(matches!(Qap::from_matrices(2, a, b), Err(QapError::Overflow { .. })));
        }
        // A large sum of many products, each of which is small beside it.
        let n = 12;
        let entry = |place: usize, factor: usize| (place * factor % 7) as i64;
        let a: Vec<i64> = (0..n * n).map(|place| (1 << 40) + entry(place, 5)).collect();
        let b: Vec<i64> = (0..n * n).map(|place| 512 * entry(place, 3)).collect();
        assert!(bound(&a, &b) > SAFE_COST as u128);
        let qap = Qap::from_matrices(n, a, b).unwrap();
        let config = crate::qap::QapConfig::default().with_time_limit(std::time::Duration::from_millis(300));
        let solution = crate::qap::QapRequest::new(&qap).solve(&config).unwrap();
        assert_eq!(solution.cost, qap.cost(solution.mapping.pes()));
    }

    #[test]
    fn each_pair_comes_once() {
        for n in [0, 1, 2, 31, 32, 33, 70] {
            let mut pairs: Vec<(usize, usize)> = pairs_in_tiles(n).collect();
            pairs.sort_unstable();
            assert!(pairs.into_iter().eq((0..n).flat_map(|i| (0..i).map(move |j| (i, j)))), "{n}");
        }
    }
}
