//! Distances in grids by the difference of two keys.
//!
//! The distance of two vertices of a grid depends only on their difference in each dimension. The key of a vertex
//! is its number in a grid where a dimension of length L has length 2 L - 1. So the difference of two keys determines the differences in
//! all dimensions, and a table has the distance for each. It has some thousands of entries where a table of all pairs has
//! millions, and stays in the first-level cache.
//!
//! Memory: a byte for each of the (2 L - 1) (2 L' - 1) … differences.

use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::machine::{Dimension, Metric, costs_in_rows};

/// Most entries of a table: that many take a quarter of a second-level cache.
const MOST_ENTRIES: u32 = 1 << 18;

/// The distance for each difference of two keys.
#[derive(Clone, Debug)]
pub struct Differences {
    /// The distance for difference d is at `middle + d`. Keys are at most `middle`.
    distances: Vec<u8>,
    middle: usize,
    /// The difference between the keys of two neighbours, by dimension.
    strides: Vec<PeId>,
    max_distance: Distance,
}

impl Differences {
    /// The distances in a grid of these dimensions and this length of a hop; none if they are too many or too long.
    pub(in crate::machine) fn new(dimensions: &[Dimension], hop: Distance) -> Option<Self> {
        let mut strides = Vec::with_capacity(dimensions.len());
        let mut entries: u32 = 1;
        for dimension in dimensions {
            strides.push(entries);
            let span = dimension.length.checked_mul(2)? - 1;
            entries = entries.checked_mul(span).filter(|&entries| entries <= MOST_ENTRIES)?;
        }
        let mut distances: Vec<u8> = vec![0];
        for dimension in dimensions {
            let reach = dimension.length - 1;
            let gaps = (1..=reach).rev().chain(0..=reach);
            let rows = gaps.map(|gap| further(&distances, dimension.hops(gap).checked_mul(hop)?));
            distances = rows.collect::<Option<Vec<Vec<u8>>>>()?.concat();
        }
        let max_distance = distances.iter().copied().max().map_or(0, Distance::from);
        Some(Self { middle: distances.len() / 2, distances, strides, max_distance })
    }

    /// The key of the vertex with these coordinates.
    pub(in crate::machine) fn key(&self, coordinates: impl Iterator<Item = u32>) -> PeId {
        coordinates.zip(&self.strides).map(|(coordinate, stride)| coordinate * stride).sum()
    }

    /// The distances to all keys, by key.
    #[inline]
    fn row(&self, key: PeId) -> &[u8] {
        &self.distances[self.middle - key as usize..][..=self.middle]
    }
}

/// These distances plus `more`, if they fit a byte.
fn further(distances: &[u8], more: Distance) -> Option<Vec<u8>> {
    let more = u8::try_from(more).ok()?;
    distances.iter().map(|distance| distance.checked_add(more)).collect()
}

impl Metric for Differences {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        Distance::from(self.distances[self.middle + b as usize - a as usize])
    }

    #[inline(always)]
    fn costs<W: Copy + Into<Weight>, const N: usize>(
        &self,
        from: [PeId; N],
        arcs: &[(NodeId, W)],
        keys: &[PeId],
    ) -> [Cost; N] {
        costs_in_rows(from.map(|key| self.row(key)), arcs, keys)
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    fn has_triangle_inequality(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::machine::{DistanceOracle as _, Distances, Grid, Hierarchy, Hypercube, Machine, with_oracle};

    /// The distances of all pairs of PEs.
    fn pairs(distances: &Distances) -> Vec<Distance> {
        let pes = 0..distances.num_pes() as PeId;
        let pairs = pes.clone().flat_map(|p| pes.clone().map(move |q| (p, q)));
        let all: Vec<Distance> =
            with_oracle!(distances, |oracle| pairs.map(|(p, q)| oracle.distance(p, q)).collect());
        assert_eq!(all.iter().max(), Some(&distances.max_distance()));
        all
    }

    #[test]
    fn distances_are_those_of_the_coordinates() {
        let mut rng = Rng::new(7);
        for round in 0..40 {
            let length = |rng: &mut Rng| Dimension { length: 1 + rng.below(5), is_closed: rng.below(2) == 0 };
            let dimensions: Vec<Dimension> = (0..round % 5).map(|_| length(&mut rng)).collect();
            let hop = Distance::from(rng.below(4));
            let grid = Grid::new(dimensions.clone(), Hierarchy::single(), hop).unwrap();
            let coordinates = |mut pe: PeId| -> Vec<u32> {
                let digit = |dimension: &Dimension| {
                    let digit = pe % dimension.length;
                    pe /= dimension.length;
                    digit
                };
                dimensions.iter().map(digit).collect()
            };
            let n = grid.num_pes() as PeId;
            let expected = (0..n * n).map(|pair| {
                let (p, q) = (coordinates(pair / n), coordinates(pair % n));
                let hops = dimensions.iter().zip(p.iter().zip(q)).map(|(dimension, (&a, b))| {
                    let gap = Distance::from(a.abs_diff(b));
                    if dimension.is_closed { gap.min(Distance::from(dimension.length) - gap) } else { gap }
                });
                hop * hops.sum::<Distance>()
            });
            let distances = grid.distances().unwrap();
            assert!(matches!(distances, Distances::Differences(_)));
            assert_eq!(pairs(&distances), expected.collect::<Vec<_>>(), "{dimensions:?}");
        }
    }

    #[test]
    fn a_hypercube_is_a_torus_of_rings_of_four() {
        for dimension in 0..8 {
            let distances = Hypercube::new(dimension).unwrap().distances().unwrap();
            assert!(matches!(distances, Distances::Differences(_)));
            let n: PeId = 1 << dimension;
            let expected = (0..n * n).map(|pair| Distance::from(((pair / n) ^ (pair % n)).count_ones()));
            assert_eq!(pairs(&distances), expected.collect::<Vec<_>>(), "{dimension}");
        }
    }

    #[test]
    fn what_is_too_large_or_too_far_has_no_table() {
        let line = |length| [Dimension { length, is_closed: false }];
        assert!(Differences::new(&line(256), 1).is_some());
        assert!(Differences::new(&line(257), 1).is_none());
        assert!(Differences::new(&line(2), 256).is_none());
        assert!(Differences::new(&line(2), Distance::MAX).is_none());
        assert!(Differences::new(&[line(200)[0]; 3], 0).is_none());
        assert!(Differences::new(&line(u32::MAX), 0).is_none());
    }
}
