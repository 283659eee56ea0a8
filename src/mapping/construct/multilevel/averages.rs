//! Mean distances between sets of places.

use rayon::prelude::*;

use super::Sets;
use crate::ground::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::{DistanceOracle, Metric, costs_in_rows};

/// The greatest entry, about.
const GREATEST: f64 = 60_000.0;

/// No entry is greater.
pub(super) const MOST: Distance = u16::MAX as Distance;

/// The mean distance of each pair of sets, 0 of a set to itself, in a unit in which the greatest is about [`GREATEST`].
///
/// Memory: two bytes a pair.
pub(super) struct Averages {
    count: usize,
    means: Vec<u16>,
}

impl Averages {
    /// The means over both ends of each set; O(k²) distances.
    pub fn of_ends<O: DistanceOracle>(oracle: &O, ends: &[[PeId; 2]]) -> Self {
        let count = ends.len();
        let keys: Vec<[O::Key; 2]> = ends.iter().map(|ends| ends.map(|place| oracle.key(place))).collect();
        let unit = GREATEST / (4.0 * oracle.max_distance().max(1) as f64);
        let mean = |a: &[O::Key; 2], b: &[O::Key; 2]| {
            let sums = a.iter().flat_map(|&p| b.iter().map(move |&q| oracle.between(p, q) as f64));
            (sums.sum::<f64>() * unit) as u16
        };
        let rows = keys.par_iter().with_min_len(64).enumerate().flat_map_iter(|(index, a)| {
            let others = keys.iter().enumerate();
            others.map(move |(other, b)| if index == other { 0 } else { mean(a, b) })
        });
        Self { count, means: rows.collect() }
    }

    /// The means over the members of sets of these; O(k²).
    pub fn of_sets(&self, sets: &Sets) -> Self {
        let rows = sets.par_iter().with_min_len(64).enumerate().flat_map_iter(|(index, set)| {
            // The second member is the first again where there is but one.
            let [a, b] = both(set).map(|member| self.row(member));
            sets.iter().enumerate().map(move |(other, set)| {
                let [p, q] = both(set).map(|member| member as usize);
                let sum = [a[p], a[q], b[p], b[q]].map(u32::from).iter().sum::<u32>();
                if index == other { 0 } else { (sum / 4) as u16 }
            })
        });
        Self { count: sets.len(), means: rows.collect() }
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
