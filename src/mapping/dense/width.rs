//! The choice of a number type that holds every sum of a search exactly.
//!
//! Off-diagonal entries are within `±A` in the matrix of objects and within `±B` in that of places. Let `R`
//! be the range of the entries of a matrix, zero included, and `H` the largest sum of absolute values in a
//! row or column. A search forms these sums:
//!
//! | sum | at most |
//! |---|---|
//! | along two rows, `sum over k of (a[i][k] - a[j][k]) · (b[j][k] - b[i][k])` | `n R_a R_b`, and `2 H_a R_b`, and `2 H_b R_a` |
//! | the same along two columns, unless both matrices are symmetric | the same |
//! | further terms of a change of J, for the entries between `i` and `j`, in each direction | `4 A B` |
//! | the update of other changes of J after an exchange: products of differences of differences, in each direction | `4 A · 4 B` |
//! | the entries round three objects in one direction minus the other, times the same for places, unless both are symmetric | `6 A · 6 B` |
//! | along the diagonals, `(a[i] - a[j]) · (b[j] - b[i])` | `2 A · 2 B` of the diagonals |
//!
//! A change of J is thus at most `sides · (rows + 16 A B) + diagonals`, with one or two sides, and the table
//! of all changes adds two of them.

/// The number types, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Width {
    /// `f32`, entries `i16`
    Single,
    /// `f64`
    Double,
    /// `i64`
    Whole,
}

/// The narrowest type for two matrices with zero diagonals, and for their original diagonals, if these count.
pub(super) fn width(
    n: usize,
    a: &[i64],
    b: &[i64],
    diagonals: Option<&(Vec<i64>, Vec<i64>)>,
    is_symmetric: bool,
) -> Width {
    let sides = if is_symmetric { 1 } else { 2 };
    let of_diagonals = diagonals.map_or(0, |(a, b)| 4 * product_of_greatest(a, b));
    // Differences of short entries must be short too.
    let is_short = range(a).max(range(b)) < 1 << 15;
    match 2 * (sides * (along_rows(n, a, b) + 16 * product_of_greatest(a, b)) + of_diagonals) {
        sum if sum < 1 << f32::MANTISSA_DIGITS && is_short => Width::Single,
        sum if sum < 1 << f64::MANTISSA_DIGITS => Width::Double,
        _ => Width::Whole,
    }
}

/// Returns whether a search forms no sum beyond 2^62, whatever of its number types it takes. Where there are only two objects, no other
/// change of J needs an update, and no row has an entry besides theirs.
pub(super) fn fits_widest(n: usize, a: &[i64], b: &[i64]) -> bool {
    let greatest =
        |entries: &[i64]| entries.iter().map(|entry| i128::from(entry.unsigned_abs())).max().unwrap_or(0);
    let product = greatest(a).saturating_mul(greatest(b));
    let change = if n > 2 {
        along_rows(n, a, b).saturating_add(product.saturating_mul(16))
    } else {
        product.saturating_mul(4)
    };
    // Both sides, the diagonals, and two changes at once.
    change.saturating_mul(2).saturating_add(product.saturating_mul(4)).saturating_mul(2) < 1 << 62
}

/// The largest sum along two rows.
fn along_rows(n: usize, a: &[i64], b: &[i64]) -> i128 {
    let (range_a, range_b) = (range(a), range(b));
    let of_all = (n as i128).saturating_mul(range_a).saturating_mul(range_b);
    let of_one = |heaviest: i128, range: i128| heaviest.saturating_mul(2).saturating_mul(range);
    of_all.min(of_one(heaviest(n, a), range_b)).min(of_one(heaviest(n, b), range_a))
}

/// Greater than any product of an entry of one with an entry of the other.
fn product_of_greatest(a: &[i64], b: &[i64]) -> i128 {
    let greatest = |entries: &[i64]| entries.iter().map(|entry| entry.unsigned_abs()).max().unwrap_or(0);
    (i128::from(greatest(a)) + 1).saturating_mul(i128::from(greatest(b)) + 1)
}

/// The largest difference of two entries, or of an entry and zero.
fn range(matrix: &[i64]) -> i128 {
    let ends = |(least, greatest): (i64, i64), &entry: &i64| (least.min(entry), greatest.max(entry));
    let (least, greatest) = matrix.iter().fold((0, 0), ends);
    i128::from(greatest) - i128::from(least)
}

/// The largest sum of absolute values in a row or column.
fn heaviest(n: usize, matrix: &[i64]) -> i128 {
    let mut columns = vec![0; n];
    let mut heaviest = 0;
    for row in matrix.chunks_exact(n.max(1)) {
        let weights = || row.iter().map(|entry| i128::from(entry.unsigned_abs()));
        heaviest = heaviest.max(weights().sum());
        columns.iter_mut().zip(weights()).for_each(|(column, weight)| *column += weight);
    }
    columns.into_iter().fold(heaviest, i128::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_narrow_as_the_sums_allow() {
        // One pair of objects: 2 · (2 · 1 · 1 · R + 16 · 2 · (R + 1)) for entries of 1 and R.
        let width_of = |entry: i64| width(2, &[0, 1, 1, 0], &[0, entry, entry, 0], None, true);
        let sum = |entry: i64| 2 * (2 * entry + 32 * (entry + 1));
        assert!(sum(20_000) < 1 << 24 && width_of(20_000) == Width::Single);
        // Sums fit, but differences of entries do not.
        assert!(sum(1 << 15) < 1 << 24 && width_of(1 << 15) == Width::Double);
        let greatest = ((1i64 << 53) - 1 - 64) / 68;
        assert!(sum(greatest) < 1 << 53 && width_of(greatest) == Width::Double);
        assert!(sum(greatest + 1) >= 1 << 53 && width_of(greatest + 1) == Width::Whole);
    }
}
