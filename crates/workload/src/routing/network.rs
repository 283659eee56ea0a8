//! Networks: the cheapest path.
//!
//! A host is a vertex outside of all circles that is joined to one, or a PE on a circle. A network is direct if each vertex on a circle
//! is a PE or has PEs hanging on it, and indirect if some have none (Dally and Towles 2004). Where several links begin cheapest paths,
//!
//! - in an indirect network host number h gets link h modulo their number, as from switches with tables of destinations. So the hosts
//!   of a fat tree are spread over its spines as by the routing D-mod-k (Zahavi 2012);
//! - in a direct network the one that leads to the vertex of the nearest number is taken, of two the greater. So messages pass grids
//!   and hypercubes whose vertices are numbered dimension by dimension in the order of dimensions.
//!
//! W. J. Dally, B. Towles, *Principles and Practices of Interconnection Networks*, Morgan Kaufmann, 2004.
//!
//! E. Zahavi, *Fat-tree routing and node ordering providing contention free traffic for MPI global collectives*, Journal of
//! Parallel and Distributed Computing 72, 2012.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::OnceLock;

use super::hop::{Hop, LaneId, push};
use viem::base::types::{Distance, NodeId, PeId};
use viem::graph::CsrGraph;
use viem::machine::Network;

/// Link i is arc i of the graph.
#[derive(Debug)]
pub(super) struct NetworkRoutes {
    network: Network,
    /// For each vertex that PEs are attached to, once used: how to get there.
    towards: Vec<OnceLock<Towards>>,
    /// For each vertex with a single link, the arc that leads to it.
    last: Vec<LaneId>,
    /// The vertex that each arc leaves.
    tail: Vec<NodeId>,
    hosts: Hosts,
}

/// The arcs by which cheapest paths to a vertex leave each vertex, one after the other.
#[derive(Debug)]
struct Towards {
    arcs: Vec<LaneId>,
    /// By vertex, and the end.
    first: Vec<u32>,
}

impl Towards {
    /// The arc by which messages to a host leave a vertex.
    fn arc(&self, node: NodeId, host: u32) -> LaneId {
        let [first, last] = [0, 1].map(|more| self.first[node as usize + more]);
        self.arcs[(first + host % (last - first)) as usize]
    }
}

impl NetworkRoutes {
    pub(super) fn new(network: Network) -> Self {
        let graph = network.graph();
        let tail = graph.nodes().flat_map(|node| std::iter::repeat_n(node, graph.degree(node))).collect();
        let mut last = vec![0; graph.num_nodes()];
        for (arc, &head) in graph.targets().iter().enumerate() {
            last[head as usize] = arc as LaneId;
        }
        let hosts = Hosts::of(&network);
        Self { towards: graph.nodes().map(|_| OnceLock::new()).collect(), last, tail, hosts, network }
    }

    pub(super) fn num_links(&self) -> usize {
        self.network.graph().num_arcs()
    }

    pub(super) fn longest(&self) -> (u64, u64) {
        let cycles = (0..self.num_links()).map(|arc| self.network.link_cycles(arc)).max().unwrap_or(1);
        (self.network.graph().num_nodes() as u64, cycles.max(1) as u64)
    }

    pub(super) fn route(&self, from: PeId, to: PeId, hops: &mut Vec<Hop>) {
        self.walk(from, to, |arc| push(hops, arc, self.network.link_cycles(arc) as u64));
    }

    /// Calls `pass` with each arc from one PE to another.
    fn walk(&self, from: PeId, to: PeId, mut pass: impl FnMut(usize)) {
        let graph = self.network.graph();
        let (mut at, target) = (self.network.vertex(from), self.network.vertex(to));
        let end = self.network.attached_to(to);
        let towards = self.towards[end as usize].get_or_init(|| self.search(end));
        let host = self.hosts.number[target as usize];
        while at != target {
            let arc = if at == end { self.last[target as usize] } else { towards.arc(at, host) } as usize;
            pass(arc);
            at = graph.targets()[arc];
        }
    }

