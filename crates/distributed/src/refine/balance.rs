//! Overloaded blocks are taken back within their bounds.
//!
//! In each round, every overloaded block gives vertices away that lose least for their weight, as many as cover its excess; each to a block that
//! has room, one of its neighbours' if there is any. Only vertices at borders move, unless none of them can. The rank that counts the load of a block decides who leaves it, and who may enter: as many as
//! fit. So loads only fall where they are too high, and no further bound is exceeded. Rounds end when all bounds hold, or no vertex can move.
//!
//! Of several weights, a vertex leaves for what it relieves the exceeded bounds of, relative to these, and enters where all of its weights fit.

use viem::base::rng::derive;
use viem::base::types::{BlockId, NodeId, Weight};

use super::{Nearby, State, is_enough};
use crate::comm::{Comm, Outbox, sum};

/// Most rounds; far more than are needed unless no balance exists.
const MOST_ROUNDS: u64 = 200;

/// A move that would relieve an overloaded block, or fill one that is below its least load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relief {
    pub own: usize,
    pub to: BlockId,
    /// Its loss for each unit of weight, as a number that is ordered as these are.
    pub price: u64,
}

impl<C: Comm> State<'_, C> {
    /// Moves vertices out of overloaded blocks.
    pub(super) fn balance(&mut self, seed: u64) {
        let mut nearby = Nearby::new(self.counts.len());
        let mut is_everyone = false;
        for round in 0..MOST_ROUNDS {
            if self.task.bounds.hold(&self.loads) {
                return;
            }
            let moves = match is_everyone {
                false => {
                    self.reliefs(self.open.iter().map(|&own| own as usize), derive(seed, round), &mut nearby)
                }
                true => self.reliefs(0..self.task.graph.num_own(), derive(seed, round), &mut nearby),
            };
            let moves = self.leaving(moves);
            let moves = self.entering(moves);
            if sum(self.comm, moves.len() as i64) == 0 {
                if is_everyone {
                    return;
                }
                is_everyone = true;
                continue;
            }
            is_everyone = false;
            self.apply(moves.into_iter().map(|relief| (relief.own, relief.to)));
        }
    }

    /// By each weight, what a block exceeds its bound by; not above 0 where it does not.
    fn excess(&self, block: BlockId) -> impl Iterator<Item = Weight> + Clone {
        self.room(block).map(|room| -room)
    }

    /// The cheapest moves of these own vertices out of each overloaded block, no more than cover its excess.
    fn reliefs(&self, vertices: impl Iterator<Item = usize>, seed: u64, nearby: &mut Nearby) -> Vec<Relief> {
        let graph = self.task.graph;
        let mut of_block: Vec<Vec<Relief>> = vec![Vec::new(); self.counts.len()];
        let mut farther: Vec<Option<Vec<BlockId>>> = vec![None; self.counts.len()];
        for own in vertices {
            let (here, weights) = (self.blocks[own], graph.weights_of(own));
            if self.excess(here).all(|excess| excess <= 0) || self.is_fixed(own) {
                continue;
            }
            let help = self.help(weights, self.excess(here), self.task.bounds.most_of(here));
            if help == 0.0 {
                continue;
            }
            let near = nearby.fill(graph.arcs(own).map(|(to, weight)| (self.blocks[to], weight)));
            let can_take = |block: &BlockId| *block != here && self.fits(weights, *block);
            let beside = near.iter().map(|&(block, _)| block).filter(can_take);
            let cheapest = beside.map(|block| (self.cost_in(own, block, near), block)).min();
            let elsewhere = || {
                let nearest = farther[here as usize].get_or_insert_with(|| self.nearest_with_room(here));
                let fitting: Vec<BlockId> = nearest.iter().copied().filter(can_take).take(FEW).collect();
                let index = derive(seed, u64::from(graph.global(own))) as usize % fitting.len().max(1);
                fitting.get(index).map(|&block| (self.cost_in(own, block, near), block))
            };
            let Some((cost, to)) = cheapest.or_else(elsewhere) else { continue };
            let loss = cost - self.cost_in(own, here, near);
            of_block[here as usize].push(Relief { own, to, price: ordered(loss as f64 / help) });
        }
        for (block, list) in (0..).zip(&mut of_block) {
            list.sort_unstable_by_key(|relief| (relief.price, relief.own));
            let mut left: Vec<Weight> = self.excess(block).collect();
            list.retain(|relief| take_until_met(&mut left, graph.weights_of(relief.own)));
        }
        of_block.concat()
    }

    /// The blocks with room that are nearest to a block, these first that have most.
    fn nearest_with_room(&self, from: BlockId) -> Vec<BlockId> {
        let mut blocks: Vec<BlockId> = (0..self.counts.len() as BlockId)
            .filter(|&block| self.room(block).any(|room| room > 0))
            .collect();
        let fullness = |block| self.excess(block).collect::<Vec<Weight>>();
        blocks
            .sort_by_cached_key(|&block| (self.task.distances.between(from, block), fullness(block), block));
        blocks
    }

    /// Those of the moves that cover the excess of the blocks they lead out of.
    fn leaving(&self, moves: Vec<Relief>) -> Vec<Relief> {
        let from = |relief: &Relief| self.blocks[relief.own];
        let excess = |block: BlockId| self.excess(block).collect::<Vec<Weight>>();
        self.allowed(moves, from, excess, |left, weights| take_until_met(left, weights))
    }

    /// Those of the moves that fit into the blocks they lead to.
    fn entering(&self, moves: Vec<Relief>) -> Vec<Relief> {
        let room = |block: BlockId| self.room(block).collect::<Vec<Weight>>();
        self.allowed(moves, |relief| relief.to, room, |left, weights| take_if_left(left, weights))
    }

    /// Those of the moves that the blocks they are asked of allow, the cheapest first: each has so much `left`, and `allows` takes the weights of a
    /// move from that.
    pub(super) fn allowed<T>(
        &self,
        moves: Vec<Relief>,
        block_of: impl Fn(&Relief) -> BlockId,
        left: impl Fn(BlockId) -> T,
        allows: impl Fn(&mut T, &[Weight]) -> bool,
    ) -> Vec<Relief> {
        let (comm, graph) = (self.comm, self.task.graph);
        let num_weights = graph.num_weights();
        let mut outbox = Outbox::default();
        for relief in &moves {
            let block = block_of(relief);
            let both = u64::from(block) << 32 | u64::from(graph.global(relief.own));
            for &weight in graph.weights_of(relief.own) {
                outbox.push(block as usize % comm.size(), [both, relief.price, weight as u64]);
            }
        }
        let asked = outbox.send(comm);
        let records: Vec<[u64; 3]> = asked.records().copied().collect();
        let requests: Vec<&[[u64; 3]]> = records.chunks_exact(num_weights).collect();
        let mut order: Vec<usize> = (0..requests.len()).collect();
        order.sort_unstable_by_key(|&index| {
            let [both, price, _] = requests[index][0];
            (both >> 32, price, both as NodeId)
        });
        let (mut answers, mut weights) = (vec![0; records.len()], vec![0; num_weights]);
        let block = |index: usize| (requests[index][0][0] >> 32) as BlockId;
        for group in order.chunk_by(|&a, &b| block(a) == block(b)) {
            let mut left = left(block(group[0]));
            for &index in group {
                weights.iter_mut().zip(requests[index]).for_each(|(own, record)| *own = record[2] as Weight);
                answers[num_weights * index] = allows(&mut left, &weights).into();
            }
        }
        let answers = asked.answer(comm, &answers).into_iter().step_by(num_weights);
        moves.into_iter().zip(answers).filter(|(_, answer)| *answer == 1).map(|(relief, _)| relief).collect()
    }
}

/// Takes weights from the rest, if there is enough of each.
pub(super) fn take_if_left(left: &mut [Weight], weights: &[Weight]) -> bool {
    let takes = left.iter().zip(weights).all(|(&left, &weight)| is_enough(left, weight));
    if takes {
        left.iter_mut().zip(weights).for_each(|(left, weight)| *left -= weight);
    }
    takes
}

/// Takes weights from the rest as long as one of them is needed: something is left of it.
pub(super) fn take_until_met(left: &mut [Weight], weights: &[Weight]) -> bool {
    let takes = left.iter().zip(weights).any(|(&left, &weight)| left > 0 && weight > 0);
    if takes {
        left.iter_mut().zip(weights).for_each(|(left, weight)| *left -= weight);
    }
    takes
}

/// Blocks among which vertices without a neighbour in a block with room are divided. Balances their distance against the number of rounds.
pub(super) const FEW: usize = 4;

/// A whole number for each finite number, ordered as these are.
pub(super) fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn numbers_keep_their_order() {
        let numbers = [-7.5, -7.25, -0.0, 0.0, 0.125, 3.0, 1e9];
        assert!(numbers.map(ordered).is_sorted_by(|a, b| a < b));
    }
}
