//! Distances of few places, all of them at hand.

use rayon::prelude::*;

use crate::topology::Metric;
use crate::types::{Distance, PeId};

/// Places whose distances are stored at most: a second-level cache holds most of the table.
const MOST_PLACES: usize = 1 << 11;

/// The distance of every pair of some places, two bytes each. The key of a place is its number.
#[derive(Clone, Debug)]
pub struct SmallTable {
    num_places: usize,
    distances: Vec<u16>,
    /// Places of one group are interchangeable.
    group_of: Vec<PeId>,
    max_distance: Distance,
}

impl SmallTable {
    /// The distances of the places at these keys, if they are few and near; O(n²).
    pub fn new<M: Metric>(metric: &M, key_of: &[M::Key]) -> Option<Self> {
        let (num_places, max_distance) = (key_of.len(), metric.max_distance());
        if num_places > MOST_PLACES || max_distance > Distance::from(u16::MAX) {
            return None;
        }
        let row = |&here: &M::Key| key_of.iter().map(move |&there| metric.between(here, there) as u16);
        let distances = key_of.par_iter().with_min_len(64).flat_map_iter(row).collect();
        // Places that are alike lie together.
        let mut group_of: Vec<PeId> = Vec::with_capacity(num_places);
        for place in 0..num_places {
            let is_alike = place > 0 && metric.interchangeable(key_of[place - 1], key_of[place]);
            group_of.push(if is_alike { group_of[place - 1] } else { place as PeId });
        }
        Some(Self { num_places, distances, group_of, max_distance })
    }
}

impl Metric for SmallTable {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        Distance::from(self.distances[a as usize * self.num_places + b as usize])
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    #[inline]
    fn interchangeable(&self, a: PeId, b: PeId) -> bool {
        self.group_of[a as usize] == self.group_of[b as usize]
    }
}
