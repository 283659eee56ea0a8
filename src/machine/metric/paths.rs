//! The costs of cheapest paths between some vertices of a graph.
//!
//! A search (Dijkstra 1959) from each of them, in parallel. What makes searches short:
//!
//! - Vertices with one link that are not ends of paths are left out, as no path leads through them.
//! - The arcs of a vertex are sorted by cost. Once all vertices are reached, an arc that leads farther than the farthest of them
//!   is useless, as are those after it. So a search looks at few arcs of a dense graph.
//! - Costs are divided by their greatest common divisor. If they are small then, the queue has a bucket for each cost (Dial 1969);
//!   with equal costs that is breadth-first search. Otherwise the queue is a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::threads;
use crate::base::types::{Distance, NodeId, greatest_common_divisor};
use crate::graph::CsrGraph;

/// Number of buckets, which the costs of arcs must be below. Balances empty buckets, up to this many per vertex, against the steps of a
/// heap.
const MOST_BUCKETS: Distance = 1 << 8;

/// The number of ends whose paths a task searches, with one queue. Balances the cost of a task against idle threads.
const SEARCHES: usize = 4;

/// The cost of a vertex that no path leads to.
const UNREACHED: Distance = Distance::MAX;

/// The costs of the cheapest paths between all pairs of `ends`, row by row. All of them must be connected.
///
/// O(R m log m) for R ends and m edges, in parallel on the current rayon pool. Memory: 8 R² bytes, and 16 per arc.
pub(in crate::machine) fn cheapest(graph: &CsrGraph, ends: &[NodeId]) -> Vec<Distance> {
    let web = Web::new(graph, ends);
    if web.longest < MOST_BUCKETS { web.rows(Buckets::default) } else { web.rows(BinaryHeap::new) }
}

/// The part of a graph that paths between some ends can lead through.
struct Web {
    /// The number of each end among the vertices that are kept.
    ends: Vec<NodeId>,
    offsets: Vec<usize>,
    /// Cost and head, ascending for each vertex.
    arcs: Vec<(Distance, NodeId)>,
    /// The common divisor by which all costs have been divided.
    unit: Distance,
    /// The greatest cost.
    longest: Distance,
}

impl Web {
    fn new(graph: &CsrGraph, ends: &[NodeId]) -> Self {
        let vertices = reached(graph, ends);
        let mut position = vec![NodeId::MAX; graph.num_nodes()];
        for (index, &vertex) in vertices.iter().enumerate() {
            position[vertex as usize] = index as NodeId;
        }
        let (mut offsets, mut arcs) = (vec![0], Vec::new());
        for &vertex in &vertices {
            let kept = graph.arcs(vertex).map(|(head, cost)| (cost, position[head as usize]));
            arcs.extend(kept.filter(|&(_, head)| head != NodeId::MAX));
            offsets.push(arcs.len());
        }
        let unit = arcs.iter().fold(0, |unit, &(cost, _)| greatest_common_divisor(cost, unit)).max(1);
        arcs.iter_mut().for_each(|(cost, _)| *cost /= unit);
        offsets.windows(2).for_each(|range| arcs[range[0]..range[1]].sort_unstable());
        let longest = arcs.iter().map(|&(cost, _)| cost).max().unwrap_or(0);
        let ends = ends.iter().map(|&end| position[end as usize]).collect();
        Self { ends, offsets, arcs, unit, longest }
    }

    fn num_vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    fn arcs(&self, vertex: NodeId) -> &[(Distance, NodeId)] {
        &self.arcs[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }

    /// The costs from each end to each other, with queues that `new` creates.
    fn rows<Q: Queue>(&self, new: impl Fn() -> Q + Sync + Send) -> Vec<Distance> {
        let count = self.ends.len();
        let mut rows = vec![0; count * count];
        let of_ends = |(ends, rows): (&[NodeId], &mut [Distance])| {
            let mut queue = new();
            for (&end, row) in ends.iter().zip(rows.chunks_mut(count)) {
                let (cost, _) = self.search(end, &mut queue);
                row.iter_mut()
                    .zip(&self.ends)
                    .for_each(|(entry, &end)| *entry = cost[end as usize] * self.unit);
            }
        };
        let tasks = self.ends.chunks(SEARCHES).zip(rows.chunks_mut((count * SEARCHES).max(1)));
        threads::map_each(tasks.collect(), &of_ends);
        rows
    }

    /// The costs of the cheapest paths from a vertex to all others, and how many arcs the search looked at. The queue must be empty, and is
    /// empty again afterwards.
    fn search(&self, source: NodeId, queue: &mut impl Queue) -> (Vec<Distance>, usize) {
        let mut cost = vec![UNREACHED; self.num_vertices()];
        // No vertex is farther than this. Updating it takes O(vertices), so it is done after that many arcs.
        let (mut farthest, mut looked_at, mut next_time) = (UNREACHED, 0, cost.len());
        cost[source as usize] = 0;
        queue.push(0, source);
        while let Some((so_far, vertex)) = queue.pop() {
            if so_far > cost[vertex as usize] {
                continue;
            }
            for &(link, head) in self.arcs(vertex) {
                looked_at += 1;
                // No overflow: the sum is at most the weight of the graph.
                let through = so_far + link;
                if through >= farthest {
                    break;
                }
                if through < cost[head as usize] {
                    cost[head as usize] = through;
                    queue.push(through, head);
                }
            }
            if looked_at >= next_time {
                farthest = cost.iter().copied().max().unwrap_or(UNREACHED);
                next_time = looked_at + cost.len();
            }
        }
        (cost, looked_at)
    }
}

/// The vertices that are reached from the first end, in breadth-first order, without vertices of one link that are not ends.
fn reached(graph: &CsrGraph, ends: &[NodeId]) -> Vec<NodeId> {
    // Vertices that are reached already, or left out.
    let mut is_done: Vec<bool> = graph.nodes().map(|vertex| graph.degree(vertex) <= 1).collect();
    ends.iter().for_each(|&end| is_done[end as usize] = false);
    let mut vertices: Vec<NodeId> = ends.first().copied().into_iter().collect();
    vertices.iter().for_each(|&first| is_done[first as usize] = true);
    let mut next = 0;
    while next < vertices.len() {
        for &head in graph.neighbours(vertices[next]) {
            if !std::mem::replace(&mut is_done[head as usize], true) {
                vertices.push(head);
            }
        }
        next += 1;
    }
    vertices
}

/// A queue of vertices by cost, least first.
trait Queue {
    fn push(&mut self, cost: Distance, vertex: NodeId);
    fn pop(&mut self) -> Option<(Distance, NodeId)>;
}

impl Queue for BinaryHeap<Reverse<(Distance, NodeId)>> {
    fn push(&mut self, cost: Distance, vertex: NodeId) {
        self.push(Reverse((cost, vertex)));
    }

