//! Blocks that have too few vertices get some.
//!
//! *Least loads.* In each round, vertices next to blocks below their least loads ask to join these, of blocks that can spare them; only where none can,
//! all vertices ask. The rank that counts the load of a block decides who enters it, the cheapest first, until it has its least load; then those of the
//! other blocks decide who may leave. So no block falls below its least load by it, and no further bound is exceeded.
//!
//! *Empty blocks.* In each round, the vertices with the least weight of edges inside their blocks are known to all ranks, as many as there are empty
//! blocks; each of them moves to the nearest one that it fits, unless it is alone in its block. What no such vertex fits gets one that others
//! [pass on](viem::partition::relay), if vertices have one weight. As in the library for one machine, no move adds to the overload or to the deficits of blocks.

use viem::base::rng::derive;
use viem::base::types::{BlockId, NodeId, Weight};
use viem::partition::relay::{Single, along, relay};

use super::balance::{FEW, Relief, ordered, take_if_left, take_until_met};
use super::{Nearby, State, is_enough};
use crate::comm::Comm;

/// Most rounds for least loads; far more than are needed unless they cannot be met.
const MOST_ROUNDS: u64 = 200;

/// Most vertices that move to empty blocks in a round. Balances the number of rounds against what all ranks learn in one.
const MOST_OFFERS: usize = 1024;

/// The denominator of the share of its vertices that a block gives in a round, at least one vertex. Balances the number of rounds against the loss.
const MOST_GIVEN: i64 = 4;

/// A vertex that may move to an empty block, ordered by its loss.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Offer {
    /// The weight of its edges inside its block.
    inside: u64,
    vertex: NodeId,
    from: BlockId,
    weights: Vec<Weight>,
}

impl Offer {
    fn words(self) -> impl Iterator<Item = u64> {
        let both = u64::from(self.vertex) << 32 | u64::from(self.from);
        [self.inside, both].into_iter().chain(self.weights.into_iter().map(|weight| weight as u64))
    }

    fn of(words: &[u64]) -> Self {
        let (&[inside, both], weights) = words.split_first_chunk().expect("there are two words and weights");
        let weights = weights.iter().map(|&weight| weight as Weight).collect();
        Self { inside, vertex: (both >> 32) as NodeId, from: both as BlockId, weights }
    }
}

