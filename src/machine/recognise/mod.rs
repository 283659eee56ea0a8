//! Recognises machines by their distances, however their PEs are numbered.
//!
//! A member of the family looks at a few rows of a matrix and proposes a machine and the PE of each row. Every pair is then checked
//! against the machine's distances, so members need not do that: the result is exact. The diagonal is ignored.
//!
//! # Cost
//!
//! O(n²) for the check. A member takes at most O(n²) time, plus O(n log n) for each distinct distance, and usually far less if the
//! matrix is not one of its machines. Memory: O(n).

mod hops;
mod proposal;

pub use proposal::Recognised;

use crate::base::settings::listed;
use proposal::Matrix;

listed! {
    /// The members: each proposes a machine.
    const FAMILIES: [fn(&Matrix<'_>) -> Option<Recognised>] = recognise in {
        mod tree;
        mod cube;
        mod grid;
    }
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
