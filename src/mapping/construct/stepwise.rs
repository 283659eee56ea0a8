//! Partitions a graph into groups of equal size, in steps of at most 64 blocks.
//!
//! 4096 groups become 64 times 64. On meshes and geometric graphs, the cut is no larger than that of a
//! partition into all groups at once, in half the time. The blocks of one step are independent: they run in
//! parallel, each with a seed derived from its position. Takes a partition of the whole graph for each step;
//! memory O(n + m).

use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::{CsrGraph, subgraph};
use crate::partition::{FixedVertices, Partition, PartitionConfig, PartitionPreset, Partitioner, Targets};

/// Blocks per step. Fewer blocks increase the cut (4 instead of 64: by 2 to 3 % on 2^18 processes). More
/// blocks take more time and leave less parallelism.
const MAX_BLOCKS: usize = 64;

/// Partitions of a thorough step. Of regular graphs, one in ten misses the pattern.
const TRIES: usize = 3;

/// The action inside a group. Arguments: the index of the group, its subgraph, the names of its vertices in
/// the whole graph, a seed, and the places to fill with these names.
pub(super) type Inside<'a> = &'a (dyn Fn(usize, &CsrGraph, &[NodeId], u64, Slots<'_>) + Sync);

/// Consecutive places, to be filled with the names of processes.
pub(super) struct Slots<'a> {
    /// The number of the first place.
    pub begin: usize,
    pub process_of: &'a mut [NodeId],
}

impl<'a> Slots<'a> {
    /// Number of places.
    pub fn len(&self) -> usize {
        self.process_of.len()
    }

    /// The first places and the others.
    fn split(self, count: usize) -> (Self, Self) {
        let (first, rest) = self.process_of.split_at_mut(count);
        (
            Slots { begin: self.begin, process_of: first },
            Slots { begin: self.begin + count, process_of: rest },
        )
    }

    /// Fills the places with processes in order, around those that are fixed.
    pub fn fill(self, nodes: &[NodeId], fixed: Option<&FixedVertices>) {
        let Some(fixed) = fixed else { return self.process_of.copy_from_slice(nodes) };
        let mut is_free = vec![true; self.len()];
        for &node in nodes {
            if let Some(place) = fixed.of(node) {
                let local = place as usize - self.begin;
                (self.process_of[local], is_free[local]) = (node, false);
            }
        }
        let free = self.process_of.iter_mut().zip(is_free).filter(|&(_, is_free)| is_free);
        let others = nodes.iter().filter(|&&node| fixed.of(node).is_none());
        free.zip(others).for_each(|((slot, _), &node)| *slot = node);
    }
}

/// How graphs are partitioned. Vertices have weight 1, and their number is the sum of the group sizes.
#[derive(Clone, Copy)]
pub(super) struct StepwisePartition<'a> {
    /// The effort of the partitions.
    pub preset: PartitionPreset,
    /// True if the best of several partitions is taken, with the effort that exact sizes need.
    pub is_thorough: bool,
    /// Once it asks to stop, the rest is divided in the order of the vertices.
    pub observer: &'a dyn Observer,
    /// Processes that must be on given places, by their names.
    pub fixed: Option<&'a FixedVertices>,
}

