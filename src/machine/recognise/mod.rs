//! Recognises machines by their distances, however their PEs are numbered.
//!
//! A member of the family looks at a few rows of a matrix and proposes a machine and the PE of each row. Every pair is then checked
//! against the machine's distances, so members need not do that: the result is exact. The diagonal is ignored.
//!
//! # Cost
//!
//! O(n²) for the check. A member takes at most O(n²) time, plus O(n log n) for each distinct distance, and usually far less if the
//! matrix is not one of its machines. Memory: O(n).

mod cube;
mod grid;
mod hops;
mod tree;

use crate::ground::types::{Distance, PeId};
use crate::machine::{DistanceOracle, DistanceVisitor, Machine};

/// The members: each proposes a machine.
const FAMILIES: [fn(&Matrix<'_>) -> Option<Recognised>; 3] =
    [tree::recognise, cube::recognise, grid::recognise];

/// A machine that has the distances of a matrix.
#[non_exhaustive]
pub struct Recognised {
    /// The machine.
    pub machine: Box<dyn Machine>,
    /// The PE of each row.
    pub pe_of: Vec<PeId>,
    /// An entry is `factor` times a distance plus `offset`. At least 1.
    pub factor: i64,
    /// What is added to each distance.
    pub offset: i64,
}

/// The machine that has the distances of a matrix, given row by row, up to a factor and an offset that are the same for all pairs: a
/// regular tree, a hypercube, or a grid. Panics if there are not `size` rows of `size` entries.
///
/// ```
/// use viem::machine::recognise::recognise;
///
/// // A ring of six, in disorder.
/// let at = [0, 3, 5, 1, 4, 2];
/// let gap = |i: usize, j: usize| i64::abs(at[i] - at[j]).min(6 - i64::abs(at[i] - at[j]));
/// let matrix: Vec<i64> = (0..36).map(|pair| 10 * gap(pair / 6, pair % 6)).collect();
/// let found = recognise(6, &matrix).expect("a torus of one dimension");
/// assert_eq!((found.machine.describe().as_str(), found.factor), ("torus of 6", 10));
/// ```
pub fn recognise(size: usize, entries: &[i64]) -> Option<Recognised> {
    assert_eq!(entries.len(), size * size, "as many entries as pairs");
    let matrix = Matrix { size, entries };
    if size < 2 {
        return None;
    }
    FAMILIES.iter().filter_map(|propose| propose(&matrix)).find(|found| found.is_exact(&matrix))
}

/// A matrix, row by row.
struct Matrix<'a> {
    size: usize,
    entries: &'a [i64],
}

impl Matrix<'_> {
    fn at(&self, k: usize, l: usize) -> i64 {
        self.entries[k * self.size + l]
    }

    /// The distinct entries of a row outside the diagonal, ascending, if there are at most `most`; O(n log n).
    fn distinct(&self, k: usize, among: &[usize], most: usize) -> Option<Vec<i64>> {
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
    fn is_exact(&self, matrix: &Matrix<'_>) -> bool {
        let mut is_taken = vec![false; matrix.size];
        let mut take =
            |pe: PeId| is_taken.get_mut(pe as usize).is_some_and(|taken| !std::mem::replace(taken, true));
        let is_permutation = self.pe_of.len() == matrix.size && self.pe_of.iter().all(|&pe| take(pe));
        is_permutation
            && self.machine.num_pes() == matrix.size
            && self
                .machine
                .distances()
                .is_ok_and(|distances| distances.visit(Comparison { own: self, matrix }))
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

/// Compares all distances with a matrix.
struct Comparison<'a> {
    own: &'a Recognised,
    matrix: &'a Matrix<'a>,
}

impl DistanceVisitor for Comparison<'_> {
    type Output = bool;

    fn visit<O: DistanceOracle>(self, oracle: &O) -> bool {
        let Self { own, matrix } = self;
        let keys: Vec<O::Key> = own.pe_of.iter().map(|&pe| oracle.key(pe)).collect();
        let is_exact = |k: usize, l: usize| {
            k == l || own.entry(oracle.between(keys[k], keys[l])) == Some(matrix.at(k, l))
        };
        (0..matrix.size).all(|k| (0..matrix.size).all(|l| is_exact(k, l)))
    }
}
