//! Connected blocks: what lies apart from its block joins another one.
//!
//! *Problem.* Given a partition, make each block connected, within the bounds and at a small loss.
//!
//! *Algorithm.* Of each block, the heaviest piece stays. Every other piece joins the block around it that holds it most and has room; if none has,
//! it is divided among the blocks that touch it. Blocks that exceed their bounds then pass vertices on, if need be along chains of blocks, and
//! vertices move where the cost falls. No vertex moves on whose neighbours its block hangs together: that is checked by a search
//! around it. O(n + m), and the size of a search for each vertex that might move.
//!
//! Components of the graph that are no block's heaviest piece stay apart: nothing can join them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
use crate::base::types::{BlockId, Cost, NodeId, Weight};
use crate::graph::CsrGraph;
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::Partition;
use crate::partition::bounds::{BoundViolation, LoadBounds};
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::many_to_one::{ManyToOnePartition, cost};
use crate::partition::objective::{BlockDistances, Cut, EdgeCost, Migrating, Objective};
use crate::partition::pieces::{extra_pieces, pieces, pieces_of};
use crate::partition::scheme::enumeration;
use crate::partition::targets::Targets;

/// The vertices that the search around a vertex may visit; beyond that, its block counts as hanging on it. Balances moves against time.
const MOST_VISITED: usize = 1 << 12;

/// The greatest number of rounds of moves that lower the cost. Balances cut against time; most partitions need fewer.
const ROUNDS: usize = 4;

/// What all pieces and chains of blocks together may look at, in multiples of the vertices. Balances bounds and pieces against time.
const CHAIN_EFFORT: usize = 256;

impl Partition {
    /// The same partition, but what lies apart from its block joins other blocks, so that each block is connected. If that is not possible within the
    /// bounds of the targets, as many pieces are joined as is. Tiny graphs get the partition of the fewest pieces, and among these of the
    /// smallest cut, that misses the bounds by the least. O(n + m) for few pieces. Nothing changes once the observer asks to stop.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::partition::{Partition, Targets};
    ///
    /// // A path in two blocks that alternate.
    /// let path = generate::grid(100, 1);
    /// let targets = Targets::equal(&path, 2, 0.03)?;
    /// let partition = Partition::of(&path, path.nodes().map(|node| node % 2).collect(), &targets);
    /// let connected = partition.connected(&path, &targets, &());
    /// assert_eq!((connected.cut(), connected.overload()), (1, 0));
    /// # Ok::<(), viem::partition::TargetsError>(())
    /// ```
    pub fn connected(self, graph: &CsrGraph, targets: &Targets, observer: &dyn Observer) -> Self {
        let cost = self.cut();
        let found = ManyToOnePartition { partition: self, cost };
        let cost_of = |partition: &Self| partition.cut();
        connected(found, graph, targets, (EdgeCost::Cut(Cut), &cost_of), observer).partition
    }
}

impl ManyToOnePartition {
    /// The same mapping, but its blocks are made connected as [those of a partition](Partition::connected) are, and J takes the place of the cut.
    pub fn connected(
        self,
        graph: &CsrGraph,
        targets: &Targets,
        distances: &dyn BlockDistances,
        observer: &dyn Observer,
    ) -> Self {
        let cost_of = |partition: &Partition| cost(graph, distances, partition.blocks());
        connected(self, graph, targets, (EdgeCost::of_distances(distances), &cost_of), observer)
    }

    /// The order in which mappings are better where blocks should be connected: the bounds first, then empty blocks, then pieces beyond one for each
    /// block, then J.
    pub fn score_of_connected(&self, graph: &CsrGraph) -> (BoundViolation, usize, usize, Cost) {
        score(self, extra_of(graph, &self.partition))
    }
}

