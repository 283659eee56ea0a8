//! Small problems of any shape, end to end: whatever the options and whenever the run is stopped, J is what the
//! auditor finds, and no worse than that of the identity.
#![no_main]

#[path = "../../tests/common/stop_after.rs"]
mod stop_after;

use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use stop_after::StopAfter;
use viem::construct::Construction;
use viem::graph::{CsrGraph, GraphBuilder};
use viem::io::mapping;
use viem::io::metis::{self, Content};
use viem::mapping::Mapping;
use viem::search::Neighbourhood;
use viem::solve::{MapConfig, MapPreset, solve};
use viem::topology::{DistanceKind, Hierarchy};
use viem::types::NodeId;
use viem::verify;

/// A number below 2^`bits`, where `bits` is drawn first: small and large ones are as likely.
fn number(u: &mut Unstructured, greatest_bits: u32) -> arbitrary::Result<i64> {
    let bits = u.int_in_range(0..=greatest_bits)?;
    u.int_in_range(0..=((1u64 << bits) - 1) as i64)
}

fn problem(u: &mut Unstructured) -> arbitrary::Result<(CsrGraph, Hierarchy, MapConfig, StopAfter)> {
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
    let mut config = MapConfig::preset(*u.choose(&MapPreset::ALL)?);
    // Instrumented code is a hundred times slower: the same steps, but fewer of them.
    config.constructions.size = 500;
    config.improvement.inside.proposals /= 10;
    config.improvement.qualifying /= 20;
    config.improvement.rebuilding /= 20;
    config.seed = u.arbitrary()?;
    config.threads = u.int_in_range(1..=2)?;
    config.distances = *u.choose(&[None, Some(DistanceKind::ALL[0]), Some(DistanceKind::ALL[1])])?;
    config.construction.algorithm = *u.choose(&Construction::ALL)?;
    config.search.neighbourhood = *u.choose(&Neighbourhood::ALL)?;
    config.search.max_hops = u.int_in_range(1..=11)?;
    config.search.block_size = u.int_in_range(1..=65)?;
    let stop = StopAfter::questions(if u.arbitrary()? { u64::MAX } else { number(u, 12)? as u64 });
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
    let solution = match solve(&graph, &hierarchy, &config, None, &stop) {
        Ok(solution) => solution,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut text = (Vec::new(), Vec::new());
    let content = Content { node_weights: false, edge_weights: true };
    metis::write(&mut text.0, &graph, content).expect("a vector can be written");
    mapping::write(&mut text.1, solution.mapping.as_slice()).expect("a vector can be written");
    let text = (String::from_utf8(text.0).expect("digits"), String::from_utf8(text.1).expect("digits"));
    let arities: Vec<u64> = hierarchy.arities().iter().map(|&arity| u64::from(arity)).collect();
    let distances: Vec<u64> = hierarchy.distances().iter().map(|&distance| distance as u64).collect();
    let audit = |mapping: &str| verify::audit(&text.0, mapping, &arities, &distances).expect("a mapping");
    assert_eq!(audit(&text.1), solution.report.cost as u128);
    let mut identity = Vec::new();
    mapping::write(&mut identity, Mapping::identity(graph.num_nodes()).as_slice()).expect("a vector");
    let of_identity = audit(&String::from_utf8(identity).expect("digits"));
    assert_eq!(of_identity, solution.report.cost_of_identity as u128);
    assert!(solution.report.cost <= solution.report.cost_of_identity);
    assert!(solution.report.cost <= solution.report.cost_of_construction);
});
