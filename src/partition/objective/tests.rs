//! One suite for all members, on machines of every family.

use super::*;
use crate::graph::generate;
use crate::ground::rng::Rng;
use crate::ground::types::{BlockId, Distance, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::compact::CompactGraph;
use viem::machine::{DistanceOracle, DistanceVisitor};

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

impl DistanceVisitor for &mut Matrix {
    type Output = ();
    fn visit<O: DistanceOracle>(self, oracle: &O) {
        let n = oracle.num_pes() as u32;
        self.num_blocks = n as usize;
        self.distances = (0..n).flat_map(|p| (0..n).map(move |q| oracle.distance(p, q))).collect();
        self.has_triangle_inequality = oracle.has_triangle_inequality();
    }
}

/// The distances of a machine.
pub(crate) fn matrix(spec: &str, distances: Option<&str>) -> Matrix {
    let machine = viem::machine::build(spec, distances, None).unwrap();
    let mut matrix = Matrix { num_blocks: 0, distances: Vec::new(), has_triangle_inequality: false };
    machine.distances().unwrap().visit(&mut matrix);
    matrix
}

/// The distances of machines of every family, some blocks each.
pub(crate) fn matrices() -> Vec<Matrix> {
    let specs = [
        ("2:3:2", Some("1:10:100")),
        ("2:2:2", Some("0:4:1")),
        ("mesh:4x3", None),
        ("torus:5x2", None),
        ("torus:3x2/2", Some("1:7")),
        ("hypercube:3", None),
        ("complete:6", Some("9")),
    ];
    let mut matrices: Vec<Matrix> =
        specs.into_iter().map(|(spec, distances)| matrix(spec, distances)).collect();
    // Random distances, many of them violating the triangle inequality.
    let (n, mut rng) = (7, Rng::new(3));
    let mut distances = vec![0; n * n];
    for a in 0..n {
        for b in 0..a {
            let distance = Distance::from(rng.below(40));
            (distances[a * n + b], distances[b * n + a]) = (distance, distance);
        }
    }
    matrices.push(Matrix { num_blocks: n, distances, has_triangle_inequality: false });
    matrices
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
        assert_eq!(objective.pull(&affinities, [from, to]), if O::HAS_PULL { pull } else { 0 });
        assignment.shift(node, graph.node_weight(node), to, gain);
        let edges = graph.nodes().flat_map(|u| graph.arcs(u).iter().map(move |arc| (u, arc)));
        let block = |node: NodeId| assignment.blocks[node as usize];
        let twice: Weight = edges.map(|(u, arc)| arc.weight() * between(block(u), block(arc.target))).sum();
        assert_eq!(2 * assignment.cost, twice);
    }
}

/// [`check_gains`] and exact changes of gains of an objective for J.
#[derive(Clone, Copy)]
struct GainCheck<'a> {
    matrix: &'a Matrix,
}

impl ObjectiveVisitor for GainCheck<'_> {
    type Output = ();

    fn visit<O: Objective>(self, objective: O) {
        let Self { matrix } = self;
        check_gains(&objective, matrix.num_blocks, |a, b| matrix.between(a, b));
        let mut rng = Rng::new(1);
        let mut block = || rng.below(matrix.num_blocks as u32);
        for _ in 0..100 {
            let (own, other, from, to) = (block(), block(), block(), block());
            let gain = |at| 5 * (matrix.between(own, at) - matrix.between(other, at));
            let change = objective.change_of_gain([own, other], 5, [from, to]).0;
            assert_eq!(change, gain(to) - gain(from));
        }
    }
}

#[test]
fn gains_agree_with_recomputation_after_every_move_on_every_machine() {
    for matrix in matrices() {
        visit_each_cost(&matrix, GainCheck { matrix: &matrix });
        check_gains(&Cut, matrix.num_blocks, |a, b| Weight::from(a != b));
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
