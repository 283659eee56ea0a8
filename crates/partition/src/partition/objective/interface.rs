//! What refiners ask of an objective.

use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::compact::{CompactGraph, Stored};

/// What edges between blocks cost, symmetric, 0 within a block; and what vertices cost in blocks by themselves.
pub(crate) trait Objective: Clone + Sync {
    /// Whether [`own_cost`](Self::own_cost) can be other than 0.
    const HAS_OWN_COSTS: bool = false;

    /// Returns whether [`pull`](Self::pull) can be other than 0.
    #[inline]
    fn has_pull(&self) -> bool {
        true
    }

    /// What an edge of weight 1 between two blocks costs.
    fn between(&self, a: BlockId, b: BlockId) -> Weight;

    /// How much the cost falls if a vertex of these affinities moves.
    fn gain(&self, affinities: &BlockAffinities, from: BlockId, to: BlockId) -> Weight;

    /// An upper bound of the gain of any move of a vertex with these weights of edges inside its block and out of it.
    fn greatest_gain(&self, internal: Weight, external: Weight) -> Weight;

    /// How the gain of a move from one block to another, `moved`, changes when a neighbour over an edge of this weight has
    /// moved from one block to another, `by`; and whether that move is certain to remain the best one if it was before.
    fn change_of_gain(&self, moved: [BlockId; 2], weight: Weight, by: [BlockId; 2]) -> (Weight, bool);

    /// How much more the edges to all blocks but these two cost from the second than from the first.
    fn pull(&self, affinities: &BlockAffinities, pair: [BlockId; 2]) -> Weight;

    /// What a vertex costs in a block besides its edges.
    #[inline]
    fn own_cost(&self, _node: NodeId, _block: BlockId) -> Weight {
        0
    }

    /// What a vertex costs in any block but its home, if it has a home.
    fn penalty(&self, _node: NodeId) -> Weight {
        0
    }

    /// An upper bound of how much of its own cost a vertex saves by any move out of a block.
    #[inline]
    fn greatest_own_gain(&self, _node: NodeId, _from: BlockId) -> Weight {
        0
    }

    /// Classes of vertices, if there are any: only vertices of the same class may be contracted together.
    fn classes(&self) -> Option<&[u32]> {
        None
    }

    /// The block that each vertex comes from, if an older partition is resumed; a number that is no block if that no longer
    /// exists.
    fn homes(&self) -> Option<&[u32]> {
        None
    }

    /// The block that a vertex must be in, if it is fixed.
    #[inline]
    fn fixed_block(&self, _node: NodeId) -> Option<BlockId> {
        None
    }

    /// Returns whether a vertex must stay in its block.
    #[inline]
    fn is_fixed(&self, node: NodeId) -> bool {
        self.fixed_block(node).is_some()
    }

    /// Returns whether any vertex must.
    #[inline]
    fn has_fixed(&self) -> bool {
        false
    }

    /// The same objective after a contraction that has kept the classes apart; O(n) if vertices have costs of their own.
    fn contracted(&self, _coarse_of: &[NodeId], _num_coarse: usize) -> Self {
        self.clone()
    }

    /// What the edges of a partition cost, each edge once; O(n + m).
    fn cost_of_edges<W: Stored>(&self, graph: &CompactGraph<'_, W>, blocks: &[BlockId]) -> Weight {
        let of_node = |node: usize| -> Weight {
            let own = blocks[node];
            let arcs = graph.arcs(node as NodeId).iter();
            arcs.map(|arc| arc.weight() * self.between(own, blocks[arc.target as usize])).sum()
        };
        // J counts each edge twice and fits.
        threads::sum(graph.num_nodes(), of_node) / 2
    }

    /// The cost of a partition; O(n + m).
    fn cost<W: Stored>(&self, graph: &CompactGraph<'_, W>, blocks: &[BlockId]) -> Weight {
        let own: Weight = if Self::HAS_OWN_COSTS {
            graph.nodes().zip(blocks).map(|(node, &block)| self.own_cost(node, block)).sum()
        } else {
            0
        };
        self.cost_of_edges(graph, blocks) + own
    }
}
