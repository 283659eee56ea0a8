//! Results checked from scratch: by the independent auditor, and by summing over all edges. Also used by
//! benchmarks and fuzz targets.

#![allow(dead_code)] // each program uses a part of it

use std::collections::BTreeMap;
use std::path::Path;

use viem::base::types::{BlockId, Weight};
use viem::graph::CsrGraph;
use viem::machine::{Blocks, Hierarchy};
use viem::mapping::Mapping;
use viem::partition::Partition;
use viem::solve::{Balance, Config, Objective, PreparedMachine, Request, Solution};
use viem_io as io;
use viem_io::metis::{self, GraphContent};
use viem_verify::{self as verify, MachineText};

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

fn as_text(mapping: &Mapping) -> String {
    let mut lines = Vec::new();
    io::mapping::write(&mut lines, mapping.pes()).expect("a vector can be written");
    String::from_utf8(lines).expect("digits and line ends")
}

/// The solution of a request for blocks of equal shares and small cut, checked from scratch: cut, loads, quotient graph; no block is empty.
pub fn divided(graph: &CsrGraph, num_blocks: usize, imbalance: f64, config: &Config) -> Solution {
    let blocks = Blocks::equal(num_blocks).expect("a number of blocks");
    let (machine, balance) = (PreparedMachine::new(&blocks), Balance::default().with_imbalance(imbalance));
    let request = Request::new(graph, &machine).balanced(balance).minimise(Objective::Cut);
    let solution = request.solve(config).expect("no more blocks than vertices");
    let (report, part_of) = (&solution.report, solution.mapping.pes());
    let mut loads = vec![0; num_blocks];
    graph.nodes().for_each(|node| loads[part_of[node as usize] as usize] += graph.node_weight(node));
    let known = report.loads.expect("the loads are balanced");
    assert_eq!(loads.iter().max(), Some(&known.greatest));
    assert_eq!(weights_between(graph, part_of).values().sum::<Weight>(), 2 * report.cut);
    check_quotient(graph, part_of, &solution.mapping.quotient(graph, num_blocks));
    assert!((0..num_blocks as BlockId).all(|block| part_of.contains(&block)), "{known:?}");
    solution
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
