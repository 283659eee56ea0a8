//! Fiduccia-Mattheyses refinement of k-way partitions.
//!
//! A search starts from some vertices of the boundary. It always makes the best move that fits, even if that raises the cut,
//! and lets the neighbours of moved vertices join. It ends some moves after its best state and returns to it. Started from
//! the whole boundary, this is the classical algorithm; started from single vertices, it escapes from far more local optima.
//! A vertex moves at most once per round.
//!
//! The affinities of a vertex to the blocks are computed when they are needed: O(deg) time, O(n + k) memory. A table of
//! all affinities would take O(n k).
//!
//! Sanders, Schulz: Engineering multilevel graph partitioning algorithms. ESA 2011.

use crate::base::observer::{Observer, Watch};
use crate::base::rng::Rng;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::Room;
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::heap::Heap;
use crate::partition::objective::Objective;
use crate::partition::settings::KWayConfig;

/// A search ends once it has scanned this many arcs since its best state. Balances cut against time around hubs, where each
/// move outdates gains that take long to compute; elsewhere it allows for hundreds of moves. Shows on graphs with hubs.
const MAX_SEARCH_EFFORT: usize = 1 << 15;

/// A round ends once its searches have scanned this many times the arcs of the graph in vain. Balances cut against time
/// around hubs. Shows as [`MAX_SEARCH_EFFORT`] does; it is a multiple of the wasted work of a round where degrees are small.
const MAX_WASTED_PASSES: usize = 50;

/// Arcs added to those of the graph for [`MAX_WASTED_PASSES`], so that searches on small graphs are not cut short.
const FREE_ARCS: usize = 1 << 19;

/// Rounds end when one gains less than one in this many of the cut. Balances cut against time on the graphs of the
/// partition bench.
const LEAST_GAIN: Weight = 1000;

/// The internal and external degree of a vertex: the weight of its edges inside its block and to other blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Degrees {
    internal: Weight,
    external: Weight,
}

impl Degrees {
    /// Updates the degrees of a vertex of block `own` whose neighbour has moved.
    #[inline]
    fn follow(&mut self, own: BlockId, weight: Weight, from: BlockId, to: BlockId) {
        if own == from {
            self.internal -= weight;
            self.external += weight;
        } else if own == to {
            self.internal += weight;
            self.external -= weight;
        }
    }
}

/// What a refinement must keep to.
#[derive(Clone, Copy)]
pub(crate) struct Goal<'a, B> {
    pub bounds: B,
    pub settings: &'a KWayConfig,
    pub observer: &'a dyn Observer,
}

/// A move of a vertex to another block, and how much the cost falls.
#[derive(Clone, Copy, Debug)]
struct Move {
    node: NodeId,
    to: BlockId,
    gain: Weight,
}

/// Working memory of the refinement.
#[derive(Debug, Default)]
pub(crate) struct KWay {
    heap: Heap,
    /// By vertex; a vertex of positive external degree lies on the boundary.
    degrees: Vec<Degrees>,
    affinities: BlockAffinities,
    /// Arcs scanned since the best state of the current search.
    effort: usize,
    /// Where a vertex in the heap would move.
    destination: Vec<BlockId>,
    /// Whether the gain in the heap is only an upper bound.
    dirty: Vec<bool>,
    moved: Vec<bool>,
    /// The vertices that stay moved until the end of the round.
    locked: Vec<NodeId>,
    /// The moves that would undo those of the current search.
    trail: Vec<Move>,
    /// Where the searches of the next round start.
    seeds: Vec<NodeId>,
    /// True if there are vertices that do not join searches.
    has_hubs: bool,
}

impl KWay {
    pub fn resize(&mut self, num_nodes: usize, num_blocks: usize) {
        self.heap.resize(num_nodes);
        self.affinities.resize(num_blocks);
        if self.moved.len() < num_nodes {
            self.moved.resize(num_nodes, false);
            self.destination.resize(num_nodes, 0);
            self.dirty.resize(num_nodes, false);
        }
    }

