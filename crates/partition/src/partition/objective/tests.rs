//! One suite for all members, on machines of every family.

use super::computed::ComputedCost;
use super::*;
use crate::base::rng::Rng;
use crate::base::types::{BlockId, Distance, NodeId, Weight};
use crate::graph::generate;
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::compact::CompactGraph;

/// Distances in a table.
#[derive(Clone)]
pub(crate) struct Matrix {
    pub num_blocks: usize,
    pub distances: Vec<Distance>,
    pub has_triangle_inequality: bool,
}

impl BlockDistances for Matrix {
    fn num_blocks(&self) -> usize {
        self.num_blocks
    }
    fn between(&self, a: BlockId, b: BlockId) -> Distance {
        self.distances[a as usize * self.num_blocks + b as usize]
    }
    fn greatest(&self) -> Distance {
        self.distances.iter().copied().max().unwrap_or(0)
    }
    fn has_triangle_inequality(&self) -> bool {
        self.has_triangle_inequality
    }
}

impl Matrix {
    /// Distances by their definition.
    pub(crate) fn of(num_blocks: u32, distance: impl Fn(BlockId, BlockId) -> Distance) -> Self {
        let all = || 0..num_blocks;
        let distances = all().flat_map(|a| all().map(move |b| (a, b))).map(|(a, b)| distance(a, b)).collect();
        let mut matrix = Self { num_blocks: num_blocks as usize, distances, has_triangle_inequality: false };
        let is_direct = |a, b, c| matrix.between(a, c) <= matrix.between(a, b) + matrix.between(b, c);
        matrix.has_triangle_inequality = all().all(|a| all().all(|b| all().all(|c| is_direct(a, b, c))));
        matrix
    }
}

/// The distances of a tree, given its arities and distances, innermost first: that of the outermost level at which two blocks differ.
pub(crate) fn tree_distances(arities: &[u32], distances: &[Distance]) -> Matrix {
    Matrix::of(arities.iter().product(), |mut a, mut b| {
        let mut distance = 0;
        for (&arity, &of_level) in arities.iter().zip(distances) {
            distance = if a == b { distance } else { of_level };
            (a, b) = (a / arity, b / arity);
        }
        distance
    })
}

/// Hops between the vertices of a grid, which is closed in both dimensions or in none.
fn grid(width: u32, height: u32, is_closed: bool, a: BlockId, b: BlockId) -> Distance {
    let hops = |gap: u32, length: u32| if is_closed { gap.min(length - gap) } else { gap };
    let (x, y) = ((a % width).abs_diff(b % width), (a / width).abs_diff(b / width));
    Distance::from(hops(x, width) + hops(y, height))
}

/// The distances of machines of several kinds, some blocks each.
pub(crate) fn matrices() -> Vec<Matrix> {
    let mut rng = Rng::new(3);
    // Random distances, many of them violating the triangle inequality.
    let random: Vec<Distance> = (0..49).map(|_| Distance::from(rng.below(40))).collect();
    vec![
        tree_distances(&[2, 3, 2], &[1, 10, 100]),
        tree_distances(&[2, 2, 2], &[0, 4, 1]),
        Matrix::of(12, |a, b| grid(4, 3, false, a, b)),
        Matrix::of(10, |a, b| grid(5, 2, true, a, b)),
        Matrix::of(12, |a, b| 7 * grid(3, 2, true, a / 2, b / 2) + Distance::from(a != b && a / 2 == b / 2)),
        Matrix::of(8, |a, b| Distance::from((a ^ b).count_ones())),
        Matrix::of(6, |a, b| 9 * Distance::from(a != b)),
        Matrix::of(7, |a, b| if a == b { 0 } else { random[(a.max(b) * 7 + a.min(b)) as usize] }),
    ]
}

/// Moves vertices at random, and compares each gain with the cost before and after it.
fn check_gains<O: Objective>(objective: &O, num_blocks: usize, between: impl Fn(BlockId, BlockId) -> Weight) {
    let graph = generate::random_geometric(90, 7.0, 5);
    let graph = CompactGraph::<i32>::new(&graph);
    let level = Problem { graph: &graph, objective };
    let mut rng = Rng::new(8);
    let blocks = graph.nodes().map(|_| rng.below(num_blocks as u32)).collect();
    let mut assignment = Assignment::new(level, blocks, num_blocks);
    let mut affinities = BlockAffinities::default();
    affinities.resize(num_blocks);
    for _ in 0..300 {
        let (node, to): (NodeId, BlockId) = (rng.below(90), rng.below(num_blocks as u32));
        let from = assignment.blocks[node as usize];
        affinities.collect(&graph, &assignment.blocks, node);
        let gain = objective.gain(&affinities, from, to);
        let internal = affinities.to(from);
        let external = graph.arcs(node).iter().map(|arc| arc.weight()).sum::<Weight>() - internal;
        assert!(from == to || gain <= objective.greatest_gain(internal, external));
        let others = affinities.blocks().iter().filter(|&&block| block != from && block != to);
        let pull = others.map(|&c| affinities.to(c) * (between(to, c) - between(from, c))).sum::<Weight>();
        assert_eq!(objective.pull(&affinities, [from, to]), if objective.has_pull() { pull } else { 0 });
        assignment.shift(node, graph.node_weight(node), to, gain);
        let edges = graph.nodes().flat_map(|u| graph.arcs(u).iter().map(move |arc| (u, arc)));
        let block = |node: NodeId| assignment.blocks[node as usize];
        let twice: Weight = edges.map(|(u, arc)| arc.weight() * between(block(u), block(arc.target))).sum();
        assert_eq!(2 * assignment.cost, twice);
    }
}

/// All costs of edges by these distances.
pub(crate) fn edge_costs(matrix: &Matrix) -> impl Iterator<Item = EdgeCost<'_>> {
    let computed = EdgeCost::Computed(ComputedCost::new(matrix));
    StoredCost::new(matrix).map(EdgeCost::Stored).into_iter().chain([computed])
}

/// [`check_gains`] and exact changes of gains of an objective for J.
fn check_cost<O: Objective>(objective: &O, matrix: &Matrix) {
    check_gains(objective, matrix.num_blocks, |a, b| matrix.between(a, b));
    let mut rng = Rng::new(1);
    let mut block = || rng.below(matrix.num_blocks as u32);
    for _ in 0..100 {
        let (own, other, from, to) = (block(), block(), block(), block());
        let gain = |at| 5 * (matrix.between(own, at) - matrix.between(other, at));
        let change = objective.change_of_gain([own, other], 5, [from, to]).0;
        assert_eq!(change, gain(to) - gain(from));
    }
}

#[test]
fn gains_agree_with_recomputation_after_every_move_on_every_machine() {
    for matrix in matrices() {
        for cost in edge_costs(&matrix) {
            check_cost(&cost, &matrix);
            check_cost(&Migrating::of(cost), &matrix);
        }
        check_gains(&EdgeCost::Cut(Cut), matrix.num_blocks, |a, b| Weight::from(a != b));
    }
}

#[test]
fn tables_are_made_for_what_fits_them() {
    let far = Distance::from(u32::MAX) + 1;
    let matrix = |distance| Matrix {
        num_blocks: 2,
        distances: vec![0, distance, distance, 0],
        has_triangle_inequality: true,
    };
    assert!(StoredCost::new(&matrix(far)).is_none());
    assert_eq!(StoredCost::new(&matrix(far - 1)).unwrap().between(0, 1), far - 1);
}
