//! Loads that are not as asked, in words.

use crate::console::Console;
use viem::base::text::counted;
use viem::base::types::{NodeId, Weight};
use viem::graph::CsrGraph;
use viem::partition::{FixedVertices, Targets};
use viem::solve::{Loads, NodeLoads, Report};

/// What loads are those of.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    pub(crate) one: &'static str,
    pub(crate) several: &'static str,
}

/// Blocks of a partition.
pub(crate) const BLOCKS: Places = Places { one: "block", several: "blocks" };

/// Processing elements.
pub(crate) const PES: Places = Places { one: "PE", several: "PEs" };

/// The words that follow a number: the first ones after 1.
pub(crate) fn agreeing<T>(count: usize, one: T, many: T) -> T {
    if count == 1 { one } else { many }
}

/// Prints how many of all places have less than half of their share by a weight, if any, and warns if some are below their least load.
pub(crate) fn print_below(console: Console, Places { several, .. }: Places, loads: &[Loads], all: usize) {
    let several_weights = loads.len() > 1;
    for (weight, loads) in (1..).zip(loads) {
        let &Loads { below_half: half, below_least: least, shortfall, .. } = loads;
        let by_weight = if several_weights { format!(" of weight {weight}") } else { String::new() };
        if half > 0 {
            let (have, their) = agreeing(half, ("has", "its"), ("have", "their"));
            console.line(format_args!(
                "{half} of {all} {several} {have} less than half of {their} share{by_weight}"
            ));
        }
        if least > 0 {
            let (are, their) = agreeing(least, ("is", "its"), ("are", "their"));
            console.warn(format_args!(
                "{least} of {all} {several} {are} below {their} least load{by_weight}, by {shortfall} in total; allow more --imbalance or ask for less --least-load"
            ));
        }
    }
}

/// The loads of a report: one, or one for each of several weights.
pub(crate) fn each(report: &Report) -> &[Loads] {
    match &report.loads_by_weight[..] {
        [] => report.loads.as_slice(),
        several => several,
    }
}

/// Prints the loads by each of several weights.
pub(crate) fn print_by_weight(console: Console, Places { one, .. }: Places, loads: &[Loads]) {
    for (weight, loads) in (1..).zip(loads) {
        let Loads { least, mean, greatest, bound, nodes, .. } = loads;
        console.line(format_args!(
            "weight {weight} of a {one}: {least} least, {mean:.2} mean, {greatest} greatest; bound {bound}"
        ));
        if let Some(NodeLoads { greatest, bound, overload, .. }) = nodes {
            let over = if *overload > 0 { format!(", exceeded by {overload}") } else { String::new() };
            console.line(format_args!("weight {weight} of a node: {greatest} greatest; bound {bound}{over}"));
        }
    }
}

/// The weight, counted from 0, whose bound is exceeded most, in words, and what allows more of it.
pub(crate) fn fullest_weight(weight: usize, loads: Option<&Loads>) -> (String, &'static str) {
    let fullest = loads.map_or(1.0, Loads::greatest_fullness);
    let nodes = loads.is_some_and(|loads| loads.fullest < fullest);
    let (place, option) = if nodes { (" of a node", "--node-capacity") } else { ("", "--imbalance") };
    let times = if fullest.is_finite() { format!(", {fullest:.5} times") } else { String::new() };
    (format!("weight {} of the vertices exceeds its bound{place} most{times}", weight + 1), option)
}

/// Prints how many places with capacity have no vertex.
pub(crate) fn print_empty(
    console: Console,
    Places { several, .. }: Places,
    empty: usize,
    capacities: &[u32],
    num_nodes: usize,
) {
    let open = capacities.iter().filter(|&&capacity| capacity > 0).count();
    let stay = agreeing(empty, "stays", "stay");
    if empty > 0 && num_nodes < open {
        console.note(format_args!(
            "the graph has {vertices} for {open} {several}: {empty} {stay} empty",
            vertices = counted(num_nodes, "vertex", "vertices")
        ));
    } else if empty > 0 {
        console.warn(format_args!(
            "{empty} of {open} {several} {stay} empty: no vertex that may move there fits; allow more --imbalance or fix fewer"
        ));
    }
}

/// Prints that a least load is rounded down to 0, where it is.
pub(crate) fn print_rounded(console: Console, graph: &CsrGraph, capacities: &[u32], least_load: f64) {
    if least_load == 0.0 {
        return;
    }
    let least = Targets::least_shares(graph, capacities, least_load).unwrap_or_default();
    if let Some(share) = Targets::share_without_least(graph.total_node_weight(), capacities, &least) {
        let percent = 100.0 * least_load;
        let enough = (100.0 / share).ceil();
        let advice = match enough <= 100.0 {
            true => format!("; --least-load={enough} is at least 1"),
            false => String::new(),
        };
        let share = (100.0 * share).round() / 100.0;
        console
            .note(format_args!("a least load of {percent} % of {share} is 0, as it is rounded down{advice}"));
    }
}

/// The vertex that is too heavy for every place where it may be, in words; nothing if each fits somewhere.
pub(crate) fn too_heavy(
    graph: &CsrGraph,
    bounds: &[Weight],
    fixed: Option<&FixedVertices>,
    places: Places,
) -> Option<String> {
    let greatest = bounds.iter().copied().max().unwrap_or(0);
    let place = |vertex: NodeId| fixed.and_then(|fixed| fixed.of(vertex));
    let bound = |vertex: NodeId| place(vertex).map_or(greatest, |place| bounds[place as usize]);
    let excess = |vertex: NodeId| graph.node_weight(vertex) - bound(vertex);
    let vertex =
        graph.nodes().rev().max_by_key(|&vertex| excess(vertex)).filter(|&vertex| excess(vertex) > 0)?;
    let (number, weight, one) = (vertex + 1, graph.node_weight(vertex), places.one);
    Some(match place(vertex) {
        None => format!("vertex {number} (counted from 1) weighs {weight}, more than any {one} may"),
        Some(place) => format!(
            "vertex {number} (counted from 1) weighs {weight}, more than {one} {place}, to which it is fixed, may"
        ),
    })
}
