//! A single search: what it knows of vertices that it has looked at, and what moves it has made, which nobody else sees.

use crate::base::observer::Watch;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::{Drift, Room};
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::heap::Heap;
use crate::partition::objective::Objective;
use crate::partition::settings::KWayConfig;

/// A search ends once it has scanned this many arcs since its best state. Balances cut against time around hubs, where each
/// move outdates gains that take long to compute; elsewhere it allows for hundreds of moves. Shows on graphs with hubs.
const MAX_SEARCH_EFFORT: usize = 1 << 15;

/// The internal and external degree of a vertex: the weight of its edges inside its block and to other blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Degrees {
    pub internal: Weight,
    pub external: Weight,
}

impl Degrees {
    /// The degrees of a vertex; O(deg).
    pub fn of<W: Stored>(graph: &CompactGraph<'_, W>, blocks: &[BlockId], node: NodeId) -> Self {
        let (own, mut degrees) = (blocks[node as usize], Self::default());
        graph.arcs(node).iter().for_each(|arc| {
            let is_inner = blocks[arc.target as usize] == own;
            degrees.internal += if is_inner { arc.weight() } else { 0 };
            degrees.external += if is_inner { 0 } else { arc.weight() };
        });
        degrees
    }

    /// Updates the degrees of a vertex of block `own` whose neighbour has moved.
    #[inline]
    pub fn follow(&mut self, own: BlockId, weight: Weight, [from, to]: [BlockId; 2]) {
        if own == from {
            self.internal -= weight;
            self.external += weight;
        } else if own == to {
            self.internal += weight;
            self.external -= weight;
        }
    }
}

/// A move of a vertex to another block, and how much the cost falls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub node: NodeId,
    pub to: BlockId,
    pub gain: Weight,
}

/// The state from which searches start, and what they must keep to.
pub(super) struct State<'a, W, O, B> {
    pub level: Problem<'a, W, O>,
    pub assignment: &'a Assignment,
    /// By vertex; a vertex of positive external degree lies on the boundary.
    pub degrees: &'a [Degrees],
    /// The vertices that do not move.
    pub is_held: &'a [bool],
    /// True if there are vertices that do not join searches.
    pub has_hubs: bool,
    pub bounds: B,
    pub settings: &'a KWayConfig,
}

impl<W, O, B: Copy> Clone for State<'_, W, O, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, O, B: Copy> Copy for State<'_, W, O, B> {}

/// What a search has found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The moves up to the best state, in their order.
    pub moves: Vec<Move>,
    /// The number of arcs scanned in vain.
    pub wasted: usize,
}

/// A vertex that a search has looked at.
#[derive(Clone, Copy, Debug)]
struct Seen {
    node: NodeId,
    block: BlockId,
    /// Where it would move if it is in the heap.
    destination: BlockId,
    degrees: Degrees,
    /// Whether the gain in the heap is only an upper bound.
    is_dirty: bool,
    has_moved: bool,
}

/// Words of [`Marks`]. Balances vertices that are looked up in vain against the cache. Shows on meshes of 2^16 vertices.
const MARKS: usize = 64;

/// A set of vertices that may hold others as well: those that agree with one in the last bits of their numbers.
#[derive(Debug)]
struct Marks([u64; MARKS]);

impl Default for Marks {
    fn default() -> Self {
        Self([0; MARKS])
    }
}

impl Marks {
    #[inline]
    fn mark(&mut self, node: NodeId) {
        self.0[node as usize / 64 % MARKS] |= 1 << (node % 64);
    }

    #[inline]
    fn may_hold(&self, node: NodeId) -> bool {
        self.0[node as usize / 64 % MARKS] >> (node % 64) & 1 == 1
    }
}

/// Where vertices are in a list: a hash table with linear probing. In a graph of few vertices, each has an entry of its own.
#[derive(Debug, Default)]
struct Places {
    /// Vertices and their places; at least half of the entries are empty, or there is one for each vertex.
    entries: Vec<(NodeId, u32)>,
}

/// Entries of a table at first, unless there are fewer vertices. Balances collisions against the cache. Shows on random geometric graphs of 2^14
/// vertices.
const FIRST_ENTRIES: usize = 1 << 12;