/// A partition whose blocks are connected as far as possible, or the given one if that is not better. `cost_of` is its cost in terms of the
/// costs of edges.
fn connected(
    found: ManyToOnePartition,
    graph: &CsrGraph,
    targets: &Targets,
    (costs, cost_of): (EdgeCost<'_>, &dyn Fn(&Partition) -> Cost),
    observer: &dyn Observer,
) -> ManyToOnePartition {
    let extra = extra_of(graph, &found.partition);
    if extra == 0 || observer.should_stop() {
        return found;
    }
    let joined = joined(&CompactGraph::new(graph), &found.partition, (targets, costs), observer);
    let partition = Partition::of(graph, joined, targets);
    let rival = ManyToOnePartition { cost: cost_of(&partition), partition };
    if score(&rival, extra_of(graph, &rival.partition)) < score(&found, extra) { rival } else { found }
}

/// What partitions are compared by where blocks should be connected: the bounds first, then the `extra` pieces, then the cost.
fn score(found: &ManyToOnePartition, extra: usize) -> (BoundViolation, usize, usize, Cost) {
    let (violation, empty, _) = found.partition.score();
    (violation, empty, extra, found.cost)
}

/// The number of pieces beyond one for each block.
fn extra_of(graph: &CsrGraph, partition: &Partition) -> usize {
    let neighbours = |node| graph.neighbours(node).iter().copied();
    extra_pieces(&pieces(partition.blocks(), partition.block_weights().len(), neighbours))
}

fn joined(
    graph: &CompactGraph<'_, i64>,
    partition: &Partition,
    (targets, costs): (&Targets, EdgeCost<'_>),
    observer: &dyn Observer,
) -> Vec<BlockId> {
    let bounds = targets.load_bounds();
    let objective = &Migrating::around(costs, targets.fixed());
    let level = Problem { graph, objective };
    match enumeration::of_fewest_pieces(level, bounds) {
        Some(best) => best.blocks,
        None => of_level(level, partition.blocks().to_vec(), bounds, observer),
    }
}

fn of_level<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    blocks: Vec<BlockId>,
    bounds: LoadBounds<'_>,
    observer: &dyn Observer,
) -> Vec<BlockId> {
    let mut assignment = Assignment::new(level, blocks, bounds.num_blocks());
    connect(level, &mut assignment, bounds, observer);
    assignment.blocks
}

/// Joins what lies apart from its block to other blocks, as far as fixed vertices and bounds allow it.
fn connect<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: LoadBounds<'_>,
    observer: &dyn Observer,
) {
    let start = assignment.clone();
    let mut connecting = Connecting::new(level, assignment, bounds, observer);
    connecting.attach_all();
    connecting.relieve_all();
    connecting.improve_all();
    if assignment.violation(bounds) > start.violation(bounds) {
        *assignment = start;
        let mut connecting = Connecting::new(level, assignment, bounds, observer);
        connecting.attach_within_bounds();
        connecting.improve_all();
    }
}

/// The vertex belongs to a block, and not to a piece that is yet to join one.
const JOINED: u32 = u32::MAX;

struct Connecting<'a, W, O> {
    level: Problem<'a, W, O>,
    assignment: &'a mut Assignment,
    bounds: LoadBounds<'a>,
    watch: Watch<'a>,
    /// By vertex, its piece, or [`JOINED`].
    loose: Vec<u32>,
    /// The vertices of each loose piece; those of others are empty.
    pieces: Vec<Vec<NodeId>>,
    affinities: BlockAffinities,
    search: Search,
    /// What chains of blocks may still look at.
    effort: Budget,
}

/// Working memory of the search around a vertex.
#[derive(Default)]
struct Search {
    /// By vertex, the last search that visited it.
    visited: Vec<u32>,
    searches: u32,
    queue: Vec<NodeId>,
}

