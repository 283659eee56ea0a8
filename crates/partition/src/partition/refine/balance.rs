//! Brings overloaded blocks back to their bounds at the least loss.

use std::collections::BTreeSet;

use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
use crate::base::order;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::LoadBounds;
use crate::partition::compact::Stored;
use crate::partition::heap::Heap;
use crate::partition::objective::Objective;
use crate::partition::packing::Packing;
use crate::partition::residual::ResidualCapacities;

/// For a vertex with more arcs than this, the gain is recomputed only after one in this many of its neighbours has moved.
/// Balances up-to-date gains of hubs against their cost, which is at most this many times the arcs of the vertices that
/// move. Shows on stars and graphs with hubs.
const FEW_ARCS: usize = 256;

/// The number of arcs scanned for vertices that are put back into the queue, in multiples of the arcs of the graph. Beyond
/// it, moves are made at their present gain. Balances the loss of rebalancing against its time. Shows on graphs with hubs.
const PUT_BACK_EFFORT: usize = 64;

/// Vertices with at most this many arcs follow what moves in [`rebalance_roughly`]. Balances vertices that leave a block together against
/// time; tuned on graphs with heavy-tailed degrees, from 0 (0.6 % more cut) to any number (0.3 % less, twice the time).
const FOLLOWED_ARCS: usize = 64;

/// Moves vertices out of overloaded blocks, cheapest first, until no block is above its bound.
///
/// A vertex goes to the adjacent block with room for it to which its affinity is greatest, or else to the block with most
/// room. With vertices of weight 1 this always succeeds if the bounds leave room. O((n + m) log n), O(k) if no block is
/// overloaded. Once the observer asks to stop, vertices move in the order of their numbers to any block with room.
pub(crate) fn rebalance<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: &[Weight],
    observer: &dyn Observer,
) {
    rebalance_with(level, assignment, bounds, Care::FULL, observer);
}

/// As [`rebalance`], but the gains of vertices with many arcs do not follow what moves: O(m + n log n).
pub(crate) fn rebalance_roughly<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: &[Weight],
    observer: &dyn Observer,
) {
    rebalance_with(level, assignment, bounds, Care::ROUGH, observer);
}

fn rebalance_with<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: &[Weight],
    care: Care,
    observer: &dyn Observer,
) {
    if assignment.overload(bounds) == 0 {
        return;
    }
    if !Rebalancing::new(level, assignment, bounds, care).run(observer) {
        rebalance_in_order(level, assignment, bounds);
    }
}

/// How far gains are kept up to date.
#[derive(Clone, Copy)]
struct Care {
    /// The gains of vertices with more arcs do not follow what moves.
    most_arcs: usize,
    /// As [`PUT_BACK_EFFORT`].
    put_back: usize,
}

impl Care {
    const FULL: Self = Self { most_arcs: usize::MAX, put_back: PUT_BACK_EFFORT };
    const ROUGH: Self = Self { most_arcs: FOLLOWED_ARCS, put_back: 1 };
}

/// The state of moves out of overloaded blocks.
struct Rebalancing<'a, W, O> {
    level: Problem<'a, W, O>,
    assignment: &'a mut Assignment,
    bounds: &'a [Weight],
    affinities: BlockAffinities,
    heap: Heap,
    residuals: ResidualCapacities,
    /// By vertex: the number of neighbours that have moved since its gain was computed.
    outdated: Vec<u32>,
    care: Care,
}

impl<'a, W: Stored, O: Objective> Rebalancing<'a, W, O> {
    fn new(
        level: Problem<'a, W, O>,
        assignment: &'a mut Assignment,
        bounds: &'a [Weight],
        care: Care,
    ) -> Self {
        let mut affinities = BlockAffinities::default();
        affinities.resize(bounds.len());
        let mut heap = Heap::default();
        heap.resize(level.num_nodes());
        let residuals = ResidualCapacities::new(bounds, &assignment.weights);
        let outdated = vec![0; level.num_nodes()];
        Self { level, assignment, bounds, affinities, heap, residuals, outdated, care }
    }

    /// Moves vertices until no block is overloaded or no move is left; false if it was stopped before.
    fn run(&mut self, observer: &dyn Observer) -> bool {
        let level = self.level;
        let mut watch = Watch::new(observer);
        for node in level.nodes() {
            let may_leave = level.node_weight(node) > 0 && !level.objective.is_fixed(node);
            if self.is_over(self.assignment.blocks[node as usize]) && may_leave {
                self.look_at(node);
            }
            if watch.stops_after(1 + level.degree(node) + self.affinities.work_of_gains()) {
                return false;
            }
        }
        let mut budget = Budget::new(self.care.put_back.saturating_mul(level.num_arcs()));
        while let Some((gain, node)) = self.heap.pop() {
            let degree = level.degree(node);
            if watch.stops_after(1 + degree) {
                return false;
            }
            if !self.is_over(self.assignment.blocks[node as usize]) {
                continue;
            }
            // Gains change as neighbours move and blocks fill up. Only the present one counts.
            let best = self.best_move(node);
            if watch.stops_after(self.affinities.work_of_gains()) {
                return false;
            }
            let Some((present, to)) = best else { continue };
            if present < gain && budget.pays_for(degree) {
                self.heap.set(node, present);
                continue;
            }
            if self.shift(node, present, to, &mut watch) {
                return false;
            }
        }
        true
    }

