//! Recursive coordinate bisection: a set of points is cut by a plane across its longest dimension.
//!
//! Points of the same coordinate are told apart by their numbers, so that halves have the weights asked for. O(n) a bisection by selection,
//! O(n log k) in all; 8 D + 8 bytes a vertex.
//!
//! R. D. Williams: Performance of dynamic load balancing algorithms for unstructured mesh calculations. Concurrency: Practice and
//! Experience 3(5), 1991.

use std::cmp::Ordering;

use super::recursive::{self, Halving, Share};
use super::{Algorithm, AlgorithmError, Input, Method, Targets};
use crate::graph::Coordinates;
use crate::types::{BlockId, NodeId, Weight};

pub(super) fn method() -> Method {
    Method::Division { parts, order, is_recursive: true }
}

fn parts(input: &Input<'_>, targets: &Targets) -> Result<Vec<BlockId>, AlgorithmError> {
    fn in_dimensions<const D: usize>(
        input: &Input<'_>,
        points: &Coordinates,
        targets: &Targets,
    ) -> Vec<BlockId> {
        let weights = (!input.has_unit_weights()).then(|| input.graph.node_weights());
        recursive::parts(&Rcb::<D> { weights }, &mut sites(points)[..], input, targets)
    }
    let points = input.points(Algorithm::Rcb)?;
    Ok(match points.dimension() {
        1 => in_dimensions::<1>(input, points, targets),
        2 => in_dimensions::<2>(input, points, targets),
        3 => in_dimensions::<3>(input, points, targets),
        _ => in_dimensions::<4>(input, points, targets),
    })
}

fn order(input: &Input<'_>) -> Result<Vec<NodeId>, AlgorithmError> {
    fn in_dimensions<const D: usize>(points: &Coordinates, seed: u64) -> Vec<NodeId> {
        recursive::order(&Rcb::<D> { weights: None }, &mut sites(points)[..], seed)
    }
    let points = input.points(Algorithm::Rcb)?;
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
    /// If they are not all 1.
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

/// Brings the first sites to the front; how many they are.
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
    use crate::graph::GraphBuilder;
    use crate::rng::Rng;

    fn random_points<const D: usize>(count: usize, kinds: u32, rng: &mut Rng) -> Coordinates {
        Coordinates::new(D, (0..count * D).map(|_| f64::from(rng.below(kinds))).collect()).unwrap()
    }

    /// Bisection by sorting, from the definition.
    fn by_sorting(
        points: &Coordinates,
        weights: &[Weight],
        nodes: Vec<NodeId>,
        sizes: &[Weight],
    ) -> Vec<(NodeId, usize)> {
        if sizes.len() == 1 {
            return nodes.into_iter().map(|node| (node, 0)).collect();
        }
        let extent = |axis: usize| {
            let values = || nodes.iter().map(|&node| points.point(node)[axis]);
            values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
        };
        let longest = (0..points.dimension()).rev().max_by(|&a, &b| extent(a).total_cmp(&extent(b))).unwrap();
        let mut sorted = nodes.clone();
        sorted
            .sort_by(|&a, &b| points.point(a)[longest].total_cmp(&points.point(b)[longest]).then(a.cmp(&b)));
        let total: Weight = nodes.iter().map(|&node| weights[node as usize]).sum();
        let half = sizes.len() / 2;
        let (first, all): (Weight, Weight) = (sizes[..half].iter().sum(), sizes.iter().sum());
        let target = (total * first + all / 2) / all;
        let mut before = 0;
        let count = sorted.iter().take_while(|&&node| {
            let weight = weights[node as usize];
            before += weight;
            2 * before - weight <= 2 * target
        });
        let second = sorted.split_off(count.count());
        let mut found = by_sorting(points, weights, sorted, &sizes[..half]);
        found.extend(
            by_sorting(points, weights, second, &sizes[half..])
                .into_iter()
                .map(|(node, part)| (node, half + part)),
        );
        found
    }

    #[test]
    fn cuts_are_at_the_exact_medians() {
        let mut rng = Rng::new(4);
        for round in 0..120 {
            let n = 1 + rng.below(90) as usize;
            let heaviest = if round % 2 == 0 { 1 } else { 6 };
            let points = match round % 3 {
                0 => random_points::<1>(n, 30, &mut rng),
                1 => random_points::<2>(n, 12, &mut rng),
                _ => random_points::<4>(n, 5, &mut rng),
            };
            let mut builder = GraphBuilder::new(n);
            (0..n as NodeId)
                .for_each(|node| builder.set_node_weight(node, 1 + Weight::from(rng.below(heaviest))));
            let graph = builder.build().unwrap();
            let k = 1usize << rng.below(4);
            let targets = Targets::proportional(&graph, &vec![1; k], 0.0).unwrap();
            let input = Input::new(&graph).with_coordinates(&points);
            let blocks = parts(&input, &targets).unwrap();
            // The sizes of both halves may differ by one, so that the groups are those of the definition.
            let groups_in_order = targets.block_sizes().iter().all(|&size| size == targets.block_sizes()[0]);
            if groups_in_order && targets.block_sizes()[0] > 0 {
                let expected =
                    by_sorting(&points, graph.node_weights(), graph.nodes().collect(), targets.block_sizes());
                for (node, part) in expected {
                    assert_eq!(blocks[node as usize] as usize, part, "round {round}, vertex {node}");
                }
            }
        }
    }
}
