//! Any bytes as coordinates: finite points that every algorithm partitions as requested, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::graph::GraphBuilder;
use viem::partition::{PartitionAlgorithm, PartitionInput, Targets};
use viem_io::{Source, coordinates};

fuzz_target!(|input: (u8, &[u8])| {
    let (num_nodes, text) = (usize::from(input.0) % 32, input.1);
    let source = Source::new("fuzz", text).expect("a slice can be read");
    let points = match coordinates::read(source, num_nodes) {
        Ok(points) => points,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert_eq!(points.len(), num_nodes);
    assert!(points.points().flatten().all(|value| value.is_finite()));
    let graph = GraphBuilder::new(num_nodes).build().expect("no edges");
    let targets = Targets::proportional(&graph, &[1, 3, 2], 0.0).expect("positive speeds");
    for algorithm in PartitionAlgorithm::ALL.into_iter().filter(|algorithm| algorithm.needs_coordinates()) {
        let partition = algorithm.partition(&PartitionInput::new(&graph).with_coordinates(&points), &targets);
        assert_eq!(
            partition.expect("there is a point for each vertex").block_weights(),
            targets.block_sizes()
        );
    }
});
