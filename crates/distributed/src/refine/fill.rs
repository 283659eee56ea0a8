//! Blocks that have too few vertices get some.
//!
//! *Least loads.* In each round, vertices next to blocks below their least loads ask to join these, of blocks that can spare them; only where none can,
//! all vertices ask. The rank that counts the load of a block decides who enters it, the cheapest first, until it has its least load; then those of the
//! other blocks decide who may leave. So no block falls below its least load by it, and no further bound is exceeded.
//!
//! *Empty blocks.* In each round, the vertices with the least weight of edges inside their blocks are known to all ranks, as many as there are empty
//! blocks; each of them moves to the nearest one that it fits, unless it is alone in its block. What no such vertex fits gets one that others
//! [pass on](viem::partition::relay). As in the library for one machine, no move adds to the overload or to the deficits of blocks.

use viem::base::rng::derive;
use viem::base::types::{BlockId, NodeId, Weight};
use viem::partition::relay::{Single, along, relay};

use super::balance::{FEW, Relief, ordered, take_if_left};
use super::{Bounds, Nearby, State};
use crate::comm::Comm;

/// Most rounds for least loads; far more than are needed unless they cannot be met.
const MOST_ROUNDS: u64 = 200;

/// Most vertices that move to empty blocks in a round. Balances the number of rounds against what all ranks learn in one.
const MOST_OFFERS: usize = 1024;

/// The denominator of the share of its vertices that a block gives in a round, at least one vertex. Balances the number of rounds against the loss.
const MOST_GIVEN: i64 = 4;

/// A vertex that may move to an empty block, ordered by its loss.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    /// The weight of its edges inside its block.
    inside: u64,
    vertex: NodeId,
    from: BlockId,
    weight: Weight,
}

impl Offer {
    fn words(self) -> [u64; 3] {
        [self.inside, u64::from(self.vertex) << 32 | u64::from(self.from), self.weight as u64]
    }

    fn of(words: &[u64; 3]) -> Self {
        let &[inside, both, weight] = words;
        Self { inside, vertex: (both >> 32) as NodeId, from: both as BlockId, weight: weight as Weight }
    }
}

