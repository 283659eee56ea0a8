//! A lower bound on the cost of a partition, which proves some to be optimal.
//!
//! A component that takes at least k blocks, by its weight and the bounds, has edges between them that connect all k: at least k - 1, and
//! each costs at least its weight times the least distance. So paths, rings of heavy edges and components that fit blocks are proved. O(n + m
//! log m), and O(k²) for k blocks.

use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::components::components;
use crate::partition::assignment::Problem;
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;

/// Most blocks whose distances are all looked at; with more, nothing is proved but a cost of 0.
const MOST_BLOCKS: usize = 1 << 11;

/// A cost that no partition within these bounds is below.
pub(in crate::partition) fn least_cost<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    bounds: &[Weight],
) -> Weight {
    let least = least_distance(level.objective, bounds.len());
    let neighbours = |node: NodeId| level.graph.arcs(node).iter().map(|arc| arc.target);
    let (of_node, count) = components(level.num_nodes(), neighbours);
    let mut weights = vec![0; count];
    let mut edges: Vec<Vec<Weight>> = vec![Vec::new(); count];
    for (node, &component) in level.nodes().zip(&of_node) {
        weights[component as usize] += level.node_weight(node);
        let later = level.arcs(node).iter().filter(|arc| arc.target > node);
        edges[component as usize].extend(later.map(|arc| arc.weight()));
    }
    let mut descending = bounds.to_vec();
    descending.sort_unstable_by(|a, b| b.cmp(a));
    let of_component = |(weight, mut edges): (Weight, Vec<Weight>)| {
        edges.sort_unstable();
        edges.iter().take(num_blocks_for(weight, &descending).saturating_sub(1)).sum::<Weight>()
    };
    least * weights.into_iter().zip(edges).map(of_component).sum::<Weight>()
}

/// How many blocks it takes at least to hold this weight, or all.
fn num_blocks_for(weight: Weight, descending: &[Weight]) -> usize {
    let mut left = weight;
    let is_needed = |bound: &&Weight| {
        let is_needed = left > 0;
        left = left.saturating_sub(**bound);
        is_needed
    };
    descending.iter().take_while(is_needed).count()
}

/// The least distance between two blocks, or 0 if there are many.
fn least_distance<O: Objective>(objective: &O, num_blocks: usize) -> Weight {
    if num_blocks > MOST_BLOCKS {
        return 0;
    }
    let blocks = 0..num_blocks as BlockId;
    let pairs = blocks.flat_map(|first| (0..first).map(move |second| (first, second)));
    pairs.map(|(first, second)| objective.between(first, second)).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::{CsrGraph, generate};
    use crate::partition::compact::CompactGraph;
    use crate::partition::objective::Cut;
    use crate::partition::scheme::enumeration;
    use crate::testing::random_graph;

    fn of(graph: &CsrGraph, bounds: &[Weight]) -> (Weight, Option<Weight>) {
        let graph = CompactGraph::<i64>::new(graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let best = enumeration::best(level, bounds.into()).filter(|best| best.overload(bounds) == 0);
        (least_cost(level, bounds), best.map(|best| best.cost))
    }

    #[test]
    fn no_partition_is_below() {
        let mut rng = Rng::new(8);
        for round in 0..100 {
            let graph = random_graph(7, 1 + round % 3, 9, &mut rng);
            let bounds: Vec<Weight> = (0..3).map(|_| 1 + Weight::from(rng.below(5))).collect();
            let (bound, best) = of(&graph, &bounds);
            assert!(best.is_none_or(|best| bound <= best), "{round}");
        }
    }

    #[test]
    fn paths_are_proved() {
        assert_eq!(of(&generate::grid(8, 1), &[3, 3, 3]), (2, Some(2)));
        assert_eq!(of(&generate::grid(8, 1), &[5, 5]), (1, Some(1)));
    }
}
