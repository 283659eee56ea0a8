//! Brings overloaded blocks back to their bounds at the least loss.

use super::k_way::{Assignment, Connection};
use crate::partition::heap::Heap;
use crate::partition::level::{Level, Stored};
use crate::types::{BlockId, NodeId, Weight};

/// Moves vertices out of overloaded blocks, cheapest first, until no block is above its bound.
///
/// A vertex goes to the adjacent block it is connected to most strongly among those with room for it, or
/// else to the block with most room. With vertices of weight 1 this always succeeds when the bounds leave room.
/// O((n + m) log n) when all vertices must be looked at, O(m) when no block is overloaded.
pub(crate) fn unload<W: Stored>(graph: &Level<W>, assignment: &mut Assignment, bounds: &[Weight]) {
    if assignment.overload(bounds) == 0 {
        return;
    }
    let mut connection = Connection::default();
    connection.resize(bounds.len());
    let mut heap = Heap::default();
    heap.resize(graph.num_nodes());
    let is_over =
        |assignment: &Assignment, block: BlockId| assignment.weights[block as usize] > bounds[block as usize];
    let mut best_move = |assignment: &Assignment, node: NodeId| -> Option<(Weight, BlockId)> {
        connection.collect(graph, &assignment.blocks, node);
        let from = assignment.blocks[node as usize];
        let weight = graph.node_weight(node);
        let room = |block: BlockId| bounds[block as usize] - assignment.weights[block as usize];
        let adjacent = connection.blocks().iter().copied().filter(|&block| block != from);
        let block = adjacent
            .filter(|&block| room(block) >= weight)
            .max_by_key(|&block| (connection.to(block), room(block), block))
            .or_else(|| {
                let emptiest = (0..bounds.len() as BlockId).max_by_key(|&block| room(block))?;
                (room(emptiest) >= weight && emptiest != from).then_some(emptiest)
            })?;
        Some((connection.to(block) - connection.to(from), block))
    };
    for node in graph.nodes() {
        if is_over(assignment, assignment.blocks[node as usize])
            && graph.node_weight(node) > 0
            && let Some((gain, _)) = best_move(assignment, node)
        {
            heap.set(node, gain);
        }
    }
    while let Some((gain, node)) = heap.pop() {
        let from = assignment.blocks[node as usize];
        if !is_over(assignment, from) {
            continue;
        }
        // Gains change as neighbours move and blocks fill up; act on the present one only.
        let Some((present, to)) = best_move(assignment, node) else { continue };
        if present < gain {
            heap.set(node, present);
            continue;
        }
        assignment.shift(node, graph.node_weight(node), to, present);
        for arc in graph.arcs(node) {
            if heap.contains(arc.target)
                && let Some((gain, _)) = best_move(assignment, arc.target)
            {
                heap.set(arc.target, gain);
            }
        }
    }
}

/// Gives every block that should not be empty a vertex, if there are enough vertices.
///
/// Takes those that cost least and fit, from blocks with more than one vertex. O((n + m) k') for k' empty blocks.
pub(crate) fn fill_empty<W: Stored>(
    graph: &Level<W>,
    assignment: &mut Assignment,
    sizes: &[Weight],
    bounds: &[Weight],
) {
    let mut counts = vec![0usize; sizes.len()];
    for &block in &assignment.blocks {
        counts[block as usize] += 1;
    }
    let mut connection = Connection::default();
    connection.resize(sizes.len());
    for empty in 0..sizes.len() {
        if counts[empty] > 0 || sizes[empty] == 0 {
            continue;
        }
        let fits = |&node: &NodeId| {
            counts[assignment.blocks[node as usize] as usize] > 1 && graph.node_weight(node) <= bounds[empty]
        };
        let loss = |node: NodeId| {
            connection.collect(graph, &assignment.blocks, node);
            (connection.to(assignment.blocks[node as usize]), node)
        };
        let cheapest = graph.nodes().filter(fits).map(loss).min();
        if let Some((loss, node)) = cheapest {
            counts[assignment.blocks[node as usize] as usize] -= 1;
            counts[empty] += 1;
            assignment.shift(node, graph.node_weight(node), empty as BlockId, -loss);
        }
    }
}
