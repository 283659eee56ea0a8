//! Construction in two steps: which processes share a node, and which node they are on.
//!
//! On a machine of equal nodes, the graph is partitioned into groups of the size of a node ([`StepwisePartition`]). The
//! caller maps the quotient graph to the nodes: a smaller problem, which may have the shape of the network and is then solved
//! exactly. Inside each node the processes are placed from its outermost parts on. Pairing of single processes, which is
//! where multilevel construction begins, hides the shape of what fills a node.
//!
//! Takes a partition of the graph, the mapping of the groups, and partitions inside the nodes; memory O(n + m).

use rayon::prelude::*;

use super::stepwise::{Slots, StepwisePartition};
use super::top_down::TopDown;
use crate::graph::{CsrGraph, quotient, subgraph};
use crate::ground::observer::Observer;
use crate::ground::rng::derive;
use crate::ground::types::{NodeId, PeId};
use crate::machine::{EqualNodes, Places};
use crate::mapping::construct::{ConstructionConfig, ConstructionError};
use crate::mapping::{Mapping, process_on_each};

/// Larger graphs are partitioned only once, as they take seconds.
const MOST_THOROUGH: usize = 1 << 12;

/// The machine and the settings of a construction by nodes.
pub(crate) struct ByNodes<'a> {
    /// As many places as the graph has processes, none of them fixed.
    pub machine: &'a Places,
    pub nodes: &'a EqualNodes,
    pub config: &'a ConstructionConfig,
    pub seed: u64,
    /// Once it asks to stop, the remaining processes take the remaining places in order.
    pub observer: &'a dyn Observer,
}

impl ByNodes<'_> {
    /// The mapping of a graph, whose groups `map_groups` maps to the nodes.
    pub fn construct(
        &self,
        graph: &CsrGraph,
        map_groups: impl FnOnce(&CsrGraph) -> Result<Mapping, ConstructionError>,
    ) -> Result<Mapping, ConstructionError> {
        // Groups are counted in processes, whatever these weigh.
        let graph = graph.clone().with_unit_node_weights();
        let count = self.nodes.parts.len();
        let (preset, observer) = (self.config.partitions, self.observer);
        let is_thorough = graph.num_nodes() <= MOST_THOROUGH;
        let stepwise = StepwisePartition { preset, is_thorough, observer, fixed: None };
        let group_of = stepwise.groups(&graph, count, derive(self.seed, 0));
        let node_of = map_groups(&quotient::contract(&graph, &group_of, count))?;
        let node_of: Vec<PeId> = group_of.iter().map(|&group| node_of.pe_of(group)).collect();
        Ok(self.inside_nodes(&graph, &node_of))
    }

    /// The mapping of processes whose nodes are known.
    fn inside_nodes(&self, graph: &CsrGraph, node_of: &[PeId]) -> Mapping {
        let Self { machine, config, seed, observer, .. } = *self;
        inside_parts(
            &InsideParts { machine, parts: &self.nodes.parts, config, seed, observer },
            graph,
            node_of,
        )
    }
}

/// Parts of a machine that together have all places, in the order of these, and how they are filled.
pub(super) struct InsideParts<'a> {
    pub machine: &'a Places,
    pub parts: &'a [usize],
    pub config: &'a ConstructionConfig,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

/// The mapping of processes, as many in each part as it has places; `part_of` has the index of the part of each.
pub(super) fn inside_parts(inside: &InsideParts<'_>, graph: &CsrGraph, part_of: &[PeId]) -> Mapping {
    let InsideParts { machine, parts, config, seed, observer } = *inside;
    let top_down = TopDown { parts: machine.parts(), config, observer, fixed: None };
    let mut process_of: Vec<NodeId> = vec![0; graph.num_nodes()];
    let (mut rest, mut all) = (&mut process_of[..], Vec::with_capacity(parts.len()));
    for &part in parts {
        let range = machine.parts().range(part);
        let (own, others) = rest.split_at_mut(range.len());
        all.push((part, Slots { begin: range.start, process_of: own }));
        rest = others;
    }
    let subgraphs = subgraph::split(graph, part_of, parts.len());
    all.into_par_iter().zip(subgraphs).enumerate().for_each(|(index, ((part, slots), (graph, nodes)))| {
        top_down.place(&graph, &nodes, part, config.inner, derive(seed, 1 + index as u64), slots);
    });
    // The inverse of a permutation.
    Mapping::from_permutation(process_on_each(&process_of))
}
