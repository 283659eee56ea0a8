//! Partitions are refined where they are, by all ranks together.
//!
//! *Problem.* Given a distributed graph, a partition, bounds on the loads of the blocks and an [objective](crate::objective): move vertices so that no
//! block exceeds its bound, is below its least load or empty, and the cost is as small as possible.
//!
//! *Algorithm.* Rounds of `jet` move all vertices that seem to gain at once, even beyond bounds; `balance` then takes overloaded blocks back within
//! them, and `fill` gives vertices to those that have too few; the best partition seen survives. (Gilbert, Madduri, Boman and Rajamanickam, "Jet: Multilevel Graph Partitioning on Graphics Processing
//! Units", 2024; distributed: Sanders and Seemaier, "Distributed Deep Multilevel Graph Partitioning", 2023.)
//!
//! *Departures.* Fixed vertices never move. Gains are those of any distances. Loads are exact: who wants into a block asks the rank that counts its load, which admits as
//! many as fit, the cheapest first. All that a round decides follows from the state before it, so the partition is the same for any number of ranks.
//!
//! O(m/p) for a round, and messages for ghosts and for the loads of all blocks.

mod balance;
mod bounds;
mod fill;
mod jet;

use viem::base::types::{BlockId, Cost, Weight};

use crate::comm::{Comm, sum, sum_table};
use crate::graph::DistGraph;
use crate::objective::{BlockDistances, PreviousAssignment};

pub use bounds::{Bounds, Quality};

/// The settings of refinement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefineConfig {
    /// Most rounds on a level.
    pub rounds: usize,
    /// Rounds without a better partition after which a level ends.
    pub patience: usize,
    /// A partition that is better by a smaller part of its cost does not count for that.
    pub least_gain: f64,
    /// The part of its edges to its own block that a vertex may lose in a move, in the hope that neighbours follow: on the finest level.
    pub loss: f64,
    /// The same on coarse levels.
    pub coarse_loss: f64,
}

impl Default for RefineConfig {
    fn default() -> Self {
        Self { rounds: 40, patience: 8, least_gain: 0.001, loss: 0.25, coarse_loss: 0.75 }
    }
}

/// The input of refinement.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The graph.
    pub graph: &'a DistGraph,
    /// The distances between blocks.
    pub distances: &'a BlockDistances,
    /// The bounds of the blocks.
    pub bounds: &'a Bounds,
    /// The previous blocks of the vertices, if they matter.
    pub homes: Option<&'a PreviousAssignment>,
    /// The block where each local vertex must be, and is, or [`PreviousAssignment::NONE`] if it is free; nothing if all are.
    pub fixed: Option<&'a [BlockId]>,
}

/// A partition of the local vertices, ghosts included, and the loads of all blocks.
struct State<'a, C> {
    comm: &'a C,
    task: Task<'a>,
    blocks: Vec<BlockId>,
    /// By each weight, those of one block after the other.
    loads: Vec<Weight>,
    /// The number of vertices of each block, of all ranks.
    counts: Vec<i64>,
    /// The own vertices that have neighbours in other blocks, or are not at home.
    open: Vec<u32>,
    /// The own vertices with ghosts as neighbours.
    outer: Vec<u32>,
    /// Working memory: false for each own vertex.
    is_listed: Vec<bool>,
}

/// Refines a partition: `blocks` has the block of each local vertex, those of ghosts included.
pub fn refine(
    comm: &impl Comm,
    task: Task<'_>,
    blocks: &mut Vec<BlockId>,
    loss: f64,
    config: &RefineConfig,
    seed: u64,
) -> Quality {
    let mut state = State::new(comm, task, std::mem::take(blocks));
    state.restore(seed);
    let (mut best, mut best_blocks) = (state.quality(), state.blocks.clone());
    let (mut stale, mut locked) = (0, vec![false; task.graph.num_own()]);
    for round in 0..config.rounds as u64 {
        let moved = state.move_all(&mut locked, loss);
        if sum(comm, moved) == 0 {
            break;
        }
        state.restore(viem::base::rng::derive(seed, round));
        let quality = state.quality();
        let is_clear = quality.is_much_better_than(best, config.least_gain);
        if quality < best {
            (best, best_blocks) = (quality, state.blocks.clone());
        }
        stale = if is_clear && quality <= best { 0 } else { stale + 1 };
        if stale >= config.patience {
            break;
        }
    }
    *blocks = best_blocks;
    best
}

/// Returns the quality of a partition; `blocks` has the block of each local vertex.
pub fn quality(comm: &impl Comm, task: Task<'_>, blocks: &[BlockId]) -> Quality {
    State::new(comm, task, blocks.to_vec()).quality()
}

