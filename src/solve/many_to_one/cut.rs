//! Partitions: PEs are blocks, and the cut is the objective, whatever the distances.

use super::run::{Known, Origin, Run};
use crate::base::observer::{Limited, Observer as _, Phase};
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::partition::{Envelope, PartitionPreset, Partitioner, Targets, TargetsError, cut};
use crate::solve::balance::Balance;
use crate::solve::error::SolveError;
use crate::solve::initial::{Along, Order};
use crate::solve::report::Solution;

/// The best partitions: those along an order if one is given; otherwise one by a partitioner, or those of a remapping for several weights of
/// migration.
pub(in crate::solve) fn partition(
    run: &Run<'_>,
    preset: PartitionPreset,
    order: Option<Order<'_>>,
) -> Result<Envelope<Solution>, SolveError> {
    run.check()?;
    let &Run { graph, balance, from, fixed, observer, begin, time_limit, seed, .. } = run;
    let (machine, distances) = (run.machine.machine(), run.machine.distances()?);
    let capacities = machine.capacities();
    let mut targets = targets(run, &capacities)?;
    if let Origin::PreviousAssignment(remapping) = from {
        targets = targets.near(&capacities, &remapping.homes.loads(graph));
    }
    if let Some(fixed) = fixed {
        targets = targets.with_fixed(graph, fixed.clone())?;
    }
    let cost_of_identity = evaluate(graph, distances, &balance.identity(graph, machine, fixed)?)?;
    observer.begins(Phase::Search);
    let limited = &Limited::silent(observer, begin, time_limit);
    let partitioner = Partitioner::new(preset, seed).observed(limited);
    let found = match (from, order) {
        (_, Some(order)) => {
            let along = Along { graph, machine: run.machine, order, preset, seed, observer: limited };
            Envelope::single(along.blocks(&targets)?)
        }
        (Origin::PreviousAssignment(remapping), None) => {
            partitioner.remap(graph, &targets, remapping)?.map(|remapped| remapped.partition.into_blocks())
        }
        (Origin::Nothing | Origin::Start(_), None) => {
            Envelope::single(partitioner.partition(graph, &targets).into_blocks())
        }
    };
    let known = Known { cost_of_identity, cost_of_start: None, stopped: limited.should_stop() };
    found.try_map(|blocks| {
        let (cut, mapping) = (cut(graph, &blocks), Mapping::from_places(blocks));
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
