//! What a partition costs: the cut, or J where blocks are the PEs of a machine.
//!
//! *Problem.* Refiners move vertices to where their edges cost less. An edge of weight w between the blocks a and b costs
//! w times `between(a, b)`. That is 1 for two blocks if the cut counts, and the distance of two PEs if J does. A block
//! costs nothing to itself. Each edge counts once, so the cost is half of J, which counts ordered pairs.
//!
//! *Gains.* Moving a vertex from a to b gains the sum over all blocks c next to it of
//! `affinity(c) · (between(a, c) - between(b, c))`. Of the cut, two terms of it are left.
//!
//! | member | `between` | memory | a gain costs |
//! |---|---|---|---|
//! | [`Cut`] | 1 | none | O(1) |
//! | [`StoredCost`] | a table of 32 bits an entry | 4 k² bytes | O(q) for q blocks next to the vertex |
//! | [`ComputedCost`] | what the machine computes | none | O(q) calls |
//! | [`Migrating`](super::remap) | a multiple of another objective's | 12 bytes a vertex | what that costs |
//!
//! Besides its edges, a vertex may cost something by itself in each block: a linear term, which only migration has so far.
//!
//! All sums fit [`Weight`]: the cut is at most the weight of all edges, and who asks for J proves that this weight times the
//! greatest distance fits.

use std::sync::Arc;

use super::assignment::BlockAffinities;
use super::compact::{CompactGraph, Stored};
use crate::ground::types::{BlockId, Distance, NodeId, Weight};

/// Tables of at most this many entries are stored. Balances memory (64 MiB) against time: computed distances take about
/// twice the time. Shows on a machine of 4096 PEs beside one of 4097.
const MOST_ENTRIES: usize = 1 << 24;

/// What edges between blocks cost, symmetric, 0 for a block and itself; and what vertices cost in blocks by themselves.
pub(crate) trait Objective: Clone + Sync {
    /// Whether [`pull`](Self::pull) can be other than 0.
    const HAS_PULL: bool = true;

    /// Whether [`own_cost`](Self::own_cost) can be other than 0.
    const HAS_OWN_COSTS: bool = false;

    /// What an edge of weight 1 between two blocks costs.
    fn between(&self, a: BlockId, b: BlockId) -> Weight;

    /// How much the cost falls if a vertex of these affinities moves.
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight;

    /// An upper bound of the gain of any move of a vertex with these weights of edges inside its block and out of it.
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight;

    /// How the gain of a move from one block to another, `moved`, changes when a neighbour over an edge of this weight has
    /// moved `by` two blocks, and whether that move is certain to be the best one still if it was before.
    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool);

    /// How much more the edges to all blocks but these two cost from the second than from the first.
    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight;

    /// What a vertex costs in a block besides its edges.
    #[inline]
    fn own_cost(&self, _node: NodeId, _block: BlockId) -> Weight {
        0
    }

    /// What a vertex costs in any block but its home, if it has one.
    fn penalty(&self, _node: NodeId) -> Weight {
        0
    }

    /// An upper bound of how much of that any move of a vertex out of a block saves.
    #[inline]
    fn greatest_own_gain(&self, _node: NodeId, _from: BlockId) -> Weight {
        0
    }

    /// Classes of vertices, if there are any, of which no two may be contracted together.
    fn classes(&self) -> Option<&[u32]> {
        None
    }

    /// The same objective after a contraction that has kept the classes apart; O(n) if vertices cost something by
    /// themselves.
    fn contracted(&self, _coarse_of: &[NodeId], _num_coarse: usize) -> Self {
        self.clone()
    }

    /// What the edges of a partition cost, each edge once; O(n + m).
    fn cost_of_edges<W: Stored>(&self, graph: &CompactGraph<W>, blocks: &[BlockId]) -> Weight {
        let of_node = |node| -> Weight {
            let own = blocks[node as usize];
            let arcs = graph.arcs(node).iter();
            arcs.map(|arc| arc.weight() * self.between(own, blocks[arc.target as usize])).sum()
        };
        // J counts each edge twice and fits.
        graph.nodes().map(of_node).sum::<Weight>() / 2
    }

    /// The cost of a partition; O(n + m).
    fn cost<W: Stored>(&self, graph: &CompactGraph<W>, blocks: &[BlockId]) -> Weight {
        let own: Weight = if Self::HAS_OWN_COSTS {
            graph.nodes().zip(blocks).map(|(node, &block)| self.own_cost(node, block)).sum()
        } else {
            0
        };
        self.cost_of_edges(graph, blocks) + own
    }
}