/// The load of each block by each weight, those of one block after the other.
pub fn loads(comm: &impl Comm, graph: &DistGraph, blocks: &[BlockId], num_blocks: usize) -> Vec<Weight> {
    let num_weights = graph.num_weights();
    let mut loads = vec![0; num_weights * num_blocks];
    for (weights, &block) in graph.weights().chunks_exact(num_weights).zip(blocks) {
        let own = &mut loads[block as usize * num_weights..];
        own.iter_mut().zip(weights).for_each(|(load, weight)| *load += weight);
    }
    sum_table(comm, &mut loads);
    loads
}

/// The number of vertices of each block.
pub(crate) fn counts(comm: &impl Comm, graph: &DistGraph, blocks: &[BlockId], num_blocks: usize) -> Vec<i64> {
    let mut counts = vec![0; num_blocks];
    blocks[..graph.num_own()].iter().for_each(|&block| counts[block as usize] += 1);
    sum_table(comm, &mut counts);
    counts
}

/// The sum over all arcs of their weight times the distance of their ends' blocks: J, or twice the cut.
pub fn cost(comm: &impl Comm, graph: &DistGraph, distances: &BlockDistances, blocks: &[BlockId]) -> Cost {
    sum(comm, cost_of(graph, distances, blocks, 0..graph.num_own()))
}

/// The part of that sum that the arcs of some own vertices have.
fn cost_of(
    graph: &DistGraph,
    distances: &BlockDistances,
    blocks: &[BlockId],
    vertices: impl Iterator<Item = usize>,
) -> Cost {
    let of_own = |own: usize| -> Cost {
        let block = blocks[own];
        graph.arcs(own).map(|(to, weight)| weight * distances.between(block, blocks[to])).sum()
    };
    vertices.map(of_own).sum()
}

impl<'a, C: Comm> State<'a, C> {
    fn new(comm: &'a C, task: Task<'a>, blocks: Vec<BlockId>) -> Self {
        let graph = task.graph;
        let num_blocks = task.bounds.num_blocks();
        let (loads, counts) =
            (loads(comm, graph, &blocks, num_blocks), counts(comm, graph, &blocks, num_blocks));
        let count = graph.num_own();
        let is_outer = |&own: &u32| graph.neighbours(own as usize).iter().any(|&to| to as usize >= count);
        let outer = (0..count as u32).filter(is_outer).collect();
        let is_listed = vec![false; count];
        let mut state = Self { comm, task, blocks, loads, counts, open: Vec::new(), outer, is_listed };
        state.open = (0..count as u32).filter(|&own| state.is_open(own as usize)).collect();
        state
    }

    /// Brings blocks back within their bounds, as far as that is possible.
    fn restore(&mut self, seed: u64) {
        self.balance(seed);
        self.fill_short(seed);
        self.fill_empty();
    }

    /// The loads of a block by each weight.
    #[inline]
    fn loads_of(&self, block: BlockId) -> &[Weight] {
        &self.loads[self.task.bounds.at(block)]
    }

    /// By each weight, what a block can still take.
    #[inline]
    fn room(&self, block: BlockId) -> impl Iterator<Item = Weight> + Clone {
        let most = self.task.bounds.most_of(block);
        most.iter().zip(self.loads_of(block)).map(|(most, load)| most - load)
    }

    /// Returns whether a block can take a vertex of these weights.
    #[inline]
    fn fits(&self, weights: &[Weight], block: BlockId) -> bool {
        self.room(block).zip(weights).all(|(room, &weight)| is_enough(room, weight))
    }

    /// Returns how much a vertex of these weights helps where so much is `missing`, relative to these bounds; of one weight, that weight.
    fn help(&self, weights: &[Weight], missing: impl Iterator<Item = Weight>, bounds: &[Weight]) -> f64 {
        let all = weights.iter().zip(missing).zip(bounds).filter(|((_, missing), _)| *missing > 0);
        match weights {
            &[weight] => weight as f64,
            _ => all.map(|((&weight, _), &bound)| weight as f64 / bound.max(1) as f64).sum(),
        }
    }

    fn quality(&self) -> Quality {
        let Task { graph, distances, homes, .. } = self.task;
        let open = || self.open.iter().map(|&own| own as usize);
        let cost = i128::from(sum(self.comm, cost_of(graph, distances, &self.blocks, open())));
        let cost = match homes {
            None => cost,
            Some(homes) => {
                let away = |&own: &usize| self.is_away(homes, own, self.blocks[own]);
                let sizes = homes.sizes(graph);
                let migration = open().filter(away).map(|own| sizes[own]).sum();
                // Each edge counts twice here.
                cost * i128::from(homes.scale)
                    + 2 * i128::from(sum(self.comm, migration)) * i128::from(homes.penalty)
            }
        };
        self.task.bounds.quality(&self.loads, &self.counts, cost)
    }

