//! Fiduccia-Mattheyses refinement of partitions into any number of blocks.
//!
//! A search starts from some vertices of the boundary, always makes the best move that fits, also if it
//! worsens the cut, lets the neighbours of moved vertices join, and ends some moves after its best state, to
//! which it returns. From the whole boundary this is the classical algorithm; from single vertices
//! it escapes from far more local optima (Sanders, Schulz: Engineering multilevel graph
//! partitioning algorithms. ESA 2011). A vertex moves at most once a round.
//!
//! The connection of a vertex to the blocks is computed when it is needed: O(deg), with memory O(n + k)
//! in all, where a table of connections would take O(n k).

use crate::observer::{Observer, Watch};
use crate::partition::heap::Heap;
use crate::partition::level::{Level, Stored};
use crate::partition::settings::KWaySettings;
use crate::rng::Rng;
use crate::types::{BlockId, NodeId, Weight};

/// A search ends when it has looked at this many arcs since its best state: hundreds of moves where degrees are
/// small. Around hubs, each move makes the gains of vertices out of date that take long to compute.
const GREATEST_EFFORT: usize = 1 << 15;

/// The arcs of a vertex that moves, or whose move is undone, count as looked at if they are more than this many: it is
/// hubs that make searches expensive, and where degrees are small, moves cost as much as gains do.
const MANY_ARCS: usize = 1 << 10;

/// A partition with its block weights and cut.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub blocks: Vec<BlockId>,
    pub weights: Vec<Weight>,
    pub cut: Weight,
}

impl Assignment {
    /// Computes weights and cut from the blocks.
    pub fn new<W: Stored>(graph: &Level<W>, blocks: Vec<BlockId>, num_blocks: usize) -> Self {
        let weights = graph.block_weights(&blocks, num_blocks);
        let cut = graph.cut(&blocks);
        Self { blocks, weights, cut }
    }

    /// How much the blocks weigh above their bounds together.
    pub fn overload(&self, bounds: &[Weight]) -> Weight {
        self.weights.iter().zip(bounds).map(|(weight, bound)| (weight - bound).max(0)).sum()
    }

    /// What counts: overload first, then the cut.
    pub fn score(&self, bounds: &[Weight]) -> (Weight, Weight) {
        (self.overload(bounds), self.cut)
    }

    /// Moves a vertex of the given weight; `gain` is how much the cut falls.
    #[inline]
    pub fn shift(&mut self, node: NodeId, weight: Weight, to: BlockId, gain: Weight) {
        let from = std::mem::replace(&mut self.blocks[node as usize], to);
        self.weights[from as usize] -= weight;
        self.weights[to as usize] += weight;
        self.cut -= gain;
    }
}

/// The weights of the edges from one vertex to each block.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    weights: Vec<Weight>,
    touched: Vec<BlockId>,
}

impl Connection {
    pub fn resize(&mut self, num_blocks: usize) {
        if self.weights.len() < num_blocks {
            self.weights.resize(num_blocks, 0);
        }
    }

    /// Collects the connection of `node`; O(deg).
    #[inline]
    pub fn collect<W: Stored>(&mut self, graph: &Level<W>, blocks: &[BlockId], node: NodeId) {
        for block in self.touched.drain(..) {
            self.weights[block as usize] = 0;
        }
        for arc in graph.arcs(node) {
            let block = blocks[arc.target as usize];
            let weight = &mut self.weights[block as usize];
            if *weight == 0 {
                self.touched.push(block);
            }
            *weight += arc.weight();
        }
    }

    /// The blocks that the vertex is connected to.
    #[inline]
    pub fn blocks(&self) -> &[BlockId] {
        &self.touched
    }

    #[inline]
    pub fn to(&self, block: BlockId) -> Weight {
        self.weights[block as usize]
    }
}

/// The weight of the edges of a vertex inside its block and to other blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ties {
    inner: Weight,
    outer: Weight,
}

impl Ties {
    /// Updates the ties of a vertex of block `own` whose neighbour has moved.
    #[inline]
    fn follow(&mut self, own: BlockId, weight: Weight, from: BlockId, to: BlockId) {
        if own == from {
            self.inner -= weight;
            self.outer += weight;
        } else if own == to {
            self.inner += weight;
            self.outer -= weight;
        }
    }

    /// No move of the vertex gains more: this much if all its outer edges lead to one block.
    #[inline]
    fn greatest_gain(self) -> Weight {
        self.outer - self.inner
    }
}

