//! Vertices without edges, set aside while the others are divided.
//!
//! *Idea.* A vertex without edges costs nothing in any block. If it is divided along with the others, each block gets its share of both kinds. If it
//! comes last, only the bounds of both together count, and a block may have few or many of the others. In graphs with heavy-tailed degrees, a third
//! of the vertices may be isolated, which leaves the others so much room that the cut falls by percents.
//!
//! As many of them as there are blocks, the lightest, stay with the others: a block may have isolated vertices alone. Whether the rest fits at the end
//! is not known before, unless vertices weigh the same; if it does not, all are divided together.

use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;
use crate::graph::subgraph::split;
use crate::partition::blocks::Partition;
use crate::partition::bounds::BoundViolation;
use crate::partition::packing::Packing;
use crate::partition::scheme::enumeration::is_affordable;
use crate::partition::targets::Targets;

/// Isolated vertices are set aside if they are at least one in this many. Balances the room that they leave against the time and memory for a copy of the
/// graph.
const LEAST_ONE_IN: usize = 64;

/// A graph without most of its isolated vertices, and what its blocks may weigh. No block is closed.
pub(in crate::partition) struct WithoutIsolated<'a> {
    whole: (&'a CsrGraph, &'a Targets),
    pub graph: CsrGraph,
    pub targets: Targets,
    nodes: Vec<NodeId>,
    isolated: Vec<NodeId>,
}

impl<'a> WithoutIsolated<'a> {
    /// The vertices that are not set aside, unless these are nearly all, or the best of all partitions is found by enumeration. Fixed vertices are not set aside.
    /// O(n log n + m), O(n) if few vertices are isolated.
    pub fn of(graph: &'a CsrGraph, targets: &'a Targets) -> Option<Self> {
        let (num_nodes, num_blocks) = (graph.num_nodes(), targets.num_blocks());
        let is_free = |node| targets.fixed().is_none_or(|fixed| fixed.of(node).is_none());
        let is_isolated = |node: &NodeId| graph.degree(*node) == 0 && is_free(*node);
        let count = graph.nodes().filter(is_isolated).count().saturating_sub(num_blocks);
        if count == 0 || count < num_nodes / LEAST_ONE_IN || is_affordable(num_nodes, num_blocks) {
            return None;
        }
        let mut apart: Vec<NodeId> = graph.nodes().filter(is_isolated).collect();
        apart.sort_by_key(|&node| graph.node_weight(node));
        let mut sides: Vec<BlockId> = vec![0; num_nodes];
        apart[num_blocks..].iter().for_each(|&node| sides[node as usize] = 1);
        let whole = (graph, targets);
        let [(graph, nodes), (_, isolated)] = split(graph, &sides, 2).try_into().ok()?;
        let targets = targets.of_vertices(&nodes, graph.total_node_weight());
        Some(Self { whole, graph, targets, nodes, isolated })
    }