impl<'a, W: Stored, O: Objective> Connecting<'a, W, O> {
    fn new(
        level: Problem<'a, W, O>,
        assignment: &'a mut Assignment,
        bounds: LoadBounds<'a>,
        observer: &'a dyn Observer,
    ) -> Self {
        let neighbours = |node| level.graph.arcs(node).iter().map(|arc| arc.target);
        let (mut loose, count) = pieces_of(&assignment.blocks, neighbours);
        let mut weights = vec![0; count];
        let mut is_fixed = vec![false; count];
        let mut block_of = vec![0; count];
        for node in level.nodes() {
            let piece = loose[node as usize] as usize;
            weights[piece] += level.node_weight(node);
            is_fixed[piece] |= level.objective.is_fixed(node);
            block_of[piece] = assignment.blocks[node as usize];
        }
        let mut heaviest: Vec<Option<usize>> = vec![None; bounds.num_blocks()];
        for piece in 0..count {
            let best = &mut heaviest[block_of[piece] as usize];
            if best.is_none_or(|best| (is_fixed[best], weights[best]) < (is_fixed[piece], weights[piece])) {
                *best = Some(piece);
            }
        }
        let mut pieces = vec![Vec::new(); count];
        for node in level.nodes() {
            let piece = loose[node as usize] as usize;
            if is_fixed[piece] || heaviest[block_of[piece] as usize] == Some(piece) {
                loose[node as usize] = JOINED;
            } else {
                pieces[piece].push(node);
            }
        }
        let mut affinities = BlockAffinities::default();
        affinities.resize(bounds.num_blocks());
        let search = Search { visited: vec![0; level.num_nodes()], ..Search::default() };
        let watch = Watch::new(observer);
        let effort = Budget::new(CHAIN_EFFORT.saturating_mul(level.num_nodes()));
        Self { effort, level, assignment, bounds, watch, loose, pieces, affinities, search }
    }

    /// Joins loose pieces to blocks, light ones first, until none touches a block.
    fn attach_all(&mut self) {
        let mut order = self.in_order();
        while !order.is_empty() {
            let before = order.len();
            order.retain(|&(weight, piece)| !self.attach(piece, weight));
            if order.len() == before {
                break;
            }
        }
    }

    /// Joins one loose piece after the other, light ones first, as far as blocks can pass on what exceeds their bounds then; others stay.
    fn attach_within_bounds(&mut self) {
        for (weight, piece) in self.in_order() {
            let nodes = self.pieces[piece].clone();
            let before = self.assignment.clone();
            if self.effort.is_spent() || !self.attach(piece, weight) {
                self.keep(&nodes);
                continue;
            }
            self.effort.spend(self.level.num_nodes());
            self.relieve_all();
            if self.assignment.violation(self.bounds) > before.violation(self.bounds) {
                *self.assignment = before;
            }
            self.keep(&nodes);
        }
    }

    /// Counts vertices as joined where they are.
    fn keep(&mut self, nodes: &[NodeId]) {
        nodes.iter().for_each(|&node| self.loose[node as usize] = JOINED);
    }

    /// The loose pieces and their weights, light ones first.
    fn in_order(&self) -> Vec<(Weight, usize)> {
        let weight = |piece: &Vec<NodeId>| piece.iter().map(|&node| self.level.node_weight(node)).sum();
        let pieces = self.pieces.iter().enumerate().filter(|(_, nodes)| !nodes.is_empty());
        let mut order: Vec<(Weight, usize)> = pieces.map(|(piece, nodes)| (weight(nodes), piece)).collect();
        order.sort_unstable();
        order
    }

    /// Joins a loose piece to a block that it touches; returns false if there is none.
    fn attach(&mut self, piece: usize, weight: Weight) -> bool {
        let Some(anywhere) = self.holder(&self.pieces[piece], None) else { return false };
        match self.holder(&self.pieces[piece], Some(weight)) {
            Some(to) => self.join(piece, to),
            None => self.divide(piece, anywhere),
        }
        true
    }

    fn room(&self, block: BlockId) -> Weight {
        self.bounds.most[block as usize] - self.assignment.weights[block as usize]
    }

    /// Joins all of a loose piece to a block.
    fn join(&mut self, piece: usize, to: BlockId) {
        for node in std::mem::take(&mut self.pieces[piece]) {
            self.shift(node, to);
            self.loose[node as usize] = JOINED;
        }
    }

