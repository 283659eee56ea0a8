//! Partitions: PEs are blocks, and the cut is the objective, whatever the distances.

use super::run::{Known, Origin, Run};
use crate::base::observer::{Limited, Observer as _, Phase};
use crate::base::types::Weight;
use crate::mapping::Mapping;
use crate::mapping::objective::evaluate;
use crate::partition::{Envelope, Partition, PartitionPreset, Partitioner, Targets, TargetsError, cut};
use crate::solve::balance::{LoadLimits, are_alike, in_order, near};
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
    let &Run { graph, limits, from, fixed, is_connected, observer, begin, time_limit, seed, .. } = run;
    let (machine, distances) = (run.machine.machine(), run.machine.distances()?);
    let before = match from {
        Origin::PreviousAssignment(remapping) => Some(remapping.homes.loads(graph)),
        Origin::Nothing | Origin::Start(_) => None,
    };
    let mut targets = targets(run, before.as_deref())?;
    if let Some(fixed) = fixed {
        targets = targets.with_fixed(graph, fixed.clone())?;
    }
    let cost_of_identity = evaluate(graph, distances, &limits.identity(graph, machine, fixed)?)?;
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
    // A time limit ends the search; that blocks are connected is a constraint.
    let connected = |blocks| match is_connected {
        true => Partition::of(graph, blocks, &targets).connected(graph, &targets, observer).into_blocks(),
        false => blocks,
    };
    found.map(connected).try_map(|blocks| {
        let (cut, mapping) = (cut(graph, &blocks), Mapping::from_places(blocks));
        let cost = evaluate(graph, distances, &mapping)?;
        Ok(run.solution(mapping, (cost, cut), &known))
    })
}

/// The bounds of the blocks. If shares are equal, the first blocks are the larger ones.
fn targets(run: &Run<'_>, before: Option<&[Weight]>) -> Result<Targets, TargetsError> {
    let (graph, machine) = (run.graph, run.machine.machine());
    let (capacities, order) = (run.limits.capacities(machine), &in_order(machine)[..]);
    match run.limits {
        limits @ LoadLimits::Proportional { balance, .. } if are_alike(&capacities) => {
            let equal = Targets::equal(graph, capacities.len(), balance.imbalance)?;
            let equal = limits.widened(equal, graph, &capacities, order)?;
            limits.with_least_loads(near(equal, &capacities, before), graph, &capacities, order)
        }
        limits => limits.targets(graph, machine, order, before),
    }
}
