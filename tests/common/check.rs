//! Results checked from scratch: by the independent auditor, and by summing over all edges. Also used by
//! benchmarks and fuzz targets.

#![allow(dead_code)] // each program uses a part of it

use std::collections::BTreeMap;
use std::path::Path;

use viem::graph::CsrGraph;
use viem::ground::rng::Rng;
use viem::ground::types::{BlockId, PeId, Weight};

use viem::machine::{Hierarchy, Machine};
use viem::mapping::Mapping;
use viem::partition::Partition;
use viem_io as io;
use viem_io::metis::{self, GraphContent};
use viem_verify::{self as verify, MachineText, WorkloadText};
use viem_workload::estimate::{Estimate, WorkloadModel};
use viem_workload::routing::Routing;
use viem_workload::simulate::Costs;
use viem_workload::{Workload, WorkloadBuilder};

/// A graph as the file that the library writes, with all weights.
pub fn text_of(graph: &CsrGraph) -> String {
    let mut text = Vec::new();
    metis::write(&mut text, graph, GraphContent::ALL_WEIGHTS).expect("a vector can be written");
    String::from_utf8(text).expect("digits, spaces and line ends")
}

/// J according to the auditor, from the files of a graph and a mapping; panics if the mapping is not a
/// permutation.
pub fn audited_cost(graph: &str, pe_of: &Mapping, hierarchy: &Hierarchy) -> u128 {
    let lines = as_text(pe_of);
    let arities: Vec<u64> = hierarchy.arities().iter().map(|&arity| u64::from(arity)).collect();
    let distances: Vec<u64> = hierarchy.distances().iter().map(|&distance| distance as u64).collect();
    verify::audit(graph, &lines, &arities, &distances).expect("a graph and a permutation of its vertices")
}

/// J of a mapping to the machine of a file, as the independent auditor computes it.
pub fn audited_cost_on(graph: &str, pe_of: &Mapping, machine_file: &Path) -> u128 {
    let content = std::fs::read_to_string(machine_file).expect("a machine that has been read before");
    let name = machine_file.to_str().expect("a name in plain text");
    let machine =
        MachineText { spec: name, distances: None, file: Some(&content), pes: None, link_cycles: None };
    verify::audit_on(graph, &as_text(pe_of), &machine).expect("a graph and a mapping of its vertices")
}

/// Asserts that the auditor confirms the estimated F of a mapping, from the texts.
pub fn check_estimate(
    workload: &Workload,
    costs: Costs,
    machine: &dyn Machine,
    machine_text: &MachineText<'_>,
    pe_of: &[PeId],
) {
    let model = WorkloadModel::new(workload, costs).expect("a small workload");
    let routing = Routing::new(machine).expect("a small machine");
    let estimate = Estimate::of(&model, &routing, pe_of).expect("sums that fit").cycles();
    let mut text = Vec::new();
    viem_workload::text::write(&mut text, workload).expect("a vector can be written");
    let text = String::from_utf8(text).expect("words, digits and line ends");
    let room = Some(pe_of.len() as u64);
    let workload = WorkloadText { text: &text, room, send_cycles: costs.send, receive_cycles: costs.receive };
    let lines: String = pe_of.iter().map(|pe| format!("{pe}\n")).collect();
    let audit = verify::audit_workload_on(&workload, &lines, machine_text).expect("a mapping of all tasks");
    assert_eq!(audit.estimate, estimate, "{machine_text:?}\n{text}\n{pe_of:?}");
}

/// Asserts the same for a random workload and mapping.
pub fn check_random_estimate(machine: &dyn Machine, machine_text: &MachineText<'_>, rng: &mut Rng) {
    let tasks = 2 + rng.below(2 * machine.num_pes() as u32);
    let workload = random_workload(tasks, rng);
    let pe_of: Vec<PeId> = (0..tasks).map(|_| rng.below(machine.num_pes() as u32)).collect();
    let costs = Costs::new(rng.below(4).into(), rng.below(4).into());
    check_estimate(&workload, costs, machine, machine_text, &pe_of);
}

/// Repeated rounds; in each round all tasks compute, send to any others, and then receive.
fn random_workload(tasks: u32, rng: &mut Rng) -> Workload {
    let mut builder = WorkloadBuilder::new(tasks as usize);
    for _ in 0..1 + rng.below(3) {
        let times = 1 + u64::from(rng.below(3));
        (0..tasks).for_each(|task| builder.repeat(task, times));
        (0..tasks).for_each(|task| builder.compute(task, rng.below(9).into()));
        let mut sent = Vec::new();
        // With few messages, it matters which of them meet.
        let most = 1 + rng.below(4 * tasks);
        for _ in 0..1 + rng.below(most) / 4 {
            let (from, to) = (rng.below(tasks), rng.below(tasks));
            if from != to {
                sent.push((from, to, 1 + u64::from(rng.below(30))));
            }
        }
        sent.iter().for_each(|&(from, to, flits)| builder.send(from, to, flits));
        for &(from, to, flits) in &sent {
            builder.compute(to, rng.below(9).into());
            builder.receive(to, from, flits);
        }
        (0..tasks).for_each(|task| builder.end(task));
    }
    builder.build().expect("what is sent is received later")
}

fn as_text(mapping: &Mapping) -> String {
    let mut lines = Vec::new();
    io::mapping::write(&mut lines, mapping.pes()).expect("a vector can be written");
    String::from_utf8(lines).expect("digits and line ends")
}

/// Asserts that the weights of the blocks and the cut equal the sums over vertices and edges.
pub fn check_partition(graph: &CsrGraph, partition: &Partition) {
    assert_eq!(partition.blocks().len(), graph.num_nodes());
    let mut weights = vec![0; partition.block_weights().len()];
    for (node, &block) in graph.nodes().zip(partition.blocks()) {
        weights[block as usize] += graph.node_weight(node);
    }
    assert_eq!(weights, partition.block_weights());
    let arc_cut: Weight = weights_between(graph, partition.blocks()).values().sum();
    assert_eq!(arc_cut, 2 * partition.cut());
}

/// Asserts that a graph is the quotient graph of the blocks, vertex weights aside.
pub fn check_quotient(graph: &CsrGraph, blocks: &[BlockId], quotient: &CsrGraph) {
    let arcs = quotient.nodes().flat_map(|a| quotient.arcs(a).map(move |(b, weight)| ((a, b), weight)));
    assert!(arcs.eq(weights_between(graph, blocks)));
}

/// The weights of the arcs from each block to each other block, where there are any.
fn weights_between(graph: &CsrGraph, blocks: &[BlockId]) -> BTreeMap<(BlockId, BlockId), Weight> {
    let mut between = BTreeMap::new();
    for u in graph.nodes() {
        for (v, weight) in graph.arcs(u) {
            let (a, b) = (blocks[u as usize], blocks[v as usize]);
            if a != b {
                *between.entry((a, b)).or_insert(0) += weight;
            }
        }
    }
    between
}