    /// Joins the vertices of a loose piece, one after the other, to blocks that touch them and have room; what is left then joins those that hold
    /// it most, at last `anywhere`.
    fn divide(&mut self, piece: usize, anywhere: BlockId) {
        let mut left = std::mem::take(&mut self.pieces[piece]);
        for needs_room in [true, false] {
            loop {
                let before = left.len();
                left.retain(|&node| {
                    let weight = needs_room.then(|| self.level.node_weight(node));
                    let Some(to) = self.holder(&[node], weight) else { return true };
                    self.shift(node, to);
                    self.loose[node as usize] = JOINED;
                    false
                });
                if left.len() == before {
                    break;
                }
            }
        }
        self.pieces[piece] = left;
        self.join(piece, anywhere);
    }

    /// The block that holds loose vertices most, of those that have room for this weight if one is given.
    fn holder(&self, nodes: &[NodeId], weight: Option<Weight>) -> Option<BlockId> {
        let mut held: Vec<(BlockId, Weight)> = Vec::new();
        for &node in nodes {
            self.level.arcs(node).iter().for_each(|arc| {
                let block = self.assignment.blocks[arc.target as usize];
                let has_room = weight.is_none_or(|weight| weight <= self.room(block));
                if has_room && self.loose[arc.target as usize] == JOINED {
                    held.push((block, arc.weight()));
                }
            });
        }
        held.sort_unstable();
        let sum = |of_block: &[(BlockId, Weight)]| of_block.iter().map(|(_, weight)| weight).sum::<Weight>();
        let sums = held.chunk_by(|a, b| a.0 == b.0).map(|held| (sum(held), Reverse(held[0].0)));
        sums.max().map(|(_, Reverse(block))| block)
    }

    /// Moves a vertex.
    fn shift(&mut self, node: NodeId, to: BlockId) {
        let from = self.assignment.blocks[node as usize];
        if from != to {
            self.affinities.collect(self.level.graph, &self.assignment.blocks, node);
            let gain = self.level.gain(node, &self.affinities, from, to);
            self.assignment.shift(node, self.level.node_weight(node), to, gain);
        }
    }

    /// Returns whether a vertex may leave its block, which stays whole and not empty without it.
    fn may_leave(&mut self, node: NodeId) -> bool {
        if self.level.objective.is_fixed(node) || self.loose[node as usize] != JOINED {
            return false;
        }
        let Self { level, assignment, search, .. } = self;
        let own = assignment.blocks[node as usize];
        let is_inside = |other: NodeId| assignment.blocks[other as usize] == own && other != node;
        search.searches += 1;
        let stamp = search.searches;
        search.visited[node as usize] = stamp;
        search.queue.clear();
        let mut missing = 0;
        level.arcs(node).iter().filter(|arc| is_inside(arc.target)).for_each(|arc| {
            missing += 1;
            if search.queue.is_empty() {
                search.queue.push(arc.target);
                search.visited[arc.target as usize] = stamp;
            }
        });
        if missing == 0 {
            return false;
        }
        // Neighbours that the search reaches hang together without the vertex.
        missing -= 1;
        let is_neighbour = |other: NodeId| level.arcs(node).iter().any(|arc| arc.target == other);
        let mut next = 0;
        while missing > 0 && next < search.queue.len() && search.queue.len() < MOST_VISITED {
            let at = search.queue[next];
            next += 1;
            level.arcs(at).iter().filter(|arc| is_inside(arc.target)).for_each(|arc| {
                if search.visited[arc.target as usize] != stamp {
                    search.visited[arc.target as usize] = stamp;
                    search.queue.push(arc.target);
                    missing -= usize::from(is_neighbour(arc.target));
                }
            });
        }
        missing == 0
    }

    /// The best move of a vertex to a block that takes it, and its gain.
    fn best_move(
        &mut self,
        node: NodeId,
        takes: &dyn Fn(&Self, BlockId) -> bool,
    ) -> Option<(Weight, BlockId)> {
        let from = self.assignment.blocks[node as usize];
        self.affinities.collect(self.level.graph, &self.assignment.blocks, node);
        let blocks = self.affinities.blocks().iter().copied();
        let allowed = blocks.filter(|&to| to != from && takes(self, to));
        let gains = allowed.map(|to| (self.level.gain(node, &self.affinities, from, to), Reverse(to)));
        gains.max().map(|(gain, to)| (gain, to.0))
    }

