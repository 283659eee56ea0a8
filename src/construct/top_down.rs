//! Top-down construction: multisection along the hierarchy (Schulz and Träff, "Better process mapping and
//! sparse quadratic assignment", 2017).
//!
//! The graph is divided into as many blocks of equal size as the machine has outermost groups, each block is
//! given one of the groups, and so on inside each, down to the innermost groups, whose PEs are all alike.
//! Levels that make no difference (one member, or the same distance as the next) are skipped. Blocks of one
//! level are independent and run in parallel.
//!
//! Costs a partition of the whole graph for each level, or for each step of a large one
//! ([`Multisection`]); memory O(n + m).

use super::ConstructionConfig;
use super::multisection::Multisection;
use crate::graph::CsrGraph;
use crate::graph::bfs::breadth_first_order;
use crate::graph::relabel::relabel;
use crate::mapping::Mapping;
use crate::observer::Observer;
use crate::partition::Preset;
use crate::topology::Hierarchy;
use crate::types::{NodeId, PeId};

/// Arcs of a graph that may be had in the order in which it comes: some megabytes.
const CACHED_ARCS: usize = 1 << 20;

pub(super) fn construct(
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    config: &ConstructionConfig,
    seed: u64,
    observer: &dyn Observer,
) -> Mapping {
    let simple = hierarchy.simplified();
    // A graph that exceeds the cache is read faster where neighbours lie together.
    let exceeds_cache = graph.num_arcs() >= CACHED_ARCS;
    let nodes = if exceeds_cache { breadth_first_order(graph) } else { graph.nodes().collect() };
    let mut process_of = nodes.clone();
    // Blocks are counted in processes, whatever the vertices weigh.
    let graph = relabel(graph, &nodes).with_unit_node_weights();
    let top_down = TopDown { config, observer };
    top_down.place(&graph, &nodes, simple.arities(), config.partitions, seed, &mut process_of);
    let mut pe_of = vec![0; process_of.len()];
    for (pe, &process) in process_of.iter().enumerate() {
        pe_of[process as usize] = pe as PeId;
    }
    Mapping::from_permutation(pe_of)
}

struct TopDown<'a> {
    config: &'a ConstructionConfig,
    observer: &'a dyn Observer,
}

impl TopDown<'_> {
    /// Places the processes of `graph`, named `nodes` in the whole graph, on the PEs of a group with these
    /// inner levels, by partitions of effort `preset`; `process_of` are the places.
    fn place(
        &self,
        graph: &CsrGraph,
        nodes: &[NodeId],
        arities: &[u32],
        preset: Preset,
        seed: u64,
        process_of: &mut [NodeId],
    ) {
        let Some((&outermost, inner @ [_, ..])) = arities.split_last() else {
            return process_of.copy_from_slice(nodes);
        };
        let multisection = Multisection { preset, observer: self.observer };
        let inside = |part: &CsrGraph, nodes: &[NodeId], seed, places: &mut [NodeId]| {
            if places.len() <= self.config.undivided {
                places.copy_from_slice(nodes);
            } else {
                self.place(part, nodes, inner, self.config.inner, seed, places);
            }
        };
        multisection.arrange(graph, nodes, outermost as usize, seed, process_of, &inside);
    }
}
