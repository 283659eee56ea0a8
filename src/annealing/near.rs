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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::rng::Rng;
    use crate::testing::random_edges;
    use crate::topology::{
        Dimension, DistanceMatrix, DistanceVisitor, Distances, Grid, Hierarchy, Hypercube, Machine, Network,
    };

    /// Parts over so many places in the order of their numbers, down to a few places.
    pub fn in_halves(num_places: usize) -> Parts {
        Parts::divide((0..num_places as PeId).collect(), |places| match places.len() {
            0..=3 => Vec::new(),
            n => vec![n / 2, n - n / 2],
        })
    }

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

    /// Distances of random machines of all kinds, in the order of their PEs and mixed up, some PEs twice; all of them
    /// also as rows where the machine is small enough.
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
            let mixed = distances.clone().listed(&mixed);
            all.extend([distances.clone().tabulated(), distances, mixed.clone().tabulated(), mixed]);
        }
        all
    }

    /// The number of PEs.
    pub struct Count;

    impl DistanceVisitor for Count {
        type Output = usize;
        fn visit<O: DistanceOracle>(self, oracle: &O) -> usize {
            oracle.num_pes()
        }
    }

    /// Compares the lists with a look at all places.
    struct Compare;

    impl DistanceVisitor for Compare {
        type Output = ();
        fn visit<O: DistanceOracle>(self, oracle: &O) {
            let n = oracle.num_pes();
            let key_of: Vec<O::Key> = (0..n as PeId).map(|place| oracle.key(place)).collect();
            let parts = in_halves(n);
            let expected: Vec<Vec<PeId>> = (0..n as PeId).map(|place| by_definition(oracle, place)).collect();
            let found = [
                Near::new(oracle, &key_of, Some(&parts)),
                Near::new(oracle, &key_of, None),
                Near::among(oracle, &key_of),
            ];
            for near in found {
                for place in 0..n as PeId {
                    assert_eq!(near.of(place), expected[place as usize], "{place} of {n}");
                    assert_eq!(near.pick(place, 0), near.of(place)[0]);
                    assert_eq!(near.pick(place, 255), *near.of(place).last().unwrap());
                }
            }
        }
    }

    /// All places at the least distance up to [`MOST`], and those at the next distances while all are not more than
    /// [`ENOUGH`]; of one distance in the order of their numbers from the place on, round the end.
    fn by_definition<O: DistanceOracle>(oracle: &O, place: PeId) -> Vec<PeId> {
        let n = oracle.num_pes() as PeId;
        let round: Vec<PeId> = (place + 1..n).chain(0..place).collect();
        let mut distances: Vec<Distance> = round.iter().map(|&other| oracle.distance(place, other)).collect();
        distances.retain(|&distance| distance > 0);
        distances.sort_unstable();
        distances.dedup();
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
        if list.is_empty() { vec![place] } else { list }
    }

    #[test]
    fn lists_are_those_of_a_look_at_all_places() {
        for distances in every_kind(&mut Rng::new(2)) {
            distances.visit(Compare);
        }
        Grid::mesh(&[1]).unwrap().distances().unwrap().visit(Compare);
    }
}