impl Places {
    const NONE: (NodeId, u32) = (NodeId::MAX, u32::MAX);

    /// Forgets these vertices, which are all there are, and makes room for vertices of a graph with so many.
    fn clear(&mut self, nodes: impl Iterator<Item = NodeId>, num_nodes: usize) {
        let at_first = num_nodes.next_power_of_two().min(FIRST_ENTRIES);
        if self.entries.len() == at_first {
            for node in nodes {
                let mut at = self.hash(node);
                while self.entries[at].0 != node {
                    at = self.next(at);
                }
                self.entries[at] = Self::NONE;
            }
        } else {
            self.entries.clear();
            self.entries.resize(at_first, Self::NONE);
        }
    }

    /// Vertices below [`FIRST_ENTRIES`] do not collide.
    #[inline]
    fn hash(&self, node: NodeId) -> usize {
        let above = node / FIRST_ENTRIES as u32;
        node.wrapping_add(above.wrapping_mul(0x9e37_79b9)) as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.entries.len() - 1)
    }

    /// The entry of a vertex, or the one where it belongs.
    #[inline]
    fn find(&self, node: NodeId) -> usize {
        let mut at = self.hash(node);
        loop {
            let there = self.entries[at].0;
            if there == node || there == NodeId::MAX {
                return at;
            }
            at = self.next(at);
        }
    }

    #[inline]
    fn get(&self, node: NodeId) -> Option<u32> {
        let place = self.entries[self.find(node)].1;
        (place != u32::MAX).then_some(place)
    }

    /// The place of a vertex; if it has none, that is `next`, the number of vertices that have one.
    #[inline]
    fn get_or_put(&mut self, node: NodeId, next: u32) -> u32 {
        let at = self.find(node);
        if self.entries[at].0 == node {
            return self.entries[at].1;
        }
        self.entries[at] = (node, next);
        if 2 * (next as usize + 1) > self.entries.len() && self.entries.len() >= FIRST_ENTRIES {
            self.grow();
        }
        next
    }

    #[cold]
    fn grow(&mut self) {
        let twice = vec![Self::NONE; 2 * self.entries.len()];
        for entry in std::mem::replace(&mut self.entries, twice) {
            if entry != Self::NONE {
                let at = self.find(entry.0);
                self.entries[at] = entry;
            }
        }
    }
}

/// A search copies the blocks of so many vertices at most. Balances the copy against a look-up for each arc. Shows on
/// mappings of 128 processes.
const MOST_COPIED: usize = 1 << 12;

/// Working memory of a search.
#[derive(Debug, Default)]
pub(super) struct Search {
    seen: Vec<Seen>,
    /// Where `seen` holds a vertex.
    place_of: Places,
    /// The vertices that have moved.
    moved: Marks,
    /// The block of each vertex, if there are few; else empty.
    blocks: Vec<BlockId>,
    /// By place.
    heap: Heap,
    affinities: BlockAffinities,
    /// By how much the loads of blocks differ from those of the state.
    drift: Drift,
    moves: Vec<Move>,
    /// Arcs scanned since the best state.
    effort: usize,
}

impl Search {
    fn clear<W: Stored, O, B: Room>(&mut self, state: State<'_, W, O, B>) {
        let num_blocks = state.assignment.weights.len();
        self.affinities.resize(num_blocks);
        self.drift.clear(num_blocks, state.bounds.num_weights());
        self.heap.clear();
        self.place_of.clear(self.seen.iter().map(|seen| seen.node), state.level.graph.num_nodes());
        self.seen.clear();
        self.moved = Marks::default();
        self.blocks.clear();
        if state.assignment.blocks.len() <= MOST_COPIED {
            self.blocks.extend_from_slice(&state.assignment.blocks);
        }
        self.moves.clear();
        self.effort = 0;
    }