    /// Takes vertices from blocks that exceed their bounds, at the least loss.
    fn relieve_all(&mut self) {
        for block in 0..self.bounds.num_blocks() as BlockId {
            self.relieve(block);
            while self.room(block) < 0 && !self.effort.is_spent() && self.pass_on(block) {
                self.effort.spend(self.level.num_nodes());
            }
        }
    }

    /// Moves vertices from a block that exceeds its bound to blocks around it that have room.
    fn relieve(&mut self, block: BlockId) {
        if self.room(block) >= 0 {
            return;
        }
        let own = self.level.nodes().filter(|&node| self.assignment.blocks[node as usize] == block);
        let mut heap: BinaryHeap<(Weight, NodeId)> = own.map(|node| (Weight::MAX, node)).collect();
        while let Some((bound, node)) = heap.pop() {
            if self.room(block) >= 0 || self.watch.stops_after(1 + self.level.degree(node)) {
                break;
            }
            if self.assignment.blocks[node as usize] != block {
                continue;
            }
            let weight = self.level.node_weight(node);
            let takes = |this: &Self, to: BlockId| weight <= this.room(to);
            let Some((gain, to)) = self.best_move(node, &takes) else { continue };
            if gain < bound {
                heap.push((gain, node));
            } else if self.may_leave(node) {
                self.shift(node, to);
                let behind = self.level.arcs(node).iter().map(|arc| arc.target);
                heap.extend(behind.map(|other| (Weight::MAX, other)));
            }
        }
    }

    /// Passes a vertex on along the shortest chain of blocks from one that exceeds its bound to one with room; returns whether there is a chain
    /// whose moves are possible.
    fn pass_on(&mut self, block: BlockId) -> bool {
        let k = self.bounds.num_blocks();
        // By block, the one before it on the way.
        let mut before: Vec<Option<BlockId>> = vec![None; k];
        before[block as usize] = Some(block);
        let mut reached = vec![block];
        let mut next = 0;
        let adjacent = self.adjacent_blocks();
        let end = loop {
            let Some(&at) = reached.get(next) else { return false };
            next += 1;
            if at != block && self.room(at) > 0 {
                break at;
            }
            for &(_, to) in &adjacent[adjacent.partition_point(|&(from, _)| from < at)..] {
                if before[to as usize].is_none() && adjacent.binary_search(&(at, to)).is_ok() {
                    before[to as usize] = Some(at);
                    reached.push(to);
                }
            }
        };
        let mut chain = vec![end];
        while let Some(&at) = chain.last().filter(|&&at| at != block) {
            chain.push(before[at as usize].expect("it was reached"));
        }
        chain.windows(2).all(|pair| self.pass(pair[1], pair[0]))
    }

