//! Improvement beyond local search.
//!
//! | member | where | what |
//! |---|---|---|
//! | `tree` | regular trees | annealing with gain tables, and repartitioning, in regions |
//! | `anywhere` | all other machines | annealing with distances |
//! | `small_instance` | machines with few places | once after these, a population of mappings, with dense matrices |
//!
//! Problems of very few processes are solved exactly (`exact`). So are graphs with the shape of the machine
//! if that is not a tree (`embedding`). Lower bounds prove other mappings to be optimal (`bound`).

mod anywhere;
mod bound;
mod effort;
mod embedding;
mod exact;
mod rebuild;
mod region;
mod small_instance;
mod tree;

pub use crate::mapping::annealing::TreeCooling;
pub use anywhere::Anywhere;
pub(crate) use bound::lower_bound;
pub use effort::Improvement;
pub use small_instance::SmallInstance;
pub(crate) use small_instance::search_small_instance;

use super::task::SearchOutcome;
use crate::base::observer::Seeded;
use crate::graph::CsrGraph;
use crate::machine::Hierarchy;
use crate::machine::Places;
use crate::mapping::Mapping;
use crate::mapping::problem::Problem;
use crate::partition::FixedVertices;

/// Returns whether [`improve`] is guaranteed to return an optimum. This holds if the problem is small enough to
/// enumerate all mappings of the processes that have neighbours, or if all mappings cost the same because no process communicates or all PEs are
/// equally far apart.
pub fn finds_optimum(graph: &CsrGraph, machine: &Places) -> bool {
    finds_optimum_around(None, graph, machine)
}

/// The same for a problem with fixed processes.
pub(crate) fn finds_optimum_around(
    fixed: Option<&FixedVertices>,
    graph: &CsrGraph,
    machine: &Places,
) -> bool {
    let is_easy = || match (machine.hierarchy().map(Hierarchy::simplified), fixed) {
        (Some(hierarchy), None) => hierarchy.arities().len() < 2 || exact::is_small(&hierarchy),
        (Some(hierarchy), _) if hierarchy.arities().len() < 2 => true,
        _ => exact::is_small_around(fixed, graph),
    };
    graph.num_arcs() == 0 || is_easy()
}

/// Improves the most promising of several mappings; the result is not worse than any of them.
///
/// The distances of `problem` are those of `machine`. Every start has the fixed processes of the problem on
/// their PEs, and so has the result. If the observer asks to stop, the result is the best
/// mapping so far. Runs on the threads of the current rayon pool. Panics if there is no start, or if the
/// problem, the machine and the starts do not all have the same size.
pub fn improve(
    problem: &Problem<'_>,
    machine: &Places,
    starts: &[&Mapping],
    config: &Improvement,
    Seeded { seed, observer }: Seeded<'_>,
) -> SearchOutcome {
    match machine.hierarchy() {
        Some(hierarchy) => tree::improve(problem, hierarchy, starts, config, seed, observer),
        None => {
            let are_few = config.small_instance.is_few(problem.size());
            anywhere::improve(problem, starts, &config.anywhere, are_few, seed, observer)
        }
    }
}
