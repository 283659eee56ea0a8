//! Connected components.
//!
//! *Algorithm.* Trees of vertices are joined along edges, the later root below the earlier one, by all threads at once. Few edges of each vertex
//! connect most of the graph; then only vertices outside of the largest tree look at all of theirs. The trees differ from run to run, their
//! roots do not: each is the first vertex of its component. (Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph Connectivity Computation via
//! Subgraph Sampling", 2018.)

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::base::threads;
use crate::base::types::NodeId;

/// How many edges of each vertex are looked at first. Balances them against the vertices that the largest tree then lacks; two connect
/// nearly all of a mesh. Tuned on a random geometric graph of 2^25 vertices.
const FIRST: usize = 2;

/// How many vertices, one in so many, are asked for their trees to find the largest one.
const ASKED: usize = 1 << 10;

/// Vertices that a task joins or numbers. Balances its cost against idle threads; the result does not depend on it.
const CHUNK: usize = 1 << 13;

/// The connected component of each of `num_nodes` vertices, numbered from 0 in the order of their first vertices, and the
/// number of components; O(n + m), nearly. `neighbours` returns those of a vertex, of which each has it as a neighbour, too. Runs on the
/// threads of the pool it is called in, or else on the calling thread.
pub fn components<I: Iterator<Item = NodeId>>(
    num_nodes: usize,
    neighbours: impl Fn(NodeId) -> I + Sync,
) -> (Vec<u32>, usize) {
    let mut parent: Vec<AtomicU32> = Vec::new();
    parent.resize_with(num_nodes, AtomicU32::default);
    threads::fill(&mut parent, |node| AtomicU32::new(node as NodeId));
    let trees = Trees { parent };
    trees.each(&|nodes| {
        nodes.for_each(|node| neighbours(node).take(FIRST).for_each(|next| trees.join(node, next)));
    });
    let largest = trees.largest();
    trees.each(&|nodes| {
        let is_outside = |node: &NodeId| Some(trees.root(*node)) != largest.map(|root| trees.root(root));
        nodes
            .filter(is_outside)
            .for_each(|node| neighbours(node).skip(FIRST).for_each(|next| trees.join(node, next)));
    });
    trees.numbered()
}

/// Disjoint sets of vertices, which several threads join.
struct Trees {
    /// By vertex: an earlier one of its tree, or itself if it is the first.
    parent: Vec<AtomicU32>,
}

impl Trees {
    /// What `work` computes for successive ranges of vertices, in their order.
    fn each<T: Send>(&self, work: &(dyn Fn(Range<NodeId>) -> T + Sync)) -> Vec<T> {
        let of_range = |nodes: Range<usize>| work(nodes.start as NodeId..nodes.end as NodeId);
        threads::map_ranges(self.parent.len(), CHUNK, &of_range)
    }

    fn parent(&self, node: NodeId) -> NodeId {
        self.parent[node as usize].load(Ordering::Relaxed)
    }

    fn root(&self, mut node: NodeId) -> NodeId {
        loop {
            let parent = self.parent(node);
            if parent == node {
                return node;
            }
            // The way is halved for those who come later. What was above a vertex once stays above it, whoever joins trees meanwhile.
            let next = self.parent(parent);
            self.parent[node as usize].store(next, Ordering::Relaxed);
            node = next;
        }
    }

    fn join(&self, first: NodeId, second: NodeId) {
        loop {
            let (first, second) = (self.root(first), self.root(second));
            let (earlier, later) = (first.min(second), first.max(second));
            // The later one may be no root any more.
            let is_joined = earlier == later
                || self.parent[later as usize]
                    .compare_exchange(later, earlier, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if is_joined {
                return;
            }
        }
    }

    /// The root of the tree that most of some vertices are in.
    fn largest(&self) -> Option<NodeId> {
        let step = self.parent.len().div_ceil(ASKED).max(1);
        let mut asked: Vec<NodeId> =
            (0..self.parent.len()).step_by(step).map(|node| self.root(node as NodeId)).collect();
        asked.sort_unstable();
        asked.chunk_by(|a, b| a == b).max_by_key(|group| group.len()).map(|group| group[0])
    }

    /// The number of the tree of each vertex, and the number of trees.
    fn numbered(self) -> (Vec<u32>, usize) {
        let mut roots = vec![0; self.parent.len()];
        threads::fill(&mut roots, |node| self.root(node as NodeId));
        numbered(&roots)
    }
}

/// Numbers sets in the order of the members that identify them, given the identifying member of the set of each: the number of the set of each,
/// and the number of sets; O(n).
pub(crate) fn numbered(set_of: &[NodeId]) -> (Vec<u32>, usize) {
    let n = set_of.len();
    let identifies = |&node: &usize| set_of[node] as usize == node;
    let counts = threads::map_ranges(n, CHUNK, &|nodes| nodes.filter(identifies).count());
    let mut numbers = vec![0; n];
    let mut count = 0;
    let mut chunks = Vec::with_capacity(counts.len());
    for ((index, numbers), of_chunk) in numbers.chunks_mut(CHUNK).enumerate().zip(counts) {
        chunks.push((index * CHUNK, count as u32, numbers));
        count += of_chunk;
    }
    threads::map_each(chunks, &|(first, mut next, numbers): (usize, u32, &mut [u32])| {
        for (_, number) in (first..).zip(numbers).filter(|(node, _)| identifies(node)) {
            *number = next;
            next += 1;
        }
    });
    let mut number_of = vec![0; n];
    threads::fill(&mut number_of, |node| numbers[set_of[node] as usize]);
    (number_of, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::bfs::BoundedBfs;
    use crate::testing::random_graph;

    #[test]
    fn components_are_what_searches_reach() {
        let mut rng = Rng::new(2);
        for round in 0..30 {
            let n = 1 + rng.below(70) as usize;
            let graph = random_graph(n, 1 + round % 3, 5, &mut rng);
            let (component, count) = components(n, |node| graph.neighbours(node).iter().copied());
            let mut bfs = BoundedBfs::new(n);
            let mut next = 0;
            for u in graph.nodes() {
                // The first of a component has the next number.
                next += u32::from(component[u as usize] == next);
                assert!(component[u as usize] < next, "{component:?}");
                let reached = bfs.reach(&graph, u, n).to_vec();
                for v in graph.nodes().filter(|&v| v != u) {
                    assert_eq!(
                        reached.contains(&v),
                        component[u as usize] == component[v as usize],
                        "{u} {v}"
                    );
                }
            }
            assert_eq!(count, next as usize);
        }
    }

    #[test]
    fn threads_do_not_change_components() {
        let mut rng = Rng::new(5);
        for degree in [1, 2, 4] {
            let graph = random_graph(3 * CHUNK, degree, 1, &mut rng);
            let find = || components(graph.num_nodes(), |node| graph.neighbours(node).iter().copied());
            let alone = find();
            assert!(degree > 1 || alone.1 > 1);
            assert_eq!(threads::run(4, find).unwrap(), alone);
        }
        assert_eq!(components(0, |_| [].into_iter()), (vec![], 0));
    }

    #[test]
    fn sets_are_numbered_in_the_order_of_the_members_that_identify_them() {
        assert_eq!(numbered(&[2, 1, 2, 1, 4]), (vec![1, 0, 1, 0, 2], 3));
        assert_eq!(numbered(&[]), (vec![], 0));
        let many: Vec<NodeId> = (0..100_000).map(|node| node / 10 * 10).collect();
        assert_eq!(numbered(&many), ((0..100_000).map(|node| node / 10).collect(), 10_000));
    }
}