    /// The given partition with the vertices that were set aside, if they fit: each goes where most is missing.
    pub fn filled(&self, given: &Partition) -> Option<Partition> {
        let (graph, targets) = self.whole;
        let weights: Vec<Weight> = self.isolated.iter().map(|&node| graph.node_weight(node)).collect();
        let left = |all: &[Weight]| -> Vec<Weight> {
            all.iter().zip(given.block_weights()).map(|(all, taken)| all - taken).collect()
        };
        let (sizes, rooms) = (left(targets.block_sizes()), left(targets.bounds()));
        let bins = Packing { weights: &weights, sizes: &sizes, rooms: &rooms }.find()?;
        let mut blocks = vec![0; graph.num_nodes()];
        let placed = self.nodes.iter().zip(given.blocks()).chain(self.isolated.iter().zip(&bins));
        placed.for_each(|(&node, &block)| blocks[node as usize] = block);
        Some(Partition::of(graph, blocks, targets)).filter(|all| all.violation() == BoundViolation::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;
    use crate::partition::{FixedVertices, PartitionPreset, Partitioner};
    use proptest::prelude::*;

    /// A clique of each of these sizes, each joined to the next by an edge, and isolated vertices between them.
    fn chain_of_cliques(sizes: &[NodeId], num_isolated: usize) -> CsrGraph {
        let num_nodes = sizes.iter().sum::<NodeId>() as usize + num_isolated;
        // Each second vertex is isolated, until there are enough.
        let at = |rank: NodeId| rank + rank.min(num_isolated as NodeId);
        let mut builder = GraphBuilder::new(num_nodes);
        let mut start = 0;
        for &size in sizes {
            for u in start..start + size {
                (start..u).for_each(|v| builder.add_edge(at(u), at(v), 1));
            }
            if start > 0 {
                builder.add_edge(at(start - 1), at(start), 1);
            }
            start += size;
        }
        builder.build().unwrap()
    }

    #[test]
    fn dense_regions_of_unequal_size_are_not_cut() {
        let graph = chain_of_cliques(&[60, 25, 40, 10], 105);
        let targets = Targets::equal(&graph, 4, 0.0).unwrap();
        for preset in [PartitionPreset::Eco, PartitionPreset::Strong] {
            let found = Partitioner::new(preset, 0).partition(&graph, &targets);
            assert_eq!((found.cut(), found.block_weights()), (2, &[60; 4][..]), "{preset:?}");
        }
    }

    #[test]
    fn blocks_may_have_isolated_vertices_alone() {
        let graph = chain_of_cliques(&[90, 90], 90);
        let targets = Targets::equal(&graph, 3, 0.0).unwrap();
        for preset in [PartitionPreset::Fast, PartitionPreset::Eco, PartitionPreset::Strong] {
            let found = Partitioner::new(preset, 0).partition(&graph, &targets);
            assert_eq!((found.cut(), found.block_weights()), (1, &[90; 3][..]), "{preset:?}");
        }
    }

    #[test]
    fn graphs_with_few_isolated_vertices_are_not_copied() {
        let is_split = |sizes: &[NodeId], num_isolated, num_blocks| {
            let graph = chain_of_cliques(sizes, num_isolated);
            WithoutIsolated::of(&graph, &Targets::equal(&graph, num_blocks, 0.0).unwrap()).is_some()
        };
        assert!(!is_split(&[64, 66], 3, 2));
        assert!(is_split(&[64, 60], 4, 2));
        assert!(!is_split(&[64, 60], 4, 3));
        assert!(!is_split(&[3, 3], 6, 2));
    }

    proptest! {
        /// Bounds, least loads and fixed vertices hold for all vertices together, and vertices with edges stay where they were.
        #[test]
        fn isolated_vertices_fill_up_blocks(
            cliques in prop::collection::vec(1u32..12, 1..5),
            num_isolated in 1usize..30,
            weights in prop::collection::vec(0i64..5, 80),
            (num_blocks, epsilon, least) in (1usize..5, 0.0..0.5, 0.0..1.0),
            fixed in prop::option::of(0u32..20),
        ) {
            let graph = chain_of_cliques(&cliques, num_isolated);
            let n = graph.num_nodes();
            let graph = graph.with_node_weights(weights[..n].to_vec()).unwrap();
            let capacities = vec![1; num_blocks];
            let least = Targets::least_shares(&graph, &capacities, least).unwrap();
            let targets = Targets::equal(&graph, num_blocks, epsilon).unwrap().with_known_least_loads(least);
            let mut list = FixedVertices::none(n, num_blocks);
            fixed.filter(|&node| (node as usize) < n).into_iter().for_each(|node| list.fix(node, 0).unwrap());
            let targets = targets.with_fixed(&graph, list.clone()).unwrap();
            let Some(rest) = WithoutIsolated::of(&graph, &targets) else { return Ok(()) };
            let given = Partitioner::new(PartitionPreset::Fast, 0).partition(&rest.graph, &rest.targets);
            let Some(all) = rest.filled(&given) else { return Ok(()) };
            prop_assert_eq!(Partition::of(&graph, all.blocks().to_vec(), &targets).score(), all.score());
            prop_assert_eq!((all.violation(), all.cut()), (BoundViolation::NONE, given.cut()));
            let kept = rest.nodes.iter().map(|&node| all.blocks()[node as usize]);
            prop_assert!(kept.eq(given.blocks().iter().copied()));
            prop_assert!(list.iter().all(|(node, block)| all.blocks()[node as usize] == block));
        }
    }
}
