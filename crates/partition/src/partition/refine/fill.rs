//! Gives vertices to blocks that have too few, at the least loss.
//!
//! *Least loads.* A block below its least load takes vertices of blocks that can spare them, the adjacent ones of greatest gain first, and
//! so grows from its boundary. Where no adjacent block can spare any, or the block is empty, it takes the vertex of least internal degree
//! of all. A move is made only if it lowers the total that blocks lack, and if no bound is exceeded by it: so vertices of weight 1
//! meet all least loads that can be met. O((n + m) log n) besides vertices that are put back, O(k) if no block lacks any.
//!
//! *Empty blocks.* Each gets a vertex, whatever that weighs, unless that would add to the total overload. Where vertices are not fixed and the
//! bounds hold, a block stays empty only if it would in each partition within the bounds. O((n + m) log n), O(n) if no block is empty.

use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
use crate::base::order;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::blocks::Partition;
use crate::partition::bounds::LoadBounds;
use crate::partition::compact::{Arc, CompactGraph, Stored};
use crate::partition::fixed::FixedVertices;
use crate::partition::heap::Heap;
use crate::partition::objective::{Cut, EdgeCost, Migrating, Objective};
use crate::partition::relay::{Single, along, relay};
use crate::partition::targets::Targets;

/// The number of arcs scanned for vertices that are put back into a queue, in multiples of the arcs of the graph; vertices count as
/// arcs. Beyond it, moves are made at their present gain, and blocks get no vertices that are not adjacent to them. Balances the loss of
/// moves against their time. Shows on graphs with hubs.
const PUT_BACK_EFFORT: usize = 64;

/// The same for the searches of vertices that are passed on. Balances blocks that stay empty, of many with unequal bounds, against time.
const RELAY_EFFORT: usize = 64;

/// The end of all ways to divide a graph with a small cut: blocks get their least loads, and at least a vertex each, as far as vertices and bounds
/// allow it. Fixed vertices stay. O(n + k) if nothing is missing.
pub(in crate::partition) fn filled(
    graph: &CsrGraph,
    partition: Partition,
    targets: &Targets,
    observer: &dyn Observer,
) -> Partition {
    if partition.shortfall() == 0 && partition.num_empty() == 0 {
        return partition;
    }
    let none = FixedVertices::none(graph.num_nodes(), targets.num_blocks());
    let objective = Migrating::fixing(EdgeCost::Cut(Cut), targets.fixed().unwrap_or(&none));
    let compact = CompactGraph::<i64>::new(graph);
    let level = Problem { graph: &compact, objective: &objective };
    let mut assignment = Assignment::new(level, partition.into_blocks(), targets.num_blocks());
    fill_short(level, &mut assignment, targets.load_bounds(), observer);
    fill_empty(level, &mut assignment, targets.load_bounds());
    Partition::of_assignment(assignment, targets)
}

/// Moves vertices to blocks below their least loads, until these are met or no move lowers what is missing. Once the observer asks to
/// stop, vertices move in the order of their numbers.
pub(crate) fn fill_short<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: LoadBounds<'_>,
    observer: &dyn Observer,
) {
    if assignment.violation(bounds).shortfall == 0 {
        return;
    }
    Filling::new(level, assignment, bounds).run(observer);
    if assignment.violation(bounds).shortfall > 0 {
        fill_in_order(level, assignment, bounds);
    }
}

/// The state of moves to blocks below their least loads.
struct Filling<'a, W, O> {
    level: Problem<'a, W, O>,
    assignment: &'a mut Assignment,
    bounds: LoadBounds<'a>,
    affinities: BlockAffinities,
    /// Vertices that may join the block that is filled, by the gain of that.
    candidates: Heap,
    /// All vertices, by their internal degrees as they were once; the least degree on top. Empty until it is needed.
    loosest: Heap,
    has_loosest: bool,
    budget: Budget,
}

impl<'a, W: Stored, O: Objective> Filling<'a, W, O> {
    fn new(level: Problem<'a, W, O>, assignment: &'a mut Assignment, bounds: LoadBounds<'a>) -> Self {
        let mut affinities = BlockAffinities::default();
        affinities.resize(bounds.num_blocks());
        let [mut candidates, mut loosest] = [Heap::default(), Heap::default()];
        candidates.resize(level.num_nodes());
        loosest.resize(level.num_nodes());
        let budget = Budget::new(PUT_BACK_EFFORT.saturating_mul(level.num_arcs() + level.num_nodes()));
        Self { level, assignment, bounds, affinities, candidates, loosest, has_loosest: false, budget }
    }

