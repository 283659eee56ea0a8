//! Lowers the overload of blocks whose vertices have several weights.
//!
//! Vertices leave overloaded blocks, or enter blocks that lack something of their least loads, by single moves. Each lowers the sum of what is above and
//! below bounds, relative to these; first those that lose least of the objective for what they relieve. They go to adjacent blocks, or to any block where no adjacent one helps. Where no move helps, two
//! vertices of different blocks are swapped: a heavy one in one weight against one that is heavy in another.

use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::VertexWeights;
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::compact::Stored;
use crate::partition::heap::Heap;
use crate::partition::loads::{Excess, Loads};
use crate::partition::objective::Objective;

/// A change of the sum of relative overloads counts from here on: less is rounding.
const LEAST_RELIEF: f64 = 1e-12;

/// The key of gains that are divided by relief: gains times this.
const KEY_SCALE: f64 = 1e3;

/// The number of vertices of each block that are looked at for swaps. Balances bounds that are met against time, which grows with the square.
const SWAPPED: usize = 64;

/// The number of pairs that are looked at for swaps. Balances as [`SWAPPED`] does.
const SWAP_EFFORT: usize = 1 << 22;

/// Lowers the overload as far as moves can, and swaps if these are made; nothing happens if all bounds hold.
pub(super) fn rebalance<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    assignment: &mut Assignment,
    loads: &Loads<'_>,
    swaps: bool,
    observer: &dyn Observer,
) {
    if loads.excess() == Excess::NONE {
        return;
    }
    let mut affinities = BlockAffinities::default();
    affinities.resize(assignment.weights.len());
    let mut heap = Heap::default();
    heap.resize(level.num_nodes());
    let budget = Budget::new(SWAP_EFFORT);
    let mut rebalancing =
        Rebalancing { level, assignment, loads, affinities, heap, budget, difference: Vec::new() };
    rebalancing.moves(observer);
    while swaps && !observer.should_stop() && rebalancing.swap() {
        rebalancing.moves(observer);
    }
}

struct Rebalancing<'a, W, O> {
    level: Problem<'a, W, O>,
    assignment: &'a mut Assignment,
    loads: &'a Loads<'a>,
    affinities: BlockAffinities,
    /// Vertices of overloaded blocks by what they gain for their relief.
    heap: Heap,
    budget: Budget,
    /// Working memory of swaps.
    difference: Vec<Weight>,
}

/// A move that lowers the overload.
#[derive(Clone, Copy)]
struct Relief {
    key: Weight,
    gain: Weight,
    to: BlockId,
}