impl StepwisePartition<'_> {
    /// The group of each vertex: `num_groups` groups of equal size with a small cut.
    pub fn groups(&self, graph: &CsrGraph, num_groups: usize, seed: u64) -> Vec<BlockId> {
        let nodes: Vec<NodeId> = graph.nodes().collect();
        let mut order = nodes.clone();
        let sizes = vec![nodes.len() / num_groups; num_groups];
        let slots = Slots { begin: 0, process_of: &mut order };
        self.arrange(graph, &nodes, 0, &sizes, seed, slots, &|_, _, members, _, slots| {
            slots.fill(members, self.fixed);
        });
        let mut group_of = vec![0; nodes.len()];
        for (place, &node) in order.iter().enumerate() {
            group_of[node as usize] = (place * num_groups / nodes.len()) as BlockId;
        }
        group_of
    }

    fn partition(&self, graph: &CsrGraph, targets: &Targets, seed: u64) -> Partition {
        if !self.is_thorough {
            let settings = PartitionConfig::preset(self.preset).basic();
            let partitioner = Partitioner::with_valid_settings(settings, seed).observed(self.observer);
            return partitioner.partition(graph, targets);
        }
        let partition = |number: usize| {
            let partitioner = Partitioner::new(self.preset, derive(seed, number as u64)).basic();
            partitioner.observed(self.observer).partition(graph, targets)
        };
        let partitions = threads::map(TRIES, 1, &partition);
        partitions.into_iter().min_by_key(Partition::score).expect("there is a try")
    }

    /// Partitions a graph, whose vertices have the names `nodes`, into groups of these sizes. Then `inside`
    /// fills the `places` of each group. The first group has the index `first`.
    #[allow(clippy::too_many_arguments)] // the state of a recursion
    pub fn arrange(
        &self,
        graph: &CsrGraph,
        nodes: &[NodeId],
        first: usize,
        groups: &[usize],
        seed: u64,
        slots: Slots<'_>,
        inside: Inside<'_>,
    ) {
        if self.observer.should_stop() {
            return slots.fill(nodes, self.fixed);
        }
        let num_groups = groups.len();
        if num_groups == 1 {
            return inside(first, graph, nodes, seed, slots);
        }
        let num_blocks = first_step(num_groups);
        // If the groups cannot be distributed evenly, the first blocks get one group more.
        let (few, more) = (num_groups / num_blocks, num_groups % num_blocks);
        let begin = |block: usize| few * block + block.min(more);
        let groups_of = |block: usize| &groups[begin(block)..begin(block + 1)];
        let size = |block: usize| groups_of(block).iter().sum::<usize>() as Weight;
        let sizes: Vec<Weight> = (0..num_blocks).map(size).collect();
        let fixed = self.fixed.map(|fixed| blocks_of_fixed(fixed, nodes, slots.begin, &sizes));
        let targets = Targets::sizes(graph, sizes, 0.0).expect("the blocks hold all groups");
        let targets = match fixed {
            Some(fixed) => targets.with_fixed(graph, fixed).expect("fixed places are in some block"),
            None => targets,
        };
        let partition = self.partition(graph, &targets, derive(seed, 0));
        let mut parts = Vec::with_capacity(num_blocks);
        let mut rest = slots;
        for part in subgraph::split(graph, partition.blocks(), num_blocks) {
            let (slots, others) = rest.split(part.1.len());
            parts.push((part, slots));
            rest = others;
        }
        threads::map_each(parts.into_iter().enumerate().collect(), &|(block, ((part, members), slots))| {
            let members: Vec<NodeId> = members.into_iter().map(|node| nodes[node as usize]).collect();
            let seed = derive(seed, 1 + block as u64);
            self.arrange(&part, &members, first + begin(block), groups_of(block), seed, slots, inside);
        });
    }
}

/// The blocks of the vertices that are fixed, if the blocks are ranges of places of these sizes.
fn blocks_of_fixed(fixed: &FixedVertices, nodes: &[NodeId], begin: usize, sizes: &[Weight]) -> FixedVertices {
    let ends: Vec<usize> = sizes
        .iter()
        .scan(begin, |end, &size| {
            *end += size as usize;
            Some(*end)
        })
        .collect();
    let block = |place: BlockId| ends.partition_point(|&end| end <= place as usize) as BlockId;
    FixedVertices::known(nodes.iter().map(|&node| fixed.of(node).map(block)), sizes.len())
}

/// The number of blocks of the first step, such that no step makes more than [`MAX_BLOCKS`] if possible.
fn first_step(num_groups: usize) -> usize {
    if num_groups <= MAX_BLOCKS { num_groups } else { num_groups.div_ceil(MAX_BLOCKS).min(MAX_BLOCKS) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;

    #[test]
    fn groups_are_of_equal_size() {
        let graph = generate::mesh(20, 30, 1);
        for num_groups in [1, 2, 3, 50, 75, 100, 300, 600] {
            let stepwise = StepwisePartition {
                preset: PartitionPreset::Fast,
                is_thorough: false,
                observer: &(),
                fixed: None,
            };
            let group_of = stepwise.groups(&graph, num_groups, 4);
            let mut sizes = vec![0; num_groups];
            for &group in &group_of {
                sizes[group as usize] += 1;
            }
            assert!(sizes.iter().all(|&size| size == 600 / num_groups), "{num_groups}: {sizes:?}");
        }
    }

    #[test]
    fn steps_are_of_at_most_64_blocks_up_to_4096_groups() {
        for num_groups in 2..=4096 {
            let blocks = first_step(num_groups);
            assert!((2..=MAX_BLOCKS).contains(&blocks));
            assert!(num_groups.div_ceil(blocks) <= MAX_BLOCKS, "{num_groups}");
        }
    }
}
