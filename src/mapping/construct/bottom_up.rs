//! Bottom-up construction: partition into innermost groups, contract, repeat (Schulz and Träff, "Better
//! process mapping and sparse quadratic assignment", 2017).
//!
//! The graph is divided into as many blocks as the machine has innermost groups, all of equal size
//! ([`Multisection`]); the blocks become the vertices of a quotient graph, which is divided
//! into the groups of the next level, and so on. Then places are given out from the outside in. Levels that
//! make no difference (one member, or the same distance as the next) are skipped.
//!
//! Costs a partition of the graph, then one of each of the shrinking quotients; memory O(n + m).

use super::multisection::Multisection;
use crate::graph::quotient;
use crate::ground::rng::derive;
use crate::ground::types::{BlockId, PeId};
use crate::mapping::Mapping;
use crate::mapping::construct::{ConstructionError, Task};

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let Task { config, seed, observer, .. } = *task;
    let graph = task.problem.graph();
    let multisection = Multisection { preset: config.partitions, observer };
    let simple = task.hierarchy()?.simplified();
    let Some((_, inner)) = simple.arities().split_last() else {
        return Ok(Mapping::identity(graph.num_nodes()));
    };
    // Groups are counted in members, whatever these weigh.
    let mut graph = graph.clone().with_unit_node_weights();
    let mut groupings: Vec<Vec<BlockId>> = Vec::with_capacity(inner.len());
    for (level, &arity) in inner.iter().enumerate() {
        let num_groups = graph.num_nodes() / arity as usize;
        let groups = multisection.groups(&graph, num_groups, derive(seed, level as u64));
        graph = quotient::contract(&graph, &groups, num_groups).with_unit_node_weights();
        groupings.push(groups);
    }
    let outermost: Vec<PeId> = graph.nodes().collect();
    let places = groupings.iter().zip(inner).rev().fold(outermost, |place_of_group, (group_of, &arity)| {
        // The members of the group at place p have the places p · arity and following.
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
