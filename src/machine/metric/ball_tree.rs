//! BallTree around the parts of a machine: finding the places near a place without looking at all of them.
//!
//! A part lies within some radius of its centre. If the triangle inequality holds, no place in it is nearer than the distance to
//! the centre minus the radius; so most parts are skipped.

use std::ops::Range;

use crate::base::observer::Watch;
use crate::base::order;
use crate::base::threads;
use crate::base::types::{Cost, Distance, PeId, Weight};
use crate::machine::{DistanceOracle, Metric, Parts};

/// Number of places among which the centre of a part is chosen.
const SAMPLES: usize = 8;

/// The place of a range whose distances to some others of the range have the least sum of squares.
pub fn centre<M: Metric>(metric: &M, keys: &[M::Key], range: Range<usize>) -> PeId {
    let places: Vec<PeId> = spread(range, SAMPLES).collect();
    let squares = |&&place: &&PeId| -> i128 {
        let here = keys[place as usize];
        let squares =
            places.iter().map(|&other| i128::from(metric.between(here, keys[other as usize])).pow(2));
        squares.fold(0, i128::saturating_add)
    };
    *places.iter().min_by_key(squares).expect("a part has a place")
}

/// Returns at most `count` places of a range, evenly spread.
pub fn spread(range: Range<usize>, count: usize) -> impl Iterator<Item = PeId> {
    let count = range.len().min(count);
    (0..count).map(move |index| (range.start + (2 * index + 1) * range.len() / (2 * count)) as PeId)
}

/// A ball around each part, for metrics with the [triangle inequality](Metric::has_triangle_inequality).
///
/// Memory: a key and a distance per part.
pub struct BallTree<'a, K> {
    keys: &'a [K],
    parts: &'a Parts,
    /// Centre and radius of each part.
    balls: Vec<(K, Distance)>,
}

impl<'a, K: Copy + Send + Sync> BallTree<'a, K> {
    /// The balls of the parts, where place i has key `keys[i]`; O(depth · n) distances. The order of the parts must be that of the
    /// numbers of the places.
    pub fn new<M: Metric<Key = K>>(metric: &M, keys: &'a [K], parts: &'a Parts) -> Self {
        let ball = |part: usize| {
            let range = parts.range(part);
            let centre = keys[centre(metric, keys, range.clone()) as usize];
            let distances = keys[range].iter().map(|&key| metric.between(centre, key));
            (centre, distances.max().unwrap_or(0))
        };
        let balls = threads::map(parts.num_parts(), 64, &ball);
        Self { keys, parts, balls }
    }

    /// Visits all places within `bound` of a key, those of near parts first, each with its distance. The visitor returns the bound
    /// for the rest of the visit.
    pub fn visit<M: Metric<Key = K>>(
        &self,
        metric: &M,
        here: K,
        mut bound: Distance,
        mut visit: impl FnMut(PeId, Distance) -> Distance,
    ) {
        let least = |part: usize| metric.between(here, self.balls[part].0) - self.balls[part].1;
        let mut waiting = vec![(least(0), 0)];
        while let Some((distance, part)) = waiting.pop() {
            if distance > bound {
                continue;
            }
            let children = self.parts.children(part);
            if !children.is_empty() {
                // The nearest child comes first.
                let begin = waiting.len();
                waiting.extend(children.map(|child| (least(child), child)));
                order::descending(&mut waiting[begin..]);
                continue;
            }
            for place in self.parts.range(part) {
                let distance = metric.between(here, self.keys[place]);
                if distance <= bound {
                    bound = visit(place as PeId, distance);
                }
            }
        }
    }

    /// Visits the places whose cost is below `bound`, each with the difference: all of them, unless the visitor returns false or the run
    /// is to end.
    ///
    /// The cost of a place is at least that of its part's centre minus the radius times the weight of all messages.
    pub fn visit_cheaper<M: Metric<Key = K>>(
        &self,
        metric: &M,
        partners: &Partners<K>,
        bound: Cost,
        watch: &mut Watch<'_>,
        mut visit: impl FnMut(PeId, Cost) -> bool,
    ) {
        let mut waiting = vec![(Cost::MIN, 0)];
        while let Some((_, part)) = waiting.pop() {
            let children = self.parts.children(part);
            if !children.is_empty() {
                let begin = waiting.len();
                for child in children {
                    if watch.stops_after(partners.messages.len()) {
                        return;
                    }
                    let (centre, radius) = self.balls[child];
                    let enough = bound.saturating_add(partners.weight * radius);
                    let pays = partners.pays(metric, centre, enough);
                    if pays < enough {
                        waiting.push((pays, child));
                    }
                }
                // The cheapest child comes first.
                order::descending(&mut waiting[begin..]);
                continue;
            }
            for place in self.parts.range(part) {
                if watch.stops_after(partners.messages.len()) {
                    return;
                }
                let pays = partners.pays(metric, self.keys[place], bound);
                if pays < bound && !visit(place as PeId, bound - pays) {
                    return;
                }
            }
        }
    }
}

