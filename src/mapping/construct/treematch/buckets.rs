//! Groups that grow along the heaviest edges.
//!
//! Edges are roughly sorted into buckets, with pivots from a sample. A bucket is sorted only when it is
//! reached. The last buckets are the longest and often need not be read to the end. An edge starts a group,
//! or adds its other end to the group of one end.
//!
//! Costs O(m log m) at worst; memory O(n + m).

use crate::base::observer::{Observer, Watch};
use crate::base::rng::Rng;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;

/// Number of buckets, as in the source.
const BUCKETS: u32 = 8;

/// A vertex without a group.
const NONE: BlockId = BlockId::MAX;

type Edge = (NodeId, NodeId, Weight);

/// The group of each vertex: `arity` vertices per group, possibly fewer in some.
pub(super) fn groups(graph: &CsrGraph, arity: usize, seed: u64, observer: &dyn Observer) -> Vec<BlockId> {
    let mut growth = Growth::new(graph.num_nodes(), arity);
    let mut watch = Watch::new(observer);
    for mut bucket in sorted_roughly(graph, seed) {
        if watch.stops_after(bucket.len()) {
            break;
        }
        threads::sort_by_key(&mut bucket, |&(u, v, weight)| (-weight, u, v));
        for &(u, v, _) in &bucket {
            if growth.is_complete() || watch.stops_after(1) {
                break;
            }
            growth.join(u as usize, v as usize);
        }
    }
    growth.completed()
}

/// The edges by the order of magnitude of their weights, heaviest first.
fn sorted_roughly(graph: &CsrGraph, seed: u64) -> Vec<Vec<Edge>> {
    let mut rng = Rng::new(seed);
    let mut sample: Vec<Weight> = match graph.num_arcs() as u32 {
        0 => return Vec::new(),
        count => (0..1 << BUCKETS).map(|_| graph.arc_weight(rng.below(count) as usize)).collect(),
    };
    sample.sort_unstable_by(|a, b| b.cmp(a));
    // The heaviest of the sample, the second, the fourth, and so on.
    let pivots: Vec<Weight> = (0..BUCKETS - 1).map(|bucket| sample[(1 << bucket) - 1]).collect();
    let mut buckets = vec![Vec::new(); BUCKETS as usize];
    for edge in edges(graph) {
        buckets[pivots.partition_point(|&pivot| pivot > edge.2)].push(edge);
    }
    buckets
}

/// Groups as far as they have grown.
struct Growth {
    arity: usize,
    group_of: Vec<BlockId>,
    /// Members of each group.
    sizes: Vec<usize>,
    num_groups: usize,
    num_grouped: usize,
}

impl Growth {
    fn new(count: usize, arity: usize) -> Self {
        let num_groups = count.div_ceil(arity);
        Self {
            arity,
            group_of: vec![NONE; count],
            sizes: Vec::with_capacity(num_groups),
            num_groups,
            num_grouped: 0,
        }
    }

    fn is_complete(&self) -> bool {
        self.num_grouped == self.group_of.len()
    }

    /// Puts two vertices into the same group if that is still possible.
    fn join(&mut self, u: usize, v: usize) {
        match (self.group_of[u], self.group_of[v]) {
            (NONE, NONE) if self.sizes.len() < self.num_groups => {
                let group = self.sizes.len();
                self.sizes.push(0);
                self.put(u, group);
                self.put(v, group);
            }
            (group, NONE) if group != NONE && self.sizes[group as usize] < self.arity => {
                self.put(v, group as usize)
            }
            (NONE, group) if group != NONE && self.sizes[group as usize] < self.arity => {
                self.put(u, group as usize)
            }
            _ => {}
        }
    }

    fn put(&mut self, node: usize, group: usize) {
        self.group_of[node] = group as BlockId;
        self.sizes[group] += 1;
        self.num_grouped += 1;
    }

    /// The groups, after the remaining vertices have filled the free room in order.
    fn completed(mut self) -> Vec<BlockId> {
        self.sizes.resize(self.num_groups, 0);
        let mut open = 0;
        for node in 0..self.group_of.len() {
            if self.group_of[node] == NONE {
                while self.sizes[open] == self.arity {
                    open += 1;
                }
                self.put(node, open);
            }
        }
        self.group_of
    }
}

/// The edges of a level, in the form the grouping algorithms need.
pub(super) fn edges(graph: &CsrGraph) -> impl Iterator<Item = (NodeId, NodeId, i64)> + '_ {
    let of = |node| graph.arcs(node).map(move |(target, weight)| (node, target, weight));
    graph.nodes().flat_map(of).filter(|&(node, target, _)| node < target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_graph;

    #[test]
    fn buckets_hold_all_edges_heaviest_first() {
        let graph = random_graph(300, 8, 1000, &mut Rng::new(2));
        let buckets = sorted_roughly(&graph, 4);
        let mut found: Vec<Edge> = buckets.concat();
        let mut expected: Vec<Edge> = edges(&graph).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        let full: Vec<&Vec<Edge>> = buckets.iter().filter(|bucket| !bucket.is_empty()).collect();
        assert!(full.len() > 3);
        for pair in full.windows(2) {
            let least = pair[0].iter().map(|edge| edge.2).min();
            assert!(least > pair[1].iter().map(|edge| edge.2).max());
        }
    }

    /// In pairs, the result is that of a greedy matching of all edges.
    #[test]
    fn pairs_are_a_greedy_matching() {
        let graph = random_graph(301, 4, 1000, &mut Rng::new(8));
        let mut sorted: Vec<Edge> = edges(&graph).collect();
        sorted.sort_unstable_by_key(|&(u, v, weight)| (-weight, u, v));
        let mut partner = vec![None; 301];
        for (u, v, _) in sorted {
            if partner[u as usize].is_none() && partner[v as usize].is_none() {
                (partner[u as usize], partner[v as usize]) = (Some(v), Some(u));
            }
        }
        let found = groups(&graph, 2, 6, &());
        let matched = (0..301).filter_map(|node: usize| Some((node, partner[node]? as usize)));
        assert!(matched.into_iter().all(|(node, other)| found[node] == found[other]));
    }
}
