//! For each place of a machine, the places nearest to it.

use std::ops::Range;

use crate::base::observer::Observer;
use crate::base::threads;
use crate::base::types::{Distance, PeId};
use crate::machine::{DistanceOracle, Metric, Neighbours, Parts};

/// Places are listed in order of distance while there are at most this many.
const ENOUGH: usize = 8;

/// Upper limit on the places listed at one distance.
const MOST: usize = 32;

/// Places drawn at once. Two give too little choice; with eight, most evaluations are wasted.
pub(super) const FEW: usize = 4;

/// Lists of near places.
#[derive(Clone, Debug)]
pub struct Near {
    offsets: Vec<u32>,
    /// List by list. The first places of each list are repeated at its end, so that a draw near the end wraps
    /// around.
    places: Vec<PeId>,
    /// See [`least`](Self::least).
    least: Vec<Distance>,
}

/// Candidates for the places nearest to a place, as offsets from it. Offsets make different places list
/// different candidates when many are equally far away.
#[derive(Default)]
struct Candidates {
    /// Those at distance 0.
    alike: Vec<PeId>,
    /// All others, with their distances.
    beyond: Vec<(Distance, PeId)>,
}

/// The places near a place.
struct List {
    places: Vec<PeId>,
    /// The distances of the nearest places, in ascending order.
    distances: Vec<Distance>,
}

impl Near {
    /// The places near each place of a machine, where place i is at `key_of[i]`: those at distance 0, and
    /// those at the smallest positive distances while they are few.
    ///
    /// Parts, if given, cover the places in numerical order. With parts, this takes O(n log n) distances on
    /// machines of few dimensions. Without parts, or if a detour may be shorter than the direct distance, it
    /// takes O(n²). Once the observer asks to stop, a place is near only itself.
    pub fn new<O: DistanceOracle>(
        oracle: &O,
        key_of: &[O::Key],
        parts: Option<&Parts>,
        observer: &dyn Observer,
    ) -> Self {
        let vicinity = Neighbours::new(oracle, key_of, parts);
        Self::collect(key_of.len(), observer, &|place, found| nearest(&vicinity, place, found))
    }

    /// The same for selected places of a metric; O(n²) distances.
    pub fn among<M: Metric>(metric: &M, key_of: &[M::Key], observer: &dyn Observer) -> Self {
        Self::collect(key_of.len(), observer, &|place, found| scan(metric, key_of, place, found))
    }

    fn collect(count: usize, observer: &dyn Observer, find: &(dyn Fn(PeId, &mut Candidates) + Sync)) -> Self {
        // A place takes microseconds.
        const PLACES: usize = 64;
        let of_places = |places: Range<usize>| -> Vec<List> {
            let mut found = Candidates::default();
            let mut list = |place: PeId| {
                if !observer.should_stop() {
                    find(place, &mut found);
                }
                found.take(place)
            };
            places.map(|place| list(place as PeId)).collect()
        };
        let lists: Vec<List> = threads::map_ranges(count, PLACES, &of_places).into_iter().flatten().collect();
        let mut offsets = Vec::with_capacity(count + 1);
        offsets.push(0);
        let mut places = Vec::with_capacity(lists.iter().map(|list| list.places.len() + FEW - 1).sum());
        let mut least = lists.first().map_or_else(Vec::new, |list| list.distances.clone());
        for list in lists {
            places
                .extend(list.places.iter().copied().chain(list.places.iter().copied().cycle().take(FEW - 1)));
            offsets.push(places.len() as u32);
            least.truncate(list.distances.len());
            for (least, distance) in least.iter_mut().zip(list.distances) {
                *least = distance.min(*least);
            }
        }
        Self { offsets, places, least }
    }

    /// Entry i is the smallest distance, over all places, to the i-th nearest other place. Places beyond the
    /// end of the list are at least as far away as the last entry. Empty if there is only one place.
    pub(crate) fn least(&self) -> &[Distance] {
        &self.least
    }

    /// The position of the list of a place.
    #[inline]
    fn list(&self, place: PeId) -> Range<usize> {
        self.offsets[place as usize] as usize..self.offsets[place as usize + 1] as usize - (FEW - 1)
    }

    /// The places near a place, nearest first; the place itself if there is no other.
    #[inline]
    pub fn of(&self, place: PeId) -> &[PeId] {
        &self.places[self.list(place)]
    }

    /// Consecutive places in the list of a place, selected by eight random bits. Short lists repeat places.
    #[inline]
    pub(super) fn pick(&self, place: PeId, bits: u32) -> [PeId; FEW] {
        let list = self.list(place);
        let first = list.start + ((bits as usize * list.len()) >> 8);
        self.places[first..first + FEW].try_into().expect("the first places are repeated")
    }
}

