//! The starting place of constructions that place one process after another.

use crate::base::observer::Observer;
use crate::base::threads;
use crate::base::types::PeId;
use crate::machine::{DistanceOracle, Distances};

/// The place with the smallest sum of distances to all places, the first on ties; O(n²) distances. Places
/// whose sum was not started before the observer asked to stop are ignored.
pub(super) fn most_central(distances: &Distances, observer: &dyn Observer) -> usize {
    let all: Vec<PeId> = (0..distances.num_pes() as PeId).collect();
    let sum = |index: usize| -> (i128, usize) {
        (distances.row_of(all[index], &all).into_iter().map(i128::from).sum(), index)
    };
    let sums = threads::map_until(0..all.len(), &|| observer.should_stop(), &sum);
    sums.into_iter().min().map_or(0, |(_, index)| index)
}