impl<C: Comm> State<'_, C> {
    /// By each weight, the deficit of a block below its least load.
    fn deficit(&self, block: BlockId) -> impl Iterator<Item = Weight> {
        self.spare(block).map(|spare| (-spare).max(0))
    }

    /// By each weight, what a block has above its least load.
    fn spare(&self, block: BlockId) -> impl Iterator<Item = Weight> {
        let least = self.task.bounds.least_of(block);
        self.loads_of(block).iter().zip(least).map(|(load, least)| load - least)
    }

    /// Returns whether a block is below a least load.
    fn is_short(&self, block: BlockId) -> bool {
        self.spare(block).any(|spare| spare < 0)
    }

    /// Returns whether a block is no further below its least loads without a vertex of these weights.
    fn can_spare(&self, block: BlockId, weights: &[Weight]) -> bool {
        self.spare(block).zip(weights).all(|(spare, &weight)| is_enough(spare, weight))
    }

    /// Moves vertices to blocks below their least loads.
    pub(super) fn fill_short(&mut self, seed: u64) {
        let mut nearby = Nearby::new(self.counts.len());
        let mut is_everyone = false;
        for round in 0..MOST_ROUNDS {
            let short: Vec<BlockId> =
                (0..self.counts.len() as BlockId).filter(|&block| self.is_short(block)).collect();
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
            let room = |block: BlockId| (self.deficit(block).collect(), self.room(block).collect());
            let moves = self.allowed(moves, |supply| supply.to, room, take_if_needed);
            let spare = |block: BlockId| self.spare(block).collect::<Vec<Weight>>();
            let from = |supply: &Relief| self.blocks[supply.own];
            let moves = self.allowed(moves, from, spare, |left, weights| take_if_left(left, weights));
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
        let (here, weights) = (self.blocks[own], graph.weights_of(own));
        if self.is_fixed(own) || !self.can_spare(here, weights) {
            return None;
        }
        let help = |block| self.help(weights, self.deficit(block), self.task.bounds.least_of(block));
        let near = nearby.fill(graph.arcs(own).map(|(to, weight)| (self.blocks[to], weight)));
        let takes = |&block: &BlockId| {
            block != here && self.is_short(block) && help(block) > 0.0 && self.fits(weights, block)
        };
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
        Some(Relief { own, to, price: ordered(loss as f64 / help(to)) })
    }

    /// Moves vertices to empty blocks.
    pub(super) fn fill_empty(&mut self) {
        loop {
            let bounds = self.task.bounds;
            let mut empty: Vec<BlockId> = (0..self.counts.len() as BlockId)
                .filter(|&block| self.counts[block as usize] == 0 && !bounds.closed[block as usize])
                .collect();
            empty.sort_by_key(|&block| std::cmp::Reverse(bounds.most_of(block)));
            if empty.is_empty() || self.counts.iter().all(|&count| count <= 1) {
                return;
            }
            let mut moves = self.to_empty(&empty);
            if moves.is_empty() && bounds.num_weights == 1 {
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

    /// Returns whether a vertex of these weights may move to an empty block from one of these loads with several.
    fn may_move(&self, weights: &[Weight], (from, loads): (BlockId, &[Weight]), to: BlockId) -> bool {
        let bounds = self.task.bounds;
        let of = |block| bounds.at(block).map(|at| (bounds.most[at], bounds.least[at]));
        let mut all = weights.iter().zip(loads).zip(of(from).zip(of(to)));
        all.all(|((&weight, &load), ((most_from, least_from), (most, least)))| {
            let relieved = (load - most_from).clamp(0, weight);
            let fits = weight <= most || most > 0 && weight - most <= relieved;
            let deficit = |load: Weight| (least_from - load).max(0);
            fits && deficit(load - weight) - deficit(load) <= least
        })
    }

    /// The vertices of all ranks that move to empty blocks in a round, and which. All ranks find the same.
    fn to_empty(&self, empty: &[BlockId]) -> Vec<(NodeId, BlockId)> {
        let graph = self.task.graph;
        // What does not fit the first fits no later one, if there is one weight.
        let roomiest = if graph.num_weights() == 1 { &empty[..1] } else { empty };
        let offer = |own: usize| {
            let (from, weights) = (self.blocks[own], graph.weights_of(own));
            let may_leave = self.counts[from as usize] > 1 && !self.is_fixed(own);
            let is_inside = |&(to, _): &(usize, Weight)| self.blocks[to] == from;
            let loads = self.loads_of(from);
            let may_move = || roomiest.iter().any(|&to| self.may_move(weights, (from, loads), to));
            (may_leave && may_move()).then(|| Offer {
                inside: graph.arcs(own).filter(is_inside).map(|(_, weight)| weight as u64).sum(),
                vertex: graph.global(own),
                from,
                weights: weights.to_vec(),
            })
        };
        let most = empty.len().min(MOST_OFFERS);
        let mut own: Vec<Offer> = (0..graph.num_own()).filter_map(offer).collect();
        keep_least(&mut own, most);
        let words: Vec<u64> = own.into_iter().flat_map(Offer::words).collect();
        let all = self.comm.all_gather(&words).words;
        let mut all: Vec<Offer> = all.chunks_exact(2 + graph.num_weights()).map(Offer::of).collect();
        keep_least(&mut all, most);
        let (mut left, mut loads) = (empty.to_vec(), self.loads.clone());
        let mut given = vec![0; self.counts.len()];
        let mut moves = Vec::new();
        for Offer { vertex, from, weights, .. } in all {
            let (loads, given) = (&mut loads[self.task.bounds.at(from)], &mut given[from as usize]);
            let fitting =
                (0..left.len()).filter(|&index| self.may_move(&weights, (from, loads), left[index]));
            let distance = |&index: &usize| self.task.distances.between(from, left[index]);
            // Those that are left have fewer edges inside then, so a block gives few in a round.
            let may_give = *given < (self.counts[from as usize] / MOST_GIVEN).max(1);
            if let Some(nearest) = fitting.min_by_key(distance).filter(|_| may_give) {
                moves.push((vertex, left.remove(nearest)));
                loads.iter_mut().zip(&weights).for_each(|(load, weight)| *load -= weight);
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
        let shortfall = |loads: &[Weight]| self.task.bounds.quality(loads, &self.counts, 0).shortfall;
        if shortfall(&loads) > shortfall(&self.loads) {
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

/// Returns whether a block takes a vertex of these weights: while it is below a least load that this helps with, and has room.
fn take_if_needed((deficit, room): &mut (Vec<Weight>, Vec<Weight>), weights: &[Weight]) -> bool {
    let fits = room.iter().zip(weights).all(|(&room, &weight)| is_enough(room, weight));
    fits && take_until_met(deficit, weights) && take_if_left(room, weights)
}
