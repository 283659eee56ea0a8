//! Top-down construction: multisection along the parts of the machine (Schulz and Träff, "Better process
//! mapping and sparse quadratic assignment", 2017).
//!
//! The graph is partitioned into one block for each outermost part of the machine, of the same size as the
//! part. Each block is assigned to a part, and so on inside each part until its PEs are equivalent. Blocks
//! are independent and run in parallel. On trees it does not matter which block goes to which sibling part;
//! on other machines, other constructions are better.
//!
//! Takes a partition of the whole graph for each level, or for each step of a large level
//! ([`StepwisePartition`]); memory O(n + m).

use super::stepwise::{Slots, StepwisePartition};
use crate::base::observer::Observer;
use crate::base::types::NodeId;
use crate::graph::CsrGraph;
use crate::graph::bfs::breadth_first_order;
use crate::graph::relabel::relabel;
use crate::machine::Parts;
use crate::mapping::construct::task::{ConstructionError, Effort, Task};
use crate::mapping::{Mapping, process_on_each};
use crate::partition::{FixedVertices, PartitionPreset};

/// A graph with fewer arcs keeps its vertex order: it takes a few megabytes and fits a cache.
const CACHED_ARCS: usize = 1 << 20;

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let Task { effort, seed, observer, .. } = *task;
    let graph = task.problem.graph();
    // Graphs larger than the cache are read faster if neighbours are stored close together.
    let exceeds_cache = graph.num_arcs() >= CACHED_ARCS;
    let nodes = if exceeds_cache { breadth_first_order(graph) } else { graph.nodes().collect() };
    let mut process_of = nodes.clone();
    // Blocks are counted in processes, whatever the vertices weigh.
    let graph = relabel(graph, &nodes).with_unit_node_weights();
    let fixed = task.problem.fixed();
    let top_down = TopDown { parts: task.machine.parts(), effort, observer, fixed };
    let slots = Slots { begin: 0, process_of: &mut process_of };
    top_down.place(&graph, &nodes, 0, effort.partitions, seed, slots);
    // The inverse of a permutation.
    Ok(Mapping::from_permutation(process_on_each(&process_of)))
}

/// How the parts of a machine are filled.
pub(super) struct TopDown<'a> {
    pub parts: &'a Parts,
    pub effort: Effort,
    pub observer: &'a dyn Observer,
    /// Processes that must be on given places, by their names.
    pub fixed: Option<&'a FixedVertices>,
}

impl TopDown<'_> {
    /// Places the processes of `graph`, named `nodes` in the whole graph, on the PEs of a part, using
    /// partitions of effort `preset`.
    pub fn place(
        &self,
        graph: &CsrGraph,
        nodes: &[NodeId],
        part: usize,
        preset: PartitionPreset,
        seed: u64,
        slots: Slots<'_>,
    ) {
        let children = self.parts.children(part);
        if children.is_empty() {
            return slots.fill(nodes, self.fixed);
        }
        // As in bottom-up construction.
        let stepwise =
            StepwisePartition { preset, is_thorough: false, observer: self.observer, fixed: self.fixed };
        let inside = |child: usize, graph: &CsrGraph, nodes: &[NodeId], seed, slots: Slots<'_>| {
            if slots.len() <= self.effort.undivided {
                slots.fill(nodes, self.fixed);
            } else {
                self.place(graph, nodes, child, self.effort.inner, seed, slots);
            }
        };
        let first = children.start;
        let sizes: Vec<usize> = children.map(|child| self.parts.range(child).len()).collect();
        stepwise.arrange(graph, nodes, first, &sizes, seed, slots, &inside);
    }
}