/// Working memory of the refinement.
#[derive(Debug, Default)]
pub(crate) struct KWay {
    heap: Heap,
    /// By vertex; the boundary are the vertices with outer ties.
    ties: Vec<Ties>,
    connection: Connection,
    /// Arcs looked at to compute gains since the best state of the search at hand.
    effort: usize,
    /// Where a vertex in the heap would go.
    destination: Vec<BlockId>,
    /// Whether the gain in the heap is only an upper bound.
    dirty: Vec<bool>,
    moved: Vec<bool>,
    /// The vertices moved for good in this round.
    spent: Vec<NodeId>,
    /// The moves of the search at hand: vertex, block it came from, gain.
    trail: Vec<(NodeId, BlockId, Weight)>,
    /// Where the searches of the next round start.
    seeds: Vec<NodeId>,
}

impl KWay {
    pub fn resize(&mut self, num_nodes: usize, num_blocks: usize) {
        self.heap.resize(num_nodes);
        self.connection.resize(num_blocks);
        if self.moved.len() < num_nodes {
            self.moved.resize(num_nodes, false);
            self.destination.resize(num_nodes, 0);
            self.dirty.resize(num_nodes, false);
        }
    }

    /// Refines a partition until the observer asks to stop; no block that is within its bound leaves it. Returns
    /// whether the cut fell.
    pub fn refine<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &mut Assignment,
        bounds: &[Weight],
        settings: &KWaySettings,
        observer: &dyn Observer,
        rng: &mut Rng,
    ) -> bool {
        self.resize(graph.num_nodes(), assignment.weights.len());
        let before = assignment.cut;
        self.seeds.clear();
        self.ties.clear();
        for node in graph.nodes() {
            let ties = collect_ties(graph, &assignment.blocks, node);
            self.ties.push(ties);
            if ties.outer > 0 {
                self.seeds.push(node);
            }
        }
        for _ in 0..settings.rounds {
            let start = assignment.cut;
            self.round(graph, assignment, bounds, settings, observer, rng);
            // Rounds that gain less than 1 in 1000 cost more than they are worth.
            if start - assignment.cut <= start / 1000 {
                break;
            }
        }
        assignment.cut < before
    }

    /// One search from each group of seeds; collects in `self.seeds` where the next round should start.
    fn round<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &mut Assignment,
        bounds: &[Weight],
        settings: &KWaySettings,
        observer: &dyn Observer,
        rng: &mut Rng,
    ) {
        let mut seeds = std::mem::take(&mut self.seeds);
        rng.shuffle(&mut seeds);
        // A multiple of what a round looks at in vain where degrees are small.
        let greatest_waste = 50 * (graph.num_arcs() + (1 << 19)) / settings.seeds.max(1);
        let mut waste = 0;
        let mut watch = Watch::new(observer);
        for group in seeds.chunks(settings.seeds.min(seeds.len().max(1))) {
            if waste > greatest_waste || observer.should_stop() {
                break;
            }
            for &node in group {
                if !self.moved[node as usize] && self.ties[node as usize].outer > 0 {
                    self.enqueue_bound(node);
                }
            }
            waste += self.search(graph, assignment, bounds, settings, &mut watch);
        }
        // A search that failed would fail again unless something moved nearby.
        seeds.clear();
        for &node in &self.spent {
            self.moved[node as usize] = false;
            seeds.push(node);
            seeds.extend(graph.arcs(node).iter().map(|arc| arc.target));
        }
        self.spent.clear();
        seeds.sort_unstable();
        seeds.dedup();
        seeds.retain(|&node| self.ties[node as usize].outer > 0);
        self.seeds = seeds;
    }

    /// Puts a vertex into the heap with its best move, or takes it out if it has none.
    #[inline]
    fn enqueue<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &Assignment,
        bounds: &[Weight],
        node: NodeId,
    ) {
        match self.best_move(graph, assignment, bounds, node) {
            Some((gain, block)) => {
                self.destination[node as usize] = block;
                self.dirty[node as usize] = false;
                self.heap.set(node, gain);
            }
            None => self.heap.remove(node),
        }
    }

    /// Puts a vertex into the heap with an upper bound of its gain, to be made exact only when it comes to
    /// the top: most never do.
    #[inline]
    fn enqueue_bound(&mut self, node: NodeId) {
        self.dirty[node as usize] = true;
        self.heap.set(node, self.ties[node as usize].greatest_gain());
    }

    /// Updates the gain of a queued vertex one of whose neighbours has moved; O(1) besides the heap.
    ///
    /// Where the best block may have changed, the gain becomes an upper bound.
    #[inline]
    fn adjust(&mut self, assignment: &Assignment, node: NodeId, weight: Weight, from: BlockId, to: BlockId) {
        if self.dirty[node as usize] {
            self.enqueue_bound(node);
            return;
        }
        let own = assignment.blocks[node as usize];
        let best = self.destination[node as usize];
        let (change, exact) = if own == from {
            (2 * weight, best == to)
        } else if own == to {
            (-weight, best != from)
        } else {
            (weight, best == to)
        };
        self.dirty[node as usize] = !exact;
        self.heap.raise(node, change);
    }

    /// Moves a vertex and updates the ties around it; `visit` sees each neighbour afterwards.
    #[inline]
    fn shift<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &mut Assignment,
        node: NodeId,
        to: BlockId,
        gain: Weight,
        mut visit: impl FnMut(&mut Self, &Assignment, NodeId, Weight),
    ) {
        let from = assignment.blocks[node as usize];
        assignment.shift(node, graph.node_weight(node), to, gain);
        let ties = &mut self.ties[node as usize];
        // The gain is what the vertex has in its new block beyond what it had in the old one.
        ties.inner += gain;
        ties.outer -= gain;
        for arc in graph.arcs(node) {
            let own = assignment.blocks[arc.target as usize];
            self.ties[arc.target as usize].follow(own, arc.weight(), from, to);
            visit(self, assignment, arc.target, arc.weight());
        }
    }

    /// The best move of a vertex to an adjacent block with room for it, to the emptiest among equals.
    #[inline]
    fn best_move<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &Assignment,
        bounds: &[Weight],
        node: NodeId,
    ) -> Option<(Weight, BlockId)> {
        self.connection.collect(graph, &assignment.blocks, node);
        self.effort += graph.degree(node);
        let from = assignment.blocks[node as usize];
        let weight = graph.node_weight(node);
        if weight == assignment.weights[from as usize] {
            return None; // the block would be left empty
        }
        let mut best: Option<(Weight, Weight, BlockId)> = None;
        for &block in self.connection.blocks() {
            let room = bounds[block as usize] - assignment.weights[block as usize];
            if block == from || weight > room {
                continue;
            }
            let key = (self.connection.to(block), room, block);
            if best.is_none_or(|best| key > best) {
                best = Some(key);
            }
        }
        best.map(|(outer, _, block)| (outer - self.connection.to(from), block))
    }

    /// Makes moves from the vertices in the heap on, and returns to the best state. Returns what was looked at in
    /// vain.
    fn search<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &mut Assignment,
        bounds: &[Weight],
        settings: &KWaySettings,
        watch: &mut Watch<'_>,
    ) -> usize {
        let mut best_cut = assignment.cut;
        let mut best_length = 0;
        let mut walk = RandomWalk::default();
        self.effort = 0;
        while self.trail.len() - best_length <= settings.patience
            && !walk.is_hopeless(settings.least_steps)
            && self.effort <= GREATEST_EFFORT
        {
            let Some((gain, node)) = self.heap.peek() else { break };
            if watch.stops_after(1 + graph.degree(node)) {
                break;
            }
            let to = self.destination[node as usize];
            let weight = graph.node_weight(node);
            if self.dirty[node as usize] || assignment.weights[to as usize] + weight > bounds[to as usize] {
                // The gain is out of date or the block filled up: queue the best move there is now.
                self.enqueue(graph, assignment, bounds, node);
                continue;
            }
            self.heap.pop();
            let from = assignment.blocks[node as usize];
            self.moved[node as usize] = true;
            self.trail.push((node, from, gain));
            self.shift(graph, assignment, node, to, gain, |this, assignment, other, weight| {
                if this.moved[other as usize] {
                } else if this.heap.contains(other) {
                    this.adjust(assignment, other, weight, from, to);
                } else if this.ties[other as usize].outer > 0 {
                    this.enqueue_bound(other);
                }
            });
            if assignment.cut < best_cut {
                best_cut = assignment.cut;
                best_length = self.trail.len();
                walk = RandomWalk::default();
                self.effort = 0;
            } else {
                walk.step(gain);
                self.effort += cost_of_move(graph, node);
            }
        }
        let mut waste = self.effort;
        self.heap.clear();
        // Vertices whose move is undone may move again in a later search of the round.
        while self.trail.len() > best_length {
            let (node, from, gain) = self.trail.pop().expect("the trail is longer than its best prefix");
            self.shift(graph, assignment, node, from, -gain, |_, _, _, _| {});
            self.moved[node as usize] = false;
            waste += cost_of_move(graph, node);
        }
        self.spent.extend(self.trail.drain(..).map(|(node, _, _)| node));
        waste
    }
}