    /// Makes moves starting with these vertices, until the best state is some moves ago.
    pub fn run<W: Stored, O: Objective, B: Room>(
        &mut self,
        state: State<'_, W, O, B>,
        seeds: &[NodeId],
        watch: &mut Watch<'_>,
    ) -> Found {
        let State { level, settings, .. } = state;
        self.clear(state);
        for &node in seeds {
            if !state.is_held[node as usize] && state.degrees[node as usize].external > 0 {
                let place = self.place(state, node);
                self.enqueue_bound(level, place);
            }
        }
        let (mut gain_so_far, mut best_gain, mut best_length) = (0, 0, 0);
        let mut walk = RandomWalk::default();
        while self.moves.len() - best_length <= settings.patience
            && !walk.is_hopeless(settings.least_steps)
            && self.effort <= MAX_SEARCH_EFFORT
        {
            let Some((gain, place)) = self.heap.peek() else { break };
            let Seen { node, destination: to, is_dirty, .. } = self.seen[place as usize];
            if watch.stops_after(1 + level.degree(node)) {
                break;
            }
            if is_dirty || !self.fits(state, place, to) {
                // The gain is out of date, or a block has filled up or got too light: queue the best move of now.
                self.enqueue(state, place);
                watch.stops_after(self.affinities.work_of_gains());
                continue;
            }
            self.heap.pop();
            self.make(state, place, Move { node, to, gain });
            gain_so_far += gain;
            if gain_so_far > best_gain {
                (best_gain, best_length) = (gain_so_far, self.moves.len());
                walk = RandomWalk::default();
                self.effort = 0;
            } else {
                walk.step(gain);
                self.effort += level.graph.hub_degree(node);
            }
        }
        Found { moves: self.moves[..best_length].to_vec(), wasted: self.effort }
    }

    /// Where a vertex is among those that were looked at.
    #[inline]
    fn place<W, O, B>(&mut self, state: State<'_, W, O, B>, node: NodeId) -> u32 {
        let next = self.seen.len() as u32;
        let place = self.place_of.get_or_put(node, next);
        if place == next {
            let (block, degrees) = (state.assignment.blocks[node as usize], state.degrees[node as usize]);
            let seen = Seen { node, block, destination: block, degrees, is_dirty: false, has_moved: false };
            self.seen.push(seen);
            self.heap.make_room(self.seen.len());
        }
        place
    }

    /// Returns whether a vertex may move to another block.
    #[inline]
    fn fits<W: Stored, O, B: Room>(&self, state: State<'_, W, O, B>, place: u32, to: BlockId) -> bool {
        let Seen { node, block, .. } = self.seen[place as usize];
        let vertex = (node, state.level.graph.node_weight(node));
        state.bounds.takes(&state.assignment.weights, &self.drift, vertex, [block, to])
    }

    /// Puts a vertex into the heap with its best move, or takes it out if it has none.
    #[inline]
    fn enqueue<W: Stored, O: Objective, B: Room>(&mut self, state: State<'_, W, O, B>, place: u32) {
        match self.best_move(state, place) {
            Some((gain, block)) => {
                let seen = &mut self.seen[place as usize];
                (seen.destination, seen.is_dirty) = (block, false);
                self.heap.set(place, gain);
            }
            None => self.heap.remove(place),
        }
    }

    /// Puts a vertex into the heap with an upper bound of its gain. It is made exact when it comes to the top, and most
    /// never do.
    #[inline]
    fn enqueue_bound<W, O: Objective>(&mut self, level: Problem<'_, W, O>, place: u32) {
        let Seen { node, block, degrees: Degrees { internal, external }, is_dirty, .. } =
            &mut self.seen[place as usize];
        *is_dirty = true;
        self.heap.set(place, level.greatest_gain(*node, *block, *internal, *external));
    }

