//! Small many-to-one mappings, partitions and remappings of vertices with one to three weights: with any options and stopped at any time, the auditor
//! confirms J and all loads of PEs and nodes by all weights.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::{StopAfter, number, stop};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrGraph, GraphBuilder, VertexWeights};
use viem::machine::{Machine, Nodes};
use viem::mapping::Mapping;
use viem::partition::{MigrationWeight, PreviousAssignment, Remapping};
use viem::solve::{Balance, Config, Loads, MapPreset, Objective, PreparedMachine, Request, SeveralWeights};
use viem_io::GraphFormat;
use viem_verify::{MachineText, audit_loads, audit_many};

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
    /// All weights of the vertices, if they have several.
    weights: Option<VertexWeights>,
    /// The bound of each node by the last of several weights.
    node_bound: Option<Weight>,
    /// Whether the start is a previous assignment, and what migration costs.
    migration: Option<MigrationWeight>,
    objective: Objective,
    is_connected: bool,
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
    let count = u.int_in_range(1..=3)?;
    let mut values = Vec::new();
    for _ in 0..if count > 1 { n as usize * count } else { 0 } {
        values.push(number(u, 20)?);
    }
    let weights = (count > 1).then(|| VertexWeights::new(count, values).expect("small weights"));
    let node_bound = if u.arbitrary()? { Some(number(u, 24)?) } else { None };
    let migration = if u.arbitrary()? {
        Some(MigrationWeight::rounded(f64::from(u.int_in_range(0..=99)?) / 9.0))
    } else {
        None
    };
    let objective = *u.choose(&[Objective::J, Objective::Cut])?;
    let is_connected = u.arbitrary()?;
    let mut edges = std::collections::BTreeSet::new();
    for _ in 0..if n == 0 { 0 } else { u.len().min(200) } {
        let (a, b) = (u.int_in_range(0..=n - 1)?, u.int_in_range(0..=n - 1)?);
        if a != b && edges.insert((a.min(b), a.max(b))) {
            builder.add_edge(a as NodeId, b as NodeId, number(u, 62)?.max(1));
        }
    }
    let graph = builder.build().map_err(|_| arbitrary::Error::IncorrectFormat)?;
    Ok(Problem {
        graph,
        weights,
        node_bound,
        migration,
        objective,
        is_connected,
        machine,
        balance,
        config,
        start,
        stop,
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(problem) = problem(&mut Unstructured::new(bytes)) else { return };
    let Problem { graph, weights, machine: (spec, distances), balance, config, start, stop, .. } = &problem;
    let machine = viem_cluster::build(spec, *distances).expect("a machine");
    let num_pes = machine.num_pes();
    let start = start.clone().and_then(|start| Mapping::many(num_pes, start).ok());
    let nodes = Nodes::of(machine.as_ref());
    let of_nodes = |weight: usize, count: usize| match problem.node_bound {
        Some(bound) if weight + 1 == count => Some(vec![bound; nodes.hosts().len()]),
        _ => None,
    };
    let several = weights.as_ref().map(|weights| {
        let count = weights.num_weights();
        let several = SeveralWeights::new(weights, &[(*balance).into()]).unwrap();
        several.with_node_bounds((0..count).map(|weight| of_nodes(weight, count)).collect()).unwrap()
    });
    let prepared = PreparedMachine::new(machine.as_ref());
    let request = Request::new(graph, &prepared).minimise(problem.objective).connected(problem.is_connected);
    let request = match &several {
        Some(several) => request.balanced(several),
        None => request.balanced(*balance),
    };
    let homes = start.as_ref().map(|start| PreviousAssignment::new(start.pes(), num_pes).expect("PEs"));
    let request = match (&homes, problem.migration) {
        (Some(homes), Some(weight)) => request.previous(Remapping::new(homes, weight)),
        _ => request.start(start.as_ref()),
    };
    let solution = match request.observed(stop).solve(config) {
        Ok(solution) => solution,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let lines: String = solution.mapping.pes().iter().map(|pe| format!("{pe}\n")).collect();
    let text = MachineText { spec, distances: *distances, file: None, pes: None, link_cycles: None };
    let mut written = Vec::new();
    viem_io::write_several_graph(&mut written, graph, weights.as_ref(), GraphFormat::Metis).unwrap();
    let written = String::from_utf8(written).unwrap();
    let audit = audit_many(&written, &lines, &text).expect("a graph and a mapping of it");
    assert_eq!(audit.cost, solution.report.cost as u128);
    let check = |alone: &CsrGraph, audited: &[u128], reported: &Loads| {
        let bounds = balance.bounds(alone, machine.as_ref());
        let excess = |(&load, &bound): (&u128, &Weight)| load.saturating_sub(bound as u128);
        assert_eq!(audited.iter().zip(&bounds).map(excess).sum::<u128>(), reported.overload as u128);
    };
    let Some(weights) = weights else {
        check(graph, &audit.loads, &solution.report.loads.unwrap());
        return check_units(graph, &solution.report.loads.unwrap());
    };
    let audited = audit_loads(&written, &lines, num_pes).expect("the same");
    for (weight, reported) in solution.report.loads_by_weight.iter().enumerate() {
        let loads: Vec<u128> = audited.iter().map(|loads| loads.get(weight).copied().unwrap_or(0)).collect();
        check(&weights.alone(weight), &loads, reported);
        let Some(bound) = of_nodes(weight, weights.num_weights()).map(|bounds| bounds[0] as u128) else {
            continue;
        };
        let mut sums = vec![0; nodes.hosts().len()];
        (0..).zip(&loads).for_each(|(pe, load)| sums[nodes.node(pe)] += load);
        let excess: u128 = sums.iter().map(|load| load.saturating_sub(bound)).sum();
        assert_eq!(excess, reported.nodes.expect("nodes are bound").overload as u128);
    }
});

/// Vertices of weight 1 fit within any bounds.
fn check_units(graph: &CsrGraph, loads: &Loads) {
    let is_unit = graph.node_weights().iter().all(|&weight| weight == 1);
    assert!(!is_unit || loads.overload == 0);
}
