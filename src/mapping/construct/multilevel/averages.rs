//! Mean distances between sets of places.

use super::matching::Sets;
use crate::base::threads;
use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::{Distances, Metric, costs_in_rows};

/// The approximate largest entry.
const GREATEST: f64 = 60_000.0;

/// Rows that a thread computes at once.
const ROWS: usize = 64;

/// Upper limit on all entries.
pub(super) const MOST: Distance = u16::MAX as Distance;

/// The mean distance of each pair of sets; a set has distance 0 to itself. The unit is chosen such that the
/// largest entry is about [`GREATEST`].
///
/// Memory: two bytes per pair.
pub(super) struct Averages {
    count: usize,
    means: Vec<u16>,
}

impl Averages {
    /// The means over the two ends of each set; O(k²) distances.
    pub fn of_ends(distances: &Distances, ends: &[[PeId; 2]]) -> Self {
        let count = ends.len();
        let unit = GREATEST / (4.0 * distances.max_distance().max(1) as f64);
        let row = |index: usize| -> Vec<u16> {
            let [first, second] = ends[index].map(|end| distances.row_of(end, ends.as_flattened()));
            let sums = first.as_chunks::<2>().0.iter().zip(second.as_chunks::<2>().0);
            let mean = |(other, (&[a, b], &[c, d])): (usize, (&[Distance; 2], &[Distance; 2]))| {
                let sum: f64 = [a, b, c, d].into_iter().map(|distance| distance as f64).sum();
                if index == other { 0 } else { (sum * unit) as u16 }
            };
            sums.enumerate().map(mean).collect()
        };
        Self { count, means: threads::map(count, ROWS, &row).concat() }
    }

    /// The means over the members of sets of these sets; O(k²).
    pub fn of_sets(&self, sets: &Sets) -> Self {
        let row = |index: usize| -> Vec<u16> {
            // A single member counts twice.
            let [a, b] = both(&sets[index]).map(|member| self.row(member));
            let mean = |(other, set): (usize, &[Option<u32>; 2])| {
                let [p, q] = both(set).map(|member| member as usize);
                let sum = [a[p], a[q], b[p], b[q]].map(u32::from).iter().sum::<u32>();
                if index == other { 0 } else { (sum / 4) as u16 }
            };
            sets.iter().enumerate().map(mean).collect()
        };
        Self { count: sets.len(), means: threads::map(sets.len(), ROWS, &row).concat() }
    }

    #[inline]
    fn row(&self, set: PeId) -> &[u16] {
        &self.means[set as usize * self.count..][..self.count]
    }
}

fn both(set: &[Option<u32>; 2]) -> [u32; 2] {
    let first = set[0].expect("a set has a member");
    [first, set[1].unwrap_or(first)]
}

impl Metric for Averages {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        Distance::from(self.row(a)[b as usize])
    }

    #[inline(always)]
    fn costs<W: Copy + Into<Weight>, const N: usize>(
        &self,
        from: [PeId; N],
        arcs: &[(NodeId, W)],
        keys: &[PeId],
    ) -> [Cost; N] {
        costs_in_rows(from.map(|set| self.row(set)), arcs, keys)
    }

    fn max_distance(&self) -> Distance {
        MOST
    }
}
