//! The multilevel scheme: coarsen, partition the coarsest graph, refine on every level on the way back.

use super::coarsen::{self, Hierarchy};
use super::initial;
use super::level::{self, Level, Stored};
use super::refine::balance;
use super::refine::flow::Flow;
use super::refine::k_way::{Assignment, KWay};
use super::settings::Settings;
use super::targets::Targets;
use crate::graph::CsrGraph;
use crate::rng::Rng;
use crate::types::Weight;

pub(crate) fn partition(graph: &CsrGraph, targets: &Targets, settings: &Settings, seed: u64) -> Assignment {
    if level::is_narrow(graph) {
        partition_level(&Level::<i32>::new(graph), targets, settings, seed)
    } else {
        partition_level(&Level::<i64>::new(graph), targets, settings, seed)
    }
}

fn partition_level<W: Stored>(
    graph: &Level<W>,
    targets: &Targets,
    settings: &Settings,
    seed: u64,
) -> Assignment {
    let mut rng = Rng::new(seed);
    let k = targets.num_blocks();
    let (sizes, bounds) = (targets.block_sizes(), targets.bounds());
    if k == 1 {
        return Assignment::new(graph, vec![0; graph.num_nodes()], 1);
    }
    // Two blocks need no detour, and with few vertices a block recursive bisection is the better start.
    let enough = settings.k_way.coarsest_per_block * k;
    let hierarchy = if k == 2 {
        Hierarchy { steps: Vec::new() }
    } else {
        Hierarchy::build(graph, enough, None, &mut rng)
    };
    let coarsest = hierarchy.steps.last().map_or(graph, |step| &step.1);
    let tolerance = if hierarchy.steps.is_empty() { 0 } else { coarsest.max_node_weight() };
    let blocks =
        initial::recursive_bisection(coarsest, sizes, bounds, tolerance, &settings.bisection, &mut rng);
    let mut assignment = Assignment::new(coarsest, blocks, k);
    if k == 2 {
        balance::fill_empty(graph, &mut assignment, sizes, bounds);
        return assignment;
    }
    let mut k_way = KWay::default();
    let mut flow = Flow::default();
    k_way.resize(graph.num_nodes(), k);
    for index in (0..=hierarchy.steps.len()).rev() {
        let level = if index == 0 { graph } else { &hierarchy.steps[index - 1].1 };
        if let Some((coarse_of, _)) = hierarchy.steps.get(index) {
            assignment.blocks = coarsen::project(&assignment.blocks, coarse_of);
        }
        let slack = level.max_node_weight();
        let relaxed: Vec<Weight> =
            sizes.iter().zip(bounds).map(|(&size, &bound)| bound.max(size + slack)).collect();
        balance::unload(level, &mut assignment, &relaxed);
        k_way.refine(level, &mut assignment, &relaxed, &settings.k_way, &mut rng);
        if settings.flow.rounds > 0 && flow.refine(level, &mut assignment, &relaxed, &settings.flow) {
            k_way.refine(level, &mut assignment, &relaxed, &settings.k_way, &mut rng);
        }
    }
    balance::unload(graph, &mut assignment, bounds);
    k_way.refine(graph, &mut assignment, bounds, &settings.k_way, &mut rng);
    balance::fill_empty(graph, &mut assignment, sizes, bounds);
    assignment
}
