//! Recursive coordinate bisection: a set of points is cut by a plane across its longest dimension.
//!
//! Points with the same coordinate are ordered by their numbers, so that halves have the weights asked for. O(n) per
//! bisection by selection, O(n log k) in all; 8 D + 8 bytes per vertex.
//!
//! R. D. Williams: Performance of dynamic load balancing algorithms for unstructured mesh calculations. Concurrency: Practice and
//! Experience 3(5), 1991.

use std::cmp::Ordering;

use super::recursive::{self, Halving, Share};
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::Coordinates;
use crate::partition::orders::input::{Method, PartitionAlgorithmError, PartitionInput};
use crate::partition::targets::Targets;

pub(super) fn method() -> Method {
    Method { order, parts: Some(parts), is_recursive: true, needs_coordinates: true }
}

fn parts(input: &PartitionInput<'_>, targets: &Targets) -> Result<Vec<BlockId>, PartitionAlgorithmError> {
    fn in_dimensions<const D: usize>(
        input: &PartitionInput<'_>,
        points: &Coordinates,
        targets: &Targets,
    ) -> Vec<BlockId> {
        let weights = (!input.has_unit_weights()).then(|| input.graph.node_weights());
        recursive::parts(&Rcb::<D> { weights }, &mut sites(points)[..], input, targets)
    }
    let points = input.points("rcb")?;
    Ok(match points.dimension() {
        1 => in_dimensions::<1>(input, points, targets),
        2 => in_dimensions::<2>(input, points, targets),
        3 => in_dimensions::<3>(input, points, targets),
        _ => in_dimensions::<4>(input, points, targets),
    })
}

fn order(input: &PartitionInput<'_>) -> Result<Vec<NodeId>, PartitionAlgorithmError> {
    fn in_dimensions<const D: usize>(points: &Coordinates, seed: u64) -> Vec<NodeId> {
        recursive::order(&Rcb::<D> { weights: None }, &mut sites(points)[..], seed)
    }
    let points = input.points("rcb")?;
    Ok(match points.dimension() {
        1 => in_dimensions::<1>(points, input.seed),
        2 => in_dimensions::<2>(points, input.seed),
        3 => in_dimensions::<3>(points, input.seed),
        _ => in_dimensions::<4>(points, input.seed),
    })
}

/// A vertex and where it lies.
#[derive(Clone, Copy)]
struct Site<const D: usize> {
    at: [f64; D],
    node: NodeId,
}

fn sites<const D: usize>(points: &Coordinates) -> Vec<Site<D>> {
    let at = |point: &[f64]| point.try_into().expect("a point of D dimensions");
    points.points().zip(0..).map(|(point, node)| Site { at: at(point), node }).collect()
}

struct Rcb<'a, const D: usize> {
    /// Present unless all are 1.
    weights: Option<&'a [Weight]>,
}

impl<'a, const D: usize> Halving for Rcb<'a, D>
where
    Self: 'a,
{
    type Set = &'a mut [Site<D>];

    fn len(set: &Self::Set) -> usize {
        set.len()
    }

    fn nodes(set: Self::Set) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = set.iter().map(|site| site.node).collect();
        nodes.sort_unstable();
        nodes
    }

    fn halve(&self, set: Self::Set, share: Share, _: u64) -> [Self::Set; 2] {
        let axis = longest_dimension(set);
        let compare = |a: &Site<D>, b: &Site<D>| a.at[axis].total_cmp(&b.at[axis]).then(a.node.cmp(&b.node));
        let first = match self.weights {
            None => select(set, share, compare),
            Some(weights) => select_weighted(set, weights, share, compare),
        };
        set.split_at_mut(first).into()
    }
}

