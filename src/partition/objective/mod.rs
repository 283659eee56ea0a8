//! The objectives: what a partition costs.
//!
//! *Problem.* Refiners move vertices to where their edges cost less. An edge of weight w between blocks a and b costs
//! w times `between(a, b)`: 1 for the cut, the distance of the two PEs for J. An edge inside a block costs nothing. Each
//! edge counts once, so the cost is half of J, which sums over ordered pairs.
//!
//! *Gains.* Moving a vertex from a to b gains the sum over all blocks c adjacent to it of
//! `affinity(c) · (between(a, c) - between(b, c))`. For the cut, only two terms of it remain.
//!
//! | member | `between` | memory | time of a gain |
//! |---|---|---|---|
//! | [`Cut`] | 1 | none | O(1) |
//! | [`StoredCost`] | a table of 32 bits per entry | 4 k² bytes | O(q) for q adjacent blocks |
//! | [`ComputedCost`] | what the machine computes | none | O(q) calls |
//! | [`Migrating`] | a multiple of another objective's | 12 bytes per vertex | that of the other objective |
//!
//! Besides its edges, a vertex may cost something by itself in each block: a linear term, which only migration uses so far.
//!
//! What an edge costs depends on its two blocks only, so the gain of a vertex changes only when a neighbour moves; all refiners
//! rely on that. A cost of whole blocks, such as the weight of the heaviest one, is no member of this family but a bound
//! ([`Targets`](super::targets::Targets)).
//!
//! A member for J is a file of its own and a line of the table below, which the tests of the family run over as well.
//!
//! All sums fit [`Weight`]: the cut is at most the weight of all edges, and whoever asks for J has checked that this weight times
//! the greatest distance fits.

mod computed;
mod cut;
mod distances;
mod migration;
mod stored;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use computed::ComputedCost;
pub(crate) use cut::Cut;
pub use distances::BlockDistances;
pub(crate) use migration::Migrating;
pub(crate) use stored::StoredCost;

use super::affinities::BlockAffinities;
use super::compact::{CompactGraph, Stored};
use crate::ground::types::{BlockId, NodeId, Weight};

/// What edges between blocks cost, symmetric, 0 within a block; and what vertices cost in blocks by themselves.
pub(crate) trait Objective: Clone + Sync {
    /// Whether [`pull`](Self::pull) can be other than 0.
    const HAS_PULL: bool = true;

    /// Whether [`own_cost`](Self::own_cost) can be other than 0.
    const HAS_OWN_COSTS: bool = false;

    /// What an edge of weight 1 between two blocks costs.
    fn between(&self, a: BlockId, b: BlockId) -> Weight;

    /// How much the cost falls if a vertex of these affinities moves.
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight;

    /// An upper bound of the gain of any move of a vertex with these weights of edges inside its block and out of it.
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight;

    /// How the gain of a move from one block to another, `moved`, changes when a neighbour over an edge of this weight has
    /// moved `by` two blocks, and whether that move is certain to be the best one still if it was before.
    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool);

    /// How much more the edges to all blocks but these two cost from the second than from the first.
    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight;

    /// What a vertex costs in a block besides its edges.
    #[inline]
    fn own_cost(&self, _node: NodeId, _block: BlockId) -> Weight {
        0
    }

    /// What a vertex costs in any block but its home, if it has one.
    fn penalty(&self, _node: NodeId) -> Weight {
        0
    }

    /// An upper bound of how much of that any move of a vertex out of a block saves.
    #[inline]
    fn greatest_own_gain(&self, _node: NodeId, _from: BlockId) -> Weight {
        0
    }

    /// Classes of vertices, if there are any, of which no two may be contracted together.
    fn classes(&self) -> Option<&[u32]> {
        None
    }

    /// The same objective after a contraction that has kept the classes apart; O(n) if vertices cost something by
    /// themselves.
    fn contracted(&self, _coarse_of: &[NodeId], _num_coarse: usize) -> Self {
        self.clone()
    }

    /// What the edges of a partition cost, each edge once; O(n + m).
    fn cost_of_edges<W: Stored>(&self, graph: &CompactGraph<W>, blocks: &[BlockId]) -> Weight {
        let of_node = |node| -> Weight {
            let own = blocks[node as usize];
            let arcs = graph.arcs(node).iter();
            arcs.map(|arc| arc.weight() * self.between(own, blocks[arc.target as usize])).sum()
        };
        // J counts each edge twice and fits.
        graph.nodes().map(of_node).sum::<Weight>() / 2
    }

    /// The cost of a partition; O(n + m).
    fn cost<W: Stored>(&self, graph: &CompactGraph<W>, blocks: &[BlockId]) -> Weight {
        let own: Weight = if Self::HAS_OWN_COSTS {
            graph.nodes().zip(blocks).map(|(node, &block)| self.own_cost(node, block)).sum()
        } else {
            0
        };
        self.cost_of_edges(graph, blocks) + own
    }
}

/// Runs with whichever objective is chosen.
pub(crate) trait ObjectiveVisitor {
    type Output;

    fn visit<O: Objective>(self, objective: O) -> Self::Output;
}

/// The members that minimise J, by one table: the first that accepts the distances is used, the last accepts all.
macro_rules! table {
    ($(try $member:ident,)+ else $last:ident) => {
        /// Visits the objective for J with these distances.
        pub(crate) fn visit_cost<V: ObjectiveVisitor>(distances: &dyn BlockDistances, visitor: V) -> V::Output {
            $(if let Some(objective) = $member::new(distances) {
                return visitor.visit(objective);
            })+
            visitor.visit($last::new(distances))
        }

        /// Visits every objective that accepts these distances.
        #[cfg(test)]
        pub(crate) fn visit_each_cost<V: ObjectiveVisitor + Copy>(distances: &dyn BlockDistances, visitor: V) {
            $($member::new(distances).map(|objective| visitor.visit(objective));)+
            visitor.visit($last::new(distances));
        }
    };
}

table! {
    try StoredCost,
    else ComputedCost
}