/// The arcs that count when a vertex moves.
#[inline]
fn cost_of_move<W: Stored>(graph: &Level<W>, node: NodeId) -> usize {
    Some(graph.degree(node)).filter(|&degree| degree > MANY_ARCS).unwrap_or(0)
}

fn collect_ties<W: Stored>(graph: &Level<W>, blocks: &[BlockId], node: NodeId) -> Ties {
    let mut ties = Ties::default();
    for arc in graph.arcs(node) {
        if blocks[arc.target as usize] == blocks[node as usize] {
            ties.inner += arc.weight();
        } else {
            ties.outer += arc.weight();
        }
    }
    ties
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

    /// Whether a walk with this mean and variance is unlikely to come back to where it started.
    #[inline]
    fn is_hopeless(&self, least_steps: usize) -> bool {
        // A drift of mean per step against a spread of variance per step: the odds turn when
        // steps * mean^2 exceeds a quarter of the variance.
        self.steps > least_steps as f64
            && 4.0 * self.steps * (self.steps - 1.0) * self.mean * self.mean >= self.deviations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::partition::Preset;
    use crate::partition::Settings;

    fn level() -> Level<i32> {
        Level::new(&generate::random_geometric(300, 8.0, 5))
    }

    fn scattered(level: &Level<i32>, k: u32, rng: &mut Rng) -> Assignment {
        let blocks = level.nodes().map(|_| rng.below(k)).collect();
        Assignment::new(level, blocks, k as usize)
    }

    #[test]
    fn ties_and_cut_agree_with_recomputation_after_every_move() {
        let level = level();
        let mut rng = Rng::new(4);
        let mut assignment = scattered(&level, 5, &mut rng);
        let mut k_way = KWay::default();
        k_way.resize(level.num_nodes(), 5);
        k_way.ties.extend(level.nodes().map(|node| collect_ties(&level, &assignment.blocks, node)));
        for _ in 0..500 {
            let node = rng.below(level.num_nodes() as u32);
            let (from, to) = (assignment.blocks[node as usize], rng.below(5));
            if from == to {
                continue;
            }
            k_way.connection.collect(&level, &assignment.blocks, node);
            let gain = k_way.connection.to(to) - k_way.connection.to(from);
            k_way.shift(&level, &mut assignment, node, to, gain, |_, _, _, _| {});
            for node in level.nodes() {
                let ties = collect_ties(&level, &assignment.blocks, node);
                assert_eq!(k_way.ties[node as usize], ties);
                let unlimited = [Weight::MAX / 2; 5];
                let best = k_way.best_move(&level, &assignment, &unlimited, node);
                assert!(best.is_none_or(|(gain, _)| gain <= ties.greatest_gain()));
            }
            let fresh = Assignment::new(&level, assignment.blocks.clone(), 5);
            assert_eq!((assignment.cut, &assignment.weights), (fresh.cut, &fresh.weights));
        }
    }

    #[test]
    fn refinement_lowers_the_cut_and_keeps_the_bounds() {
        let level = level();
        for preset in [Preset::Fast, Preset::Strong] {
            let mut rng = Rng::new(9);
            let mut assignment = scattered(&level, 6, &mut rng);
            let before = assignment.cut;
            let bounds: Vec<Weight> = assignment.weights.iter().map(|weight| (*weight).max(60)).collect();
            let settings = Settings::of(preset).k_way;
            assert!(KWay::default().refine(&level, &mut assignment, &bounds, &settings, &(), &mut rng));
            let fresh = Assignment::new(&level, assignment.blocks.clone(), 6);
            assert_eq!((assignment.cut, &assignment.weights), (fresh.cut, &fresh.weights));
            assert!(assignment.cut < before / 2);
            assert_eq!(assignment.overload(&bounds), 0);
        }
    }
}
