//! Further initial mappings besides the constructions of a preset.
//!
//! Each builds patterns perfectly that multilevel constructions and divisions miss: the greedy one some that are regular, division from the outermost
//! parts groups that fill the parts of an uneven tree exactly, that by nodes blocks of a grid, and cuts pieces of a grid with any stencil. A start is a
//! line of [`STARTS`].

use super::effort::size;
use super::run::{Made, Run, Start};
use crate::base::rng::derive;
use crate::base::types::Cost;
use crate::graph::CsrGraph;
use crate::machine::Places;
use crate::mapping::Mapping;
use crate::mapping::construct::{ByGrid, ByGroups, Construction, ConstructionError, Effort, InParts};
use crate::mapping::objective::cost;
use crate::mapping::problem::Problem;
use crate::solve::preset::MapPreset;

/// Most processes, edges and parts that a construction by groups looks at. Balances groups that hardly fit against time: a few hundredths
/// of a second.
const MOST_REGROUPED: usize = 1 << 22;

/// About how many processes and arcs are looked at for orders of a grid. Balances better cuts against time: some hundredths of a second.
const MOST_CUT: usize = 1 << 22;

/// Most processes and arcs of a graph whose groups are mapped to slots. Balances jobs of hundreds of thousands of ranks against the time in which
/// the weights of larger graphs are sorted.
const MOST_SLOTTED: usize = 1 << 22;

/// All of them; those before win where two are equally good.
pub(super) const STARTS: &[Start] = &[
    Start {
        applies: |run| run.is_small_multilevel(),
        construct: |run, problem| by_construction(run, problem, Construction::GreedyAllC),
    },
    Start {
        applies: |run| run.is_small_multilevel(),
        construct: |run, problem| by_construction(run, problem, Construction::HierarchyTopDown),
    },
    Start { applies: is_free, construct: by_groups },
    Start { applies: |run| is_free(run) && size(run.graph) <= MOST_SLOTTED, construct: by_slots },
    Start { applies: |run| is_free(run) && is_for_nodes(run), construct: by_nodes },
    Start { applies: is_free, construct: by_grid },
];

/// Returns whether processes may be anywhere, and are to be improved.
fn is_free(run: &Run<'_>) -> bool {
    run.initial.is_none() && run.fixed.is_none() && !run.is_final()
}

/// Returns whether nodes are worth a construction of their own.
fn is_for_nodes(run: &Run<'_>) -> bool {
    match run.config.construction.algorithm_on(run.machine) {
        Construction::Multilevel => true,
        // On this many places it takes half of the time of the quickest preset.
        Construction::DualRecursive => !run.is_quickest(),
        _ => false,
    }
}

/// Another construction of the same run.
fn by_construction(run: &Run<'_>, problem: &Problem<'_>, algorithm: Construction) -> Made {
    let config = &run.config.with_construction(algorithm);
    let mapping = Run { config, ..*run }.construct(problem, 0, &run.improving(Cost::MAX))?;
    Ok(Some((cost(problem, &mapping), mapping)))
}

/// The construction by groups, if there are any.
fn by_groups(run: &Run<'_>, problem: &Problem<'_>) -> Made {
    let effort = if run.is_quickest() { MOST_REGROUPED / 8 } else { MOST_REGROUPED };
    let (seed, observer) = (seed_of(run, 1), &run.improving(Cost::MAX));
    Ok(ByGroups { parts: run.machine.parts(), effort, seed, observer }.construct(problem))
}

/// The construction by equal nodes, if there are any.
fn by_nodes(run: &Run<'_>, problem: &Problem<'_>) -> Made {
    let Run { graph, machine, .. } = *run;
    let Some(nodes) = machine.nodes() else { return Ok(None) };
    let (effort, observer) = (effort_in_parts(run), &run.improving(Cost::MAX));
    let in_parts = InParts { machine, effort, seed: seed_of(run, 0), observer };
    let mapping = in_parts.by_nodes(&nodes, graph, |groups| map_groups(run, groups, &nodes.places))?;
    Ok(Some((cost(problem, &mapping), mapping)))
}

/// The construction by slots, if there are groups.
fn by_slots(run: &Run<'_>, problem: &Problem<'_>) -> Made {
    let Run { graph, machine, .. } = *run;
    let (effort, observer) = (effort_in_parts(run), &run.improving(Cost::MAX));
    let in_parts = InParts { machine, effort, seed: seed_of(run, 2), observer };
    let mapping = in_parts.by_slots(graph, |groups, slots| map_groups(run, groups, slots))?;
    Ok(mapping.map(|mapping| (cost(problem, &mapping), mapping)))
}

/// The construction by cuts, if the graph is a grid.
fn by_grid(run: &Run<'_>, problem: &Problem<'_>) -> Made {
    let effort = if run.is_quickest() { MOST_CUT / 8 } else { MOST_CUT };
    Ok(ByGrid { places: run.machine, effort, observer: &run.improving(Cost::MAX) }.construct(problem))
}

/// The seed of a start, by its number; counted from the end, as the constructions of a preset are from the beginning.
fn seed_of(run: &Run<'_>, number: u64) -> u64 {
    derive(derive(run.seed, 0), u64::MAX - number)
}

/// The effort of filling parts of the machine whose processes are known.
fn effort_in_parts(run: &Run<'_>) -> Effort {
    let effort = run.config.construction.effort();
    let partitions = if run.is_quickest() { effort.inner } else { effort.partitions };
    Effort { undivided: 0, partitions, ..effort }
}

/// The mapping of groups, with the effort of the next quicker preset: the whole is improved afterwards.
fn map_groups(run: &Run<'_>, graph: &CsrGraph, machine: &Places) -> Result<Mapping, ConstructionError> {
    let quicker = run.config.with_effort_of(run.config.not_worse_than.unwrap_or(MapPreset::Fast));
    let (config, observer) = (&quicker, &run.improving(Cost::MAX));
    let of_groups = Run { graph, machine, config, start: None, time_limit: None, observer, ..*run };
    let problem = Problem::new(graph, machine.distances()).expect("J is a part of that of the whole");
    let problem = problem.with_parts(machine.parts());
    Ok(of_groups.search_with_rivals(&problem, &of_groups.constructed(&problem)?, &[])?.mapping)
}
