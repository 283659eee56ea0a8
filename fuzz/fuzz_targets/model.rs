//! Small graphs with any weights, partitioned: blocks, weights, cut and quotient graph match sums over the
//! edges, and no block is empty.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use std::collections::BTreeSet;

use common::{check_partition, check_quotient, number};
use libfuzzer_sys::arbitrary::{self, Unstructured};
use libfuzzer_sys::fuzz_target;
use viem::graph::{CsrGraph, GraphBuilder};
use viem::ground::types::NodeId;
use viem::mapping::model::{self, ModelConfig};
use viem::partition::PartitionPreset;

fn problem(u: &mut Unstructured) -> arbitrary::Result<(CsrGraph, ModelConfig)> {
    let n = u.int_in_range(1..=60)?;
    let (num_blocks, preset) = (u.int_in_range(1..=n)?, *u.choose(&PartitionPreset::ALL)?);
    let imbalance = *u.choose(&[0.0, 0.03, 1.0, 1e300])?;
    let config = ModelConfig::preset(preset, num_blocks).with_imbalance(imbalance).with_seed(u.arbitrary()?);
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
        Ok(graph) => Ok((graph, config)),
        Err(_) => Err(arbitrary::Error::IncorrectFormat),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok((graph, config)) = problem(&mut Unstructured::new(bytes)) else { return };
    let model = model::generate(&graph, &config).expect("no more blocks than vertices");
    let blocks = model.partition.blocks();
    assert!((0..config.num_blocks as u32).all(|block| blocks.contains(&block)));
    check_partition(&graph, &model.partition);
    check_quotient(&graph, blocks, &model.graph);
});
