//! Partitions: PEs are blocks, and the cut is the objective, whatever the distances.

use super::run::{Known, Origin, Run};
use crate::ground::observer::{Limited, Observer as _, Phase};
use crate::ground::types::Cost;
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::partition::{Envelope, Migration, Partitioner, Remapped, Targets, TargetsError};
use crate::solve::balance::Balance;
use crate::solve::error::SolveError;
use crate::solve::report::Solution;

/// The best partitions by a partitioner: one, or those of a remapping for several weights of migration.
pub(in crate::solve) fn partition(
    run: &Run<'_>,
    partitioner: &Partitioner,
) -> Result<Envelope<Solution>, SolveError> {
    run.check()?;
    let &Run { graph, balance, from, fixed, observer, begin, time_limit, .. } = run;
    let (machine, distances) = (run.machine.machine(), run.machine.distances()?);
    let capacities = machine.capacities();
    let mut targets = targets(run, &capacities)?;
    if let Origin::Homes(remapping) = from {
        targets = targets.near(&capacities, &remapping.homes.loads(graph));
    }
    if let Some(fixed) = fixed {
        targets = targets.with_fixed(graph, fixed.clone())?;
    }
    let cost_of_identity = evaluate(graph, distances, &balance.identity(graph, machine, fixed)?)?;
    observer.begins(Phase::Search);
    let limited = Limited::silent(observer, begin, time_limit);
    let found = match from {
        Origin::Homes(remapping) => partitioner.remap(graph, &targets, remapping, &limited)?,
        Origin::Nothing | Origin::Start(_) => Envelope::single(Remapped {
            partition: partitioner.partition(graph, &targets, &limited),
            migration: Migration::default(),
        }),
    };
    let known = Known { cost_of_identity, cost_of_start: None, stopped: limited.should_stop() };
    found.try_map(|Remapped { partition, .. }| {
        let cut: Cost = partition.cut();
        let mapping = Mapping::from_places(partition.into_blocks());
        let cost = evaluate(graph, distances, &mapping)?;
        Ok(run.solution(mapping, (cost, cut), &known))
    })
}

/// The bounds of the blocks. If shares are equal, the first blocks are the larger ones.
fn targets(run: &Run<'_>, capacities: &[u32]) -> Result<Targets, TargetsError> {
    let (graph, Balance { imbalance, least_load }) = (run.graph, run.balance);
    if capacities.windows(2).any(|pair| pair[0] != pair[1]) {
        return run.balance.targets(graph, capacities);
    }
    let least = Targets::least_shares(graph, capacities, least_load)?;
    Targets::equal(graph, capacities.len(), imbalance)?.with_least_loads(least)
}