/// The weight of the edges between blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut;

impl Objective for Cut {
    const HAS_PULL: bool = false;

    #[inline]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        Weight::from(a != b)
    }

    #[inline]
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        affinities.to(to) - affinities.to(from)
    }

    #[inline]
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        external - internal
    }

    #[inline]
    fn change_of_gain(
        &self,
        [own, other]: [BlockId; 2],
        weight: Weight,
        [from, to]: [BlockId; 2],
    ) -> (Weight, bool) {
        if own == from {
            (2 * weight, other == to)
        } else if own == to {
            (-weight, other != from)
        } else {
            (weight, other == to)
        }
    }

    #[inline]
    fn pull(&self, _affinities: &BlockAffinities, _pair: [BlockId; 2]) -> Weight {
        0
    }

    fn cost_of_edges<W: Stored>(&self, graph: &CompactGraph<W>, blocks: &[BlockId]) -> Weight {
        graph.cut(blocks)
    }
}

/// How far blocks are apart.
pub trait BlockDistances: Sync {
    /// Number of blocks.
    fn num_blocks(&self) -> usize;

    /// The distance of two blocks: symmetric, not negative, 0 for a block and itself.
    fn between(&self, a: BlockId, b: BlockId) -> Distance;

    /// A distance that no two blocks exceed.
    fn greatest(&self) -> Distance;

    /// Whether no way is shorter with a stop, as far as that is known.
    fn has_triangle_inequality(&self) -> bool {
        false
    }
}

/// Bounds of the distances of different blocks, and what follows for gains.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: Distance,
    greatest: Distance,
    has_triangle_inequality: bool,
}

impl Range {
    #[inline]
    fn greatest_gain(self, internal: Weight, external: Weight) -> Weight {
        if self.has_triangle_inequality {
            // No edge comes nearer by more than the vertex moves.
            let excess = external - internal;
            excess * if excess > 0 { self.greatest } else { self.least }
        } else {
            external * self.greatest - internal * self.least
        }
    }
}

/// J, with a table of the distances between blocks.
#[derive(Clone, Debug)]
pub(crate) struct StoredCost {
    num_blocks: usize,
    distances: Arc<[u32]>,
    range: Range,
}

impl StoredCost {
    /// The table, if it is not too large; O(k²).
    pub fn new(distances: &dyn BlockDistances) -> Option<Self> {
        let num_blocks = distances.num_blocks();
        let fits = num_blocks.checked_mul(num_blocks).is_some_and(|entries| entries <= MOST_ENTRIES);
        if !fits || distances.greatest() > Distance::from(u32::MAX) {
            return None;
        }
        let row = |a| (0..num_blocks as BlockId).map(move |b| distances.between(a, b) as u32);
        let table: Vec<u32> = (0..num_blocks as BlockId).flat_map(row).collect();
        let different = table.iter().enumerate().filter(|(at, _)| at % (num_blocks + 1) != 0);
        let range = Range {
            least: different.map(|(_, &distance)| distance).min().unwrap_or(0).into(),
            greatest: distances.greatest(),
            has_triangle_inequality: distances.has_triangle_inequality(),
        };
        Some(Self { num_blocks, distances: table.into(), range })
    }

    #[inline]
    fn row(&self, block: BlockId) -> &[u32] {
        &self.distances[block as usize * self.num_blocks..][..self.num_blocks]
    }
}

impl Objective for StoredCost {
    #[inline]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        self.distances[a as usize * self.num_blocks + b as usize].into()
    }

    #[inline]
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        let (from, to) = (self.row(from), self.row(to));
        let term = |&block: &BlockId| {
            let nearer = Distance::from(from[block as usize]) - Distance::from(to[block as usize]);
            affinities.to(block) * nearer
        };
        affinities.blocks().iter().map(term).sum()
    }

    #[inline]
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        self.range.greatest_gain(internal, external)
    }

    #[inline]
    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool) {
        change_of_gain(self, moved, weight, by)
    }

    #[inline]
    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight {
        pull(self, affinities, pair)
    }
}