    fn is_over(&self, block: BlockId) -> bool {
        self.assignment.weights[block as usize] > self.bounds[block as usize]
    }

    /// Queues a vertex with its best move if it has one.
    fn look_at(&mut self, node: NodeId) {
        self.outdated[node as usize] = 0;
        if let Some((gain, _)) = self.best_move(node) {
            self.heap.set(node, gain);
        }
    }

    fn best_move(&mut self, node: NodeId) -> Option<(Weight, BlockId)> {
        let Self { level, assignment, bounds, affinities, residuals, .. } = self;
        affinities.collect(level.graph, &assignment.blocks, node);
        let from = assignment.blocks[node as usize];
        let weight = level.node_weight(node);
        let room = |block: BlockId| bounds[block as usize] - assignment.weights[block as usize];
        let fits = |block: BlockId| block != from && room(block) >= weight;
        let count = affinities.narrow(level.objective.has_pull(), fits);
        let adjacent = affinities.blocks()[..count].iter().copied().filter(|&block| fits(block));
        let block = adjacent
            .max_by_key(|&block| (level.gain(node, affinities, from, block), room(block), block))
            .or_else(|| residuals.emptiest(room).filter(|&block| fits(block)))?;
        Some((level.gain(node, affinities, from, block), block))
    }

    /// Moves a vertex and updates the gains of its neighbours; returns whether the observer asks to stop.
    fn shift(&mut self, node: NodeId, gain: Weight, to: BlockId, watch: &mut Watch<'_>) -> bool {
        let level = self.level;
        let from = self.assignment.blocks[node as usize];
        self.assignment.shift(node, level.node_weight(node), to, gain);
        // Only the block that is left has more room.
        self.residuals.raise(from, self.bounds[from as usize] - self.assignment.weights[from as usize]);
        for arc in level.arcs(node) {
            let target = arc.target as usize;
            if !self.heap.contains(arc.target) || level.degree(arc.target) > self.care.most_arcs {
                continue;
            }
            self.outdated[target] += 1;
            let degree = level.degree(arc.target);
            if self.outdated[target] as usize * FEW_ARCS >= degree {
                self.look_at(arc.target);
                if watch.stops_after(degree + self.affinities.work_of_gains()) {
                    return true;
                }
            }
        }
        false
    }
}

/// Moves vertices out of overloaded blocks to the emptiest ones, in the order of their numbers; O(n log k + m).
fn rebalance_in_order<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: &[Weight],
) {
    let mut residuals = ResidualCapacities::new(bounds, &assignment.weights);
    for node in level.nodes() {
        let (from, weight) = (assignment.blocks[node as usize], level.node_weight(node));
        let room = |block: BlockId| bounds[block as usize] - assignment.weights[block as usize];
        if room(from) >= 0 || weight == 0 || level.objective.is_fixed(node) {
            continue;
        }
        let Some(to) = residuals.emptiest(room).filter(|&to| weight <= room(to)) else { continue };
        assignment.shift(node, weight, to, 0);
        residuals.raise(from, bounds[from as usize] - assignment.weights[from as usize]);
    }
    assignment.cost = level.objective.cost(level.graph, &assignment.blocks);
}

/// Packs the vertices again if blocks are overloaded; as many as possible keep their block.
///
/// Heaviest first, each vertex stays in its block if it still fits, or goes to the block with most room, or, on
/// a second attempt, to the one it fits most tightly. The packing replaces the partition only if it is overloaded
/// less. O(n (log n + log k) + m), O(k) if no block is overloaded.
pub(crate) fn repack<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    bounds: &[Weight],
) {
    if assignment.overload(bounds) == 0 {
        return;
    }
    let mut order: Vec<NodeId> = level.nodes().collect();
    order::descending_by(&mut order, &|node| level.node_weight(node));
    for tightest in [false, true] {
        let blocks = pack(level, &assignment.blocks, bounds, &order, tightest);
        let packed = Assignment::new(level, blocks, bounds.len());
        if packed.overload(bounds) < assignment.overload(bounds) {
            *assignment = packed;
        }
    }
}