impl<W: Stored, O: Objective> Rebalancing<'_, W, O> {
    fn block(&self, node: NodeId) -> BlockId {
        self.assignment.blocks[node as usize]
    }

    /// Returns whether a vertex may help by leaving its block.
    fn may_help(&self, node: NodeId, are_short: bool) -> bool {
        (are_short || self.loads.is_over(self.block(node))) && !self.level.objective.is_fixed(node)
    }

    /// Makes single moves while one helps.
    fn moves(&mut self, observer: &dyn Observer) {
        let level = self.level;
        let mut watch = Watch::new(observer);
        // Any vertex may help a block that lacks something.
        let are_short = (0..self.assignment.weights.len() as BlockId).any(|block| self.loads.is_short(block));
        for node in level.nodes() {
            if self.may_help(node, are_short) {
                self.look_at(node, are_short);
            }
        }
        let mut budget = Budget::new(16 * (level.num_arcs() + level.num_nodes()));
        while let Some((key, node)) = self.heap.pop() {
            if !self.may_help(node, are_short) || watch.stops_after(1 + level.degree(node)) {
                continue;
            }
            let Some(relief) = self.best(node, true) else { continue };
            if relief.key < key && budget.pays_for(1 + level.degree(node)) {
                self.heap.set(node, relief.key);
                continue;
            }
            self.shift(node, relief.to, relief.gain);
            for arc in level.graph.arcs(node) {
                if self.may_help(arc.target, are_short) && budget.pays_for(level.degree(arc.target)) {
                    self.look_at(arc.target, are_short);
                }
            }
        }
    }

    /// Queues a vertex by its best move to an adjacent block, or behind all others.
    fn look_at(&mut self, node: NodeId, are_short: bool) {
        let weights = self.loads.weights.of(node);
        let block = self.block(node);
        let change = self.loads.change(block, weights, -1) + self.loads.change_by_leaving(block, weights);
        if are_short || change < -LEAST_RELIEF {
            let key = self.best(node, false).map_or(Weight::MIN / 2, |relief| relief.key);
            self.heap.set(node, key);
        }
    }

    /// The move of the greatest gain for its relief, to an adjacent block or, `anywhere`, to any other block if no adjacent one helps.
    fn best(&mut self, node: NodeId, anywhere: bool) -> Option<Relief> {
        let from = self.block(node);
        self.affinities.collect(self.level.graph, &self.assignment.blocks, node);
        let weights = self.loads.weights.of(node);
        let left = self.loads.change(from, weights, -1);
        let relief = |to: BlockId| -> Option<Relief> {
            let of_groups = self.loads.change_of_groups(weights, [from, to]);
            let relief = -(left + self.loads.change(to, weights, 1) + of_groups);
            if to == from || relief < LEAST_RELIEF {
                return None;
            }
            let gain = self.level.gain(node, &self.affinities, from, to);
            let key = if gain > 0 { gain as f64 * relief } else { gain as f64 / relief };
            Some(Relief { key: (key * KEY_SCALE) as Weight, gain, to })
        };
        let adjacent = self.affinities.blocks().iter().filter_map(|&to| relief(to));
        let best = adjacent.max_by_key(|relief| (relief.key, relief.to));
        if best.is_some() || !anywhere {
            return best;
        }
        let all = (0..self.assignment.weights.len() as BlockId).filter_map(relief);
        all.max_by_key(|relief| (relief.key, -self.assignment.weights[relief.to as usize]))
    }

    fn shift(&mut self, node: NodeId, to: BlockId, gain: Weight) {
        let from = self.block(node);
        self.assignment.shift(node, self.level.node_weight(node), to, gain);
        self.loads.follow(node, [from, to]);
    }

    /// Makes the best swap of a vertex of each overloaded block, if it lowers the overload; returns whether there was one.
    fn swap(&mut self) -> bool {
        let k = self.assignment.weights.len();
        let mut members = vec![Vec::new(); k];
        for node in self.level.nodes().filter(|&node| !self.level.objective.is_fixed(node)) {
            members[self.block(node) as usize].push(node);
        }
        let spread = |members: &Vec<NodeId>| -> Vec<NodeId> {
            members.iter().step_by(members.len().div_ceil(SWAPPED).max(1)).copied().collect()
        };
        let members: Vec<Vec<NodeId>> = members.iter().map(spread).collect();
        let mut has_swapped = false;
        for from in 0..k as BlockId {
            if !self.loads.is_over(from) {
                continue;
            }
            let Some((u, v)) = self.best_swap(from, &members) else { continue };
            let to = self.block(v);
            for (node, own, other) in [(u, from, to), (v, to, from)] {
                self.affinities.collect(self.level.graph, &self.assignment.blocks, node);
                let gain = self.level.gain(node, &self.affinities, own, other);
                self.shift(node, other, gain);
            }
            has_swapped = true;
        }
        has_swapped
    }

    /// The swap of a vertex of a block and one of another that lowers the overload most. Some `members` of blocks are looked at; those that have left
    /// since are not.
    fn best_swap(&mut self, from: BlockId, members: &[Vec<NodeId>]) -> Option<(NodeId, NodeId)> {
        let mut best: Option<(f64, NodeId, NodeId)> = None;
        for to in (0..members.len() as BlockId).filter(|&to| to != from) {
            let (first, second) = (&members[from as usize], &members[to as usize]);
            if !self.budget.pays_for(first.len() * second.len()) {
                break;
            }
            for (u, v) in first.iter().flat_map(|&u| second.iter().map(move |&v| (u, v))) {
                if self.block(u) != from || self.block(v) != to {
                    continue;
                }
                let change = self.change_by_swap(u, v);
                if change < best.map_or(-LEAST_RELIEF, |best| best.0) {
                    best = Some((change, u, v));
                }
            }
        }
        best.map(|(_, u, v)| (u, v))
    }

    /// How much the sum of relative overloads changes if two vertices change places.
    fn change_by_swap(&mut self, u: NodeId, v: NodeId) -> f64 {
        difference_of(self.loads.weights, u, v, &mut self.difference);
        let difference = &self.difference[..];
        let (from, to) = (self.block(u), self.block(v));
        let of_blocks = self.loads.change(from, difference, -1) + self.loads.change(to, difference, 1);
        of_blocks + self.loads.change_of_groups(difference, [from, to])
    }
}

/// How much more one vertex weighs than another, by weight.
fn difference_of(weights: &VertexWeights, u: NodeId, v: NodeId, difference: &mut Vec<Weight>) {
    difference.clear();
    difference.extend(weights.of(u).iter().zip(weights.of(v)).map(|(u, v)| u - v));
}