/// The dimension in which the points extend farthest, the first of several.
fn longest_dimension<const D: usize>(set: &[Site<D>]) -> usize {
    let (mut least, mut most) = ([f64::INFINITY; D], [f64::NEG_INFINITY; D]);
    for site in set {
        for axis in 0..D {
            least[axis] = least[axis].min(site.at[axis]);
            most[axis] = most[axis].max(site.at[axis]);
        }
    }
    // Halved, so that the difference does not overflow.
    let extent = |axis: usize| most[axis] / 2.0 - least[axis] / 2.0;
    (1..D).fold(0, |longest, axis| if extent(axis) > extent(longest) { axis } else { longest })
}

/// Brings the first sites to the front; returns their number.
fn select<S>(set: &mut [S], share: Share, compare: impl Fn(&S, &S) -> Ordering) -> usize {
    let first = (share.of(set.len() as Weight) as usize).min(set.len());
    if 0 < first && first < set.len() {
        set.select_nth_unstable_by(first, compare);
    }
    first
}

/// The same where sites have weights: a site is among the first if the middle of its weight is. O(n) on average.
fn select_weighted<const D: usize>(
    set: &mut [Site<D>],
    weights: &[Weight],
    share: Share,
    compare: impl Fn(&Site<D>, &Site<D>) -> Ordering,
) -> usize {
    let weight = |site: &Site<D>| i128::from(weights[site.node as usize]);
    let total: i128 = set.iter().map(weight).sum();
    let target = share.of(total as Weight);
    // All before `low` are among the first and weigh `before`; none from `high` on is.
    let (mut low, mut high, mut before) = (0, set.len(), 0);
    while low < high {
        let middle = low.midpoint(high);
        set[low..high].select_nth_unstable_by(middle - low, &compare);
        let below = before + set[low..middle].iter().map(weight).sum::<i128>();
        let own = weight(&set[middle]);
        if 2 * below + own <= 2 * target {
            (low, before) = (middle + 1, below + own);
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::GraphBuilder;

    /// The first part of two by the definition: all are sorted along the longest dimension.
    fn first_part(points: &Coordinates, weights: &[Weight], target: Weight) -> Vec<NodeId> {
        let extent = |axis: usize| {
            let (least, most) = points.extent().unwrap()[axis];
            most - least
        };
        let longest = (1..points.dimension()).fold(0, |a, b| if extent(b) > extent(a) { b } else { a });
        let mut nodes: Vec<NodeId> = (0..points.len() as NodeId).collect();
        nodes.sort_by(|&a, &b| points.point(a)[longest].total_cmp(&points.point(b)[longest]).then(a.cmp(&b)));
        let mut before = 0;
        let is_first = |&node: &NodeId| {
            before += weights[node as usize];
            2 * before - weights[node as usize] <= 2 * target
        };
        let mut first: Vec<NodeId> = nodes.into_iter().take_while(is_first).collect();
        first.sort_unstable();
        first
    }

    #[test]
    fn cuts_are_at_the_exact_medians() {
        let mut rng = Rng::new(4);
        for round in 0..200 {
            let (n, dimension) = (1 + rng.below(90) as usize, 1 + round % 4);
            // Few values, so that many points agree in a coordinate.
            let values = (0..n * dimension).map(|_| f64::from(rng.below(12)) - 5.5).collect();
            let points = Coordinates::new(dimension, values).unwrap();
            let mut builder = GraphBuilder::new(n);
            if round % 2 == 0 {
                (0..n as NodeId).for_each(|node| builder.set_node_weight(node, Weight::from(rng.below(7))));
            }
            let graph = builder.build().unwrap();
            let speeds = [1 + rng.below(4), rng.below(4)];
            let targets = Targets::proportional(&graph, &speeds, 0.0).unwrap();
            let parts = parts(&PartitionInput::new(&graph).with_coordinates(&points), &targets).unwrap();
            let found: Vec<NodeId> = graph.nodes().filter(|&node| parts[node as usize] == 0).collect();
            let expected = first_part(&points, graph.node_weights(), targets.block_sizes()[0]);
            assert_eq!(found, expected, "round {round}");
        }
    }
}