    /// Fills all blocks, those that lack most first, until nothing changes or the observer asks to stop.
    fn run(&mut self, observer: &dyn Observer) {
        let mut watch = Watch::new(observer);
        loop {
            let before = self.assignment.violation(self.bounds).shortfall;
            let stops = self.pass(&mut watch);
            let left = self.assignment.violation(self.bounds).shortfall;
            // A block that has taken a heavy vertex may have some to spare for others.
            if stops || left == 0 || left == before {
                return;
            }
        }
    }

    /// Fills each block once; returns whether the observer asks to stop.
    fn pass(&mut self, watch: &mut Watch<'_>) -> bool {
        let lack = |block: BlockId| self.bounds.lack(block, self.assignment.weights[block as usize]);
        let mut short: Vec<BlockId> =
            (0..self.bounds.num_blocks() as BlockId).filter(|&block| lack(block) > 0).collect();
        order::descending_by(&mut short, &lack);
        // Some may have left until their block is filled, which does no harm: their neighbours are near it.
        let mut members = vec![Vec::new(); self.bounds.num_blocks()];
        for node in self.level.nodes() {
            let block = self.assignment.blocks[node as usize];
            if lack(block) > 0 {
                members[block as usize].push(node);
            }
        }
        self.has_loosest = false;
        watch.stops_after(self.level.num_arcs())
            || short.into_iter().any(|block| self.fill(block, &members[block as usize], watch))
    }

    fn queue_loosest(&mut self) {
        if std::mem::replace(&mut self.has_loosest, true) {
            return;
        }
        self.loosest.clear();
        for node in self.level.nodes() {
            if !self.level.objective.is_fixed(node) && self.level.node_weight(node) > 0 {
                self.loosest.set(node, -self.internal_degree(node));
            }
        }
    }

    fn internal_degree(&self, node: NodeId) -> Weight {
        let block = self.assignment.blocks[node as usize];
        let is_inner = |arc: &Arc<W>| self.assignment.blocks[arc.target as usize] == block;
        self.level.arcs(node).iter().filter(is_inner).map(|arc| arc.weight()).sum()
    }

    /// Moves vertices to a block until it has its least load; returns whether the observer asks to stop.
    fn fill(&mut self, block: BlockId, members: &[NodeId], watch: &mut Watch<'_>) -> bool {
        self.candidates.clear();
        for &node in members {
            self.queue_neighbours(node, block);
        }
        while self.bounds.lack(block, self.assignment.weights[block as usize]) > 0 {
            let Some((node, gain)) = self.next(block, watch) else { break };
            self.assignment.shift(node, self.level.node_weight(node), block, gain);
            self.queue_neighbours(node, block);
            if watch.stops_after(1 + self.level.degree(node) + self.affinities.work_of_gains()) {
                return true;
            }
        }
        watch.stops_after(1)
    }

    /// The next vertex to move to a block, and the gain of that.
    fn next(&mut self, block: BlockId, watch: &mut Watch<'_>) -> Option<(NodeId, Weight)> {
        while let Some((gain, node)) = self.candidates.pop() {
            if !self.may_move(node, block) {
                continue;
            }
            let present = self.gain(node, block);
            watch.stops_after(self.affinities.work_of_gains());
            if present < gain && self.budget.pays_for(1 + self.level.degree(node)) {
                self.candidates.set(node, present);
                continue;
            }
            return Some((node, present));
        }
        let mut put_back = Vec::new();
        let found = self.next_loosest(block, &mut put_back);
        put_back.into_iter().for_each(|(degree, node)| self.loosest.set(node, degree));
        let node = found?;
        Some((node, self.gain(node, block)))
    }

    /// The vertex of least internal degree that may move to a block. Those that only this block cannot take are put back.
    fn next_loosest(&mut self, block: BlockId, put_back: &mut Vec<(Weight, NodeId)>) -> Option<NodeId> {
        self.queue_loosest();
        while let Some((degree, node)) = self.loosest.pop() {
            if !self.budget.pays_for(1 + self.level.degree(node)) {
                return None;
            }
            let present = -self.internal_degree(node);
            if present < degree {
                self.loosest.set(node, present);
            } else if self.may_move(node, block) {
                return Some(node);
            } else if self.level.node_weight(node) > 1 {
                put_back.push((present, node));
            }
        }
        None
    }

    /// Returns whether a move exceeds no bound and lowers what is missing.
    fn may_move(&self, node: NodeId, block: BlockId) -> bool {
        let (from, weights) = (self.assignment.blocks[node as usize], &self.assignment.weights);
        let weight = self.level.node_weight(node);
        let lost = self.bounds.lack_without(from, weights[from as usize], weight);
        let won = self.bounds.lack(block, weights[block as usize]).min(weight);
        from != block && lost < won && weights[block as usize] + weight <= self.bounds.most[block as usize]
    }

