//! Problems whose optimum follows from their shape: the nonzero entries of one matrix can be matched to the
//! smallest entries of the other.
//!
//! If no entry between objects is negative, J is at least the smallest entry between two places times the sum
//! of all entries between objects. An assignment reaches that bound if and only if it puts every pair of
//! objects with a nonzero entry on a pair of places with the smallest entry: it
//! [embeds](crate::graph::embedding::relation) one graph in the other. If both graphs are sparse, the search
//! finds such an assignment or rules it out, however the objects are numbered; on grids, rings and trees this
//! takes a few steps per object. Otherwise it gives up.

use super::form::Qap;
use crate::base::observer::Watch;
use crate::base::types::Cost;
use crate::graph::embedding::relation::{self, MOST_VERTICES, Relation};

/// An optimal assignment, if one is found that reaches the bound; `steps` limits the time.
pub(crate) fn optimum(qap: &Qap, steps: u64, watch: &mut Watch<'_>) -> Option<(Cost, Vec<u32>)> {
    let direct = embedded(qap, steps, watch);
    let place_of = direct.or_else(|| {
        let object_at = embedded(&qap.exchanged(), steps, watch)?;
        let mut place_of = vec![0; object_at.len()];
        for (place, &object) in object_at.iter().enumerate() {
            place_of[object as usize] = place as u32;
        }
        Some(place_of)
    })?;
    Some((qap.cost(&place_of), place_of))
}

/// An assignment that matches all entries between objects with smallest entries between places.
fn embedded(qap: &Qap, steps: u64, watch: &mut Watch<'_>) -> Option<Vec<u32>> {
    let n = qap.size();
    let has_diagonals = (0..n).any(|i| qap.row_a(i)[i] != 0) && (0..n).any(|k| qap.row_b(k)[k] != 0);
    if !(2..=MOST_VERTICES).contains(&n) || has_diagonals || qap.a().iter().any(|&entry| entry < 0) {
        return None;
    }
    let between = |k: usize| (0..n).filter(move |&l| l != k).map(move |l| (k, l));
    let least = (0..n).flat_map(between).map(|(k, l)| qap.row_b(k)[l]).min()?;
    let pattern = Relation::new(n, |i, j| qap.row_a(i)[j] != 0);
    let host = Relation::new(n, |k, l| qap.row_b(k)[l] == least);
    relation::embed(&pattern, &host, steps, watch)
}
