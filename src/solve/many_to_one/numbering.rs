//! The same mapping however the vertices are numbered, as far as a canonical order of them can be found.
//!
//! A numbering in which neighbours are near each other, such as that of the points of a grid or of the ranks of a job, may lead to a
//! better mapping than the canonical order. There, both are tried, or only the numbering if little time is to be spent.

use super::search::{Known, Search, score};
use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId};
use crate::graph::relabel::relabel_ascending;
use crate::graph::{CsrGraph, canonical};
use crate::partition::{ManyToOnePartition, Partition};
use crate::solve::error::SolveError;

/// The greatest number of arcs of a graph whose vertices are put in canonical order. Balances time against graphs whose J depends on the
/// numbering; that of large ones hardly does. `docs/BENCHMARKS.md` has J of several numberings with and without it.
const MOST_ARCS: usize = 1 << 16;

/// The factor by which nearer than in a random numbering the ends of edges must be for a numbering to be tried. Balances time against
/// numberings of stencils, which are nearer 5 times and more; those of random trees are nearer 1.3 times.
const NEARER: u128 = 2;

impl Search<'_> {
    /// The best mapping that is found with the vertices in canonical order, not worse than the start if one is given, nor than equal
    /// strips of the numbering or the cuts of a grid.
    pub fn best_in_any_numbering(&self, start: Option<&[BlockId]>) -> Result<ManyToOnePartition, SolveError> {
        let (strips, cuts) = (self.strips(), self.cuts());
        let known = Known { start, strips: strips.as_deref(), cuts: cuts.as_deref() };
        let (is_large, is_given) = (self.graph.num_arcs() > MOST_ARCS, || is_local(self.graph));
        if is_large || self.config.small.is_none() && is_given() {
            return Ok(self.best(known)?.best);
        }
        let (given, canonical) = threads::join(
            || is_given().then(|| self.best(known)).transpose(),
            || self.best_in_order(&canonical::order(self.graph, |node| self.mark(start, node)), known),
        );
        let given = given?.map(|given| given.best);
        Ok(given.into_iter().chain([canonical?]).min_by_key(score).expect("there is one"))
    }

    /// The best mapping that is found with the vertices in another order: vertex i of it is `order[i]`.
    fn best_in_order(&self, order: &[NodeId], known: Known<'_>) -> Result<ManyToOnePartition, SolveError> {
        let (graph, targets) =
            (relabel_ascending(self.graph, order), self.targets.of_vertices_in_order(order));
        let fixed = self.fixed.map(|fixed| fixed.in_order(order));
        let in_order = |blocks: &[BlockId]| -> Vec<BlockId> {
            order.iter().map(|&node| blocks[node as usize]).collect()
        };
        let [start, strips, cuts] =
            [known.start, known.strips, known.cuts].map(|blocks| blocks.map(in_order));
        let known = Known { start: start.as_deref(), strips: strips.as_deref(), cuts: cuts.as_deref() };
        let search = Search { graph: &graph, targets: &targets, fixed: fixed.as_ref(), ..*self };
        let ManyToOnePartition { partition, cost } = search.best(known)?.best;
        let mut blocks = vec![0; order.len()];
        for (&node, &block) in order.iter().zip(partition.blocks()) {
            blocks[node as usize] = block;
        }
        Ok(ManyToOnePartition { partition: Partition::of(self.graph, blocks, self.targets), cost })
    }

    /// The properties of a vertex besides its place in the graph.
    fn mark(&self, start: Option<&[BlockId]>, node: NodeId) -> u64 {
        let fixed = self.targets.fixed().and_then(|fixed| fixed.of(node));
        let start = start.map(|start| start[node as usize]);
        let number = |block: Option<BlockId>| block.map_or(0, |block| u64::from(block) + 1);
        derive(number(fixed), number(start))
    }
}

/// Returns whether the ends of edges have near numbers, by weight. In a random numbering of n vertices they are n / 3 apart on average. O(m).
fn is_local(graph: &CsrGraph) -> bool {
    let arcs =
        graph.nodes().flat_map(|node| graph.arcs(node).map(move |(to, weight)| (node.abs_diff(to), weight)));
    let apart: u128 = arcs.map(|(apart, weight)| u128::from(apart) * weight as u128).sum();
    3 * NEARER * apart < graph.num_nodes() as u128 * graph.total_arc_weight() as u128
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::generate;
    use crate::graph::relabel::relabel;

    #[test]
    fn grids_are_local_until_they_are_shuffled() {
        let grid = generate::grid(30, 20);
        let mut order: Vec<NodeId> = grid.nodes().collect();
        Rng::new(1).shuffle(&mut order);
        assert!(is_local(&grid) && !is_local(&relabel(&grid, &order)));
    }
}
