//! Brings overloaded blocks back to their bounds at the least loss.

use super::k_way::{Assignment, Connection};
use crate::partition::heap::Heap;
use crate::partition::level::{Arc, Level, Stored};
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
    // Only what moves to it makes another block the emptiest, since moves leave overloaded blocks only.
    let find_emptiest = |assignment: &Assignment| {
        let room = |block: usize| bounds[block] - assignment.weights[block];
        (0..bounds.len()).max_by_key(|&block| room(block)).unwrap_or(0) as BlockId
    };
    let mut emptiest = find_emptiest(assignment);
    let mut best_move = |assignment: &Assignment, emptiest: BlockId, node: NodeId| {
        connection.collect(graph, &assignment.blocks, node);
        let from = assignment.blocks[node as usize];
        let weight = graph.node_weight(node);
        let room = |block: BlockId| bounds[block as usize] - assignment.weights[block as usize];
        let adjacent = connection.blocks().iter().copied().filter(|&block| block != from);
        let block = adjacent
            .filter(|&block| room(block) >= weight)
            .max_by_key(|&block| (connection.to(block), room(block), block))
            .or_else(|| (room(emptiest) >= weight && emptiest != from).then_some(emptiest))?;
        Some((connection.to(block) - connection.to(from), block))
    };
    for node in graph.nodes() {
        if is_over(assignment, assignment.blocks[node as usize])
            && graph.node_weight(node) > 0
            && let Some((gain, _)) = best_move(assignment, emptiest, node)
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
        let Some((present, to)) = best_move(assignment, emptiest, node) else { continue };
        if present < gain {
            heap.set(node, present);
            continue;
        }
        assignment.shift(node, graph.node_weight(node), to, present);
        if to == emptiest {
            emptiest = find_emptiest(assignment);
        }
        for arc in graph.arcs(node) {
            if heap.contains(arc.target)
                && let Some((gain, _)) = best_move(assignment, emptiest, arc.target)
            {
                heap.set(arc.target, gain);
            }
        }
    }
}

/// Packs the vertices anew if blocks are overloaded, keeping as many as possible where they are.
///
/// Heaviest first, each vertex stays in its block if it still fits, or goes to the block with most room, or, on
/// a second attempt, to the one it fits most tightly. The packing replaces the partition only if it is overloaded
/// less. O(n (log n + k)) at worst, nothing if no block is overloaded.
pub(crate) fn repack<W: Stored>(graph: &Level<W>, assignment: &mut Assignment, bounds: &[Weight]) {
    if assignment.overload(bounds) == 0 {
        return;
    }
    let mut order: Vec<NodeId> = graph.nodes().collect();
    order.sort_by_key(|&node| std::cmp::Reverse(graph.node_weight(node)));
    for tightest in [false, true] {
        let mut room = bounds.to_vec();
        let mut blocks = assignment.blocks.clone();
        for &node in &order {
            let weight = graph.node_weight(node);
            let mut block = blocks[node as usize] as usize;
            if room[block] < weight {
                let tight = |&block: &usize| room[block];
                let fitting = (0..room.len()).filter(|&block| room[block] >= weight);
                let other = if tightest { fitting.min_by_key(tight) } else { fitting.max_by_key(tight) };
                let emptiest = || (0..room.len()).max_by_key(tight).unwrap_or(block);
                block = other.unwrap_or_else(emptiest);
            }
            room[block] -= weight;
            blocks[node as usize] = block as BlockId;
        }
        let packed = Assignment::new(graph, blocks, bounds.len());
        if packed.overload(bounds) < assignment.overload(bounds) {
            *assignment = packed;
        }
    }
}

/// Gives a vertex to every empty block that may have one, as long as other blocks have more than one.
///
/// Takes those first that lose least. Bounds stay met: what is too heavy for the empty block is too heavy where it is. A
/// bound of 0 asks for an empty block, unless no vertex weighs anything. O((n + m) log n), O(n) if no block is empty.
pub(crate) fn fill_empty<W: Stored>(graph: &Level<W>, assignment: &mut Assignment, bounds: &[Weight]) {
    let mut counts = vec![0usize; bounds.len()];
    for &block in &assignment.blocks {
        counts[block as usize] += 1;
    }
    let may_have_one = |block: usize| bounds[block] > 0 || graph.total_node_weight() == 0;
    let empty: Vec<usize> =
        (0..bounds.len()).filter(|&block| counts[block] == 0 && may_have_one(block)).collect();
    if empty.is_empty() {
        return;
    }
    let mut heap = Heap::default();
    heap.resize(graph.num_nodes());
    for node in graph.nodes() {
        let block = assignment.blocks[node as usize];
        let inner = graph.arcs(node).iter().filter(|arc| assignment.blocks[arc.target as usize] == block);
        heap.set(node, -inner.map(Arc::weight).sum::<Weight>());
    }
    for block in empty {
        let (gain, node, from) = loop {
            let Some((gain, node)) = heap.pop() else { return };
            let from = assignment.blocks[node as usize];
            if counts[from as usize] > 1 {
                break (gain, node, from);
            }
        };
        counts[from as usize] -= 1;
        assignment.shift(node, graph.node_weight(node), block as BlockId, gain);
        for arc in graph.arcs(node) {
            if heap.contains(arc.target) && assignment.blocks[arc.target as usize] == from {
                heap.raise(arc.target, arc.weight());
            }
        }
    }
}
