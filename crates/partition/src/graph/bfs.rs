//! Breadth-first search: of everything, or up to a given number of hops.

use std::ops::Range;

use super::CsrGraph;
use crate::base::types::NodeId;

/// All vertices in breadth-first order, in which neighbours are near each other; O(n + m).
///
/// The search starts from vertex 0, and again from the lowest vertex not reached yet until all are.
pub fn breadth_first_order(graph: &CsrGraph) -> Vec<NodeId> {
    let mut reached = vec![false; graph.num_nodes()];
    let mut order = Vec::with_capacity(graph.num_nodes());
    for source in graph.nodes() {
        let mut next = order.len();
        if !std::mem::replace(&mut reached[source as usize], true) {
            order.push(source);
        }
        while let Some(&node) = order.get(next) {
            for &target in graph.neighbours(node) {
                if !std::mem::replace(&mut reached[target as usize], true) {
                    order.push(target);
                }
            }
            next += 1;
        }
    }
    order
}

/// Breadth-first search with reusable memory: a search costs only what it visits.
#[derive(Clone, Debug)]
pub struct BoundedBfs {
    /// `visited[u] == round` if the search of this round has reached `u`.
    visited: Vec<u32>,
    round: u32,
    queue: Vec<NodeId>,
    /// Where the outermost layer stands in `queue`.
    layer: Range<usize>,
}

impl BoundedBfs {
    /// Memory for searches in graphs of `num_nodes` vertices.
    pub fn new(num_nodes: usize) -> Self {
        Self { visited: vec![0; num_nodes], round: 0, queue: Vec::new(), layer: 0..0 }
    }

    /// The vertices at 1 to `max_hops` hops from `source`, nearest first.
    ///
    /// Costs the edges at the vertices nearer than `max_hops`.
    pub fn reach(&mut self, graph: &CsrGraph, source: NodeId, max_hops: usize) -> &[NodeId] {
        self.start(source);
        for _ in 0..max_hops {
            self.grow(graph);
            if self.layer.is_empty() {
                break;
            }
        }
        &self.queue[1..]
    }

    /// Returns whether the last search reached `node`; its source counts as reached.
    #[inline]
    pub fn has_reached(&self, node: NodeId) -> bool {
        self.round > 0 && self.visited[node as usize] == self.round
    }

    fn start(&mut self, source: NodeId) {
        if self.round == u32::MAX {
            self.visited.fill(0);
            self.round = 0;
        }
        self.round += 1;
        self.queue.clear();
        self.queue.push(source);
        self.visited[source as usize] = self.round;
        self.layer = 0..1;
    }

    /// Extends the search by one hop.
    fn grow(&mut self, graph: &CsrGraph) {
        for index in self.layer.clone() {
            for &target in graph.neighbours(self.queue[index]) {
                if self.visited[target as usize] != self.round {
                    self.visited[target as usize] = self.round;
                    self.queue.push(target);
                }
            }
        }
        self.layer = self.layer.end..self.queue.len();
    }
}

/// Checks whether two vertices are near each other, by two searches that meet in the middle.
#[derive(Clone, Debug)]
pub struct PairBfs {
    sides: [BoundedBfs; 2],
}

impl PairBfs {
    /// Memory for searches in graphs of `num_nodes` vertices.
    pub fn new(num_nodes: usize) -> Self {
        let side = BoundedBfs::new(num_nodes);
        Self { sides: [side.clone(), side] }
    }

    /// Returns whether `u` and `v` are at most `max_hops` hops apart.
    ///
    /// The side with the smaller outermost layer is extended. This usually visits far fewer vertices than one search from
    /// `u` until it finds `v`.
    pub fn within(&mut self, graph: &CsrGraph, u: NodeId, v: NodeId, max_hops: usize) -> bool {
        let [side, other] = &mut self.sides;
        let (mut side, mut other) = (side, other);
        side.start(u);
        other.start(v);
        let mut meet = u == v;
        let mut hops = 0;
        while !meet && hops < max_hops && !side.layer.is_empty() {
            side.grow(graph);
            meet = side.queue[side.layer.clone()].iter().any(|&node| other.has_reached(node));
            if other.layer.len() < side.layer.len() {
                std::mem::swap(&mut side, &mut other);
            }
            hops += 1;
        }
        meet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, generate};

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

    #[test]
    fn order_has_every_vertex_once_and_neighbours_near() {
        let mut builder = GraphBuilder::new(6);
        for (u, v) in [(0, 4), (0, 2), (2, 5), (1, 3)] {
            builder.add_edge(u, v, 1);
        }
        assert_eq!(breadth_first_order(&builder.build().unwrap()), [0, 2, 4, 5, 1, 3]);
    }

    #[test]
    fn pairs_are_as_near_as_one_search_says() {
        let graph = generate::random_geometric(150, 4.0, 6);
        let (mut bfs, mut pairs) = (BoundedBfs::new(150), PairBfs::new(150));
        for u in graph.nodes() {
            for max_hops in [0, 1, 2, 5, usize::MAX] {
                bfs.reach(&graph, u, max_hops);
                for v in graph.nodes() {
                    assert_eq!(
                        pairs.within(&graph, u, v, max_hops),
                        bfs.has_reached(v),
                        "{u} {v} {max_hops}"
                    );
                }
            }
        }
    }
}