/// Places that receive messages of some weights.
pub struct Partners<K> {
    /// The key of each place, and the weight.
    messages: Vec<(K, Weight)>,
    weight: Weight,
}

impl<K: Copy> Partners<K> {
    /// These places, with non-negative weights.
    pub fn new(messages: impl Iterator<Item = (K, Weight)>) -> Self {
        let messages: Vec<(K, Weight)> = messages.collect();
        let weight = messages.iter().map(|&(_, weight)| weight).sum();
        Self { messages, weight }
    }

    /// The cost of a place: the sum of weight times distance, O(messages). If a partial sum reaches `enough`, that is returned.
    #[inline]
    pub fn pays<M: Metric<Key = K>>(&self, metric: &M, here: K, enough: Cost) -> Cost {
        let mut sum = 0;
        for &(key, weight) in &self.messages {
            sum += weight * metric.between(here, key);
            if sum >= enough {
                break;
            }
        }
        sum
    }
}

/// Finds the PEs near a PE in the fastest way there is: by stored rows of distances, by balls around parts, or by looking at all
/// PEs.
pub struct Neighbours<'a, O: DistanceOracle> {
    oracle: &'a O,
    balls: Option<BallTree<'a, O::Key>>,
    key_of: &'a [O::Key],
}

impl<'a, O: DistanceOracle> Neighbours<'a, O> {
    /// The vicinity of all PEs, whose keys are `key_of`. The order of the parts, if given, must be that of the numbers of the PEs.
    pub fn new(oracle: &'a O, key_of: &'a [O::Key], parts: Option<&'a Parts>) -> Self {
        let has_rows = !key_of.is_empty() && oracle.row(0).is_some();
        let parts = parts.filter(|_| !has_rows && oracle.has_triangle_inequality());
        Self { oracle, balls: parts.map(|parts| BallTree::new(oracle, key_of, parts)), key_of }
    }

    /// Visits all PEs within `bound` of a PE, each with its distance. The visitor returns the bound for the rest of the visit.
    pub fn visit(&self, pe: PeId, mut bound: Distance, mut visit: impl FnMut(PeId, Distance) -> Distance) {
        let here = self.key_of[pe as usize];
        if let Some(row) = self.oracle.row(pe) {
            return scan_row(row, bound, visit);
        }
        if let Some(balls) = &self.balls {
            return balls.visit(self.oracle, here, bound, visit);
        }
        for (other, &key) in (0..).zip(self.key_of) {
            let distance = self.oracle.between(here, key);
            if distance <= bound {
                bound = visit(other, distance);
            }
        }
    }

    /// Visits the PEs whose cost is below that of a PE, each with the difference: all of them, unless the visitor returns false or the run is to
    /// end. For metrics with the [triangle inequality](Metric::has_triangle_inequality).
    pub fn visit_cheaper(
        &self,
        pe: PeId,
        partners: &Partners<O::Key>,
        watch: &mut Watch<'_>,
        mut visit: impl FnMut(PeId, Cost) -> bool,
    ) {
        let pays = partners.pays(self.oracle, self.key_of[pe as usize], Cost::MAX);
        if pays == 0 {
            return;
        }
        if let Some(balls) = &self.balls {
            return balls.visit_cheaper(self.oracle, partners, pays, watch, visit);
        }
        // At distance d, the cost is at least d times the weight minus the cost here. No overflow: the cost of a process is part of half of J.
        let bound = (2 * pays - 1) / partners.weight;
        self.visit(pe, bound, |other, _| {
            if watch.stops_after(partners.messages.len()) {
                return -1;
            }
            let pays_there = partners.pays(self.oracle, self.key_of[other as usize], pays);
            // A bound below all distances ends the visit.
            if pays_there < pays && !visit(other, pays - pays_there) { -1 } else { bound }
        });
    }
}

