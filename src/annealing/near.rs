//! For each place of a machine, the places nearest to it.

use rayon::prelude::*;

use crate::topology::{DistanceOracle, Metric, Parts, Vicinity};
use crate::types::{Distance, PeId};

/// The places of the least distances are listed while they are not more than this.
const ENOUGH: usize = 8;

/// All places of the least distance are listed up to this number.
const MOST: usize = 32;

/// Lists of near places.
#[derive(Clone, Debug)]
pub struct Near {
    offsets: Vec<u32>,
    places: Vec<PeId>,
}

impl Near {
    /// The places near each place of a machine, where place i is at `key_of[i]`: all those at the least distances while they
    /// are few. Places at distance 0 are passed over, unless there are no others.
    ///
    /// Parts, if given, are over the places in the order of their numbers. With them it takes O(n log n) distances on
    /// machines of few dimensions; without, and where ways with a stop may be shorter, O(n²).
    pub fn new<O: DistanceOracle>(oracle: &O, key_of: &[O::Key], parts: Option<&Parts>) -> Self {
        let vicinity = Vicinity::new(oracle, key_of, parts);
        Self::collect(key_of.len(), |place, found| nearest(&vicinity, place, found))
    }

    /// The same for some places of a metric; O(n²) distances.
    pub fn among<M: Metric>(metric: &M, key_of: &[M::Key]) -> Self {
        Self::collect(key_of.len(), |place, found| scan(metric, key_of, place, found))
    }

    fn collect(count: usize, find: impl Fn(PeId, &mut Vec<(Distance, PeId)>) + Sync) -> Self {
        let lists: Vec<Vec<PeId>> = (0..count as PeId)
            .into_par_iter()
            .with_min_len(64)
            .map_init(Vec::new, |found, place| {
                found.clear();
                find(place, found);
                list(found, place)
            })
            .collect();
        let mut offsets = Vec::with_capacity(count + 1);
        offsets.push(0);
        let mut places = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for list in lists {
            places.extend(list);
            offsets.push(places.len() as u32);
        }
        Self { offsets, places }
    }

    /// The places near a place, nearest first; the place itself if there is no other.
    #[inline]
    pub fn of(&self, place: PeId) -> &[PeId] {
        &self.places[self.offsets[place as usize] as usize..self.offsets[place as usize + 1] as usize]
    }

    /// A place near a place, drawn by eight random bits.
    #[inline]
    pub(super) fn pick(&self, place: PeId, bits: u32) -> PeId {
        let near = self.of(place);
        near[(bits as usize * near.len()) >> 8]
    }
}

/// The nearest places, of candidates that are all nearer than all others. A candidate is told by its distance and by its
/// number less that of the place, so that of many at one distance each place has others.
fn list(found: &mut [(Distance, PeId)], place: PeId) -> Vec<PeId> {
    found.sort_unstable();
    let Some(&(least, _)) = found.first() else { return vec![place] };
    let first = found.partition_point(|&(distance, _)| distance == least).min(MOST);
    let mut end = first;
    while end < found.len() {
        let next = found.partition_point(|&(distance, _)| distance <= found[end].0);
        if next > ENOUGH {
            break;
        }
        end = next;
    }
    found[..end].iter().map(|&(_, offset)| place.wrapping_add(offset)).collect()
}

/// All other places.
fn scan<M: Metric>(metric: &M, keys: &[M::Key], place: PeId, found: &mut Vec<(Distance, PeId)>) {
    let here = keys[place as usize];
    let others = (0..keys.len() as PeId).filter(|&other| other != place);
    found.extend(others.map(|other| (metric.between(here, keys[other as usize]), other.wrapping_sub(place))));
    found.retain(|&(distance, _)| distance > 0);
    if found.len() > MOST {
        found.select_nth_unstable(MOST);
        found.truncate(MOST + 1);
    }
}

/// The nearest places, and perhaps some more.
fn nearest<O: DistanceOracle>(vicinity: &Vicinity<'_, O>, place: PeId, found: &mut Vec<(Distance, PeId)>) {
    // What is farther than this is not needed.
    let mut bound = Distance::MAX;
    vicinity.visit(place, bound, |other, distance| {
        if distance > 0 {
            found.push((distance, other.wrapping_sub(place)));
        }
        if found.len() > 2 * MOST {
            found.select_nth_unstable(MOST);
            found.truncate(MOST + 1);
            bound = found[MOST].0;
        }
        bound
    });
}
