//! Small graphs with any weights, partitioned: blocks, weights, cut and quotient graph match sums over the
//! edges, and no block is empty.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::{divided, number};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use viem::Config;
use viem::base::types::NodeId;
use viem::graph::{CsrGraph, GraphBuilder};
use viem::partition::PartitionPreset;

/// A graph, a number of blocks, an imbalance, settings.
type Problem = (CsrGraph, usize, f64, Config);

fn problem(u: &mut Unstructured) -> arbitrary::Result<Problem> {
    let n = u.int_in_range(1..=60)?;
    let (num_blocks, preset) = (u.int_in_range(1..=n)?, *u.choose(&PartitionPreset::ALL)?);
    let imbalance = *u.choose(&[0.0, 0.03, 1.0, 1e300])?;
    let config = Config::from(preset).with_seed(u.arbitrary()?);
    let (node_bits, edge_bits) = (u.int_in_range(0..=63)?, u.int_in_range(0..=62)?);
    let mut builder = GraphBuilder::new(n);
    if node_bits > 0 {
        for node in 0..n as NodeId {
            builder.set_node_weight(node, number(u, node_bits)?);
        }
    }
    let mut edges = BTreeSet::new();
    for _ in 0..u.len().min(200) {
        let (a, b) = (u.int_in_range(0..=n - 1)?, u.int_in_range(0..=n - 1)?);
        if a != b && edges.insert((a.min(b), a.max(b))) {
            builder.add_edge(a as NodeId, b as NodeId, number(u, edge_bits)?.max(1));
        }
    }
    match builder.build() {
        Ok(graph) => Ok((graph, num_blocks, imbalance, config)),
        Err(_) => Err(arbitrary::Error::IncorrectFormat),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok((graph, num_blocks, imbalance, config)) = problem(&mut Unstructured::new(bytes)) else { return };
    divided(&graph, num_blocks, imbalance, &config);
});
