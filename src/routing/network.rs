//! Networks: the cheapest path, of equally cheap ones always the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use super::{Hop, LaneId, push};
use crate::topology::{Machine as _, Network};
use crate::types::{Distance, NodeId, PeId};

/// Link i is arc i of the graph.
#[derive(Debug)]
pub(super) struct NetworkRoutes {
    network: Network,
    /// For each PE, once asked for: the arc by which the cheapest path to it leaves each vertex.
    towards: Vec<OnceLock<Vec<LaneId>>>,
    /// The vertex that each arc leaves.
    tail: Vec<NodeId>,
}

/// No path leads on.
const NOWHERE: LaneId = LaneId::MAX;

impl NetworkRoutes {
    pub(super) fn new(network: Network) -> Self {
        let graph = network.graph();
        let tail = graph.nodes().flat_map(|node| std::iter::repeat_n(node, graph.degree(node))).collect();
        Self { towards: (0..network.num_pes()).map(|_| OnceLock::new()).collect(), tail, network }
    }

    pub(super) fn num_links(&self) -> usize {
        self.network.graph().num_arcs()
    }

    pub(super) fn longest(&self) -> (u64, u64) {
        let graph = self.network.graph();
        let cost = graph.edge_weights().iter().copied().max().unwrap_or(0);
        (graph.num_nodes() as u64, cost.max(1) as u64)
    }

    pub(super) fn route(&self, from: PeId, to: PeId, hops: &mut Vec<Hop>) {
        let graph = self.network.graph();
        let (mut at, target) = (self.network.vertex(from), self.network.vertex(to));
        let towards = self.towards[to as usize].get_or_init(|| self.search(target));
        while at != target {
            let arc = towards[at as usize] as usize;
            push(hops, arc, graph.edge_weights()[arc] as u64);
            at = graph.targets()[arc];
        }
    }

    /// The arc by which the cheapest path to a vertex leaves each other one (Dijkstra). O(m log m).
    fn search(&self, target: NodeId) -> Vec<LaneId> {
        let graph = self.network.graph();
        let mut cost = vec![Distance::MAX; graph.num_nodes()];
        let mut next = vec![NodeId::MAX; graph.num_nodes()];
        cost[target as usize] = 0;
        let mut heap = BinaryHeap::from([Reverse((0, target))]);
        while let Some(Reverse((so_far, node))) = heap.pop() {
            if so_far > cost[node as usize] {
                continue;
            }
            for (other, link) in graph.arcs(node) {
                let through = so_far + link;
                if through < cost[other as usize] {
                    (cost[other as usize], next[other as usize]) = (through, node);
                    heap.push(Reverse((through, other)));
                }
            }
        }
        let arc = |node: NodeId| match graph
            .neighbours(node)
            .iter()
            .position(|&other| other == next[node as usize])
        {
            Some(place) => (graph.offsets()[node as usize] + place) as LaneId,
            None => NOWHERE,
        };
        graph.nodes().map(arc).collect()
    }

    /// Vertices are counted from 1, as in graph files.
    pub(super) fn name(&self, link: LaneId) -> String {
        let (from, to) = (self.tail[link as usize], self.network.graph().targets()[link as usize]);
        format!("vertex {} -> {}", from + 1, to + 1)
    }
}
