//! Tables that hold a distance for each pair of places.
//!
//! Most machines have few distinct distances. Up to 256 of them, a table holds indices into a list of them, one byte per pair, so the
//! part of the table that a search touches stays in cache longer. Beyond that it holds the distances themselves in four bytes, and
//! indices again only if a distance does not fit.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::threads;
use crate::base::types::{Distance, PeId};
use crate::machine::Metric;

/// The entry of a table for a pair.
pub trait Entry: Copy + Eq + Send + Sync + std::fmt::Debug + 'static {
    /// The distance it stands for; `distinct` are the distinct distances of the table, if it has a list of them.
    fn distance(self, distinct: &[Distance]) -> Distance;
}

/// The index of a distance.
impl Entry for u8 {
    #[inline]
    fn distance(self, distinct: &[Distance]) -> Distance {
        distinct[usize::from(self)]
    }
}

/// A distance, or the index of one if there is a list of them.
impl Entry for u32 {
    #[inline]
    fn distance(self, distinct: &[Distance]) -> Distance {
        if distinct.is_empty() { Distance::from(self) } else { distinct[self as usize] }
    }
}

/// The distance between every two places, looked up. Copies share their entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<E> {
    num_places: usize,
    /// Row by row.
    entries: Arc<[E]>,
    /// The distances that entries are indices into, ascending; empty if they are distances.
    distinct: Arc<[Distance]>,
    greatest: Distance,
}

impl<E: Entry> Table<E> {
    fn new(num_places: usize, entries: Vec<E>, distinct: Vec<Distance>, greatest: Distance) -> Self {
        Self { num_places, entries: entries.into(), distinct: distinct.into(), greatest }
    }

    /// The distance between two places.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> Distance {
        self.entries[a as usize * self.num_places + b as usize].distance(&self.distinct)
    }

    /// The greatest distance.
    pub fn greatest(&self) -> Distance {
        self.greatest
    }
}

impl Table<u32> {
    /// A table of any distances, row by row.
    pub(in crate::machine) fn wide(num_places: usize, distances: &[Distance]) -> Self {
        let greatest_of = |range: Range<usize>| distances[range].iter().copied().max();
        let greatest = threads::map_ranges(distances.len(), CHUNK, &greatest_of).into_iter().flatten().max();
        let greatest = greatest.unwrap_or(0);
        if u32::try_from(greatest).is_err() {
            let (entries, distinct) = ranked(distances);
            return Self::new(num_places, entries, distinct, greatest);
        }
        let mut entries = vec![0; distances.len()];
        threads::fill(&mut entries, |place| distances[place] as u32);
        Self::new(num_places, entries, Vec::new(), greatest)
    }
}

/// A table as narrow as the distances allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::machine) enum AnyTable {
    Narrow(Table<u8>),
    Wide(Table<u32>),
}

impl AnyTable {
    /// The distances between `num_places` places, row by row; O(n²), or O(n² log n) if more than 256 are distinct and some do not
    /// fit 32 bits.
    pub(in crate::machine) fn new(num_places: usize, distances: &[Distance]) -> Self {
        let Some(distinct) = few_distinct(distances) else {
            return AnyTable::Wide(Table::wide(num_places, distances));
        };
        let index = |distance: &Distance| distinct.partition_point(|other| other < distance) as u8;
        let mut entries = vec![0; distances.len()];
        threads::fill(&mut entries, |place| index(&distances[place]));
        let greatest = distinct.last().copied().unwrap_or(0);
        AnyTable::Narrow(Table::new(num_places, entries, distinct, greatest))
    }
}

/// The number of distances that a task looks at. Balances the cost of a task against idle threads.
const CHUNK: usize = 1 << 12;

/// The distinct distances, ascending, if there are at most 256. Gives up early if there are more.
fn few_distinct(distances: &[Distance]) -> Option<Vec<Distance>> {
    let few = |mut distances: Vec<Distance>| {
        distances.sort_unstable();
        distances.dedup();
        (distances.len() <= 1 << u8::BITS).then_some(distances)
    };
    let has_many = AtomicBool::new(false);
    let of_chunk = |chunk: usize| {
        let end = distances.len().min((chunk + 1) * CHUNK);
        let few = few(distances[chunk * CHUNK..end].to_vec());
        has_many.fetch_or(few.is_none(), Ordering::Relaxed);
        few
    };
    let stops = || has_many.load(Ordering::Relaxed);
    let chunks = threads::map_until(0..distances.len().div_ceil(CHUNK), &stops, &of_chunk);
    chunks.into_iter().try_fold(Vec::new(), |one, other| few([one, other?].concat()))
}

/// The rank of each distance among the distinct ones, and these, ascending.
fn ranked(distances: &[Distance]) -> (Vec<u32>, Vec<Distance>) {
    let mut sorted: Vec<(Distance, usize)> = distances.iter().copied().zip(0..).collect();
    threads::sort_by_key(&mut sorted, |&pair| pair);
    let (mut ranks, mut distinct) = (vec![0; distances.len()], Vec::new());
    for (distance, place) in sorted {
        if distinct.last() != Some(&distance) {
            distinct.push(distance);
        }
        ranks[place] = (distinct.len() - 1) as u32;
    }
    (ranks, distinct)
}

impl<E: Entry> Metric for Table<E> {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        self.distance(a, b)
    }

    fn max_distance(&self) -> Distance {
        self.greatest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances of 40 places, more than 256 distinct ones, all multiples of `unit` but 0.
    fn many(unit: Distance) -> Vec<Distance> {
        let between = |p: Distance, q: Distance| unit * (p.max(q) * 40 + p.min(q));
        (0..40).flat_map(|p| (0..40).map(move |q| if p == q { 0 } else { between(p, q) })).collect()
    }

    fn check<E: Entry>(table: &Table<E>, expected: &[Distance]) {
        for (place, &distance) in expected.iter().enumerate() {
            assert_eq!(table.distance(place as u32 / 40, place as u32 % 40), distance);
        }
        assert_eq!(Some(table.greatest()), expected.iter().copied().max());
    }

    #[test]
    fn distances_are_listed_only_where_they_are_few_or_large() {
        let few: Vec<Distance> = many(1).iter().map(|distance| (distance % 7) << 40).collect();
        match AnyTable::new(40, &few) {
            AnyTable::Narrow(table) => check(&table, &few),
            AnyTable::Wide(_) => panic!("a byte each is enough"),
        }
        for (unit, num_listed) in [(1, 0), (1 << 40, 781)] {
            match AnyTable::new(40, &many(unit)) {
                AnyTable::Narrow(_) => panic!("{unit}"),
                AnyTable::Wide(table) => {
                    check(&table, &many(unit));
                    assert_eq!(table.distinct.len(), num_listed);
                }
            }
        }
    }

    #[test]
    fn a_table_is_made_once() {
        let AnyTable::Wide(table) = AnyTable::new(40, &many(1)) else { panic!() };
        assert!(Arc::ptr_eq(&table.entries, &table.clone().entries));
    }
}
