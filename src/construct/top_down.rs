//! Top-down construction: multisection along the hierarchy (Schulz and Träff, "Better process mapping and
//! sparse quadratic assignment", 2017).
//!
//! The graph is partitioned into as many blocks of equal size as the machine has outermost groups, each
//! block is given one of the groups, and so on inside each, down to the innermost groups, whose PEs are
//! all alike. Levels that make no difference (one member, or the same distance as the next) are skipped.
//!
//! Here a level of many groups is divided in steps: 4096 groups into 64 times 64. On meshes and geometric
//! graphs that cuts as little as a partition into all groups at once or less, in half the time, and blocks of
//! one step are independent: they run in parallel, each with a seed that names its place in the hierarchy.
//!
//! Costs a partition of the whole graph for each level, or step of one; memory O(n + m).

use rayon::prelude::*;

use super::ConstructionConfig;
use crate::graph::{CsrGraph, subgraph};
use crate::mapping::Mapping;
use crate::partition::{Partitioner, Preset, Targets};
use crate::rng::derive;
use crate::topology::Hierarchy;
use crate::types::{NodeId, PeId, Weight};

/// Blocks of one step: with fewer the cut grows (4 instead of 64: by 2 to 3 % on 2^18 processes), with more the
/// time, and less can run in parallel.
const MAX_BLOCKS: usize = 64;

pub(super) fn construct(
    graph: &CsrGraph,
    hierarchy: &Hierarchy,
    config: &ConstructionConfig,
    seed: u64,
) -> Mapping {
    let simple = hierarchy.simplified();
    let nodes: Vec<NodeId> = graph.nodes().collect();
    let mut process_of = nodes.clone();
    if let Some((&outermost, inner)) = simple.arities().split_last() {
        let level = Level { num_groups: outermost as usize, inner, preset: config.partitions };
        // Blocks are counted in processes, whatever the vertices weigh.
        let graph = graph.clone().with_unit_node_weights();
        place(&graph, &nodes, level, config, seed, &mut process_of);
    }
    let mut pe_of = vec![0; process_of.len()];
    for (pe, &process) in process_of.iter().enumerate() {
        pe_of[process as usize] = pe as PeId;
    }
    Mapping::from_permutation(pe_of)
}

/// Groups that processes are divided among.
#[derive(Clone, Copy)]
struct Level<'a> {
    num_groups: usize,
    /// The arities of the levels inside each group.
    inner: &'a [u32],
    /// The effort of partitions into the groups.
    preset: Preset,
}

/// Places the processes of `graph`, named `nodes` in the whole graph, on the PEs of the groups of a level;
/// `process_of` are the places.
fn place(
    graph: &CsrGraph,
    nodes: &[NodeId],
    level: Level<'_>,
    config: &ConstructionConfig,
    seed: u64,
    process_of: &mut [NodeId],
) {
    let Level { num_groups, inner, preset } = level;
    let Some((&outermost, innermost)) = inner.split_last() else {
        process_of.copy_from_slice(nodes);
        return;
    };
    if num_groups == 1 {
        if nodes.len() <= config.undivided {
            process_of.copy_from_slice(nodes);
        } else {
            let level = Level { num_groups: outermost as usize, inner: innermost, preset: config.inner };
            place(graph, nodes, level, config, seed, process_of);
        }
        return;
    }
    let num_blocks = first_step(num_groups);
    let group_size = nodes.len() / num_groups;
    // The first blocks get one group more if they cannot all get the same number.
    let groups_of = |block: usize| num_groups / num_blocks + usize::from(block < num_groups % num_blocks);
    let sizes = (0..num_blocks).map(|block| (groups_of(block) * group_size) as Weight).collect();
    let targets = Targets::sizes(graph, sizes, 0.0).expect("the blocks hold all groups");
    let partition = Partitioner::new(preset, derive(seed, 0)).partition(graph, &targets);
    let mut parts = Vec::with_capacity(num_blocks);
    let mut rest = process_of;
    for part in subgraph::split(graph, partition.blocks(), num_blocks) {
        let (places, others) = rest.split_at_mut(part.1.len());
        parts.push((part, places));
        rest = others;
    }
    parts.into_par_iter().enumerate().for_each(|(block, ((part, members), places))| {
        let members: Vec<NodeId> = members.into_iter().map(|node| nodes[node as usize]).collect();
        let level = Level { num_groups: groups_of(block), ..level };
        place(&part, &members, level, config, derive(seed, 1 + block as u64), places);
    });
}

/// Into how many blocks to divide first, so that no step makes more than [`MAX_BLOCKS`] where it can be helped.
fn first_step(num_groups: usize) -> usize {
    if num_groups <= MAX_BLOCKS { num_groups } else { num_groups.div_ceil(MAX_BLOCKS).min(MAX_BLOCKS) }
}