    /// Refines a partition until the observer asks to stop; no block that is within its bound leaves it, and none comes to lack its
    /// least load unless that takes more from what others exceed or lack. Returns whether the cost fell.
    pub fn refine<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        goal: Goal<'_, B>,
        rng: &mut Rng,
    ) -> bool {
        if goal.settings.rounds == 0 {
            return false;
        }
        self.resize(level.num_nodes(), assignment.weights.len());
        let before = assignment.cost;
        self.has_hubs = level.nodes().any(|node| !joins(level.graph, node));
        self.degrees.resize(level.num_nodes(), Degrees::default());
        let degrees = |node| collect_degrees(level.graph, &assignment.blocks, node as NodeId);
        threads::fill(&mut self.degrees, degrees);
        self.seeds.clear();
        self.seeds.extend(level.nodes().filter(|&node| self.degrees[node as usize].external > 0));
        // What has moved in a round does not move again in it, and fixed vertices never move.
        let hold = |moved: &mut [bool], are_held: bool| {
            let fixed = level.nodes().filter(|&node| level.objective.is_fixed(node));
            fixed.for_each(|node| moved[node as usize] = are_held);
        };
        if level.objective.has_fixed() {
            hold(&mut self.moved, true);
        }
        for _ in 0..goal.settings.rounds {
            let start = assignment.cost;
            self.round(level, assignment, goal, rng);
            if start - assignment.cost <= start / LEAST_GAIN {
                break;
            }
        }
        if level.objective.has_fixed() {
            hold(&mut self.moved, false);
        }
        assignment.cost < before
    }

    /// One search from each group of seeds; collects in `self.seeds` where the next round should start.
    fn round<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        goal: Goal<'_, B>,
        rng: &mut Rng,
    ) {
        let Goal { settings, observer, .. } = goal;
        let mut seeds = std::mem::take(&mut self.seeds);
        rng.shuffle(&mut seeds);
        let max_wasted = MAX_WASTED_PASSES * (level.num_arcs() + FREE_ARCS) / settings.seeds.max(1);
        let mut wasted = 0;
        let mut watch = Watch::new(observer);
        for group in seeds.chunks(settings.seeds.min(seeds.len().max(1))) {
            if wasted > max_wasted || observer.should_stop() {
                break;
            }
            for &node in group {
                if !self.moved[node as usize] && self.degrees[node as usize].external > 0 {
                    self.enqueue_bound(level, assignment, node);
                }
            }
            wasted += self.search(level, assignment, goal, &mut watch);
        }
        // A search that failed would fail again unless something moved nearby.
        seeds.clear();
        for &node in &self.locked {
            self.moved[node as usize] = false;
            seeds.push(node);
            seeds.extend(level.arcs(node).iter().map(|arc| arc.target));
        }
        self.locked.clear();
        seeds.sort_unstable();
        seeds.dedup();
        seeds.retain(|&node| self.degrees[node as usize].external > 0);
        self.seeds = seeds;
    }

    /// Puts a vertex into the heap with its best move, or takes it out if it has none.
    #[inline]
    fn enqueue<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &Assignment,
        bounds: impl Room,
        node: NodeId,
    ) {
        match self.best_move(level, assignment, bounds, node) {
            Some((gain, block)) => {
                self.destination[node as usize] = block;
                self.dirty[node as usize] = false;
                self.heap.set(node, gain);
            }
            None => self.heap.remove(node),
        }
    }

    /// Puts a vertex into the heap with an upper bound of its gain. It is made exact when it comes to the top, and most
    /// never do.
    #[inline]
    fn enqueue_bound<W, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &Assignment,
        node: NodeId,
    ) {
        self.dirty[node as usize] = true;
        let Degrees { internal, external } = self.degrees[node as usize];
        let block = assignment.blocks[node as usize];
        self.heap.set(node, level.greatest_gain(node, block, internal, external));
    }

    /// Updates the gain of a queued vertex one of whose neighbours has moved; O(1) besides the heap.
    ///
    /// Where the best block may have changed, the gain becomes an upper bound or, of J, an estimate.
    #[inline]
    fn adjust<W, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &Assignment,
        node: NodeId,
        weight: Weight,
        moved: [BlockId; 2],
    ) {
        if self.dirty[node as usize] {
            self.enqueue_bound(level, assignment, node);
            return;
        }
        let own = assignment.blocks[node as usize];
        let best = self.destination[node as usize];
        let (change, exact) = level.objective.change_of_gain([own, best], weight, moved);
        self.dirty[node as usize] = !exact;
        self.heap.raise(node, change);
    }

    /// Moves a vertex and updates the degrees around it; `visit` is called for each neighbour afterwards.
    #[inline]
    fn shift<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        Move { node, to, gain }: Move,
        mut visit: impl FnMut(&mut Self, &Assignment, NodeId, Weight),
    ) {
        let from = assignment.blocks[node as usize];
        assignment.shift(node, level.node_weight(node), to, gain);
        let mut internal = 0;
        level.arcs(node).iter().for_each(|arc| {
            let own = assignment.blocks[arc.target as usize];
            internal += if own == to { arc.weight() } else { 0 };
            self.degrees[arc.target as usize].follow(own, arc.weight(), from, to);
            visit(self, assignment, arc.target, arc.weight());
        });
        let degrees = &mut self.degrees[node as usize];
        degrees.external += degrees.internal - internal;
        degrees.internal = internal;
    }

    /// The best move of a vertex to an adjacent block with room for it, to the emptiest among equals.
    #[inline]
    fn best_move<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &Assignment,
        bounds: impl Room,
        node: NodeId,
    ) -> Option<(Weight, BlockId)> {
        self.affinities.collect(level.graph, &assignment.blocks, node);
        self.effort += level.degree(node);
        let from = assignment.blocks[node as usize];
        let weight = level.node_weight(node);
        if weight == assignment.weights[from as usize] {
            return None; // the block would be left empty
        }
        let room = |block: BlockId| bounds.room(&assignment.weights, block);
        let fits = |block: BlockId| {
            block != from && bounds.takes(&assignment.weights, (node, weight), [from, block])
        };
        let count = self.affinities.narrow(level.objective.has_pull(), fits);
        self.effort += self.affinities.work_of_gains();
        let mut best: Option<(Weight, Weight, BlockId)> = None;
        for &block in &self.affinities.blocks()[..count] {
            if !fits(block) {
                continue;
            }
            let key = (level.gain(node, &self.affinities, from, block), room(block), block);
            if best.is_none_or(|best| key > best) {
                best = Some(key);
            }
        }
        best.map(|(gain, _, block)| (gain, block))
    }

    /// Makes moves starting with the vertices in the heap, and returns to the best state. Returns the number of arcs scanned
    /// in vain.
    fn search<W: Stored, O: Objective, B: Room>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        Goal { bounds, settings, .. }: Goal<'_, B>,
        watch: &mut Watch<'_>,
    ) -> usize {
        let mut best_cost = assignment.cost;
        let mut best_length = 0;
        let mut walk = RandomWalk::default();
        self.effort = 0;
        while self.trail.len() - best_length <= settings.patience
            && !walk.is_hopeless(settings.least_steps)
            && self.effort <= MAX_SEARCH_EFFORT
        {
            let Some((gain, node)) = self.heap.peek() else { break };
            if watch.stops_after(1 + level.degree(node)) {
                break;
            }
            let to = self.destination[node as usize];
            let weight = level.node_weight(node);
            if self.dirty[node as usize]
                || !bounds.takes(&assignment.weights, (node, weight), [assignment.blocks[node as usize], to])
            {
                // The gain is out of date, or a block has filled up or got too light: queue the best move of now.
                self.enqueue(level, assignment, bounds, node);
                watch.stops_after(self.affinities.work_of_gains());
                continue;
            }
            self.heap.pop();
            bounds.follow(node, [assignment.blocks[node as usize], to]);
            self.move_top(level, assignment, Move { node, to, gain });
            if assignment.cost < best_cost {
                best_cost = assignment.cost;
                best_length = self.trail.len();
                walk = RandomWalk::default();
                self.effort = 0;
            } else {
                walk.step(gain);
                self.effort += level.graph.hub_degree(node);
            }
        }
        self.heap.clear();
        self.effort + self.roll_back(level, assignment, bounds, best_length)
    }

    /// Moves a vertex taken from the heap and queues its neighbours.
    #[inline]
    fn move_top<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        step: Move,
    ) {
        let Move { node, to, gain } = step;
        let from = assignment.blocks[node as usize];
        self.moved[node as usize] = true;
        self.trail.push(Move { node, to: from, gain: -gain });
        self.shift(level, assignment, step, |this, assignment, other, weight| {
            if this.moved[other as usize] {
                return;
            }
            if this.heap.contains(other) {
                this.adjust(level, assignment, other, weight, [from, to]);
            } else if this.degrees[other as usize].external > 0
                && (!this.has_hubs || joins(level.graph, other))
            {
                this.enqueue_bound(level, assignment, other);
            }
        });
    }

    /// Undoes the moves of the search after the first `length` ones. Returns the number of arcs scanned.
    fn roll_back<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: impl Room,
        length: usize,
    ) -> usize {
        let mut looked_at = 0;
        // Vertices whose move is undone may move again in a later search of the round.
        while self.trail.len() > length {
            let back = self.trail.pop().expect("the trail is longer than its best prefix");
            bounds.follow(back.node, [assignment.blocks[back.node as usize], back.to]);
            self.shift(level, assignment, back, |_, _, _, _| {});
            self.moved[back.node as usize] = false;
            looked_at += level.graph.hub_degree(back.node);
        }
        self.locked.extend(self.trail.drain(..).map(|back| back.node));
        looked_at
    }
}