/// Visits the entries of a row that do not exceed a bound.
fn scan_row(row: &[u8], mut bound: Distance, mut visit: impl FnMut(PeId, Distance) -> Distance) {
    // In chunks, so that the comparisons of a chunk are vectorised.
    const CHUNK: usize = 32;
    for (index, chunk) in row.chunks(CHUNK).enumerate() {
        let least = bound.clamp(-1, Distance::from(u8::MAX)) as i16;
        if chunk.iter().fold(false, |any, &distance| any | (i16::from(distance) <= least)) {
            for (other, &distance) in (index * CHUNK..).zip(chunk) {
                if Distance::from(distance) <= bound {
                    bound = visit(other as PeId, Distance::from(distance));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::machine::{DistanceMatrix, Grid, Hierarchy, Hypercube, Machine, with_oracle};

    /// Compares visits of all PEs with a look at all others. `way` is the method that should be used: rows, balls or a scan.
    fn compare<O: DistanceOracle>(oracle: &O, way: (bool, bool), rng: &mut Rng) {
        let n = oracle.num_pes();
        let key_of: Vec<O::Key> = (0..n as PeId).map(|pe| oracle.key(pe)).collect();
        let parts = Parts::divide((0..n as PeId).collect(), |pes| match pes.len() {
            0..=3 => Vec::new(),
            n => vec![n / 3, n - n / 3],
        });
        let vicinity = Neighbours::new(oracle, &key_of, Some(&parts));
        assert_eq!((oracle.row(0).is_some(), vicinity.balls.is_some()), way);
        let max = oracle.max_distance();
        for pe in 0..n as PeId {
            let sorted = |bound: Distance| -> Vec<(PeId, Distance)> {
                let all = (0..n as PeId).map(|other| (other, oracle.distance(pe, other)));
                all.filter(|&(_, distance)| distance <= bound).collect()
            };
            for bound in [-1, 0, 1, max / 3, max / 2, max, Distance::MAX] {
                let mut found = Vec::new();
                vicinity.visit(pe, bound, |other, distance| {
                    found.push((other, distance));
                    bound
                });
                found.sort_unstable();
                assert_eq!(found, sorted(bound), "{pe} {bound}");
            }
            let some: Vec<(PeId, Weight)> =
                (0..4).map(|_| (rng.below(n as u32), Weight::from(rng.below(5)))).collect();
            let pays = |pe: PeId| some.iter().map(|&(to, weight)| weight * oracle.distance(pe, to)).sum();
            let partners = Partners::new(some.iter().map(|&(to, weight)| (oracle.key(to), weight)));
            if oracle.has_triangle_inequality() {
                let mut found = Vec::new();
                let watch = &mut Watch::new(&());
                vicinity.visit_cheaper(pe, &partners, watch, |other, saving| {
                    found.push((other, pays(pe) - saving));
                    true
                });
                found.sort_unstable();
                let all = (0..n as PeId).map(|other| (other, pays(other)));
                assert_eq!(found, all.filter(|&(_, there)| there < pays(pe)).collect::<Vec<(_, Cost)>>());
            }
            // With a bound that falls, nothing that is within the last one is missed.
            let mut found = Vec::new();
            let mut last = max;
            vicinity.visit(pe, max, |other, distance| {
                assert!(distance <= last);
                found.push((other, distance));
                last -= Distance::from(rng.below(3)).min(last);
                last
            });
            found.retain(|&(_, distance)| distance <= last);
            found.sort_unstable();
            assert_eq!(found, sorted(last), "{pe}");
        }
    }

    #[test]
    fn rows_balls_and_scans_find_what_a_look_at_all_finds() {
        let mut rng = Rng::new(3);
        let mut list: Vec<PeId> = (0..300).map(|_| rng.below(81)).collect();
        list.extend(0..81);
        let torus = Grid::torus(&[9, 9]).unwrap().distances().unwrap();
        let tree = Machine::distances(&Hierarchy::parse("9:9", "1:10").unwrap()).unwrap();
        let (rows, balls, scan) = ((true, false), (false, true), (false, false));
        let far = DistanceMatrix::from_fn(70, |p, q| Distance::from(p ^ q).pow(2)).unwrap();
        let cases = [
            (tree.clone().tabulated(), rows),
            (tree.listed(&list).tabulated(), rows),
            (torus.clone().tabulated(), balls),
            (torus.listed(&list), balls),
            (Grid::mesh(&[97]).unwrap().distances().unwrap(), balls),
            (Hypercube::new(7).unwrap().distances().unwrap(), balls),
            (far.distances().unwrap(), scan),
            (far.distances().unwrap().tabulated(), scan),
            (Hypercube::new(0).unwrap().distances().unwrap(), balls),
            (Machine::distances(&Hierarchy::single()).unwrap().tabulated(), rows),
        ];
        for (distances, way) in cases {
            with_oracle!(&distances, |oracle| compare(oracle, way, &mut rng));
        }
    }
}
