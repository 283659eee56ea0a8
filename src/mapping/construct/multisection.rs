//! Dividing a graph into groups of equal size, many of them in steps.
//!
//! 4096 groups become 64 times 64: on meshes and geometric graphs that cuts as little as a partition into all
//! groups at once or less, in half the time, and blocks of one step are independent. They run in parallel,
//! each with a seed that names its place. Costs a partition of the whole graph for each step; memory
//! O(n + m).

use rayon::prelude::*;

use crate::graph::{CsrGraph, subgraph};
use crate::ground::observer::Observer;
use crate::ground::rng::derive;
use crate::ground::types::{BlockId, NodeId, Weight};
use crate::partition::{PartitionConfig, PartitionPreset, Partitioner, Targets};

/// Blocks of one step: with fewer the cut grows (4 instead of 64: by 2 to 3 % on 2^18 processes), with more the
/// time, and less can run in parallel.
const MAX_BLOCKS: usize = 64;

/// What to do inside of a group: its index, its subgraph, what its vertices are called in the whole graph, a seed, and
/// the places to fill with these names.
pub(super) type Inside<'a> = &'a (dyn Fn(usize, &CsrGraph, &[NodeId], u64, &mut [NodeId]) + Sync);

/// How graphs are divided. Vertices weigh 1, and their number is the sum of the sizes of the groups.
#[derive(Clone, Copy)]
pub(super) struct Multisection<'a> {
    /// The effort of the partitions.
    pub preset: PartitionPreset,
    /// Once it asks to stop, what is left is divided in the order of the vertices.
    pub observer: &'a dyn Observer,
}

impl Multisection<'_> {
    /// The group of each vertex: `num_groups` of equal size, few edges between them.
    pub fn groups(&self, graph: &CsrGraph, num_groups: usize, seed: u64) -> Vec<BlockId> {
        let nodes: Vec<NodeId> = graph.nodes().collect();
        let mut order = nodes.clone();
        let sizes = vec![nodes.len() / num_groups; num_groups];
        self.arrange(graph, &nodes, 0, &sizes, seed, &mut order, &|_, _, members, _, places| {
            places.copy_from_slice(members);
        });
        let mut group_of = vec![0; nodes.len()];
        for (place, &node) in order.iter().enumerate() {
            group_of[node as usize] = (place * num_groups / nodes.len()) as BlockId;
        }
        group_of
    }

    /// Divides a graph, whose vertices are called `nodes`, into groups of these sizes, and fills `places`, group
    /// after group, as `inside` does. The first group has the index `first`.
    #[allow(clippy::too_many_arguments)] // the state of a recursion
    pub fn arrange(
        &self,
        graph: &CsrGraph,
        nodes: &[NodeId],
        first: usize,
        groups: &[usize],
        seed: u64,
        places: &mut [NodeId],
        inside: Inside<'_>,
    ) {
        if self.observer.should_stop() {
            return places.copy_from_slice(nodes);
        }
        let num_groups = groups.len();
        if num_groups == 1 {
            return inside(first, graph, nodes, seed, places);
        }
        let num_blocks = first_step(num_groups);
        // The first blocks get one group more if they cannot all get the same number.
        let (few, more) = (num_groups / num_blocks, num_groups % num_blocks);
        let begin = |block: usize| few * block + block.min(more);
        let groups_of = |block: usize| &groups[begin(block)..begin(block + 1)];
        let size = |block: usize| groups_of(block).iter().sum::<usize>() as Weight;
        let sizes = (0..num_blocks).map(size).collect();
        let targets = Targets::sizes(graph, sizes, 0.0).expect("the blocks hold all groups");
        // Others are made and all are searched afterwards: more effort for exact sizes is not worth its time.
        let partitioner =
            Partitioner::with_valid_settings(PartitionConfig::preset(self.preset), derive(seed, 0));
        let partition = partitioner.partition_watched(graph, &targets, self.observer);
        let mut parts = Vec::with_capacity(num_blocks);
        let mut rest = places;
        for part in subgraph::split(graph, partition.blocks(), num_blocks) {
            let (places, others) = rest.split_at_mut(part.1.len());
            parts.push((part, places));
            rest = others;
        }
        parts.into_par_iter().with_max_len(1).enumerate().for_each(|(block, ((part, members), places))| {
            let members: Vec<NodeId> = members.into_iter().map(|node| nodes[node as usize]).collect();
            let seed = derive(seed, 1 + block as u64);
            self.arrange(&part, &members, first + begin(block), groups_of(block), seed, places, inside);
        });
    }
}

/// Into how many blocks to divide first, so that no step makes more than [`MAX_BLOCKS`] where it can be helped.
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
            let multisection = Multisection { preset: PartitionPreset::Fast, observer: &() };
            let group_of = multisection.groups(&graph, num_groups, 4);
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
