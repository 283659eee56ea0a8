//! The starting place of constructions that place one process after another.

use crate::base::observer::Observer;
use crate::base::threads;
use crate::machine::DistanceOracle;

/// The place with the smallest sum of distances to all places, the first on ties; O(n²) distances. Places
/// whose sum was not started before the observer asked to stop are ignored.
pub(super) fn most_central<O: DistanceOracle>(oracle: &O, keys: &[O::Key], observer: &dyn Observer) -> usize {
    let sum = |index: usize| -> (i128, usize) {
        let here = keys[index];
        (keys.iter().map(|&there| i128::from(oracle.between(here, there))).sum(), index)
    };
    let sums = threads::map_until(0..keys.len(), &|| observer.should_stop(), &sum);
    sums.into_iter().min().map_or(0, |(_, index)| index)
}