    /// Updates the gain of a queued vertex one of whose neighbours has moved; O(1) besides the heap.
    ///
    /// Where the best block may have changed, the gain becomes an upper bound or, of J, an estimate.
    #[inline]
    fn adjust<W, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        place: u32,
        weight: Weight,
        moved: [BlockId; 2],
    ) {
        let Seen { block, destination, is_dirty, .. } = &mut self.seen[place as usize];
        if *is_dirty {
            return self.enqueue_bound(level, place);
        }
        let (change, exact) = level.objective.change_of_gain([*block, *destination], weight, moved);
        *is_dirty = !exact;
        self.heap.raise(place, change);
    }

    /// The best move of a vertex to an adjacent block with room for it, to the emptiest among equals.
    #[inline]
    fn best_move<W: Stored, O: Objective, B: Room>(
        &mut self,
        state: State<'_, W, O, B>,
        place: u32,
    ) -> Option<(Weight, BlockId)> {
        let State { level, assignment, bounds, .. } = state;
        let Seen { node, block: from, .. } = self.seen[place as usize];
        self.collect(state, node);
        let Self { affinities, drift, .. } = self;
        self.effort += level.degree(node);
        let weight = level.node_weight(node);
        if weight == assignment.weights[from as usize] + drift.of_size(from) {
            return None; // the block would be left empty
        }
        let fits = |block: BlockId| {
            block != from && bounds.takes(&assignment.weights, drift, (node, weight), [from, block])
        };
        let count = affinities.narrow(level.objective.has_pull(), fits);
        self.effort += affinities.work_of_gains();
        let mut best: Option<(Weight, Weight, BlockId)> = None;
        for &block in &affinities.blocks()[..count] {
            if !fits(block) {
                continue;
            }
            let room = bounds.room(&assignment.weights, drift, block);
            let key = (level.gain(node, affinities, from, block), room, block);
            if best.is_none_or(|best| key > best) {
                best = Some(key);
            }
        }
        best.map(|(gain, _, block)| (gain, block))
    }

    /// Collects the affinities of a vertex after the moves of the search.
    #[inline]
    fn collect<W: Stored, O, B>(&mut self, state: State<'_, W, O, B>, node: NodeId) {
        let Self { seen, place_of, moved, blocks, affinities, .. } = self;
        let graph = state.level.graph;
        if !blocks.is_empty() {
            return affinities.collect(graph, blocks, node);
        }
        let (seen, blocks) = (&seen[..], &state.assignment.blocks[..]);
        affinities.collect_by(graph, node, |other| {
            let place = if moved.may_hold(other) { place_of.get(other) } else { None };
            place.map_or(blocks[other as usize], |place| seen[place as usize].block)
        });
    }

    /// Moves a vertex taken from the heap and queues its neighbours.
    #[inline]
    fn make<W: Stored, O: Objective, B: Room>(&mut self, state: State<'_, W, O, B>, place: u32, step: Move) {
        let State { level, bounds, .. } = state;
        let Move { node, to, .. } = step;
        let seen = &mut self.seen[place as usize];
        let from = std::mem::replace(&mut seen.block, to);
        seen.has_moved = true;
        self.moved.mark(node);
        self.blocks.get_mut(node as usize).into_iter().for_each(|block| *block = to);
        self.moves.push(step);
        self.drift.shift([from, to], level.node_weight(node), bounds.weights_of(node));
        level.arcs(node).iter().for_each(|arc| {
            if !state.is_held[arc.target as usize] {
                let place = self.place(state, arc.target);
                self.follow(state, place, arc.weight(), [from, to]);
            }
        });
    }

    /// Updates what is known of a vertex one of whose neighbours has moved.
    #[inline]
    fn follow<W: Stored, O: Objective, B>(
        &mut self,
        state: State<'_, W, O, B>,
        place: u32,
        weight: Weight,
        moved: [BlockId; 2],
    ) {
        let State { level, has_hubs, .. } = state;
        let seen = &mut self.seen[place as usize];
        seen.degrees.follow(seen.block, weight, moved);
        if seen.has_moved {
            return;
        }
        if self.heap.contains(place) {
            self.adjust(level, place, weight, moved);
        } else if seen.degrees.external > 0 && (!has_hubs || joins(level.graph, seen.node)) {
            self.enqueue_bound(level, place);
        }
    }
}

/// Returns whether a vertex joins a search when a neighbour moves. One with more arcs than [`MAX_SEARCH_EFFORT`] does not: adjacent
/// to nearly everything that moves, it would end every search at once. Searches still start from it.
#[inline]
pub(super) fn joins<W: Stored>(graph: &CompactGraph<'_, W>, node: NodeId) -> bool {
    graph.degree(node) <= MAX_SEARCH_EFFORT
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