    fn pop(&mut self) -> Option<(Distance, NodeId)> {
        self.pop().map(|Reverse(least)| least)
    }
}

/// A queue for costs that differ by less than [`MOST_BUCKETS`]: a circular array of lists, one for each cost.
struct Buckets {
    lists: Vec<Vec<NodeId>>,
    /// Number of vertices in all lists.
    waiting: usize,
    /// A lower bound on the costs in the queue.
    least: Distance,
}

impl Default for Buckets {
    fn default() -> Self {
        Self { lists: vec![Vec::new(); MOST_BUCKETS as usize], waiting: 0, least: 0 }
    }
}

impl Queue for Buckets {
    #[inline]
    fn push(&mut self, cost: Distance, vertex: NodeId) {
        self.lists[(cost % MOST_BUCKETS) as usize].push(vertex);
        self.waiting += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<(Distance, NodeId)> {
        if self.waiting == 0 {
            self.least = 0;
            return None;
        }
        loop {
            if let Some(vertex) = self.lists[(self.least % MOST_BUCKETS) as usize].pop() {
                self.waiting -= 1;
                return Some((self.least, vertex));
            }
            self.least += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn graph(n: usize, edges: impl IntoIterator<Item = (NodeId, NodeId, Distance)>) -> CsrGraph {
        let mut builder = GraphBuilder::new(n);
        edges.into_iter().for_each(|(u, v, cost)| builder.add_edge(u, v, cost));
        builder.build().unwrap()
    }

    fn pairs(n: usize) -> impl Iterator<Item = (NodeId, NodeId)> {
        (0..n as NodeId).flat_map(|u| (0..u).map(move |v| (u, v)))
    }

    /// The definition (Floyd 1962).
    fn by_definition(graph: &CsrGraph) -> Vec<Vec<Distance>> {
        let n = graph.num_nodes();
        let mut cost = vec![vec![Distance::MAX / 2; n]; n];
        for u in graph.nodes() {
            graph.arcs(u).for_each(|(v, link)| cost[u as usize][v as usize] = link);
            cost[u as usize][u as usize] = 0;
        }
        for via in 0..n {
            for from in 0..n {
                for to in 0..n {
                    cost[from][to] = cost[from][to].min(cost[from][via] + cost[via][to]);
                }
            }
        }
        cost
    }

    #[test]
    fn costs_are_those_of_the_definition() {
        for (seed, scale) in [(1, 1), (2, 7), (3, 1 << 40), (4, 0)] {
            let cost = |u: NodeId, v: NodeId| 1 + scale * Distance::from((u * 31 + v * 17 + seed) % 23);
            let joined = pairs(40).filter(|&(u, v)| v + 1 == u || (u * v + seed) % 11 == 0 && u < 35);
            let web = graph(42, joined.map(|(u, v)| (u, v, 6 * cost(u, v))));
            let ends: Vec<NodeId> = (0..39).filter(|end| end % 3 != 1).collect();
            let expected = by_definition(&web);
            let expected: Vec<Distance> = ends
                .iter()
                .flat_map(|&p| ends.iter().map(move |&q| (p, q)))
                .map(|(p, q)| expected[p as usize][q as usize])
                .collect();
            assert_eq!(cheapest(&web, &ends), expected, "{scale}");
        }
    }

    #[test]
    fn few_arcs_of_dense_graphs_are_looked_at() {
        const N: usize = 300;
        let costs: [fn(NodeId, NodeId) -> Distance; 3] = [
            |_, _| 5,
            |u, v| 1 + Distance::from((u * 7919 + v * 104_729) % 101),
            |u, v| (1 << 40) + Distance::from((u * 7919 + v * 104_729) % 101),
        ];
        for cost in costs {
            let clique = graph(N, pairs(N).map(|(u, v)| (u, v, cost(u, v))));
            let ends: Vec<NodeId> = clique.nodes().collect();
            let web = Web::new(&clique, &ends);
            let looked_at: usize = ends.iter().map(|&end| web.search(end, &mut BinaryHeap::new()).1).sum();
            // Each of N searches could look at N² arcs.
            assert!(looked_at < N.pow(3) / 8, "{looked_at}");
        }
    }

    #[test]
    fn what_hangs_on_one_link_is_not_searched() {
        let star = graph(100, (1..90).map(|leaf| (0, leaf, 1)).chain([(0, 90, 2), (90, 91, 3)]));
        let web = Web::new(&star, &[0, 90]);
        assert_eq!((web.num_vertices(), web.arcs.len()), (2, 2));
        assert_eq!(cheapest(&star, &[0, 90]), [0, 2, 2, 0]);
    }
}