impl<C: Comm> State<'_, C> {
    /// Returns the deficit of a block below its least load.
    fn deficit(&self, block: BlockId) -> Weight {
        (self.task.bounds.least[block as usize] - self.loads[block as usize]).max(0)
    }

    /// Returns the further deficit of a block without a vertex of this weight.
    fn deficit_without(&self, block: BlockId, weight: Weight) -> Weight {
        let load = self.loads[block as usize] - weight;
        (self.task.bounds.least[block as usize] - load).max(0) - self.deficit(block)
    }

    /// Moves vertices to blocks below their least loads.
    pub(super) fn fill_short(&mut self, seed: u64) {
        let mut nearby = Nearby::new(self.loads.len());
        let mut is_everyone = false;
        for round in 0..MOST_ROUNDS {
            let short: Vec<BlockId> =
                (0..self.loads.len() as BlockId).filter(|&block| self.deficit(block) > 0).collect();
            if short.is_empty() {
                return;
            }
            let seed = derive(seed, round);
            let vertices: Vec<usize> = match is_everyone {
                false => self.open.iter().map(|&own| own as usize).collect(),
                true => (0..self.task.graph.num_own()).collect(),
            };
            let elsewhere = is_everyone.then_some(&short[..]);
            let moves = vertices
                .into_iter()
                .filter_map(|own| self.supply(own, elsewhere, seed, &mut nearby))
                .collect();
            let room = |block: BlockId| (self.deficit(block), self.room(block));
            let moves = self.allowed(moves, |supply| supply.to, room, take_until_met);
            let spare = |block: BlockId| self.loads[block as usize] - self.task.bounds.least[block as usize];
            let moves = self.allowed(moves, |supply| self.blocks[supply.own], spare, take_if_left);
            if crate::comm::sum(self.comm, moves.len() as i64) == 0 {
                if is_everyone {
                    return;
                }
                is_everyone = true;
                continue;
            }
            is_everyone = false;
            self.apply(moves.into_iter().map(|supply| (supply.own, supply.to)));
        }
    }

    /// The cheapest move of an own vertex to a block below its least load: to one next to it, else to one of those `elsewhere`.
    fn supply(
        &self,
        own: usize,
        elsewhere: Option<&[BlockId]>,
        seed: u64,
        nearby: &mut Nearby,
    ) -> Option<Relief> {
        let graph = self.task.graph;
        let (here, weight) = (self.blocks[own], graph.node_weights()[own]);
        if weight == 0 || self.is_fixed(own) || self.deficit_without(here, weight) > 0 {
            return None;
        }
        let near = nearby.fill(graph.arcs(own).map(|(to, weight)| (self.blocks[to], weight)));
        let takes = |&block: &BlockId| block != here && self.deficit(block) > 0 && self.room(block) >= weight;
        let beside = near.iter().map(|&(block, _)| block).filter(takes);
        let cheapest = beside.map(|block| (self.cost_in(own, block, near), block)).min();
        let farther = || {
            let first = derive(seed, u64::from(graph.global(own))) as usize;
            let short = elsewhere?;
            let several =
                (0..FEW.min(short.len())).map(|index| short[(first % short.len() + index) % short.len()]);
            several.filter(takes).map(|block| (self.cost_in(own, block, near), block)).min()
        };
        let (cost, to) = cheapest.or_else(farther)?;
        let loss = cost - self.cost_in(own, here, near);
        Some(Relief { own, to, price: ordered(loss as f64 / weight as f64) })
    }

    /// Moves vertices to empty blocks.
    pub(super) fn fill_empty(&mut self) {
        loop {
            let bounds = self.task.bounds;
            let mut empty: Vec<BlockId> = (0..self.counts.len() as BlockId)
                .filter(|&block| self.counts[block as usize] == 0 && !bounds.closed[block as usize])
                .collect();
            // What does not fit one of them fits no later one.
            empty.sort_by_key(|&block| std::cmp::Reverse(bounds.most[block as usize]));
            if empty.is_empty() || self.counts.iter().all(|&count| count <= 1) {
                return;
            }
            let mut moves = self.to_empty(&empty);
            if moves.is_empty() {
                moves = self.passed_on(empty[0]);
            }
            if moves.is_empty() {
                return;
            }
            let own = self.task.graph.ranges().own();
            let mine = moves.into_iter().filter(|(vertex, _)| own.contains(vertex));
            self.apply(mine.map(|(vertex, block)| ((vertex - own.start) as usize, block)));
        }
    }

    /// Returns whether a vertex of this weight may move to an empty block from one of this load with several.
    fn may_move(&self, weight: Weight, (from, load): (BlockId, Weight), to: BlockId) -> bool {
        let Bounds { most, least, .. } = self.task.bounds;
        let relieved = (load - most[from as usize]).clamp(0, weight);
        let most = most[to as usize];
        let fits = weight <= most || most > 0 && weight - most <= relieved;
        let deficit = |load: Weight| (least[from as usize] - load).max(0);
        fits && deficit(load - weight) - deficit(load) <= least[to as usize]
    }

    /// The vertices of all ranks that move to empty blocks in a round, and which. All ranks find the same.
    fn to_empty(&self, empty: &[BlockId]) -> Vec<(NodeId, BlockId)> {
        let graph = self.task.graph;
        let offer = |own: usize| {
            let (from, weight) = (self.blocks[own], graph.node_weights()[own]);
            let may_leave = self.counts[from as usize] > 1 && !self.is_fixed(own);
            let is_inside = |&(to, _): &(usize, Weight)| self.blocks[to] == from;
            let load = self.loads[from as usize];
            (may_leave && self.may_move(weight, (from, load), empty[0])).then(|| Offer {
                inside: graph.arcs(own).filter(is_inside).map(|(_, weight)| weight as u64).sum(),
                vertex: graph.global(own),
                from,
                weight,
            })
        };
        let most = empty.len().min(MOST_OFFERS);
        let mut own: Vec<Offer> = (0..graph.num_own()).filter_map(offer).collect();
        keep_least(&mut own, most);
        let words: Vec<u64> = own.into_iter().flat_map(Offer::words).collect();
        let all = self.comm.all_gather(&words).words;
        let mut all: Vec<Offer> = all.as_chunks().0.iter().map(Offer::of).collect();
        keep_least(&mut all, most);
        let (mut left, mut loads) = (empty.to_vec(), self.loads.clone());
        let mut given = vec![0; self.counts.len()];
        let mut moves = Vec::new();
        for Offer { vertex, from, weight, .. } in all {
            let (load, given) = (&mut loads[from as usize], &mut given[from as usize]);
            let fitting = (0..left.len()).filter(|&index| self.may_move(weight, (from, *load), left[index]));
            let distance = |&index: &usize| self.task.distances.between(from, left[index]);
            // Those that are left have fewer edges inside then, so a block gives few in a round.
            let may_give = *given < (self.counts[from as usize] / MOST_GIVEN).max(1);
            if let Some(nearest) = fitting.min_by_key(distance).filter(|_| may_give) {
                moves.push((vertex, left.remove(nearest)));
                *load -= weight;
                *given += 1;
            }
        }
        moves
    }

    /// The moves that pass vertices on so that a block gets one, if there are some that add nothing to the deficits of blocks. All ranks find the same.
    fn passed_on(&self, block: BlockId) -> Vec<(NodeId, BlockId)> {
        let graph = self.task.graph;
        let free = (0..graph.num_own()).filter(|&own| !self.is_fixed(own));
        let vertex = |own: usize| (graph.node_weights()[own], graph.global(own), self.blocks[own]);
        let is_single = |own: &usize| self.counts[self.blocks[*own] as usize] == 1;
        let (singles, others): (Vec<usize>, Vec<usize>) = free.partition(is_single);
        let lightest = others.into_iter().map(vertex).min();
        let words = |(weight, vertex, block): (Weight, NodeId, BlockId)| {
            [weight as u64, u64::from(vertex) << 32 | u64::from(block)]
        };
        let words: Vec<u64> = singles.into_iter().map(vertex).chain(lightest).flat_map(words).collect();
        let all = self.comm.all_gather(&words).words;
        let single = |words: &[u64; 2]| Single {
            weight: words[0] as Weight,
            vertex: (words[1] >> 32) as NodeId,
            block: words[1] as BlockId,
        };
        let (mut singles, spare): (Vec<Single>, Vec<Single>) =
            all.as_chunks().0.iter().map(single).partition(|single| self.counts[single.block as usize] == 1);
        singles.sort_by_key(|single| single.block);
        let Some(last) = spare.into_iter().min_by_key(|last| (last.weight, last.vertex)) else {
            return Vec::new();
        };
        let Some(path) = relay(&self.task.bounds.most, &singles, last.weight, block) else {
            return Vec::new();
        };
        let mut loads = self.loads.clone();
        let blocks = std::iter::once(block).chain(path.iter().map(|single| single.block));
        for (to, moved) in blocks.zip(path.iter().chain([&last])) {
            loads[moved.block as usize] -= moved.weight;
            loads[to as usize] += moved.weight;
        }
        let after = self.task.bounds.quality(&loads, &self.counts, 0).shortfall;
        if after > self.violation().shortfall {
            return Vec::new();
        }
        along(&path, last.vertex, block).collect()
    }
}

/// Keeps this many of them, the least.
fn keep_least(offers: &mut Vec<Offer>, count: usize) {
    offers.sort_unstable();
    offers.truncate(count);
}

/// Returns whether a block takes a vertex of this weight: while it is below its least load, and has room.
fn take_until_met((deficit, room): &mut (Weight, Weight), weight: Weight) -> bool {
    let takes = *deficit > 0 && *room >= weight;
    if takes {
        (*deficit, *room) = (*deficit - weight, *room - weight);
    }
    takes
}
