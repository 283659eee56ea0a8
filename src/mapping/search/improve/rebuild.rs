//! Repartitioning a region into its outermost groups: destroy and repair.
//!
//! The [multilevel partitioner](crate::partition) partitions the region into blocks of the size of its
//! groups. Each block is assigned to the group with which it shares the most processes. Processes that stay
//! keep their places, processes that move take the free places, and annealing arranges the inside of the
//! groups again. The outcome is kept if it lowers J.
//!
//! The new partition must differ from the present one, so small regions are partitioned alternately with and
//! without coarsening.

use std::cmp::Reverse;

use super::effort::Improvement;
use super::region::Region;
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::types::{BlockId, PeId};
use crate::machine::Machine;
use crate::mapping::Mapping;
use crate::mapping::annealing::Improved;
use crate::mapping::annealing::tree::anneal;
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::partition::{Contraction, FixedVertices, PartitionConfig, Partitioner, Targets};

/// Regions of at most this many processes are coarsened in different ways or not at all: one way often finds
/// at once what another never finds.
const SMALL: usize = 1024;

/// Repartitions a region; keeps the result if it is better.
pub(super) fn rebuild(region: &Region, config: &Improvement, seed: u64, observer: &dyn Observer) -> Improved {
    let Region { graph, hierarchy, processes, is_fixed } = region;
    let identity = Mapping::identity(processes.len());
    let Some((&num_groups, [_, ..])) = hierarchy.arities().split_last() else {
        // All PEs are equivalent.
        return Improved::unchanged(identity.into_pes());
    };
    let num_groups = num_groups as usize;
    let targets = Targets::equal(graph, num_groups, 0.0).expect("a level has at least two groups");
    // Process i is on PE i.
    let size = processes.len() / num_groups;
    let group = |(process, &is_fixed): (usize, &bool)| is_fixed.then_some((process / size) as BlockId);
    let fixed = FixedVertices::known(is_fixed.iter().enumerate().map(group), num_groups);
    let targets = match is_fixed[..] {
        [] => targets,
        _ => targets.with_fixed(graph, fixed).expect("every process is in a group"),
    };
    let mut settings = PartitionConfig::preset(config.partitions).basic();
    if processes.len() <= SMALL {
        match Rng::new(derive(seed, 2)).below(6) {
            0 | 1 => settings = settings.without_coarsening(),
            2..5 => settings.contraction = Contraction::Matching,
            _ => {}
        }
    }
    let partitioner = Partitioner::with_valid_settings(settings, derive(seed, 0)).observed(observer);
    let partition = partitioner.partition(graph, &targets);
    if partition.overload() > 0 {
        return Improved::unchanged(identity.into_pes());
    }
    let start = Mapping::from_permutation(place(partition.blocks(), num_groups, is_fixed));
    if start == identity {
        return Improved::unchanged(start.into_pes());
    }
    let distances = Machine::distances(hierarchy).expect("those of trees are always known");
    let problem = Problem::new(graph, &distances).expect("a part of a problem is a problem");
    let loss = cost(&problem, &start) - cost(&problem, &identity);
    let improved = anneal(&region.problem(), start.pes(), &config.rebuilt, derive(seed, 1), observer);
    let gain = improved.gain - loss;
    if gain > 0 {
        Improved { gain, ..improved }
    } else {
        Improved { place_of: identity.into_pes(), gain: 0, made: 0, ..improved }
    }
}

/// The PE of each process such that the blocks of a partition become groups of PEs, and as many processes as
/// possible stay where they are: process i on PE i. Blocks with fixed processes become the groups of these.
fn place(blocks: &[BlockId], num_groups: usize, is_fixed: &[bool]) -> Vec<PeId> {
    let size = blocks.len() / num_groups;
    // Match blocks and groups greedily by their number of common processes.
    let mut common = vec![0usize; num_groups * num_groups];
    for (process, &block) in blocks.iter().enumerate() {
        common[block as usize * num_groups + process / size] += 1;
    }
    for (process, _) in is_fixed.iter().enumerate().filter(|&(_, &is_fixed)| is_fixed) {
        common[blocks[process] as usize * num_groups + process / size] = usize::MAX;
    }
    let mut pairs: Vec<usize> = (0..num_groups * num_groups).collect();
    pairs.sort_by_key(|&pair| Reverse(common[pair]));
    let mut group_of = vec![usize::MAX; num_groups];
    let mut taken = vec![false; num_groups];
    for pair in pairs {
        let (block, group) = (pair / num_groups, pair % num_groups);
        if group_of[block] == usize::MAX && !taken[group] {
            group_of[block] = group;
            taken[group] = true;
        }
    }
    let stays = |process: usize| group_of[blocks[process] as usize] == process / size;
    let mut free: Vec<std::vec::IntoIter<PeId>> = (0..num_groups)
        .map(|group| {
            let left: Vec<PeId> =
                (group * size..(group + 1) * size).filter(|&pe| !stays(pe)).map(|pe| pe as PeId).collect();
            left.into_iter()
        })
        .collect();
    (0..blocks.len())
        .map(|process| {
            if stays(process) {
                process as PeId
            } else {
                free[group_of[blocks[process] as usize]].next().expect("blocks are as large as groups")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_the_groups_they_have_most_in_common_with() {
        // Blocks 2, 0, 1 are groups 0, 1, 2, but for processes 1 and 3, which change sides.
        assert_eq!(place(&[2, 0, 2, 2, 0, 0, 1, 1, 1], 3, &[]), [0, 3, 2, 1, 4, 5, 6, 7, 8]);
        assert_eq!(place(&[1, 1, 0, 0], 2, &[]), [0, 1, 2, 3]);
        // Process 1 is fixed, so block 1 is group 0.
        assert_eq!(place(&[0, 1, 1, 0], 2, &[false, true, false, false]), [2, 1, 0, 3]);
    }
}