    /// Returns whether an own vertex must stay where it is.
    fn is_fixed(&self, own: usize) -> bool {
        self.task.fixed.is_some_and(|fixed| fixed[own] != PreviousAssignment::NONE)
    }

    /// Returns whether a vertex pays for being in this block.
    fn is_away(&self, homes: &PreviousAssignment, local: usize, block: BlockId) -> bool {
        homes.blocks[local] != PreviousAssignment::NONE && homes.blocks[local] != block
    }

    /// Returns the cost of the edges of an own vertex in `block`, given the weight of its neighbours in each block; and that of its migration.
    #[inline]
    fn cost_in(&self, own: usize, block: BlockId, near: &[(BlockId, Weight)]) -> Weight {
        let distances = self.task.distances;
        let edges: Weight =
            near.iter().map(|&(other, weight)| weight * distances.between(block, other)).sum();
        match self.task.homes {
            None => edges,
            Some(homes) => {
                let away = Weight::from(self.is_away(homes, own, block));
                edges * homes.scale + away * homes.penalty * homes.sizes(self.task.graph)[own]
            }
        }
    }

    /// Returns the cost of an edge of weight 1 for a distance of 1.
    fn scale(&self) -> Weight {
        self.task.homes.map_or(1, |homes| homes.scale)
    }

    /// Returns whether an own vertex has neighbours in other blocks, or is not at home.
    fn is_open(&self, own: usize) -> bool {
        let block = self.blocks[own];
        self.task.graph.neighbours(own).iter().any(|&to| self.blocks[to as usize] != block)
            || self.task.homes.is_some_and(|homes| self.is_away(homes, own, block))
    }

    /// Moves local vertices and broadcasts the moves.
    fn apply(&mut self, moves: impl Iterator<Item = (usize, BlockId)>) {
        let num_loads = self.loads.len();
        // Of the loads, then of the numbers of vertices.
        let mut changes = vec![0; num_loads + self.counts.len()];
        let mut moved = Vec::new();
        for (own, block) in moves {
            moved.push(own as u32);
            let weights = self.task.graph.weights_of(own);
            for (of, sign) in [(self.blocks[own], -1), (block, 1)] {
                let loads = changes[self.task.bounds.at(of)].iter_mut();
                loads.zip(weights).for_each(|(load, weight)| *load += sign * weight);
                changes[num_loads + of as usize] += sign;
            }
            self.blocks[own] = block;
        }
        sum_table(self.comm, &mut changes);
        let known = self.loads.iter_mut().chain(&mut self.counts);
        known.zip(changes).for_each(|(number, change)| *number += change);
        self.task.graph.update(self.comm, &mut self.blocks);
        self.find_open(moved);
    }

    /// Finds the open vertices again after some have moved: only those can be that were, have moved, or are next to such that may have moved.
    fn find_open(&mut self, moved: Vec<u32>) {
        let count = self.task.graph.num_own();
        let around = moved.iter().flat_map(|&own| self.task.graph.neighbours(own as usize));
        let around = around.copied().filter(|&to| (to as usize) < count);
        let before = std::mem::take(&mut self.open);
        let candidates = before.into_iter().chain(around).chain(self.outer.iter().copied());
        let mut candidates: Vec<u32> = candidates.chain(moved.iter().copied()).collect();
        candidates.retain(|&own| !std::mem::replace(&mut self.is_listed[own as usize], true));
        candidates.iter().for_each(|&own| self.is_listed[own as usize] = false);
        candidates.retain(|&own| self.is_open(own as usize));
        self.open = candidates;
    }
}

/// Returns whether something can take a vertex of this weight.
#[inline]
fn is_enough(room: Weight, weight: Weight) -> bool {
    weight == 0 || room >= weight
}

/// The weight of a vertex's edges to each block.
struct Nearby {
    weights: Vec<Weight>,
    /// Blocks with edges, and the weight of these.
    list: Vec<(BlockId, Weight)>,
}

impl Nearby {
    fn new(num_blocks: usize) -> Self {
        Self { weights: vec![0; num_blocks], list: Vec::new() }
    }

    /// Adds up the weights of edges to each block.
    fn fill(&mut self, edges: impl Iterator<Item = (BlockId, Weight)>) -> &[(BlockId, Weight)] {
        self.list.clear();
        for (block, weight) in edges {
            let sum = &mut self.weights[block as usize];
            if *sum == 0 {
                self.list.push((block, 0));
            }
            *sum += weight;
        }
        for (block, weight) in &mut self.list {
            *weight = std::mem::take(&mut self.weights[*block as usize]);
        }
        &self.list
    }
}

#[cfg(test)]
mod tests;