/// A partition that exceeds no bound, around vertices that are fixed, if [`Packing`] finds one; it may be like no partition that was
/// known. Where blocks have least loads, it is near the sizes.
pub(crate) fn packed<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &Assignment,
    sizes: &[Weight],
    bounds: LoadBounds<'_>,
) -> Option<Assignment> {
    let blocks = &assignment.blocks;
    let mut rooms = bounds.most.to_vec();
    let mut sizes = if bounds.least.is_empty() { rooms.clone() } else { sizes.to_vec() };
    let (fixed, free): (Vec<NodeId>, Vec<NodeId>) =
        level.nodes().partition(|&node| level.objective.is_fixed(node));
    for node in fixed {
        rooms[blocks[node as usize] as usize] -= level.node_weight(node);
        sizes[blocks[node as usize] as usize] -= level.node_weight(node);
    }
    let weights: Vec<Weight> = free.iter().map(|&node| level.node_weight(node)).collect();
    let bins = Packing { weights: &weights, sizes: &sizes, rooms: &rooms }.find()?;
    let mut blocks = blocks.to_vec();
    for (node, bin) in free.into_iter().zip(bins) {
        blocks[node as usize] = bin;
    }
    Some(Assignment::new(level, blocks, bounds.num_blocks()))
}

/// Packs the vertices in the order given, around those that are fixed; what fits nowhere goes to the block with most room.
fn pack<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    blocks: &[BlockId],
    bounds: &[Weight],
    order: &[NodeId],
    tightest: bool,
) -> Vec<BlockId> {
    let mut room = bounds.to_vec();
    for node in level.nodes().filter(|&node| level.objective.is_fixed(node)) {
        room[blocks[node as usize] as usize] -= level.node_weight(node);
    }
    let mut by_room: BTreeSet<(Weight, usize)> = room.iter().copied().zip(0..).collect();
    let mut blocks = blocks.to_vec();
    for &node in order.iter().filter(|&&node| !level.objective.is_fixed(node)) {
        let weight = level.node_weight(node);
        let mut block = blocks[node as usize] as usize;
        if room[block] < weight {
            let tight = if tightest { by_room.range((weight, 0)..).next() } else { None };
            block = tight.or(by_room.last()).map_or(block, |&(_, block)| block);
        }
        by_room.remove(&(room[block], block));
        room[block] -= weight;
        by_room.insert((room[block], block));
        blocks[node as usize] = block as BlockId;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::observer::WORK_BETWEEN_QUESTIONS;
    use crate::graph::{CsrGraph, GraphBuilder};
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::Cut;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts questions, and asks to stop from one of them on.
    struct Questions {
        count: AtomicUsize,
        most: usize,
    }

    impl Questions {
        fn up_to(most: usize) -> Self {
            Self { count: AtomicUsize::new(0), most }
        }
    }

    impl Observer for Questions {
        fn should_stop(&self) -> bool {
            self.count.fetch_add(1, Ordering::Relaxed) >= self.most
        }
    }

    /// Everything is in one of 50 blocks.
    fn crowded_star() -> (CsrGraph, Vec<Weight>) {
        let n = 20_000;
        let mut builder = GraphBuilder::new(n);
        (1..n as NodeId).for_each(|leaf| builder.add_edge(0, leaf, 1));
        (builder.build().unwrap(), vec![400; 50])
    }

    #[test]
    fn a_hub_is_not_looked_at_for_each_neighbour_that_moves() {
        let (graph, bounds) = crowded_star();
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let mut assignment = Assignment::new(level, vec![0; graph.num_nodes()], 50);
        let observer = Questions::up_to(usize::MAX);
        rebalance(level, &mut assignment, &bounds, &observer);
        assert_eq!(assignment.overload(&bounds), 0);
        assert_eq!(assignment.cost, level.cut(&assignment.blocks));
        // Looking at the hub for each leaf would be half of 20 000 squared, 3000 questions.
        let questions = observer.count.into_inner();
        let most = 2 * FEW_ARCS * level.num_arcs() / WORK_BETWEEN_QUESTIONS;
        assert!((1..most).contains(&questions), "{questions}");
    }

    #[test]
    fn bounds_are_met_also_when_it_is_stopped() {
        for most in 0..4 {
            let (graph, bounds) = crowded_star();
            let graph = CompactGraph::<i32>::new(&graph);
            let level = Problem { graph: &graph, objective: &Cut };
            let mut assignment = Assignment::new(level, vec![0; graph.num_nodes()], 50);
            rebalance(level, &mut assignment, &bounds, &Questions::up_to(most));
            assert_eq!(assignment.overload(&bounds), 0);
            assert_eq!(assignment.cost, level.cut(&assignment.blocks));
            assert_eq!(assignment.weights, level.block_weights(&assignment.blocks, 50));
        }
    }
}