/// J, with distances that are computed whenever they are asked for.
#[derive(Clone)]
pub(crate) struct ComputedCost<'a> {
    distances: &'a dyn BlockDistances,
    range: Range,
}

impl<'a> ComputedCost<'a> {
    pub fn new(distances: &'a dyn BlockDistances) -> Self {
        let has_triangle_inequality = distances.has_triangle_inequality();
        Self { distances, range: Range { least: 0, greatest: distances.greatest(), has_triangle_inequality } }
    }
}

impl Objective for ComputedCost<'_> {
    #[inline]
    fn between(&self, a: BlockId, b: BlockId) -> Weight {
        self.distances.between(a, b)
    }

    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight {
        let nearer = |block| self.between(from, block) - self.between(to, block);
        affinities.blocks().iter().map(|&block| affinities.to(block) * nearer(block)).sum()
    }

    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight {
        self.range.greatest_gain(internal, external)
    }

    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool) {
        change_of_gain(self, moved, weight, by)
    }

    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight {
        pull(self, affinities, pair)
    }
}

#[inline]
fn change_of_gain<O: Objective>(
    objective: &O,
    [own, other]: [BlockId; 2],
    weight: Weight,
    [from, to]: [BlockId; 2],
) -> (Weight, bool) {
    let nearer = |block| objective.between(own, block) - objective.between(other, block);
    (weight * (nearer(to) - nearer(from)), false)
}

#[inline]
fn pull<O: Objective>(objective: &O, affinities: &BlockAffinities, [first, second]: [BlockId; 2]) -> Weight {
    let others = affinities.blocks().iter().filter(|&&block| block != first && block != second);
    let farther = |block| objective.between(second, block) - objective.between(first, block);
    others.map(|&block| affinities.to(block) * farther(block)).sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::ground::rng::Rng;
    use crate::partition::assignment::{Assignment, Level};
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
        // Random distances, many of them longer than ways with a stop.
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
    fn check_gains<O: Objective>(
        objective: &O,
        num_blocks: usize,
        between: impl Fn(BlockId, BlockId) -> Weight,
    ) {
        let graph = CompactGraph::<i32>::new(&generate::random_geometric(90, 7.0, 5));
        let level = Level { graph: &graph, objective };
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
            let pull =
                others.map(|&c| affinities.to(c) * (between(to, c) - between(from, c))).sum::<Weight>();
            assert_eq!(objective.pull(&affinities, [from, to]), if O::HAS_PULL { pull } else { 0 });
            assignment.shift(node, graph.node_weight(node), to, gain);
            let edges = graph.nodes().flat_map(|u| graph.arcs(u).iter().map(move |arc| (u, arc)));
            let block = |node: NodeId| assignment.blocks[node as usize];
            let twice: Weight =
                edges.map(|(u, arc)| arc.weight() * between(block(u), block(arc.target))).sum();
            assert_eq!(2 * assignment.cost, twice);
        }
    }

    #[test]
    fn gains_agree_with_recomputation_after_every_move_on_every_machine() {
        for matrix in matrices() {
            let (num_blocks, between) = (matrix.num_blocks, |a, b| matrix.between(a, b));
            check_gains(&StoredCost::new(&matrix).unwrap(), num_blocks, between);
            check_gains(&ComputedCost::new(&matrix), num_blocks, between);
            check_gains(&Cut, num_blocks, |a, b| Weight::from(a != b));
        }
    }

    #[test]
    fn changes_of_gains_are_exact() {
        for matrix in matrices() {
            let stored = StoredCost::new(&matrix).unwrap();
            let mut rng = Rng::new(1);
            let mut block = || rng.below(matrix.num_blocks as u32);
            for _ in 0..100 {
                let (own, other, from, to) = (block(), block(), block(), block());
                let gain = |at| 5 * (matrix.between(own, at) - matrix.between(other, at));
                let change = stored.change_of_gain([own, other], 5, [from, to]).0;
                assert_eq!(change, gain(to) - gain(from));
                assert_eq!(ComputedCost::new(&matrix).change_of_gain([own, other], 5, [from, to]).0, change);
            }
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
}
