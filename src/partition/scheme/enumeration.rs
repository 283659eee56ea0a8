//! The best partition of a tiny graph, by enumeration.
//!
//! Vertices are assigned one after the other. A branch ends when its overload and its cost so far are no better than the
//! best partition known. At most k^n leaves; used only where these are few.

use crate::ground::types::{BlockId, NodeId, Weight};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;

/// The greatest number of partitions that are tried. Balances the optimum of tiny problems against time: this takes a few
/// milliseconds.
const MOST: usize = 1 << 17;

/// The partition of least overload and then of least cost, the first among equals, if there are few enough partitions to try
/// them all.
pub(in crate::partition) fn best<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    bounds: &[Weight],
) -> Option<Assignment> {
    let (n, k) = (level.num_nodes(), bounds.len());
    let count = k.checked_pow(u32::try_from(n).ok()?)?;
    // The recursion is as deep as there are vertices.
    if count > MOST || n > 32 {
        return None;
    }
    let blocks = Vec::with_capacity(n);
    let mut search = Search { level, room: bounds.to_vec(), blocks, best: None };
    search.extend((0, 0));
    let (_, blocks) = search.best?;
    Some(Assignment::new(level, blocks, k))
}

struct Search<'a, W, O> {
    level: Problem<'a, W, O>,
    /// The room that the bounds leave; negative where they are exceeded.
    room: Vec<Weight>,
    /// The blocks of the first vertices.
    blocks: Vec<BlockId>,
    /// Overload and cost, and the blocks.
    best: Option<((Weight, Weight), Vec<BlockId>)>,
}

impl<W: Stored, O: Objective> Search<'_, W, O> {
    /// Assigns the next vertex; `so_far` is the overload and the cost of those before it.
    fn extend(&mut self, so_far: (Weight, Weight)) {
        if self.best.as_ref().is_some_and(|(best, _)| so_far >= *best) {
            return;
        }
        let node = self.blocks.len() as NodeId;
        if node as usize == self.level.num_nodes() {
            self.best = Some((so_far, self.blocks.clone()));
            return;
        }
        let weight = self.level.node_weight(node);
        let fixed = self.level.objective.fixed_block(node);
        for block in 0..self.room.len() {
            if fixed.is_some_and(|fixed| fixed as usize != block) {
                continue;
            }
            let excess = |room: Weight| (-room).max(0);
            let more = excess(self.room[block] - weight) - excess(self.room[block]);
            let earlier = self.level.arcs(node).iter().filter(|arc| arc.target < node);
            let between = |other: BlockId| self.level.objective.between(block as BlockId, other);
            let edges: Weight =
                earlier.map(|arc| arc.weight() * between(self.blocks[arc.target as usize])).sum();
            let cost = edges + self.level.objective.own_cost(node, block as BlockId);
            self.room[block] -= weight;
            self.blocks.push(block as BlockId);
            self.extend((so_far.0 + more, so_far.1 + cost));
            self.blocks.pop();
            self.room[block] += weight;
        }
    }
}
