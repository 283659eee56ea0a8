//! Where constructions that place one process after the other begin.

use crate::ground::observer::Observer;
use crate::ground::threads;
use crate::machine::DistanceOracle;

/// Which of some places has the least sum of distances to all of them, the first of equal ones; O(n²) distances. Sums that
/// are not begun before the observer asks to stop do not count.
pub(super) fn most_central<O: DistanceOracle>(oracle: &O, keys: &[O::Key], observer: &dyn Observer) -> usize {
    let sum = |index: usize| -> (i128, usize) {
        let here = keys[index];
        (keys.iter().map(|&there| i128::from(oracle.between(here, there))).sum(), index)
    };
    let sums = threads::map_until(0..keys.len(), &|| observer.should_stop(), &sum);
    sums.into_iter().min().map_or(0, |(_, index)| index)
}