    /// The arcs of cheapest paths to a vertex. O(m log m).
    fn search(&self, target: NodeId) -> Towards {
        let graph = self.network.graph();
        let cost = costs_to(target, graph);
        let head = |&arc: &LaneId| graph.targets()[arc as usize];
        let (mut arcs, mut first) = (Vec::with_capacity(graph.num_nodes()), Vec::new());
        for node in graph.nodes() {
            let begin = arcs.len();
            first.push(begin as u32);
            let begins = |&(_, (other, link)): &(usize, (NodeId, Distance))| {
                let rest = cost[other as usize];
                rest < cost[node as usize] && rest + link == cost[node as usize]
            };
            let cheapest = graph.arcs(node).enumerate().filter(begins);
            arcs.extend(cheapest.map(|(place, _)| (graph.offsets()[node as usize] + place) as LaneId));
            if self.hosts.are_everywhere {
                arcs[begin..].sort_unstable_by_key(|arc| (head(arc).abs_diff(node), Reverse(head(arc))));
                arcs.truncate(begin + 1);
            } else {
                arcs[begin..].sort_unstable_by_key(head);
            }
        }
        first.push(arcs.len() as u32);
        Towards { arcs, first }
    }

    /// The number of vertices: each has a number as a switch, also if it is a PE.
    pub(super) fn num_switches(&self) -> usize {
        self.network.graph().num_nodes()
    }

    fn is_switch(&self, vertex: NodeId) -> bool {
        self.network.graph().node_weight(vertex) == 0
    }

    /// Appends the vertices on the route between two PEs that are not PEs themselves.
    pub(super) fn pass(&self, from: PeId, to: PeId, switches: &mut Vec<u32>) {
        self.walk(from, to, |arc| {
            switches.extend(Some(self.network.graph().targets()[arc]).filter(|&head| self.is_switch(head)));
        });
    }

    /// All routers, but not those that messages between PEs of exactly one node pass. Each PE is given with its node.
    pub(super) fn switches_between(&self, pes: &[(PeId, usize)]) -> Vec<u32> {
        let count = self.num_switches();
        let (mut node_of, mut is_shared) = (vec![None; count], vec![false; count]);
        let (mut first_pes, mut passed) = (BTreeMap::new(), Vec::new());
        for &(pe, node) in pes {
            self.pass(*first_pes.entry(node).or_insert(pe), pe, &mut passed);
            for switch in passed.drain(..) {
                is_shared[switch as usize] |= *node_of[switch as usize].get_or_insert(node) != node;
            }
        }
        let is_inside = |switch: usize| node_of[switch].is_some() && !is_shared[switch];
        (0..count as u32).filter(|&switch| self.is_switch(switch) && !is_inside(switch as usize)).collect()
    }

    pub(super) fn switch_name(&self, switch: u32) -> String {
        format!("vertex {}", switch + 1)
    }

    /// Vertices are numbered from 1, as in graph files.
    pub(super) fn name(&self, link: LaneId) -> String {
        let (from, to) = (self.tail[link as usize], self.network.graph().targets()[link as usize]);
        format!("vertex {} -> {}", from + 1, to + 1)
    }
}

/// The costs of the cheapest paths to a vertex (Dijkstra). O(m log m).
fn costs_to(target: NodeId, graph: &CsrGraph) -> Vec<Distance> {
    let mut cost = vec![Distance::MAX; graph.num_nodes()];
    cost[target as usize] = 0;
    let mut heap = BinaryHeap::from([Reverse((0, target))]);
    while let Some(Reverse((so_far, node))) = heap.pop() {
        if so_far > cost[node as usize] {
            continue;
        }
        for (other, link) in graph.arcs(node) {
            let through = so_far + link;
            if through < cost[other as usize] {
                cost[other as usize] = through;
                // No path leads through a dead end.
                if graph.degree(other) > 1 {
                    heap.push(Reverse((through, other)));
                }
            }
        }
    }
    cost
}

/// The hosts of a network.
#[derive(Debug)]
struct Hosts {
    /// The number of the host of each vertex that is not in the midst of a circle.
    number: Vec<u32>,
    /// True if the network is direct.
    are_everywhere: bool,
}

impl Hosts {
    /// Vertices with one link are removed until there is none. A removed vertex has the host of the one that it hung on, unless that
    /// stays: then it is a host. O(m).
    fn of(network: &Network) -> Self {
        let graph = network.graph();
        let DeadEnds { removed, is_removed, above } = DeadEnds::of(graph);
        let is_host = |node: NodeId| match above[node as usize] {
            NodeId::MAX => graph.node_weight(node) > 0 || is_removed[node as usize],
            above => !is_removed[above as usize],
        };
        let mut number = vec![0; graph.num_nodes()];
        for (host, node) in graph.nodes().filter(|&node| is_host(node)).enumerate() {
            number[node as usize] = host as u32;
        }
        for &node in removed.iter().rev().filter(|&&node| !is_host(node)) {
            number[node as usize] = number[above[node as usize] as usize];
        }
        let mut has_pes: Vec<bool> = graph.nodes().map(|node| graph.node_weight(node) > 0).collect();
        for &node in removed.iter().filter(|&&node| above[node as usize] != NodeId::MAX) {
            has_pes[above[node as usize] as usize] |= has_pes[node as usize];
        }
        let are_everywhere = graph.nodes().all(|node| is_removed[node as usize] || has_pes[node as usize]);
        Self { number, are_everywhere }
    }
}