    fn gain(&mut self, node: NodeId, block: BlockId) -> Weight {
        let from = self.assignment.blocks[node as usize];
        self.affinities.collect(self.level.graph, &self.assignment.blocks, node);
        self.level.gain(node, &self.affinities, from, block)
    }

    /// Queues the neighbours of a member of a block that may join it.
    fn queue_neighbours(&mut self, node: NodeId, block: BlockId) {
        let level = self.level;
        for target in level.arcs(node).iter().map(|arc| arc.target) {
            let may_leave = level.node_weight(target) > 0 && !level.objective.is_fixed(target);
            if may_leave && self.may_move(target, block) && self.budget.pays_for(level.degree(target)) {
                let gain = self.gain(target, block);
                self.candidates.set(target, gain);
            }
        }
    }
}

/// Moves vertices to blocks below their least loads in the order of their numbers; O(n + m + k).
fn fill_in_order<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: LoadBounds<'_>,
) {
    let lack = |weights: &[Weight], block: BlockId| bounds.lack(block, weights[block as usize]);
    let mut short = (0..bounds.num_blocks() as BlockId).peekable();
    for node in level.nodes().filter(|&node| !level.objective.is_fixed(node)) {
        let (from, weight) = (assignment.blocks[node as usize], level.node_weight(node));
        while short.next_if(|&block| lack(&assignment.weights, block) == 0).is_some() {}
        let Some(&to) = short.peek() else { break };
        let spares = bounds.lack_without(from, assignment.weights[from as usize], weight) == 0;
        let fits = assignment.weights[to as usize] + weight <= bounds.most[to as usize];
        if from != to && weight > 0 && spares && fits {
            assignment.shift(node, weight, to, 0);
        }
    }
    assignment.cost = level.objective.cost(level.graph, &assignment.blocks);
}

/// Gives a vertex to every empty block that may have one, as long as other blocks have more than one.
///
/// The vertices of the least internal degree move first. A vertex above the bound of the empty block moves if the overload of its own
/// block falls by as much: so where all bounds are equal, no block stays empty. Where only blocks of a single vertex have one that is light
/// enough, such vertices are passed on ([`relay`]). No other block comes to lack its least load.
pub(crate) fn fill_empty<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: LoadBounds<'_>,
) {
    let mut counts = vec![0usize; bounds.num_blocks()];
    for &block in &assignment.blocks {
        counts[block as usize] += 1;
    }
    let mut empty: Vec<BlockId> = (0..bounds.num_blocks() as BlockId)
        .filter(|&block| counts[block as usize] == 0 && !bounds.is_closed(block))
        .collect();
    // What adds to the overload in one of them does so in all later ones.
    order::descending_by(&mut empty, &|block| bounds.most[block as usize]);
    if !empty.is_empty() && empty.len() + level.num_nodes() > bounds.num_blocks() - bounds.closed.len() {
        Occupying::new(level, assignment, bounds, counts).run(empty);
    }
}

/// The state of moves to empty blocks.
struct Occupying<'a, W, O> {
    level: Problem<'a, W, O>,
    assignment: &'a mut Assignment,
    bounds: LoadBounds<'a>,
    /// The number of vertices of each block.
    counts: Vec<usize>,
    affinities: BlockAffinities,
    /// Vertices that may leave their blocks, by their internal degrees; the least degree on top.
    loosest: Heap,
    budget: Budget,
}

impl<'a, W: Stored, O: Objective> Occupying<'a, W, O> {
    fn new(
        level: Problem<'a, W, O>,
        assignment: &'a mut Assignment,
        bounds: LoadBounds<'a>,
        counts: Vec<usize>,
    ) -> Self {
        let mut affinities = BlockAffinities::default();
        affinities.resize(bounds.num_blocks());
        let mut loosest = Heap::default();
        loosest.resize(level.num_nodes());
        for node in level.nodes().filter(|&node| !level.objective.is_fixed(node)) {
            let block = assignment.blocks[node as usize];
            let inner = level.arcs(node).iter().filter(|arc| assignment.blocks[arc.target as usize] == block);
            loosest.set(node, -inner.map(|arc| arc.weight()).sum::<Weight>());
        }
        let budget = Budget::new(RELAY_EFFORT.saturating_mul(level.num_arcs() + level.num_nodes()));
        Self { level, assignment, bounds, counts, affinities, loosest, budget }
    }