impl Candidates {
    /// Adds a place. Returns the distance from which further places are not needed.
    fn add(&mut self, distance: Distance, offset: PeId) -> Distance {
        if distance == 0 {
            self.alike.push(offset);
            if self.alike.len() > 2 * MOST {
                self.alike.select_nth_unstable(MOST);
                self.alike.truncate(MOST);
            }
        } else {
            self.beyond.push((distance, offset));
            if self.beyond.len() > 2 * MOST {
                self.beyond.select_nth_unstable(MOST);
                self.beyond.truncate(MOST + 1);
                return self.beyond[MOST].0;
            }
        }
        Distance::MAX
    }

    /// The list of the place; clears the candidates.
    fn take(&mut self, place: PeId) -> List {
        let Self { alike, beyond } = self;
        alike.sort_unstable();
        alike.truncate(MOST);
        beyond.sort_unstable();
        let first = beyond.partition_point(|&(distance, _)| distance == beyond[0].0).min(MOST);
        let mut end = first;
        while end < beyond.len() {
            let next = beyond.partition_point(|&(distance, _)| distance <= beyond[end].0);
            if next > ENOUGH {
                break;
            }
            end = next;
        }
        // The place itself if there is no other.
        let own = Some(0).filter(|_| alike.is_empty() && beyond.is_empty());
        let offsets = alike.iter().copied().chain(beyond[..end].iter().map(|&(_, offset)| offset)).chain(own);
        let places = offsets.map(|offset| place.wrapping_add(offset)).collect();
        // Places farther away may have been skipped.
        let mut distances = vec![0; alike.len()];
        if alike.len() < MOST {
            distances.extend(beyond.iter().take(MOST).map(|&(distance, _)| distance));
        }
        alike.clear();
        beyond.clear();
        List { places, distances }
    }
}

/// All other places.
fn scan<M: Metric>(metric: &M, keys: &[M::Key], place: PeId, found: &mut Candidates) {
    let here = keys[place as usize];
    for other in (0..keys.len() as PeId).filter(|&other| other != place) {
        found.add(metric.between(here, keys[other as usize]), other.wrapping_sub(place));
    }
}

