//! Any bytes as a graph file: the reader, the checker and the auditor agree, and a graph that was read
//! survives a round trip.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::text_of_bytes;
use libfuzzer_sys::fuzz_target;
use viem::graph::CsrGraph;
use viem_io::metis::{self, GraphContent, NodeWeights};
use viem_io::{ReadError, Source};
use viem_verify as verify;

fuzz_target!(|text: &[u8]| {
    let source = || Source::new("fuzz", text).expect("a slice can be read");
    let Ok(report) = metis::check(source(), 5) else {
        assert!(metis::read(source(), NodeWeights::Read).is_err());
        return;
    };
    match metis::read(source(), NodeWeights::Ignore) {
        Ok(graph) => {
            assert!(report.is_valid());
            let (offsets, targets) = (graph.offsets().to_vec(), graph.targets().to_vec());
            let weights = graph.nodes().flat_map(|node| graph.arcs(node)).map(|(_, weight)| weight).collect();
            let nodes = graph.node_weights().to_vec();
            assert_eq!(CsrGraph::new(offsets, targets, weights, nodes).as_ref(), Ok(&graph));
            if (1..1000).contains(&graph.num_nodes()) {
                let (text, n) = (text_of_bytes(text), graph.num_nodes());
                let identity: String = (0..n).map(|pe| format!("{pe}\n")).collect();
                let audited = verify::audit(&text, &identity, &[n as u64], &[1]);
                assert_eq!(audited, Ok(graph.total_arc_weight() as u128));
            }
        }
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            let first = report.faults.first().expect("the checker finds what the reader finds");
            assert_eq!((line, column), (first.line, first.column));
            assert!(!kind.to_string().is_empty());
        }
        Err(error) => panic!("a slice can be read: {error}"),
    }
    if let Ok(graph) = metis::read(source(), NodeWeights::Read) {
        let mut written = Vec::new();
        let content = GraphContent::ALL_WEIGHTS;
        metis::write(&mut written, &graph, content).expect("a vector can be written");
        let again = Source::new("written", &written[..]).expect("a slice can be read");
        assert_eq!(metis::read(again, NodeWeights::Read).expect("a graph that was written"), graph);
    }
});