    /// Pairs of adjacent blocks, both ways, in order.
    fn adjacent_blocks(&self) -> Vec<(BlockId, BlockId)> {
        let mut pairs = Vec::new();
        for node in self.level.nodes() {
            let own = self.assignment.blocks[node as usize];
            self.level.arcs(node).iter().for_each(|arc| {
                let other = self.assignment.blocks[arc.target as usize];
                if own != other && pairs.last() != Some(&(own, other)) {
                    pairs.push((own, other));
                }
            });
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Moves the vertex of the least loss from one block to another.
    fn pass(&mut self, from: BlockId, to: BlockId) -> bool {
        let own: Vec<NodeId> =
            self.level.nodes().filter(|&node| self.assignment.blocks[node as usize] == from).collect();
        let takes = |_: &Self, block: BlockId| block == to;
        let mut moves: Vec<(Weight, NodeId)> = Vec::new();
        for node in own {
            if let Some((gain, _)) = self.best_move(node, &takes) {
                moves.push((-gain, node));
            }
        }
        moves.sort_unstable();
        let Some((_, node)) = moves.into_iter().find(|&(_, node)| self.may_leave(node)) else { return false };
        self.shift(node, to);
        true
    }

    /// Moves vertices where the cost falls, until none does or a few rounds have passed.
    fn improve_all(&mut self) {
        for _ in 0..ROUNDS {
            if !self.improve() {
                break;
            }
        }
    }

    /// Moves vertices where the cost falls, within the bounds; returns whether any has moved.
    fn improve(&mut self) -> bool {
        let mut has_moved = false;
        for node in self.level.nodes() {
            if self.watch.stops_after(1 + self.level.degree(node)) {
                return false;
            }
            let (from, weight) = (self.assignment.blocks[node as usize], self.level.node_weight(node));
            let takes =
                |this: &Self, to: BlockId| this.bounds.allow(&this.assignment.weights, weight, [from, to]);
            let best = self.best_move(node, &takes).filter(|&(gain, _)| gain > 0);
            if let Some((_, to)) = best.filter(|_| self.may_leave(node)) {
                self.shift(node, to);
                has_moved = true;
            }
        }
        has_moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::components::components;
    use crate::graph::generate;
    use crate::partition::objective::tests::Matrix;
    use crate::partition::{PartitionPreset, Partitioner};
    use crate::testing::random_graph;

    /// All assignments of so many vertices to so many blocks.
    fn all(num_nodes: usize, num_blocks: usize) -> impl Iterator<Item = Vec<BlockId>> {
        (0..num_blocks.pow(num_nodes as u32)).map(move |number| {
            (0..num_nodes as u32)
                .map(|node| (number / num_blocks.pow(node) % num_blocks) as BlockId)
                .collect()
        })
    }

    #[test]
    fn tiny_graphs_get_the_fewest_pieces_within_the_bounds() {
        let mut rng = Rng::new(3);
        for round in 0..60 {
            let (n, k) = (2 + rng.below(6) as usize, 2 + rng.below(2) as usize);
            let graph = random_graph(n, 1 + round % 3, 3, &mut rng).with_unit_node_weights();
            let Ok(targets) = Targets::equal(&graph, k.min(n), 0.5) else { continue };
            let found = Partitioner::new(PartitionPreset::Fast, 0).partition(&graph, &targets);
            let found = with_cut(found.connected(&graph, &targets, &()));
            let all = all(n, k.min(n)).map(|blocks| with_cut(Partition::of(&graph, blocks, &targets)));
            let best = all.map(|one| one.score_of_connected(&graph)).min();
            assert_eq!(Some(found.score_of_connected(&graph)), best);
        }
    }

    fn with_cut(partition: Partition) -> ManyToOnePartition {
        ManyToOnePartition { cost: partition.cut(), partition }
    }

    #[test]
    fn tiny_mappings_have_the_fewest_pieces_and_the_smallest_j_of_those() {
        let mut rng = Rng::new(4);
        let row = Matrix::of(3, |a, b| Weight::from(a.abs_diff(b)).pow(2));
        for round in 0..40 {
            let (n, k) = (3 + rng.below(5) as usize, 3);
            let graph = random_graph(n, 1 + round % 3, 3, &mut rng).with_unit_node_weights();
            let targets = Targets::equal(&graph, k, 0.5).unwrap();
            let mapped = |blocks: Vec<BlockId>| {
                let cost = cost(&graph, &row, &blocks);
                ManyToOnePartition { partition: Partition::of(&graph, blocks, &targets), cost }
            };
            let start = mapped(graph.nodes().map(|node| node % k as BlockId).collect());
            if extra_of(&graph, &start.partition) == 0 {
                continue;
            }
            let found = start.connected(&graph, &targets, &row, &());
            let best = all(n, k).map(|blocks| mapped(blocks).score_of_connected(&graph)).min();
            assert_eq!(found.cost, cost(&graph, &row, found.partition.blocks()));
            assert_eq!(Some(found.score_of_connected(&graph)), best);
        }
    }

    #[test]
    fn mappings_of_grids_become_whole_at_a_small_loss() {
        let grid = generate::grid(40, 40);
        let row = Matrix::of(16, |a, b| Weight::from(a.abs_diff(b)));
        let targets = Targets::equal(&grid, 16, 0.05).unwrap();
        let mut rng = Rng::new(5);
        let strips = targets.in_order(&grid);
        let mut scattered = |&block: &BlockId| if rng.below(20) == 0 { rng.below(16) } else { block };
        let blocks: Vec<BlockId> = strips.iter().map(&mut scattered).collect();
        let start = ManyToOnePartition {
            cost: cost(&grid, &row, &blocks),
            partition: Partition::of(&grid, blocks, &targets),
        };
        let (before, found) = (start.cost, start.connected(&grid, &targets, &row, &()));
        assert_eq!((extra_of(&grid, &found.partition), found.partition.overload()), (0, 0));
        assert!(found.cost < before && found.cost <= 2 * cost(&grid, &row, &strips), "{}", found.cost);
    }

    #[test]
    fn two_paths_of_four_in_three_blocks_of_three_leave_one_piece() {
        let edges = [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)];
        let graph = CsrGraph::from_edges(8, edges.map(|(u, v)| (u, v, 1))).unwrap();
        let targets = Targets::equal(&graph, 3, 0.0).unwrap();
        let found = Partitioner::new(PartitionPreset::Fast, 0).partition(&graph, &targets);
        let found = with_cut(found.connected(&graph, &targets, &()));
        assert_eq!(found.score_of_connected(&graph), (BoundViolation::NONE, 0, 1, 2));
    }

    #[test]
    fn exact_sizes_stay_and_pieces_get_fewer() {
        let graph = generate::random_geometric(2000, 10.0, 1);
        let targets = Targets::equal(&graph, 16, 0.0).unwrap();
        let strips = Partition::of(&graph, targets.in_order(&graph), &targets);
        let before = extra_of(&graph, &strips);
        let connected = strips.clone().connected(&graph, &targets, &());
        assert_eq!(connected.block_weights(), strips.block_weights());
        let after = extra_of(&graph, &connected);
        assert!(after < before && connected.cut() < strips.cut(), "{before} {after}");
    }

    #[test]
    fn scattered_blocks_of_connected_graphs_become_whole() {
        let mut rng = Rng::new(1);
        for round in 0..30 {
            let csr = match round % 2 {
                0 => generate::grid(12 + round, 20),
                _ => generate::random_geometric(400, 12.0, round as u64),
            };
            let graph = &CompactGraph::<i32>::new(&csr);
            let k = 2 + rng.below(8);
            // Blocks of an order, of which one vertex in ten is anywhere.
            let mut blocks: Vec<BlockId> =
                graph.nodes().map(|node| node * k / graph.num_nodes() as NodeId).collect();
            for block in &mut blocks {
                if rng.below(10) == 0 {
                    *block = rng.below(k);
                }
            }
            let most = vec![graph.num_nodes() as Weight / Weight::from(k) * 6 / 5; k as usize];
            let level = Problem { graph, objective: &Cut };
            let mut assignment = Assignment::new(level, blocks, k as usize);
            let before = assignment.clone();
            connect(level, &mut assignment, most[..].into(), &());
            let counted = Assignment::new(level, assignment.blocks.clone(), k as usize);
            assert_eq!((&assignment.weights, assignment.cost), (&counted.weights, counted.cost));
            let neighbours = |node| csr.neighbours(node).iter().copied();
            let (_, components) = components(csr.num_nodes(), neighbours);
            let extra = |blocks: &[BlockId]| extra_pieces(&pieces(blocks, k as usize, neighbours));
            assert!(extra(&before.blocks) > extra(&assignment.blocks) && assignment.cost < before.cost);
            if components == 1 {
                assert_eq!((assignment.overload(&most), extra(&assignment.blocks)), (0, 0), "{round}");
            }
        }
    }
}
