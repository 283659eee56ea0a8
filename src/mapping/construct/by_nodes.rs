//! Construction in two steps: which processes share a node, and which node they are on.
//!
//! On a machine of equal nodes, the graph is partitioned into groups of the size of a node ([`StepwisePartition`]). The
//! caller maps the quotient graph to the nodes: a smaller problem, which may have the shape of the network and is then solved
//! exactly. Inside each node the processes are placed from its outermost parts on. Pairing of single processes, which is
//! where multilevel construction begins, hides the shape of what fills a node.
//!
//! Takes a partition of the graph, the mapping of the groups, and partitions inside the nodes; memory O(n + m).

use super::in_parts::InParts;
use super::stepwise::StepwisePartition;
use crate::base::rng::derive;
use crate::base::types::PeId;
use crate::graph::{CsrGraph, quotient};
use crate::machine::EqualNodes;
use crate::mapping::Mapping;
use crate::mapping::construct::ConstructionError;

/// Larger graphs are partitioned only once, as they take seconds.
const MOST_THOROUGH: usize = 1 << 12;

impl InParts<'_> {
    /// The mapping of a graph by nodes, whose groups `map_groups` maps to these.
    pub fn by_nodes(
        &self,
        nodes: &EqualNodes,
        graph: &CsrGraph,
        map_groups: impl FnOnce(&CsrGraph) -> Result<Mapping, ConstructionError>,
    ) -> Result<Mapping, ConstructionError> {
        // Groups are counted in processes, whatever these weigh.
        let graph = graph.clone().with_unit_node_weights();
        let count = nodes.parts.len();
        let (preset, observer) = (self.effort.partitions, self.observer);
        let is_thorough = graph.num_nodes() <= MOST_THOROUGH;
        let stepwise = StepwisePartition { preset, is_thorough, observer, fixed: None };
        let group_of = stepwise.groups(&graph, count, derive(self.seed, 0));
        let node_of = map_groups(&quotient::contract(&graph, &group_of, count))?;
        let node_of: Vec<PeId> = group_of.iter().map(|&group| node_of.pe_of(group)).collect();
        Ok(self.inside(&nodes.parts, &graph, &node_of))
    }
}
