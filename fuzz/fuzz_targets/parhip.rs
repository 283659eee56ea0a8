//! Any bytes as a binary graph: it is refused, or a graph that survives a round trip and that the auditor reads alike.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::graph::CsrGraph;
use viem_io::metis::{self, GraphContent, NodeWeights};
use viem_io::parhip::{self, ParhipWidth};
use viem_io::{ReadError, Source};
use viem_verify as verify;

fn source(bytes: &[u8]) -> Source<'_> {
    Source::new("fuzz", bytes).expect("a slice can be read")
}

fn read(bytes: &[u8]) -> Result<CsrGraph, ReadError> {
    parhip::read(source(bytes), NodeWeights::Read)
}

fuzz_target!(|bytes: &[u8]| {
    let graph = match read(bytes) {
        Ok(graph) => graph,
        Err(ReadError::InvalidBytes { offset, kind, .. }) => {
            // Packed files and texts in UTF-16 may be longer than the file once they are read.
            assert!(offset <= bytes.len() as u64 || !source(bytes).is_plain());
            assert!(!kind.to_string().is_empty());
            return;
        }
        Err(_) => return,
    };
    let (targets, weights): (Vec<_>, Vec<_>) = graph.nodes().flat_map(|node| graph.arcs(node)).unzip();
    let (offsets, nodes) = (graph.offsets().to_vec(), graph.node_weights().to_vec());
    assert_eq!(CsrGraph::new(offsets, targets, weights, nodes).as_ref(), Ok(&graph));
    for width in [ParhipWidth::Eight, ParhipWidth::Least] {
        let mut written = Vec::new();
        parhip::write(&mut written, &graph, GraphContent::ALL_WEIGHTS, width)
            .expect("a vector can be written");
        assert_eq!(read(&written).expect("a graph that was written"), graph);
        let text = verify::text_of_parhip(&written).expect("a graph that was written");
        assert_eq!(metis::read(source(text.as_bytes()), NodeWeights::Read).expect("the same graph"), graph);
    }
});
