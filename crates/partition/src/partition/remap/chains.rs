//! Ejection chains: exchanges of a few vertices, for partitions of small graphs.
//!
//! *Problem.* Vertices have weights and bounds are tight. Then hardly any vertex can move by itself, nor along a path of blocks on which
//! each passes one vertex on: a heavy one is exchanged for two light ones, and a third block takes one of these.
//!
//! *Algorithm.* A vertex moves into another block, whatever that has room for. A vertex leaves the block that is overloaded now, or
//! the one that was joined, and so on: up to `depth` moves. The best chain from a first move on that ends within the bounds is made if the
//! cost falls. Where none lowers it, a chain at any cost is made from a random first move, and the search goes on from there.
//!
//! O(n^depth k) changes of a cost for each pass; the depth is chosen by that, and larger graphs are left alone.
//!
//! Glover: Ejection chains, reference structures and alternating path methods for traveling salesman problems. Discrete Applied
//! Mathematics 65, 1996 (the principle). Here, the structure that a chain repairs is the bounds.

use crate::base::observer::Observer;
use crate::base::rng::Rng;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::{BoundViolation, LoadBounds};
use crate::partition::compact::{Arc, Stored};
use crate::partition::objective::Objective;

/// Changes of a cost that a pass may look at. Balances the optimum of small problems against time.
const WORK: usize = 1 << 16;

/// The greatest number of moves of a chain.
const MOST_MOVES: u32 = 4;

/// How many chains at any cost are made. Balances the same.
const KICKS: usize = 6;

/// The number of moves of a chain, if the graph is small enough for chains.
pub(super) fn depth(num_nodes: usize, num_blocks: usize) -> Option<u32> {
    let work = |depth: u32| num_nodes.checked_pow(depth).and_then(|moves| moves.checked_mul(num_blocks));
    (2..=MOST_MOVES).rev().find(|&depth| work(depth).is_some_and(|work| work <= WORK))
}

/// A move, and the block that the vertex leaves.
#[derive(Clone, Copy)]
struct Step {
    node: NodeId,
    from: BlockId,
    to: BlockId,
}

/// The best chain from a first move on: how much the cost rises, and its moves.
type Best = Option<(Weight, Vec<Step>)>;

/// A partition that is improved.
pub(super) struct Chains<'a, W, O> {
    level: Problem<'a, W, O>,
    bounds: LoadBounds<'a>,
    depth: u32,
    now: Assignment,
    /// The number of vertices in each block.
    counts: Vec<usize>,
    /// What no chain may exceed.
    violation: BoundViolation,
    num_empty: usize,
    chain: Vec<Step>,
}

impl<'a, W: Stored, O: Objective> Chains<'a, W, O> {
    pub fn new(level: Problem<'a, W, O>, bounds: LoadBounds<'a>, depth: u32, start: Assignment) -> Self {
        let mut counts = vec![0; start.weights.len()];
        start.blocks.iter().for_each(|&block| counts[block as usize] += 1);
        let num_empty = counts.iter().filter(|&&count| count == 0).count();
        let violation = start.violation(bounds);
        Self { level, bounds, depth, now: start, counts, violation, num_empty, chain: Vec::new() }
    }

    /// The best partition that is found, not worse than the start.
    pub fn improve(mut self, rng: &mut Rng, observer: &dyn Observer) -> Vec<BlockId> {
        self.descend(observer);
        let mut best = self.now.clone();
        for _ in 0..KICKS {
            if observer.should_stop() {
                break;
            }
            let node = rng.below(self.level.num_nodes() as u32);
            let to = rng.below(self.now.weights.len() as u32);
            if let Some((_, chain)) = self.best_chain(node, to) {
                chain.into_iter().for_each(|step| self.make(step));
            }
            self.descend(observer);
            if self.now.cost < best.cost {
                best = self.now.clone();
            } else {
                self = Self::new(self.level, self.bounds, self.depth, best.clone());
            }
        }
        best.blocks
    }

