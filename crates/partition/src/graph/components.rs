//! Connected components.
//!
//! *Algorithm.* Trees of vertices are joined along edges, the later root below the earlier one. Few edges of each vertex connect most of the
//! graph; then only vertices outside of the largest tree look at all of theirs. (Sutton, Ben-Nun and Barak, "Optimizing Parallel Graph
//! Connectivity Computation via Subgraph Sampling", 2018; here by one thread.)

use crate::base::types::NodeId;

/// How many edges of each vertex are looked at first. Balances them against the vertices that the largest tree then lacks; two connect
/// nearly all of a mesh. Tuned on a random geometric graph of 2^25 vertices.
const FIRST: usize = 2;

/// How many vertices, one in so many, are asked for their trees to find the largest one.
const ASKED: usize = 1 << 10;

/// The connected component of each of `num_nodes` vertices, numbered from 0 in the order of their first vertices, and the
/// number of components; O(n + m), nearly. `neighbours` returns those of a vertex, of which each has it as a neighbour, too.
pub fn components<I: Iterator<Item = NodeId>>(
    num_nodes: usize,
    neighbours: impl Fn(NodeId) -> I,
) -> (Vec<u32>, usize) {
    let nodes = 0..num_nodes as NodeId;
    let mut trees = Trees { parent: nodes.clone().collect() };
    for node in nodes.clone() {
        neighbours(node).take(FIRST).for_each(|next| trees.join(node, next));
    }
    let mut asked: Vec<NodeId> =
        nodes.clone().step_by(num_nodes.div_ceil(ASKED).max(1)).map(|node| trees.root(node)).collect();
    asked.sort_unstable();
    let largest = asked.chunk_by(|a, b| a == b).max_by_key(|group| group.len()).map(|group| group[0]);
    for node in nodes {
        if Some(trees.root(node)) != largest.map(|root| trees.root(root)) {
            neighbours(node).skip(FIRST).for_each(|next| trees.join(node, next));
        }
    }
    trees.numbered()
}

/// Disjoint sets of vertices.
struct Trees {
    /// By vertex: an earlier one of its tree, or itself if it is the first.
    parent: Vec<NodeId>,
}

impl Trees {
    fn root(&mut self, mut node: NodeId) -> NodeId {
        loop {
            let parent = self.parent[node as usize];
            if parent == node {
                return node;
            }
            // The way is halved for those who come later.
            let next = self.parent[parent as usize];
            self.parent[node as usize] = next;
            node = next;
        }
    }

    fn join(&mut self, first: NodeId, second: NodeId) {
        let (first, second) = (self.root(first), self.root(second));
        self.parent[first.max(second) as usize] = first.min(second);
    }

    /// The number of the tree of each vertex, and the number of trees.
    fn numbered(self) -> (Vec<u32>, usize) {
        let (mut numbers, mut count) = (self.parent, 0);
        for node in 0..numbers.len() {
            let parent = numbers[node] as usize;
            if parent == node {
                numbers[node] = count;
                count += 1;
            } else {
                numbers[node] = numbers[parent];
            }
        }
        (numbers, count as usize)
    }
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
        assert_eq!(components(0, |_| [].into_iter()), (vec![], 0));
    }
}
