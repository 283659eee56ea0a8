//! One-to-one mappings within bounds of the loads.
//!
//! *Problem.* Processes have weights, such as memory, and PEs and nodes bound those of their processes together. Each process has a place of its own all the
//! same. Minimise J.
//!
//! *Algorithm.* The mapping without bounds comes first, with all its searches. If it keeps the bounds, it is the result, so bounds that do not bind cost
//! nothing. Otherwise, [exchanges](VectorPartitioner::placed) bring it within them, and then lower J inside.

use super::task::Task;
use crate::base::observer::Limited;
use crate::mapping::Mapping;
use crate::partition::{BlockTree, Layout, PartitionPreset, VectorPartitioner, VectorProblem};
use crate::solve::balance::in_order;
use crate::solve::error::SolveError;
use crate::solve::limits::LimitsByWeight;
use crate::solve::many_to_one::between;
use crate::solve::report::Solution;
use crate::solve::several::SeveralWeights;

/// One part in this many of a time limit is reserved for the exchanges.
const LAST_PART: u32 = 4;

/// The mapping of a task within these limits, which have no least loads.
pub(in crate::solve) fn solve(
    task: Task<'_>,
    limits: LimitsByWeight<'_>,
    preset: PartitionPreset,
) -> Result<Solution, SolveError> {
    let Task { graph, machine, given, seed, begin, time_limit, observer, .. } = task;
    let whole = machine.machine();
    let first = Task { time_limit: time_limit.map(|limit| limit - limit / LAST_PART), ..task };
    let Solution { mapping, mut report } = first.solve()?;
    let of_one;
    let several = match limits {
        LimitsByWeight::Several(several) => several,
        LimitsByWeight::One(limits) => {
            of_one = SeveralWeights::of_graph(graph, limits);
            &of_one
        }
    };
    let order = in_order(whole);
    let (targets, flat) = (several.targets(whole, &order)?, BlockTree::new(order.len(), |_| Vec::new()));
    let distances = between(machine.distances()?, &order);
    let problem = VectorProblem::new(graph, several.weights(), &targets)?.with_fixed(given.fixed)?;
    let problem = problem.with_layout(Layout::new(&flat, &*distances));
    let limited = Limited::silent(observer, begin, time_limit);
    let partitioner = VectorPartitioner::new(preset, seed).observed(&limited);
    let starts: Vec<_> = [mapping.pes()].into_iter().chain(given.start.map(Mapping::pes)).collect();
    let placed = partitioner.placed(&problem, &whole.capacities(), &starts);
    (report.cost, report.cut) = (placed.cost(), placed.cut());
    let total = begin.elapsed().as_secs_f64();
    (report.seconds.search, report.seconds.total) =
        (report.seconds.search + total - report.seconds.total, total);
    let mapping = Mapping::from_places(placed.into_blocks());
    let loads = limits.loads(graph, whole, mapping.pes());
    Ok(Solution { report: limits.report(report, loads), mapping })
}