    /// Fills these blocks, which are in the order of their bounds, the greatest first.
    fn run(mut self, empty: Vec<BlockId>) {
        for block in empty {
            match self.next(block) {
                Some(node) => self.shift(node, block),
                None if self.budget.pays_for(self.level.num_nodes()) => self.pass_on(block),
                None => return,
            }
        }
    }

    /// The vertex of least internal degree that may move to a block. Those before it may move to no later one either.
    fn next(&mut self, block: BlockId) -> Option<NodeId> {
        while let Some((_, node)) = self.loosest.pop() {
            if self.may_move(node, block) {
                return Some(node);
            }
        }
        None
    }

    fn may_move(&self, node: NodeId, block: BlockId) -> bool {
        let (from, weight) = (self.assignment.blocks[node as usize], self.level.node_weight(node));
        let (before, most) = (self.assignment.weights[from as usize], self.bounds.most[block as usize]);
        let lost = self.bounds.lack_without(from, before, weight);
        let relieved = self.bounds.excess(from, before) - self.bounds.excess(from, before - weight);
        let fits = weight <= most || most > 0 && weight - most <= relieved;
        self.counts[from as usize] > 1 && fits && lost <= self.bounds.lack(block, 0)
    }

    fn shift(&mut self, node: NodeId, block: BlockId) {
        let from = self.assignment.blocks[node as usize];
        self.counts[from as usize] -= 1;
        self.counts[block as usize] += 1;
        self.affinities.collect(self.level.graph, &self.assignment.blocks, node);
        let gain = self.level.gain(node, &self.affinities, from, block);
        self.assignment.shift(node, self.level.node_weight(node), block, gain);
        for arc in self.level.arcs(node) {
            if self.loosest.contains(arc.target) && self.assignment.blocks[arc.target as usize] == from {
                self.loosest.raise(arc.target, arc.weight());
            }
        }
    }

