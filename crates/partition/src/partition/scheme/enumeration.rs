//! The best partition of a tiny graph, by enumeration.
//!
//! Vertices are assigned one after the other. A branch ends when its overload so far, what its blocks will lack at least, how many will be
//! empty at least, and its cost so far are no better than the best partition known. At most k^n leaves; used only where these are few.

use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::{BoundViolation, LoadBounds};
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;
use crate::partition::pieces::{extra_pieces, pieces};

/// The greatest number of partitions that are tried. Balances the optimum of tiny problems against time: this takes a few
/// milliseconds.
const MOST: usize = 1 << 17;

/// Returns whether there are few enough partitions to try them all.
pub(in crate::partition) fn is_affordable(num_nodes: usize, num_blocks: usize) -> bool {
    // The recursion is as deep as there are vertices.
    num_nodes <= 32 && num_blocks.checked_pow(num_nodes as u32).is_some_and(|count| count <= MOST)
}

/// The loads of the blocks while vertices are assigned, and what misses their bounds.
pub(in crate::partition) trait Tally {
    /// By how much bounds are missed.
    type Missed: Copy + Ord;

    fn num_blocks(&self) -> usize;

    /// Returns whether a block gets no vertices.
    fn is_closed(&self, block: BlockId) -> bool;

    /// Assigns a vertex of this weight to a block.
    fn put(&mut self, vertex: (NodeId, Weight), block: usize);

    /// Takes it away again.
    fn take(&mut self, vertex: (NodeId, Weight), block: usize);

    /// What bounds are missed by at least once all vertices are assigned.
    fn missed(&self) -> Self::Missed;
}

/// The loads where vertices have one weight.
struct Weights<'a> {
    bounds: LoadBounds<'a>,
    /// The weight of each block.
    of_blocks: Vec<Weight>,
    /// The weight of the vertices that are not assigned yet.
    left: Weight,
}

impl Tally for Weights<'_> {
    type Missed = BoundViolation;

    fn num_blocks(&self) -> usize {
        self.of_blocks.len()
    }

    fn is_closed(&self, block: BlockId) -> bool {
        self.bounds.is_closed(block)
    }

    fn put(&mut self, (_, weight): (NodeId, Weight), block: usize) {
        self.of_blocks[block] += weight;
        self.left -= weight;
    }

    fn take(&mut self, (_, weight): (NodeId, Weight), block: usize) {
        self.of_blocks[block] -= weight;
        self.left += weight;
    }

    fn missed(&self) -> BoundViolation {
        let mut violation = self.bounds.violation(&self.of_blocks);
        violation.shortfall = (violation.shortfall - self.left).max(0);
        violation
    }
}

/// The partition that misses the bounds by least, then with the fewest empty blocks, and then of least cost, the first among equals, if it is
/// [affordable](is_affordable).
pub(in crate::partition) fn best<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    bounds: LoadBounds<'_>,
) -> Option<Assignment> {
    search(level, weights(level, bounds), false)
}

/// The same for bounds of any kind.
pub(in crate::partition) fn best_by<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    tally: impl Tally,
) -> Option<Assignment> {
    search(level, tally, false)
}

/// The same, but before their cost, partitions are compared by the number of pieces that their blocks fall into.
pub(in crate::partition) fn of_fewest_pieces<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    bounds: LoadBounds<'_>,
) -> Option<Assignment> {
    search(level, weights(level, bounds), true)
}

fn weights<'a, W: Stored, O: Objective>(level: Problem<'_, W, O>, bounds: LoadBounds<'a>) -> Weights<'a> {
    Weights { bounds, of_blocks: vec![0; bounds.num_blocks()], left: level.total_node_weight() }
}

fn search<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    tally: impl Tally,
    counts_pieces: bool,
) -> Option<Assignment> {
    let (n, k) = (level.num_nodes(), tally.num_blocks());
    if !is_affordable(n, k) {
        return None;
    }
    let blocks = Vec::with_capacity(n);
    let mut search = Search { level, tally, counts_pieces, counts: vec![0; k], blocks, best: None };
    search.extend(0);
    let (_, blocks) = search.best?;
    Some(Assignment::new(level, blocks, k))
}

/// What exceeds or misses the bounds, the number of empty blocks, the number of pieces beyond one for each block if it counts, the cost.
type Score<M> = (M, usize, usize, Weight);

struct Search<'a, W, O, T: Tally> {
    level: Problem<'a, W, O>,
    tally: T,
    counts_pieces: bool,
    /// The number of vertices of each block.
    counts: Vec<usize>,
    /// The blocks of the first vertices.
    blocks: Vec<BlockId>,
    /// What it is compared by, and the blocks.
    best: Option<(Score<T::Missed>, Vec<BlockId>)>,
}

impl<W: Stored, O: Objective, T: Tally> Search<'_, W, O, T> {
    /// The pieces of the blocks, if they count and all vertices are assigned: later ones may join those of now.
    fn extra_pieces(&self) -> usize {
        if !self.counts_pieces || self.blocks.len() < self.level.num_nodes() {
            return 0;
        }
        let neighbours = |node| self.level.graph.arcs(node).iter().map(|arc| arc.target);
        extra_pieces(&pieces(&self.blocks, self.counts.len(), neighbours))
    }

    /// Assigns the next vertex; `cost` is that of those before it.
    fn extend(&mut self, cost: Weight) {
        let missed = self.tally.missed();
        let empty = self.counts.iter().filter(|&&count| count == 0).count();
        let empty = empty.saturating_sub(self.level.num_nodes() - self.blocks.len());
        let score = (missed, empty, self.extra_pieces(), cost);
        if self.best.as_ref().is_some_and(|(best, _)| score >= *best) {
            return;
        }
        let node = self.blocks.len() as NodeId;
        if node as usize == self.level.num_nodes() {
            self.best = Some((score, self.blocks.clone()));
            return;
        }
        let weight = self.level.node_weight(node);
        let fixed = self.level.objective.fixed_block(node);
        for block in 0..self.counts.len() {
            if fixed.is_some_and(|fixed| fixed as usize != block) || self.tally.is_closed(block as BlockId) {
                continue;
            }
            let earlier = self.level.arcs(node).iter().filter(|arc| arc.target < node);
            let between = |other: BlockId| self.level.objective.between(block as BlockId, other);
            let edges: Weight =
                earlier.map(|arc| arc.weight() * between(self.blocks[arc.target as usize])).sum();
            let own = self.level.objective.own_cost(node, block as BlockId);
            self.tally.put((node, weight), block);
            self.counts[block] += 1;
            self.blocks.push(block as BlockId);
            self.extend(cost + edges + own);
            self.blocks.pop();
            self.tally.take((node, weight), block);
            self.counts[block] -= 1;
        }
    }
}
