//! Networks: the cheapest path, with deterministic tie-breaking.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::ground::types::{Distance, NodeId, PeId};
use crate::machine::Network;
use crate::workload::routing::{Hop, LaneId, push};

/// Link i is arc i of the graph.
#[derive(Debug)]
pub(super) struct NetworkRoutes {
    network: Network,
    /// For each vertex with PEs, once used: the arc by which the cheapest path to it leaves each vertex.
    towards: Vec<OnceLock<Vec<LaneId>>>,
    /// For each vertex with a single link, the arc that leads to it.
    last: Vec<LaneId>,
    /// The vertex that each arc leaves.
    tail: Vec<NodeId>,
}

/// There is no path.
const NOWHERE: LaneId = LaneId::MAX;

impl NetworkRoutes {
    pub(super) fn new(network: Network) -> Self {
        let graph = network.graph();
        let tail = graph.nodes().flat_map(|node| std::iter::repeat_n(node, graph.degree(node))).collect();
        let mut last = vec![NOWHERE; graph.num_nodes()];
        for (arc, &head) in graph.targets().iter().enumerate() {
            last[head as usize] = arc as LaneId;
        }
        Self { towards: graph.nodes().map(|_| OnceLock::new()).collect(), last, tail, network }
    }

    pub(super) fn num_links(&self) -> usize {
        self.network.graph().num_arcs()
    }

    pub(super) fn longest(&self) -> (u64, u64) {
        let graph = self.network.graph();
        let cost = graph.edge_weights().and_then(|weights| weights.iter().copied().max()).unwrap_or(1);
        (graph.num_nodes() as u64, cost.max(1) as u64)
    }

    pub(super) fn route(&self, from: PeId, to: PeId, hops: &mut Vec<Hop>) {
        let graph = self.network.graph();
        let (mut at, target) = (self.network.vertex(from), self.network.vertex(to));
        let end = self.network.attached_to(to);
        let towards = self.towards[end as usize].get_or_init(|| self.search(end));
        while at != target {
            let arc = if at == end { self.last[target as usize] } else { towards[at as usize] } as usize;
            push(hops, arc, graph.arc_weight(arc) as u64);
            at = graph.targets()[arc];
        }
    }

    /// The arc by which the cheapest path to a vertex leaves each other vertex (Dijkstra). O(m log m).
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
                    // No path leads through a dead end.
                    if graph.degree(other) > 1 {
                        heap.push(Reverse((through, other)));
                    }
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

    /// Vertices are numbered from 1, as in graph files.
    pub(super) fn name(&self, link: LaneId) -> String {
        let (from, to) = (self.tail[link as usize], self.network.graph().targets()[link as usize]);
        format!("vertex {} -> {}", from + 1, to + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    /// Two routers with a PE of several links between them, and leaves at each.
    #[test]
    fn processing_elements_at_one_router_share_a_tree() {
        let mut builder = GraphBuilder::new(9);
        let links = [
            (0, 1, 7),
            (0, 2, 1),
            (1, 2, 2),
            (0, 3, 1),
            (0, 4, 2),
            (0, 5, 3),
            (1, 6, 1),
            (1, 7, 5),
            (1, 8, 1),
        ];
        links.iter().for_each(|&(u, v, cost)| builder.add_edge(u, v, cost));
        (0..9).for_each(|vertex| builder.set_node_weight(vertex, i64::from(vertex > 1)));
        let network = Network::new(builder.build().unwrap()).unwrap();
        let routes = NetworkRoutes::new(network.clone());
        for (from, to) in (0..7).flat_map(|from| (0..7).map(move |to| (from, to))) {
            let mut hops = Vec::new();
            routes.route(from, to, &mut hops);
            let (mut at, mut cost) = (network.vertex(from), 0);
            for Hop { lane, cycles } in hops {
                assert_eq!(routes.tail[lane as usize], at);
                (at, cost) = (network.graph().targets()[lane as usize], cost + cycles);
            }
            assert_eq!(at, network.vertex(to));
            let link = |vertex: NodeId| [0, 0, 0, 1, 2, 3, 1, 5, 1][vertex as usize];
            let side = |vertex: NodeId| [0, 3, 1, 0, 0, 0, 3, 3, 3][vertex as usize];
            let (p, q) = (network.vertex(from), network.vertex(to));
            let between = link(p) + i64::abs(side(p) - side(q)) + link(q);
            assert_eq!(cost, if p == q { 0 } else { between as u64 });
        }
        assert_eq!(routes.towards.iter().filter(|tree| tree.get().is_some()).count(), 3);
    }
}