    /// Passes vertices on so that a block gets one, if there is a way that adds nothing to what blocks lack. O(n) and O(k) for each step.
    fn pass_on(&mut self, block: BlockId) {
        let level = self.level;
        let mut lightest: Option<(Weight, NodeId)> = None;
        let mut singles = Vec::new();
        for node in level.nodes().filter(|&node| !level.objective.is_fixed(node)) {
            let (of, weight) = (self.assignment.blocks[node as usize], level.node_weight(node));
            match self.counts[of as usize] {
                1 => singles.push(Single { block: of, weight, vertex: node }),
                _ if lightest.is_none_or(|lightest| weight < lightest.0) => lightest = Some((weight, node)),
                _ => {}
            }
        }
        let Some((weight, last)) = lightest else { return };
        let Some(path) = relay(self.bounds.most, &singles, weight, block) else { return };
        let before = self.assignment.violation(self.bounds).shortfall;
        let moves: Vec<(NodeId, BlockId)> = along(&path, last, block).collect();
        let back: Vec<(NodeId, BlockId)> =
            moves.iter().map(|&(node, _)| (node, self.assignment.blocks[node as usize])).collect();
        moves.into_iter().for_each(|(node, to)| self.shift(node, to));
        if self.assignment.violation(self.bounds).shortfall > before {
            back.into_iter().for_each(|(node, to)| self.shift(node, to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::CsrGraph;
    use crate::partition::bounds::BoundViolation;
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::{Cut, EdgeCost, Migrating};
    use crate::partition::refine::cycles::Moves;
    use crate::partition::refine::flow::Flow;
    use crate::partition::refine::k_way::{self, KWay};
    use crate::partition::{FixedVertices, PartitionConfig, PartitionPreset};
    use crate::testing::Stops;
    use crate::testing::{random_graph, with_node_weights};

    const NUM_BLOCKS: usize = 7;

    /// A graph with a random partition of which some blocks have next to nothing, and what blocks may weigh.
    struct Case {
        graph: CsrGraph,
        blocks: Vec<BlockId>,
        fixed: FixedVertices,
        most: Vec<Weight>,
        least: Vec<Weight>,
    }

    fn case(heaviest: u32, rng: &mut Rng) -> Case {
        let weights: Vec<Weight> = (0..90).map(|_| 1 + Weight::from(rng.below(heaviest))).collect();
        let graph = with_node_weights(&random_graph(90, 5, 4, rng), &weights);
        let total = graph.total_node_weight();
        let in_use = 1 + rng.below(NUM_BLOCKS as u32);
        let blocks: Vec<BlockId> = (0..90).map(|_| rng.below(in_use)).collect();
        let mut fixed = FixedVertices::none(90, NUM_BLOCKS);
        (0..10).for_each(|vertex| fixed.fix(vertex, blocks[vertex as usize]).unwrap());
        let most = vec![total; NUM_BLOCKS];
        let share = total / NUM_BLOCKS as Weight;
        let least = (0..NUM_BLOCKS).map(|_| share * Weight::from(rng.below(5)) / 4).collect();
        Case { graph, blocks, fixed, most, least }
    }

    fn agrees<O: Objective>(level: Problem<'_, i64, O>, assignment: &Assignment) {
        let fresh = Assignment::new(level, assignment.blocks.clone(), NUM_BLOCKS);
        assert_eq!((assignment.cost, &assignment.weights), (fresh.cost, &fresh.weights));
    }

    #[test]
    fn least_loads_are_met_and_kept_by_all_refiners() {
        let mut rng = Rng::new(8);
        let settings = PartitionConfig::preset(PartitionPreset::Strong);
        for round in 0..60 {
            let Case { graph, blocks, fixed, most, least } = case([1, 1, 4][round % 3], &mut rng);
            let graph = CompactGraph::<i64>::new(&graph);
            let bounds = LoadBounds { most: &most, least: &least, closed: &[] };
            let objective = Migrating::fixing(EdgeCost::Cut(Cut), &fixed);
            let level = Problem { graph: &graph, objective: &objective };
            let mut assignment = Assignment::new(level, blocks, NUM_BLOCKS);
            let before = assignment.violation(bounds).shortfall;
            if round % 2 == 0 {
                fill_short(level, &mut assignment, bounds, &());
            } else {
                fill_short(level, &mut assignment, bounds, &Stops);
            }
            agrees(level, &assignment);
            let left = assignment.violation(bounds);
            assert!(left.overload == 0 && left.shortfall <= before, "round {round}");
            assert!(round % 3 == 2 || left == BoundViolation::NONE, "round {round}: {left:?}");
            fill_empty(level, &mut assignment, bounds);
            let goal = k_way::Goal { bounds, settings: &settings.k_way, observer: &() };
            KWay::default().refine(level, &mut assignment, goal, &mut rng);
            Flow::default().refine(level, &mut assignment, bounds, &settings.flow, &());
            if round % 3 < 2 {
                Moves::new(level, &assignment, 100, &()).rebalance(&mut assignment, bounds, 20);
            }
            agrees(level, &assignment);
            assert!(assignment.violation(bounds) <= left, "round {round}");
            assert_eq!(fixed.violated_by(&assignment.blocks), None);
        }
    }

    #[test]
    fn empty_blocks_get_vertices_where_the_overload_does_not_rise() {
        let mut rng = Rng::new(9);
        for round in 0..60 {
            let Case { graph, blocks, fixed, .. } = case([1, 4, 50][round % 3], &mut rng);
            let graph = CompactGraph::<i64>::new(&graph);
            let objective = Migrating::fixing(EdgeCost::Cut(Cut), &fixed);
            let level = Problem { graph: &graph, objective: &objective };
            let mut assignment = Assignment::new(level, blocks, NUM_BLOCKS);
            // Many vertices are heavier than the lower one of these bounds.
            let bound = 1 + Weight::from(rng.below(graph.total_node_weight() as u32 / NUM_BLOCKS as u32));
            let most: Vec<Weight> =
                (0..NUM_BLOCKS).map(|_| bound >> (rng.below(4) * (round as u32 % 2))).collect();
            let before = assignment.violation(most.as_slice().into());
            fill_empty(level, &mut assignment, most.as_slice().into());
            agrees(level, &assignment);
            assert!(assignment.violation(most.as_slice().into()) <= before, "round {round}");
            assert!(round % 2 == 1 || assignment.weights.iter().all(|&weight| weight > 0), "round {round}");
        }
    }

    #[test]
    fn vertices_are_passed_on_along_cheapest_paths_to_blocks_that_lack_some() {
        // A path of 30 vertices; the last block is far from where there are many.
        let graph = crate::graph::generate::grid(30, 1);
        let graph = CompactGraph::<i64>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let blocks: Vec<BlockId> =
            graph.nodes().map(|node| [0, 1, 2][usize::from(node > 19) + usize::from(node > 28)]).collect();
        let mut assignment = Assignment::new(level, blocks, 3);
        let bounds = LoadBounds { most: &[30; 3], least: &[9, 9, 9], closed: &[] };
        Moves::new(level, &assignment, 1000, &()).rebalance(&mut assignment, bounds, 20);
        assert_eq!((assignment.violation(bounds), assignment.cost), (BoundViolation::NONE, 2));
    }
}
