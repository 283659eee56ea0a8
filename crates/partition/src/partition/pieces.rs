//! The pieces that blocks fall into: sets of vertices that the edges inside a block connect.

use crate::base::types::{BlockId, NodeId};
use crate::graph::components::components;

/// The number of pieces of each block of a partition: connected sets of its vertices; O(n + m), nearly. Neighbours are mutual.
pub(super) fn pieces<I: Iterator<Item = NodeId>>(
    blocks: &[BlockId],
    num_blocks: usize,
    neighbours: impl Fn(NodeId) -> I + Sync,
) -> Vec<u32> {
    let (piece_of, _) = pieces_of(blocks, neighbours);
    let mut pieces = vec![0; num_blocks];
    let mut next = 0;
    for (&piece, &block) in piece_of.iter().zip(blocks) {
        // Pieces are numbered in the order of their first vertices.
        if piece == next {
            pieces[block as usize] += 1;
            next += 1;
        }
    }
    pieces
}

/// The number of pieces beyond one for each block.
pub(super) fn extra_pieces(pieces: &[u32]) -> usize {
    pieces.iter().map(|&count| count.saturating_sub(1) as usize).sum()
}

/// The piece of each vertex, numbered in the order of their first vertices, and the number of pieces.
pub(super) fn pieces_of<I: Iterator<Item = NodeId>>(
    blocks: &[BlockId],
    neighbours: impl Fn(NodeId) -> I + Sync,
) -> (Vec<u32>, usize) {
    let in_block = |node: NodeId| {
        let own = blocks[node as usize];
        neighbours(node).filter(move |&other| blocks[other as usize] == own)
    };
    components(blocks.len(), in_block)
}