/// Returns whether a vertex joins a search when a neighbour moves. One with more arcs than [`MAX_SEARCH_EFFORT`] does not: adjacent
/// to nearly everything that moves, it would end every search at once. Searches still start from it.
#[inline]
fn joins<W: Stored>(graph: &CompactGraph<'_, W>, node: NodeId) -> bool {
    graph.degree(node) <= MAX_SEARCH_EFFORT
}

fn collect_degrees<W: Stored>(graph: &CompactGraph<'_, W>, blocks: &[BlockId], node: NodeId) -> Degrees {
    let (own, mut degrees) = (blocks[node as usize], Degrees::default());
    graph.arcs(node).iter().for_each(|arc| {
        let is_inner = blocks[arc.target as usize] == own;
        degrees.internal += if is_inner { arc.weight() } else { 0 };
        degrees.external += if is_inner { 0 } else { arc.weight() };
    });
    degrees
}

/// The gains since the best state, seen as a random walk.
///
/// Osipov, Sanders: n-level graph partitioning. ESA 2010.
#[derive(Default)]
struct RandomWalk {
    steps: f64,
    mean: f64,
    /// Sum of the squared deviations from the mean (Welford).
    deviations: f64,
}

impl RandomWalk {
    #[inline]
    fn step(&mut self, gain: Weight) {
        let gain = gain as f64;
        self.steps += 1.0;
        let deviation = gain - self.mean;
        self.mean += deviation / self.steps;
        self.deviations += deviation * (gain - self.mean);
    }

