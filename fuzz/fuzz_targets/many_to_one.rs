//! Small many-to-one problems: with any options and stopped at any time, the auditor confirms J and all
//! loads, and a start is not made worse.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::{StopAfter, number, stop, text_of};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use viem::base::types::NodeId;
use viem::graph::{CsrGraph, GraphBuilder};
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::solve::{Balance, Config, MapPreset, PreparedMachine, Request};
use viem_verify::{MachineText, audit_many};

const MACHINES: [(&str, Option<&str>); 7] = [
    ("tree:3:2", Some("1:10")),
    ("tree:2:2:3", Some("0:7:100")),
    ("mesh:3x2", None),
    ("torus:5", None),
    ("hypercube:3", None),
    ("complete:4", None),
    ("tree:1", Some("1")),
];

struct Problem {
    graph: CsrGraph,
    machine: (&'static str, Option<&'static str>),
    balance: Balance,
    config: Config,
    start: Option<Vec<u32>>,
    stop: StopAfter,
}

fn problem(u: &mut Unstructured) -> arbitrary::Result<Problem> {
    let machine = *u.choose(&MACHINES)?;
    let mut config = Config::preset(*u.choose(&MapPreset::ALL)?);
    let balance = Balance::default().with_imbalance(f64::from(u.int_in_range(0..=300)?) / 1000.0);
    config.seed = u.arbitrary()?;
    config.threads = u.int_in_range(1..=2)?;
    let stop = stop(u)?;
    let n: u32 = u.int_in_range(0..=60)?;
    let mut builder = GraphBuilder::new(n as usize);
    if u.arbitrary()? {
        for node in 0..n {
            builder.set_node_weight(node, number(u, 20)?);
        }
    }
    let start = if u.arbitrary()? {
        Some((0..n).map(|_| u.int_in_range(0..=3)).collect::<arbitrary::Result<_>>()?)
    } else {
        None
    };
    let mut edges = std::collections::BTreeSet::new();
    for _ in 0..if n == 0 { 0 } else { u.len().min(200) } {
        let (a, b) = (u.int_in_range(0..=n - 1)?, u.int_in_range(0..=n - 1)?);
        if a != b && edges.insert((a.min(b), a.max(b))) {
            builder.add_edge(a as NodeId, b as NodeId, number(u, 62)?.max(1));
        }
    }
    let graph = builder.build().map_err(|_| arbitrary::Error::IncorrectFormat)?;
    Ok(Problem { graph, machine, balance, config, start, stop })
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(problem) = problem(&mut Unstructured::new(bytes)) else { return };
    let Problem { graph, machine: (spec, distances), balance, config, start, stop } = &problem;
    let machine = viem_cluster::build(spec, *distances).expect("a machine");
    let num_pes = machine.num_pes();
    let start = start.clone().and_then(|start| Mapping::many(num_pes, start).ok());
    let solution = match Request::new(graph, &PreparedMachine::new(machine.as_ref()))
        .balanced(*balance)
        .start(start.as_ref())
        .observed(stop)
        .solve(config)
    {
        Ok(solution) => solution,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let lines: String = solution.mapping.pes().iter().map(|pe| format!("{pe}\n")).collect();
    let text = MachineText { spec, distances: *distances, file: None, pes: None, link_cycles: None };
    let audit = audit_many(&text_of(graph), &lines, &text).expect("a graph and a mapping of it");
    assert_eq!(audit.cost, solution.report.cost as u128);
    let bounds = balance.bounds(graph, machine.as_ref());
    let excess = |loads: &[u128]| {
        let over = loads.iter().zip(&bounds).map(|(&load, &bound)| load.saturating_sub(bound as u128));
        over.sum::<u128>()
    };
    assert_eq!(excess(&audit.loads), solution.report.loads.unwrap().overload as u128);
    let is_unit = graph.node_weights().iter().all(|&weight| weight == 1);
    assert!(!is_unit || solution.report.loads.unwrap().overload == 0);
});
