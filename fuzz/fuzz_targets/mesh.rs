//! Any bytes as a mesh of any kind: an error with its place, or a mesh whose graphs are valid.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::graph::CsrGraph;
use viem_io::{ReadError, Source};
use viem_mesh::{Format, Neighbours};

/// Limits the run time: the nodal graph of an element of many nodes is large.
const MOST_NODES: usize = 1000;

fuzz_target!(|input: (u8, &[u8])| {
    let format = Format::ALL[usize::from(input.0) % Format::ALL.len()];
    let result = Source::new("fuzz", input.1).and_then(|source| format.read(source));
    let mesh = match result {
        Ok(mesh) => mesh,
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            assert!(line > 0 && column > 0 && !kind.to_string().is_empty());
            return;
        }
        Err(ReadError::InvalidBytes { kind, .. }) => return assert!(!kind.to_string().is_empty()),
        Err(error) => panic!("a slice can be read: {error}"),
    };
    if mesh.num_nodes() > MOST_NODES || mesh.num_elements() > MOST_NODES {
        return;
    }
    let faces = mesh.dual(Neighbours::Faces, &[]);
    for graph in [faces, mesh.dual(Neighbours::Common(2), &[]), mesh.nodal()].into_iter().flatten() {
        let (offsets, targets) = (graph.offsets().to_vec(), graph.targets().to_vec());
        let (weights, nodes) = (vec![1; targets.len()], graph.node_weights().to_vec());
        assert_eq!(CsrGraph::new(offsets, targets, weights, nodes).as_ref(), Ok(&graph));
    }
    let _ = (mesh.centres(), mesh.points());
});
