//! N_C^d: pairs within d hops of each other in the communication graph (Schulz and Träff, "Better process
//! mapping and sparse quadratic assignment", 2017).
//!
//! Processes are visited in random order, and the partners of each in random order, again and again until
//! no process has anything left to try. The pairs are never stored: a bounded breadth-first search finds the
//! partners of a process when it is visited, and a process is visited only if it has been touched since its
//! last visit. Every pair has been tried since either side was last touched once neither side waits for
//! a visit, so the end is a local optimum. A visit costs the edges within d hops; memory O(n).

use super::swap::{SwapSearch, Time};
use crate::graph::bfs::BoundedBfs;
use crate::rng::Rng;
use crate::topology::DistanceOracle;
use crate::types::NodeId;

pub(super) fn descend<O: DistanceOracle>(search: &mut SwapSearch<'_, O>, max_hops: usize, seed: u64) {
    let graph = search.problem().graph();
    let mut rng = Rng::new(seed);
    let mut order: Vec<NodeId> = graph.nodes().collect();
    rng.shuffle(&mut order);
    let mut bfs = BoundedBfs::new(graph.num_nodes());
    let mut partners: Vec<NodeId> = Vec::new();
    // When the last visit to a process began; 0 if never.
    let mut visited: Vec<Time> = vec![0; graph.num_nodes()];
    loop {
        let round = search.now();
        for &process in &order {
            if search.touched(process) <= visited[process as usize] {
                continue;
            }
            if search.should_stop() {
                return;
            }
            visited[process as usize] = search.now();
            partners.clear();
            partners.extend(bfs.reach(graph, process, max_hops));
            rng.shuffle(&mut partners);
            for &partner in &partners {
                // The partner's last visit has tried the pair already, unless one was touched since.
                if search.touched(process).max(search.touched(partner)) > visited[partner as usize] {
                    search.try_swap(process, partner);
                }
            }
        }
        if search.now() == round {
            return;
        }
    }
}
