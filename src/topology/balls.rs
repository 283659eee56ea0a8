//! Balls around the parts of a machine: finding what is near a place without looking at everything.
//!
//! A part lies within some radius of its centre. If no way is shorter with a stop, nothing in it is nearer to a place than
//! the distance of the centre less the radius; so most parts are passed over.

use std::ops::Range;

use rayon::prelude::*;

use super::{Metric, Parts};
use crate::types::{Distance, PeId};

/// Places that are looked at to find the centre of a part.
const SAMPLES: usize = 8;

/// The place of a range with the least squares of distances to some others of it.
pub fn centre<M: Metric>(metric: &M, keys: &[M::Key], range: Range<usize>) -> PeId {
    let places: Vec<PeId> = spread(range, SAMPLES).collect();
    let squares = |&&place: &&PeId| -> i128 {
        let here = keys[place as usize];
        places.iter().map(|&other| i128::from(metric.between(here, keys[other as usize])).pow(2)).sum()
    };
    *places.iter().min_by_key(squares).expect("a part has a place")
}

/// At most `count` places of a range, evenly spread.
pub fn spread(range: Range<usize>, count: usize) -> impl Iterator<Item = PeId> {
    let count = range.len().min(count);
    (0..count).map(move |index| (range.start + (2 * index + 1) * range.len() / (2 * count)) as PeId)
}

/// A ball around each part, for metrics with the [triangle inequality](Metric::has_triangle_inequality).
///
/// Memory: a key and a distance a part.
pub struct Balls<'a, K> {
    keys: &'a [K],
    parts: &'a Parts,
    /// Centre and radius of each part.
    balls: Vec<(K, Distance)>,
}

impl<'a, K: Copy + Send + Sync> Balls<'a, K> {
    /// The balls of the parts, where place i is at `keys[i]`; O(depth · n) distances. Parts must be over the places in the
    /// order of their numbers.
    pub fn new<M: Metric<Key = K>>(metric: &M, keys: &'a [K], parts: &'a Parts) -> Self {
        let ball = |part: usize| {
            let range = parts.range(part);
            let centre = keys[centre(metric, keys, range.clone()) as usize];
            let distances = keys[range].iter().map(|&key| metric.between(centre, key));
            (centre, distances.max().unwrap_or(0))
        };
        let balls = (0..parts.num_parts()).into_par_iter().map(ball).collect();
        Self { keys, parts, balls }
    }

    /// Visits all places that are not farther from a key than `bound`, those of near parts first, each with its distance.
    /// The visitor returns the bound from then on.
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
                // The nearest child is looked at first.
                let begin = waiting.len();
                waiting.extend(children.map(|child| (least(child), child)));
                waiting[begin..].sort_unstable_by(|a, b| b.cmp(a));
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
}
