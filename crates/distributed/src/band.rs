//! The surroundings of the borders between blocks, as a graph of their own.
//!
//! Refinement changes a partition near its borders only. So vertices that are few steps from a border are kept, and all others of a block become one
//! vertex, its *core*. What is left is far smaller than the graph, and as good as it for a search that keeps the cores where they are.
//! (Chevalier and Pellegrini, "Improvement of the Efficiency of Genetic Algorithms for Scalable Parallel Graph Partitioning in a Multi-level
//! Framework", 2006.)

use viem::base::types::{BlockId, NodeId};

use crate::comm::{Comm, Reduction};
use crate::graph::DistGraph;

/// A band, as clusters of the graph.
#[derive(Clone, Debug)]
pub struct Band {
    /// For each local vertex the global number of the vertex that its cluster is named after: itself, or one of the core of its block.
    pub labels: Vec<NodeId>,
    /// Per own vertex: true if it belongs to a core.
    pub is_core: Vec<bool>,
    /// The number of vertices of all ranks near borders.
    pub count: u64,
}

/// The band of vertices with at most this many steps to a vertex of another block. `blocks` has the block of each local vertex. O(m/p) for each step.
pub fn band(
    comm: &impl Comm,
    graph: &DistGraph,
    blocks: &[BlockId],
    num_blocks: usize,
    steps: usize,
) -> Band {
    let own = 0..graph.num_own();
    let mut is_near = vec![0u32; graph.num_local()];
    for step in 0..steps {
        let before = is_near.clone();
        for vertex in own.clone().filter(|&vertex| before[vertex] == 0) {
            let is_beside = |&to: &NodeId| match step {
                0 => blocks[to as usize] != blocks[vertex],
                _ => before[to as usize] == 1,
            };
            is_near[vertex] = u32::from(graph.neighbours(vertex).iter().any(is_beside));
        }
        graph.update(comm, &mut is_near);
    }
    let mut cores = vec![u64::MAX; num_blocks];
    for vertex in own.clone().rev().filter(|&vertex| is_near[vertex] == 0) {
        cores[blocks[vertex] as usize] = u64::from(graph.global(vertex));
    }
    comm.all_reduce(&mut cores, Reduction::Least);
    let label = |local: usize| match is_near[local] {
        1 => graph.global(local),
        _ => cores[blocks[local] as usize] as NodeId,
    };
    let near: i64 = own.clone().map(|vertex| i64::from(is_near[vertex])).sum();
    Band {
        labels: (0..graph.num_local()).map(label).collect(),
        is_core: own.map(|vertex| is_near[vertex] == 0).collect(),
        count: crate::comm::sum(comm, near) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{on_ranks, random_graph};
    use viem::base::rng::Rng;
    use viem::graph::bfs::PairBfs;

    #[test]
    fn bands_have_what_is_near_borders() {
        let mut rng = Rng::new(41);
        for round in 0..40 {
            let graph = random_graph(&mut rng, 40);
            let blocks: Vec<BlockId> = graph.nodes().map(|_| rng.below(10) / 9 + rng.below(10) / 9).collect();
            let steps = round as usize % 4;
            let mut bfs = PairBfs::new(graph.num_nodes());
            let is_near: Vec<bool> = graph
                .nodes()
                .map(|u| {
                    let mut at_border = graph.nodes().filter(|&v| {
                        graph.neighbours(v).iter().any(|&to| blocks[to as usize] != blocks[v as usize])
                    });
                    steps > 0 && at_border.any(|v| u == v || bfs.within(&graph, u, v, steps - 1))
                })
                .collect();
            let label = |u: usize| {
                let is_core = |v: &usize| !is_near[*v] && blocks[*v] == blocks[u];
                if is_near[u] { u } else { (0..graph.num_nodes()).find(is_core).unwrap() }
            };
            let expected: Vec<NodeId> = (0..graph.num_nodes()).map(|u| label(u) as NodeId).collect();
            for size in [1, 3, 8] {
                let parts = on_ranks(size, &graph, round, |comm, part| {
                    let blocks: Vec<BlockId> =
                        (0..part.num_local()).map(|local| blocks[part.global(local) as usize]).collect();
                    let band = band(comm, part, &blocks, 3, steps);
                    for (local, &label) in band.labels.iter().enumerate() {
                        assert_eq!(label, expected[part.global(local) as usize]);
                    }
                    (band.is_core, band.count)
                });
                let count = is_near.iter().filter(|is_near| **is_near).count() as u64;
                assert!(parts.iter().all(|part| part.1 == count));
                let is_core: Vec<bool> = parts.into_iter().flat_map(|part| part.0).collect();
                assert!(is_core.iter().zip(&is_near).all(|(is_core, is_near)| is_core != is_near));
            }
        }
    }
}
