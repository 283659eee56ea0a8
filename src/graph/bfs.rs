//! Breadth-first search that stops at a given number of hops.

use super::CsrGraph;
use crate::types::NodeId;

/// Breadth-first search with reusable memory: a search costs only what it visits.
#[derive(Clone, Debug)]
pub struct BoundedBfs {
    /// `visited[u] == round` if the search of this round has reached `u`.
    visited: Vec<u32>,
    round: u32,
    queue: Vec<NodeId>,
}

impl BoundedBfs {
    /// Memory for searches in graphs of `num_nodes` vertices.
    pub fn new(num_nodes: usize) -> Self {
        Self { visited: vec![0; num_nodes], round: 0, queue: Vec::new() }
    }

    /// The vertices at 1 to `max_hops` hops from `source`, nearest first.
    ///
    /// Costs the edges at the vertices nearer than `max_hops`.
    pub fn reach(&mut self, graph: &CsrGraph, source: NodeId, max_hops: usize) -> &[NodeId] {
        if self.round == u32::MAX {
            self.visited.fill(0);
            self.round = 0;
        }
        self.round += 1;
        self.queue.clear();
        self.queue.push(source);
        self.visited[source as usize] = self.round;
        let mut layer = 0..1;
        for _ in 0..max_hops {
            for index in layer.clone() {
                for &target in graph.neighbours(self.queue[index]) {
                    if self.visited[target as usize] != self.round {
                        self.visited[target as usize] = self.round;
                        self.queue.push(target);
                    }
                }
            }
            layer = layer.end..self.queue.len();
            if layer.is_empty() {
                break;
            }
        }
        &self.queue[1..]
    }

    /// Whether the last search has reached `node`; its source counts as reached.
    #[inline]
    pub fn has_reached(&self, node: NodeId) -> bool {
        self.round > 0 && self.visited[node as usize] == self.round
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    #[test]
    fn reach_grows_by_one_hop_on_a_cycle() {
        let mut builder = GraphBuilder::new(7);
        for u in 0..7 {
            builder.add_edge(u, (u + 1) % 7, 1);
        }
        let graph = builder.build().unwrap();
        let mut bfs = BoundedBfs::new(7);
        assert!(bfs.reach(&graph, 3, 0).is_empty());
        let mut near = bfs.reach(&graph, 0, 2).to_vec();
        near.sort_unstable();
        assert_eq!(near, [1, 2, 5, 6]);
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6].map(|node| bfs.has_reached(node)),
            [true, true, true, false, false, true, true]
        );
        assert_eq!(bfs.reach(&graph, 0, usize::MAX).len(), 6);
    }
}
