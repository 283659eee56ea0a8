//! The order in which constructions place one process after another: by communication volume with the placed
//! processes.
//!
//! Ties go to the process with the larger total volume, then to the smaller id. Processes wait in a heap with
//! lazy deletion: O((n + m) log n) time in total, O(m) memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::types::{NodeId, Weight};
use crate::graph::CsrGraph;

/// The processes not yet mapped, by their volume to the mapped ones.
pub(super) struct ProcessQueue<'a> {
    graph: &'a CsrGraph,
    /// Volume to mapped processes, or [`MAPPED`].
    volume: Vec<Weight>,
    total_volume: Vec<Weight>,
    /// (volume to mapped processes, total volume, process). An entry is outdated if the volume of its process
    /// has changed.
    heap: BinaryHeap<(Weight, Weight, Reverse<NodeId>)>,
    /// How many processes are not mapped.
    waiting: usize,
}

/// The volume of a mapped process; no real volume is negative.
const MAPPED: Weight = -1;

impl<'a> ProcessQueue<'a> {
    pub fn new(graph: &'a CsrGraph) -> Self {
        let total_volume: Vec<Weight> = graph.nodes().map(|node| graph.weighted_degree(node)).collect();
        let heap = graph.nodes().map(|node| (0, total_volume[node as usize], Reverse(node))).collect();
        Self { graph, volume: vec![0; graph.num_nodes()], total_volume, heap, waiting: graph.num_nodes() }
    }

    /// Removes the next process and counts it as mapped.
    pub fn pop(&mut self) -> Option<NodeId> {
        // Most entries are outdated at the end, and are not removed then.
        while self.waiting > 0 {
            let (volume, _, Reverse(process)) = self.heap.pop()?;
            if volume != self.volume[process as usize] {
                continue;
            }
            self.map(process);
            return Some(process);
        }
        None
    }

    /// Counts a process that waits as mapped.
    pub fn map(&mut self, process: NodeId) {
        self.waiting -= 1;
        self.volume[process as usize] = MAPPED;
        for (target, weight) in self.graph.arcs(process) {
            let volume = &mut self.volume[target as usize];
            if *volume != MAPPED {
                *volume += weight;
                self.heap.push((*volume, self.total_volume[target as usize], Reverse(target)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::testing::random_graph;

    /// Each process taken has the largest volume to those before it, recomputed from scratch.
    #[test]
    fn processes_agree_with_volumes_from_scratch() {
        let mut rng = Rng::new(5);
        for mean_degree in [0, 2, 12] {
            let n = 24;
            let graph = random_graph(n, mean_degree, 5, &mut rng);
            let mut queue = ProcessQueue::new(&graph);
            let mut mapped: Vec<NodeId> = Vec::new();
            for _ in 0..n {
                let volume = |node: NodeId| -> Weight {
                    graph.arcs(node).filter(|(target, _)| mapped.contains(target)).map(|(_, w)| w).sum()
                };
                let waiting = graph.nodes().filter(|node| !mapped.contains(node));
                let expected =
                    waiting.max_by_key(|&node| (volume(node), graph.weighted_degree(node), Reverse(node)));
                assert_eq!(queue.pop(), expected);
                mapped.extend(expected);
            }
            assert_eq!(queue.pop(), None);
        }
    }
}