    /// Returns whether a walk of this mean and variance is unlikely to return to where it started.
    #[inline]
    fn is_hopeless(&self, least_steps: usize) -> bool {
        // The drift outweighs the spread when steps * mean^2 exceeds a quarter of the variance.
        self.steps > least_steps as f64
            && 4.0 * self.steps * (self.steps - 1.0) * self.mean * self.mean >= self.deviations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{CsrGraph, generate};
    use crate::partition::PartitionConfig;
    use crate::partition::PartitionPreset;
    use crate::partition::bounds::LoadBounds;
    use crate::partition::objective::tests::{edge_costs, matrices};
    use crate::partition::objective::{Cut, StoredCost};

    fn graph() -> CsrGraph {
        generate::random_geometric(300, 8.0, 5)
    }

    fn scattered<O: Objective>(level: Problem<'_, i32, O>, k: u32, rng: &mut Rng) -> Assignment {
        let blocks = level.nodes().map(|_| rng.below(k)).collect();
        Assignment::new(level, blocks, k as usize)
    }

    fn check_moves<O: Objective>(objective: &O, k: u32) {
        let graph = graph();
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective };
        let mut rng = Rng::new(4);
        let mut assignment = scattered(level, k, &mut rng);
        let mut k_way = KWay::default();
        k_way.resize(level.num_nodes(), k as usize);
        k_way.degrees.extend(level.nodes().map(|node| collect_degrees(&graph, &assignment.blocks, node)));
        for _ in 0..200 {
            let node = rng.below(level.num_nodes() as u32);
            let (from, to) = (assignment.blocks[node as usize], rng.below(k));
            if from == to {
                continue;
            }
            k_way.affinities.collect(&graph, &assignment.blocks, node);
            let gain = level.gain(node, &k_way.affinities, from, to);
            k_way.shift(level, &mut assignment, Move { node, to, gain }, |_, _, _, _| {});
            for node in level.nodes() {
                let degrees = collect_degrees(&graph, &assignment.blocks, node);
                assert_eq!(k_way.degrees[node as usize], degrees);
                let unlimited = vec![Weight::MAX / 2; k as usize];
                let best = k_way.best_move(level, &assignment, LoadBounds::from(&unlimited[..]), node);
                let Degrees { internal, external } = degrees;
                let bound = level.greatest_gain(node, assignment.blocks[node as usize], internal, external);
                assert!(best.is_none_or(|(gain, _)| gain <= bound));
            }
            let fresh = Assignment::new(level, assignment.blocks.clone(), k as usize);
            assert_eq!((assignment.cost, &assignment.weights), (fresh.cost, &fresh.weights));
        }
    }