/// The nearest places, and possibly some more.
fn nearest<O: DistanceOracle>(vicinity: &Neighbours<'_, O>, place: PeId, found: &mut Candidates) {
    // Places farther away are not needed.
    let mut bound = Distance::MAX;
    vicinity.visit(place, bound, |other, distance| {
        if other != place {
            bound = bound.min(found.add(distance, other.wrapping_sub(place)));
        }
        bound
    });
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Instant;

    use super::*;
    use crate::base::observer::Limited;
    use crate::base::rng::Rng;
    use crate::graph::GraphBuilder;
    use crate::machine::{
        Dimension, DistanceMatrix, Distances, Grid, Hierarchy, Hypercube, Machine, Network, with_oracle,
    };
    use crate::testing::{in_halves, random_edges};

    /// A random connected network of PEs.
    fn network(num_pes: usize, longest: u32, rng: &mut Rng) -> Network {
        let mut links = random_edges(num_pes, num_pes, rng);
        links.extend((1..num_pes as u32).map(|v| (rng.below(v), v)));
        let mut builder = GraphBuilder::new(num_pes);
        for (u, v) in links {
            builder.add_edge(u, v, Distance::from(rng.below(longest)) + 1);
        }
        Network::new(builder.build().unwrap()).unwrap()
    }

    fn matrix(num_pes: usize, longest: u32, rng: &mut Rng) -> DistanceMatrix {
        let mut distances = vec![0; num_pes * num_pes];
        for p in 0..num_pes {
            for q in 0..p {
                let distance = Distance::from(rng.below(longest + 1));
                (distances[p * num_pes + q], distances[q * num_pes + p]) = (distance, distance);
            }
        }
        DistanceMatrix::new(num_pes, distances).unwrap()
    }

    /// Distances of random machines of all kinds, with PEs in order and shuffled, some repeated. Small
    /// machines also appear as rows.
    pub fn every_kind(rng: &mut Rng) -> Vec<Distances> {
        let long = |length| Dimension { length, is_closed: length % 2 == 0 };
        let pair = Hierarchy::parse("2:2", "1:3").unwrap();
        let machines: Vec<Box<dyn Machine>> = vec![
            Box::new(Hierarchy::parse("3:4:5", "1:10:100").unwrap()),
            Box::new(Grid::mesh(&[71]).unwrap()),
            Box::new(Grid::torus(&[7, 9]).unwrap()),
            Box::new(Grid::new(vec![long(5), long(4)], pair, 2).unwrap()),
            Box::new(Grid::new(vec![long(7), long(8)], Hierarchy::single(), 300).unwrap()),
            Box::new(Hypercube::new(6).unwrap()),
            Box::new(network(60, 4, rng)),
            Box::new(network(60, 900, rng)),
            Box::new(matrix(60, 20, rng)),
            Box::new(matrix(60, 2000, rng)),
            Box::new(matrix(2, 5, rng)),
            Box::new(Hierarchy::single()),
        ];
        let mut all = Vec::new();
        for machine in machines {
            let distances = machine.distances().unwrap();
            let n = machine.num_pes() as PeId;
            let mixed: Vec<PeId> =
                (0..n + n / 4).map(|place| if place < n { n - 1 - place } else { rng.below(n) }).collect();
            let mixed = distances.listed(&mixed);
            all.extend([distances.clone().tabulated(), distances, mixed.clone().tabulated(), mixed]);
        }
        all
    }

    /// Compares the lists with a scan of all places.
    fn compare<O: DistanceOracle>(oracle: &O) {
        let n = oracle.num_pes();
        let key_of: Vec<O::Key> = (0..n as PeId).map(|place| oracle.key(place)).collect();
        let parts = in_halves(n);
        let expected: Vec<Vec<PeId>> = (0..n as PeId).map(|place| by_definition(oracle, place)).collect();
        let found = [
            Near::new(oracle, &key_of, Some(&parts), &()),
            Near::new(oracle, &key_of, None, &()),
            Near::among(oracle, &key_of, &()),
        ];
        for near in found {
            check_least(oracle, near.least());
            for place in 0..n as PeId {
                assert_eq!(near.of(place), expected[place as usize], "{place} of {n}");
                let round = || near.of(place).iter().copied().cycle();
                assert!(round().take(FEW).eq(near.pick(place, 0)));
                assert!(round().skip(near.of(place).len() - 1).take(FEW).eq(near.pick(place, 255)));
            }
        }
    }

    /// All places at distance 0 and all places at the smallest positive distance, up to [`MOST`] each, then
    /// those at the next distances while the total is at most [`ENOUGH`]. Places at the same distance are in
    /// the order of their offsets, wrapping around.
    fn by_definition<O: DistanceOracle>(oracle: &O, place: PeId) -> Vec<PeId> {
        let n = oracle.num_pes() as PeId;
        let round: Vec<PeId> = (place + 1..n).chain(0..place).collect();
        let mut distances: Vec<Distance> = round.iter().map(|&other| oracle.distance(place, other)).collect();
        distances.retain(|&distance| distance > 0);
        distances.sort_unstable();
        distances.dedup();
        let alike = round.iter().copied().filter(|&other| oracle.distance(place, other) == 0);
        let alike: Vec<PeId> = alike.take(MOST).collect();
        let mut list = Vec::new();
        for distance in distances {
            let at = round.iter().copied().filter(|&other| oracle.distance(place, other) == distance);
            if list.is_empty() {
                list.extend(at.take(MOST));
            } else if list.len() + at.clone().count() <= ENOUGH {
                list.extend(at);
            } else {
                break;
            }
        }
        list.splice(0..0, alike);
        if list.is_empty() { vec![place] } else { list }
    }

    /// Asserts that `least[i]` is the smallest distance to the i-th nearest place, over all places.
    fn check_least<O: DistanceOracle>(oracle: &O, least: &[Distance]) {
        let n = oracle.num_pes() as PeId;
        let rows: Vec<Vec<Distance>> = (0..n)
            .map(|place| {
                let others = (0..n).filter(|&other| other != place);
                let mut row: Vec<Distance> = others.map(|other| oracle.distance(place, other)).collect();
                row.sort_unstable();
                row
            })
            .collect();
        assert!(least.len() >= MOST.min(n as usize - 1));
        for (index, &least) in least.iter().enumerate() {
            assert_eq!(rows.iter().map(|row| row[index]).min(), Some(least), "{index} of {n}");
        }
    }

    #[test]
    fn lists_agree_with_a_scan_of_all_places() {
        for distances in every_kind(&mut Rng::new(2)) {
            with_oracle!(&distances, |oracle| compare(oracle));
        }
        compare(&Grid::mesh(&[1]).unwrap().distances().unwrap());
    }

    #[test]
    fn once_a_run_must_end_places_are_near_only_themselves() {
        let oracle = Hierarchy::parse("3:4", "1:10").unwrap().online32().unwrap();
        let key_of: Vec<_> = (0..12).map(|place| oracle.key(place)).collect();
        let ended = Limited { observer: &(), deadline: Some(Instant::now()), bound: 0 };
        for near in [Near::new(&oracle, &key_of, None, &ended), Near::among(&oracle, &key_of, &ended)] {
            assert!(near.least().is_empty() && (0..12).all(|place| near.of(place) == [place]));
        }
    }
}
