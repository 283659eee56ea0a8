//! Small problems of any shape, end to end: with any options and stopped at any time, the auditor confirms J,
//! and J is no worse than that of the identity.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::{StopAfter, audited_cost, number, stop, text_of};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use viem::base::types::NodeId;
use viem::graph::{CsrGraph, GraphBuilder};
use viem::machine::{DistanceKind, Hierarchy};
use viem::mapping::Mapping;
use viem::mapping::construct::Construction;
use viem::mapping::search::Neighbourhood;
use viem::solve::{Config, MapPreset, PreparedMachine, Request};

fn problem(u: &mut Unstructured) -> arbitrary::Result<(CsrGraph, Hierarchy, Config, StopAfter)> {
    let levels = u.int_in_range(1..=5)?;
    let (mut arities, mut distances) = (Vec::new(), Vec::new());
    let mut num_pes = 1;
    for _ in 0..levels {
        let arity = u.int_in_range(1..=5)?;
        let arity = if num_pes * arity > 48 { 1 } else { arity };
        num_pes *= arity;
        arities.push(arity);
        distances.push(number(u, 63)?);
    }
    let hierarchy = Hierarchy::new(arities, distances).expect("a hierarchy");
    let mut config = Config::preset(*u.choose(&MapPreset::ALL)?);
    // Instrumented code is a hundred times slower: the same steps, but fewer of them.
    config.one_to_one.constructions.size = 500;
    config.one_to_one.improvement.inside.proposals /= 10;
    config.one_to_one.improvement.tournament /= 20;
    config.one_to_one.improvement.rebuilding /= 20;
    config.seed = u.arbitrary()?;
    config.threads = u.int_in_range(1..=2)?;
    config.one_to_one.distances =
        *u.choose(&[None, Some(DistanceKind::ALL[0]), Some(DistanceKind::ALL[1])])?;
    config.one_to_one.construction.algorithm = Some(*u.choose(&Construction::ALL)?);
    config.one_to_one.search.neighbourhood = *u.choose(&Neighbourhood::ALL)?;
    config.one_to_one.search.max_hops = u.int_in_range(1..=11)?;
    config.one_to_one.search.block_size = u.int_in_range(1..=65)?;
    let stop = stop(u)?;
    let mut builder = GraphBuilder::new(num_pes as usize);
    let mut edges = std::collections::BTreeSet::new();
    for _ in 0..u.len().min(200) {
        let (a, b) = (u.int_in_range(0..=num_pes - 1)?, u.int_in_range(0..=num_pes - 1)?);
        if a != b && edges.insert((a.min(b), a.max(b))) {
            builder.add_edge(a as NodeId, b as NodeId, number(u, 62)?.max(1));
        }
    }
    match builder.build() {
        Ok(graph) => Ok((graph, hierarchy, config, stop)),
        Err(_) => Err(arbitrary::Error::IncorrectFormat),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok((graph, hierarchy, config, stop)) = problem(&mut Unstructured::new(bytes)) else { return };
    let solution =
        match Request::new(&graph, &PreparedMachine::new(&hierarchy)).observed(&stop).solve(&config) {
            Ok(solution) => solution,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
    let text = text_of(&graph);
    let audit = |mapping: &Mapping| audited_cost(&text, mapping, &hierarchy);
    assert_eq!(audit(&solution.mapping), solution.report.cost as u128);
    let of_identity = audit(&Mapping::identity(graph.num_nodes()));
    assert_eq!(of_identity, solution.report.cost_of_identity as u128);
    assert!(solution.report.cost <= solution.report.cost_of_identity);
    assert!(solution.report.cost <= solution.report.cost_of_construction.unwrap());
});