    #[test]
    fn degrees_and_cost_agree_with_recomputation_after_every_move() {
        check_moves(&Cut, 5);
        for matrix in matrices().into_iter().step_by(3) {
            check_moves(&StoredCost::new(&matrix).unwrap(), matrix.num_blocks as u32);
        }
    }

    fn check_refinement<O: Objective>(objective: &O, k: u32) {
        let graph = graph();
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective };
        for preset in [PartitionPreset::Fast, PartitionPreset::Strong] {
            let mut rng = Rng::new(9);
            let mut assignment = scattered(level, k, &mut rng);
            let before = assignment.cost;
            let least = Weight::from(360 / k);
            let bounds: Vec<Weight> = assignment.weights.iter().map(|weight| (*weight).max(least)).collect();
            let goal = Goal {
                bounds: LoadBounds::from(&bounds[..]),
                settings: &PartitionConfig::preset(preset).k_way,
                observer: &(),
            };
            assert!(KWay::default().refine(level, &mut assignment, goal, &mut rng));
            let fresh = Assignment::new(level, assignment.blocks.clone(), k as usize);
            assert_eq!((assignment.cost, &assignment.weights), (fresh.cost, &fresh.weights));
            assert!(3 * assignment.cost < 2 * before);
            assert_eq!(assignment.overload(&bounds), 0);
        }
    }

    #[test]
    fn refinement_lowers_the_cost_and_keeps_the_bounds() {
        check_refinement(&Cut, 6);
        for matrix in matrices() {
            edge_costs(&matrix).for_each(|cost| check_refinement(&cost, matrix.num_blocks as u32));
        }
    }
}
