//! Top-down construction: multisection along the parts of the machine (Schulz and Träff, "Better process mapping and
//! sparse quadratic assignment", 2017).
//!
//! The graph is divided into as many blocks as the machine has outermost parts, as large as these; each block is given one
//! of the parts, and so on inside each, down to parts whose PEs are all alike. Blocks are independent and run in parallel.
//! Which block gets which of several parts does not matter on trees; elsewhere other constructions do better.
//!
//! Costs a partition of the whole graph for each level, or for each step of a large one
//! ([`Multisection`]); memory O(n + m).

use super::multisection::Multisection;
use crate::graph::CsrGraph;
use crate::graph::bfs::breadth_first_order;
use crate::graph::relabel::relabel;
use crate::ground::observer::Observer;
use crate::ground::types::{NodeId, PeId};
use crate::machine::Parts;
use crate::mapping::Mapping;
use crate::mapping::construct::{ConstructionConfig, ConstructionError, Task};
use crate::partition::PartitionPreset;

/// A graph of fewer arcs than this keeps its order of vertices: it is some megabytes and fits a cache.
const CACHED_ARCS: usize = 1 << 20;

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let Task { config, seed, observer, .. } = *task;
    let graph = task.problem.graph();
    // A graph that exceeds the cache is read faster where neighbours lie together.
    let exceeds_cache = graph.num_arcs() >= CACHED_ARCS;
    let nodes = if exceeds_cache { breadth_first_order(graph) } else { graph.nodes().collect() };
    let mut process_of = nodes.clone();
    // Blocks are counted in processes, whatever the vertices weigh.
    let graph = relabel(graph, &nodes).with_unit_node_weights();
    let top_down = TopDown { parts: task.machine.parts(), config, observer };
    top_down.place(&graph, &nodes, 0, config.partitions, seed, &mut process_of);
    let mut pe_of = vec![0; process_of.len()];
    for (pe, &process) in process_of.iter().enumerate() {
        pe_of[process as usize] = pe as PeId;
    }
    Ok(Mapping::from_permutation(pe_of))
}

struct TopDown<'a> {
    parts: &'a Parts,
    config: &'a ConstructionConfig,
    observer: &'a dyn Observer,
}

impl TopDown<'_> {
    /// Places the processes of `graph`, named `nodes` in the whole graph, on the PEs of a part, by partitions of effort
    /// `preset`; `process_of` are the places.
    fn place(
        &self,
        graph: &CsrGraph,
        nodes: &[NodeId],
        part: usize,
        preset: PartitionPreset,
        seed: u64,
        process_of: &mut [NodeId],
    ) {
        let children = self.parts.children(part);
        if children.is_empty() {
            return process_of.copy_from_slice(nodes);
        }
        let multisection = Multisection { preset, observer: self.observer };
        let inside = |child: usize, graph: &CsrGraph, nodes: &[NodeId], seed, places: &mut [NodeId]| {
            if places.len() <= self.config.undivided {
                places.copy_from_slice(nodes);
            } else {
                self.place(graph, nodes, child, self.config.inner, seed, places);
            }
        };
        let first = children.start;
        let sizes: Vec<usize> = children.map(|child| self.parts.range(child).len()).collect();
        multisection.arrange(graph, nodes, first, &sizes, seed, process_of, &inside);
    }
}