/// The part of a network outside of all circles.
struct DeadEnds {
    /// Its vertices, from the outside in.
    removed: Vec<NodeId>,
    is_removed: Vec<bool>,
    /// The vertex that each of them hangs on; none if the vertex stays, or is the last.
    above: Vec<NodeId>,
}

impl DeadEnds {
    fn of(graph: &CsrGraph) -> Self {
        let mut degree: Vec<usize> = graph.nodes().map(|node| graph.degree(node)).collect();
        let mut removed: Vec<NodeId> = graph.nodes().filter(|&node| degree[node as usize] <= 1).collect();
        let mut is_removed = vec![false; graph.num_nodes()];
        let mut above = vec![NodeId::MAX; graph.num_nodes()];
        let mut at = 0;
        while let Some(&node) = removed.get(at) {
            at += 1;
            is_removed[node as usize] = true;
            for &other in graph.neighbours(node).iter().filter(|&&other| !is_removed[other as usize]) {
                above[node as usize] = other;
                degree[other as usize] -= 1;
                if degree[other as usize] == 1 {
                    removed.push(other);
                }
            }
        }
        Self { removed, is_removed, above }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::graph::GraphBuilder;

    /// Two switches with two nodes each, which have two cores, and two spines.
    #[test]
    fn the_nodes_of_a_fat_tree_are_spread_over_its_spines() {
        let mut builder = GraphBuilder::new(16);
        // Cores are 0 to 7, nodes 8 to 11, switches 12 and 13, spines 14 and 15.
        (0..8).for_each(|core| builder.add_edge(core, 8 + core / 2, 1));
        (8..12).for_each(|node| builder.add_edge(node, 12 + (node - 8) / 2, 5));
        [12, 13].into_iter().for_each(|switch| {
            builder.add_edge(switch, 14, 2);
            builder.add_edge(switch, 15, 2);
        });
        (0..16).for_each(|vertex| builder.set_node_weight(vertex, i64::from(vertex < 8)));
        let routes = NetworkRoutes::new(Network::new(builder.build().unwrap()).unwrap());
        let spine = |from, to| {
            let mut hops = Vec::new();
            routes.route(from, to, &mut hops);
            let heads = hops.iter().map(|hop| routes.network.graph().targets()[hop.lane as usize]);
            heads.filter(|&head| head >= 14).collect::<Vec<_>>()
        };
        let found: Vec<_> = (0..8).map(|to| spine((to + 4) % 8, to)).collect();
        assert_eq!(found, [[14], [14], [15], [15], [14], [14], [15], [15]]);
        assert!(spine(0, 3).is_empty());
    }

    /// A torus of 4 x 3 routers with one PE each, listed as a network.
    #[test]
    fn direct_networks_are_passed_dimension_by_dimension() {
        let mut builder = GraphBuilder::new(24);
        for router in 0..12 {
            let (x, y) = (router % 4, router / 4);
            builder.add_edge(router, y * 4 + (x + 1) % 4, 2);
            builder.add_edge(router, (y + 1) % 3 * 4 + x, 2);
            builder.add_edge(router, 12 + router, 1);
        }
        (0..24).for_each(|vertex| builder.set_node_weight(vertex, i64::from(vertex >= 12)));
        let routes = NetworkRoutes::new(Network::new(builder.build().unwrap()).unwrap());
        let passed = |from, to| {
            let mut hops = Vec::new();
            routes.route(from, to, &mut hops);
            let heads = hops.iter().map(|hop| routes.network.graph().targets()[hop.lane as usize]);
            heads.filter(|&head| head < 12).collect::<Vec<_>>()
        };
        assert_eq!(passed(0, 5), [0, 1, 5]);
        assert_eq!(passed(5, 0), [5, 4, 0]);
        assert_eq!(passed(0, 11), [0, 3, 11]);
        // Two ways round are as long.
        assert_eq!(passed(1, 7), [1, 2, 3, 7]);
    }

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
