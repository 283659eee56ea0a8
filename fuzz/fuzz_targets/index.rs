//! Any bytes as an index: an order that survives a round trip and is partitioned as requested, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::graph::GraphBuilder;
use viem::partition::{OrderIndex, Partition, Targets};
use viem_io::{Source, index};

fuzz_target!(|input: (u8, &[u8])| {
    let (num_nodes, text) = (usize::from(input.0), input.1);
    let source = Source::new("fuzz", text).expect("a slice can be read");
    let positions = match index::read(source, num_nodes) {
        Ok(positions) => positions,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let mut written = Vec::new();
    index::write(&mut written, &positions).expect("a vector can be written");
    let again = Source::new("written", &written[..]).expect("a slice can be read");
    assert_eq!(index::read(again, num_nodes).expect("an index that was written"), positions);
    let order = OrderIndex::of_positions(positions).expect("each position once");
    let graph = GraphBuilder::new(num_nodes).build().expect("no edges");
    let targets = Targets::proportional(&graph, &[1, 0, 3, 2], 0.0).expect("positive speeds");
    let blocks = order.cut(graph.node_weights(), &targets);
    assert_eq!(Partition::of(&graph, blocks, &targets).block_weights(), targets.block_sizes());
});