    /// Makes chains that lower the cost, until there is none or the observer asks to stop.
    fn descend(&mut self, observer: &dyn Observer) {
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) && !observer.should_stop() {
            for node in self.level.nodes() {
                for to in 0..self.now.weights.len() as BlockId {
                    let chain = self.best_chain(node, to).filter(|&(rise, _)| rise < 0);
                    let Some((_, chain)) = chain else { continue };
                    chain.into_iter().for_each(|step| self.make(step));
                    goes_on = true;
                }
            }
        }
    }

    /// The best chain that begins with this move.
    fn best_chain(&mut self, node: NodeId, to: BlockId) -> Best {
        let mut best = None;
        self.follow(node, to, self.now.cost, &mut best);
        best
    }

    /// Tries a move, and chains that go on from there. `before` is the cost without the chain.
    fn follow(&mut self, node: NodeId, to: BlockId, before: Weight, best: &mut Best) {
        let from = self.now.blocks[node as usize];
        let is_moved = self.chain.iter().any(|step| step.node == node);
        if from == to || is_moved || self.level.objective.is_fixed(node) {
            return;
        }
        let step = Step { node, from, to };
        self.make(step);
        self.chain.push(step);
        let rise = self.now.cost - before;
        if best.as_ref().is_none_or(|&(least, _)| rise < least) && self.is_within_bounds() {
            *best = Some((rise, self.chain.clone()));
        }
        if self.chain.len() < self.depth as usize {
            let is_overloaded = |&block: &usize| self.now.weights[block] > self.bounds.most[block];
            let next = (0..self.counts.len()).find(is_overloaded).map_or(to, |block| block as BlockId);
            for other in self.level.nodes() {
                if self.now.blocks[other as usize] == next {
                    (0..self.counts.len() as BlockId).for_each(|to| self.follow(other, to, before, best));
                }
            }
        }
        self.chain.pop();
        self.make(Step { node, from: to, to: from });
    }

    fn make(&mut self, Step { node, from, to }: Step) {
        let Problem { graph, objective } = self.level;
        let between = |arc: Arc<W>| {
            let block = self.now.blocks[arc.target as usize];
            arc.weight() * (objective.between(from, block) - objective.between(to, block))
        };
        let edges: Weight = graph.arcs(node).iter().map(between).sum();
        let gain = edges + self.level.own_gain(node, from, to);
        self.now.shift(node, graph.node_weight(node), to, gain);
        self.counts[from as usize] -= 1;
        self.counts[to as usize] += 1;
    }

    /// Returns whether bounds are missed by no more than at the start, and no more blocks are empty.
    fn is_within_bounds(&self) -> bool {
        self.now.violation(self.bounds) <= self.violation
            && self.counts.iter().filter(|&&count| count == 0).count() <= self.num_empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::Cut;

    #[test]
    fn no_exchange_of_two_vertices_is_better() {
        let mut rng = Rng::new(7);
        for round in 0..40 {
            let n = 6 + rng.below(6);
            let mut builder = GraphBuilder::new(n as usize);
            for node in 0..n {
                builder.set_node_weight(node, 1 + i64::from(rng.below(9)));
                (0..node).filter(|_| round % 3 == 0).for_each(|other| builder.add_edge(node, other, 1));
                if node > 0 && round % 3 > 0 {
                    builder.add_edge(node - 1, node, 1 + i64::from(rng.below(4)));
                }
            }
            let graph = builder.build().unwrap();
            let graph = CompactGraph::<i32>::new(&graph);
            let level = Problem { graph: &graph, objective: &Cut };
            let start = Assignment::new(level, (0..n).map(|_| rng.below(3)).collect(), 3);
            let bounds = [start.weights.iter().max().unwrap() + 1; 3];
            let depth = depth(n as usize, 3).unwrap();
            let before = start.cost;
            let blocks = Chains::new(level, bounds[..].into(), depth, start).improve(&mut rng, &());
            let after = Assignment::new(level, blocks, 3);
            assert!(after.cost <= before && after.overload(&bounds) == 0);
            // No exchange of two vertices is better.
            for (one, other) in level.nodes().flat_map(|one| (0..one).map(move |other| (one, other))) {
                let mut blocks = after.blocks.clone();
                blocks.swap(one as usize, other as usize);
                let next = Assignment::new(level, blocks, 3);
                assert!(next.overload(&bounds) > 0 || next.cost >= after.cost);
            }
        }
        assert_eq!((depth(16, 4), depth(1 << 20, 4)), (Some(3), None));
    }
}
