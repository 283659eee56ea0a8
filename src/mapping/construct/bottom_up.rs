//! Bottom-up construction: partition into innermost groups, contract, repeat (Schulz and Träff, "Better
//! process mapping and sparse quadratic assignment", 2017).
//!
//! The graph is partitioned into as many blocks of equal size as the machine has innermost groups
//! ([`StepwisePartition`]). The blocks become the vertices of a quotient graph, which is partitioned into the
//! groups of the next level, and so on. Then places are assigned from the outermost level inwards. Levels
//! that make no difference (one member, or the same distance as the next level) are skipped.
//!
//! Takes a partition of the graph, then one of each of the shrinking quotient graphs; memory O(n + m).

use super::stepwise::StepwisePartition;
use crate::base::rng::derive;
use crate::base::types::{BlockId, PeId};
use crate::graph::quotient;
use crate::mapping::Mapping;
use crate::mapping::construct::task::{ConstructionError, Task};

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let Task { effort, seed, observer, .. } = *task;
    let graph = task.problem.graph();
    // Other constructions are tried too, and all are improved later: more effort for exact sizes does not pay off.
    let stepwise = StepwisePartition { preset: effort.partitions, is_thorough: false, observer, fixed: None };
    let simple = task.hierarchy()?.simplified();
    let Some((_, inner)) = simple.arities().split_last() else {
        return Ok(Mapping::identity(graph.num_nodes()));
    };
    // Groups are counted in members, whatever their weights.
    let mut graph = graph.clone().with_unit_node_weights();
    let mut groupings: Vec<Vec<BlockId>> = Vec::with_capacity(inner.len());
    for (level, &arity) in inner.iter().enumerate() {
        let num_groups = graph.num_nodes() / arity as usize;
        let groups = stepwise.groups(&graph, num_groups, derive(seed, level as u64));
        graph = quotient::contract(&graph, &groups, num_groups).with_unit_node_weights();
        groupings.push(groups);
    }
    let outermost: Vec<PeId> = graph.nodes().collect();
    let places = groupings.iter().zip(inner).rev().fold(outermost, |place_of_group, (group_of, &arity)| {
        // The members of the group at place p take the places from p · arity on.
        let mut next: Vec<PeId> = place_of_group.iter().map(|&place| place * arity).collect();
        let take = |&group: &BlockId| {
            let slot = &mut next[group as usize];
            *slot += 1;
            *slot - 1
        };
        group_of.iter().map(take).collect()
    });
    Ok(Mapping::from_permutation(places))
}
