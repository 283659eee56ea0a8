//! Binary graphs: both widths, errors with their bytes, and what is cut off or damaged.

use std::io::Write;

use proptest::prelude::*;
use viem::base::threads;
use viem::graph::{CsrGraph, GraphBuilder, generate};
use viem_io as io;
use viem_io::metis::{self, GraphContent, NodeWeights};
use viem_io::parhip::{self, ParhipFault, ParhipWidth};
use viem_io::{GraphFormat, ReadError, Reading, Source};

const WIDTHS: [ParhipWidth; 2] = [ParhipWidth::Eight, ParhipWidth::Least];

/// Reads a graph from a stream and, by three threads, from a file, which must give the same.
fn read(bytes: &[u8]) -> Result<CsrGraph, ReadError> {
    let read = |source| parhip::read(source, NodeWeights::Read);
    let of_stream = read(Source::new("test", bytes).unwrap());
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let of_file = threads::run(3, || read(Source::open(file.path()).unwrap())).unwrap();
    match (&of_stream, of_file) {
        (Ok(of_stream), Ok(of_file)) => assert_eq!(*of_stream, of_file),
        (Err(of_stream), Err(of_file)) => {
            assert_eq!(
                of_file.to_string().replace(&file.path().display().to_string(), "test"),
                of_stream.to_string()
            );
        }
        (of_stream, of_file) => panic!("{of_stream:?} {of_file:?}"),
    }
    of_stream
}

#[test]
fn several_threads_read_a_long_file() {
    // More neighbours and weights than a thread reads in one task.
    let graph = generate::grid(900, 600);
    for content in [GraphContent::NO_WEIGHTS, GraphContent::ALL_WEIGHTS] {
        for width in WIDTHS {
            let bytes = written(&graph, content, width);
            assert!(read(&bytes).unwrap() == graph);
            assert!(read(&bytes[..bytes.len() - 1]).is_err());
        }
    }
}

fn written(graph: &CsrGraph, content: GraphContent, width: ParhipWidth) -> Vec<u8> {
    let mut bytes = Vec::new();
    parhip::write(&mut bytes, graph, content, width).unwrap();
    bytes
}

/// Returns the place of the first fault of a file, and the fault.
fn fault(bytes: &[u8]) -> (u64, ParhipFault) {
    match read(bytes) {
        Err(ReadError::InvalidBytes { file, offset, kind }) => {
            assert_eq!(file, "test");
            (offset, kind.fault::<ParhipFault>().unwrap().clone())
        }
        other => panic!("{other:?}"),
    }
}

/// A file of numbers of 64 bits.
fn wide(numbers: &[i64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A path of three vertices with both weights: header, four offsets from byte 24, four arcs from 56, weights of vertices from 88 and of
/// edges from 112.
const PATH: [i64; 18] = [0, 3, 4, 56, 64, 80, 88, 1, 0, 2, 1, 7, 0, 9, 5, 5, 6, 6];

fn changed(place: usize, number: i64) -> Vec<u8> {
    let mut numbers = PATH;
    numbers[place] = number;
    wide(&numbers)
}

#[test]
fn a_file_as_others_write_it_is_read() {
    let graph = CsrGraph::from_weights_and_edges(vec![7, 0, 9], [(0, 1, 5), (1, 2, 6)]).unwrap();
    assert_eq!(read(&wide(&PATH)).unwrap(), graph);
    assert_eq!(written(&graph, GraphContent::ALL_WEIGHTS, ParhipWidth::Eight), wide(&PATH));
    // Lists in any order.
    let mut numbers = PATH;
    numbers[8..10].copy_from_slice(&[2, 0]);
    numbers[15..17].copy_from_slice(&[6, 5]);
    assert_eq!(read(&wide(&numbers)).unwrap(), graph);
    // What ParHIP's own converter writes: no weights, 64 bits for each number.
    let plain = wide(&[3, 3, 4, 56, 64, 80, 88, 1, 0, 2, 1]);
    assert_eq!(read(&plain).unwrap(), generate::grid(3, 1));
    assert_eq!(written(&graph, GraphContent::NO_WEIGHTS, ParhipWidth::Eight), plain);
    // 32 bits for each number.
    let narrow: Vec<u8> = [63, 0, 3, 0, 4, 0, 40, 44, 52, 56, 1, 0, 2, 1].map(u32::to_le_bytes).concat();
    assert_eq!(read(&narrow).unwrap(), generate::grid(3, 1));
    assert_eq!(written(&graph, GraphContent::NO_WEIGHTS, ParhipWidth::Least), narrow);
}

#[test]
fn weights_of_vertices_are_read_as_asked() {
    let weights = |which| {
        let graph = parhip::read(Source::new("test", &wide(&PATH)[..]).unwrap(), which).unwrap();
        graph.node_weights().to_vec()
    };
    assert_eq!(weights(NodeWeights::Read), [7, 0, 9]);
    assert_eq!(weights(NodeWeights::ReadBeyond(2)), [7, 0, 9]);
    assert_eq!(weights(NodeWeights::ReadBeyond(3)), [1, 1, 1]);
    assert_eq!(weights(NodeWeights::Ignore), [1, 1, 1]);
}

#[test]
fn every_fault_has_its_byte() {
    use ParhipFault::*;
    let both = |places: [(usize, i64); 2]| {
        let mut numbers = PATH;
        places.into_iter().for_each(|(place, number)| numbers[place] = number);
        wide(&numbers)
    };
    let overflow = i64::MAX / 2 + 1;
    let cases: [(Vec<u8>, u64, ParhipFault); 22] = [
        (changed(0, 64), 0, Version { version: 64 }),
        (changed(0, -1), 0, Version { version: u64::MAX }),
        (changed(1, 1 << 32), 8, TooManyNodes { count: 1 << 32 }),
        (changed(1, -1), 8, TooManyNodes { count: u64::MAX }),
        (changed(2, (1 << 32) - 1), 16, TooManyArcs { count: (1 << 32) - 1 }),
        (
            changed(1, 1 << 31),
            144,
            TooShort { section: "the offsets", expected: 24 + (8 << 31) + 8 + 32 + (8 << 31) + 32 },
        ),
        (changed(3, 57), 24, FirstOffset { node: 0, found: 57, expected: 56 }),
        (changed(3, -1), 24, FirstOffset { node: 0, found: u64::MAX, expected: 56 }),
        (changed(4, 48), 32, FallingOffset { node: 1, found: 48 }),
        (changed(5, 56), 40, FallingOffset { node: 2, found: 56 }),
        (changed(4, 63), 32, OddOffset { node: 1, found: 63 }),
        (changed(5, 96), 40, LastOffset { found: 96, expected: 88 }),
        (changed(6, 80), 48, LastOffset { found: 80, expected: 88 }),
        (changed(9, 3), 72, NeighbourOutOfRange { node: 1, last: 2 }),
        (changed(9, -1), 72, NeighbourOutOfRange { node: 1, last: 2 }),
        (changed(9, 1 << 32), 72, NeighbourOutOfRange { node: 1, last: 2 }),
        (changed(9, 1), 72, SelfLoop { node: 1 }),
        (changed(9, 0), 72, ParallelEdge { node: 1, target: 0 }),
        (changed(7, 2), 56, MissingBackwardArc { node: 0, target: 2 }),
        (changed(17, 7), 72, UnequalWeights { node: 1, target: 2, forward: 6, backward: 7 }),
        (changed(12, -1), 96, NodeWeight { node: 1, weight: -1 }),
        (changed(15, 0), 120, EdgeWeight { weight: 0 }),
    ];
    for (bytes, offset, expected) in cases {
        assert_eq!(fault(&bytes), (offset, expected));
    }
    assert_eq!(fault(&both([(11, overflow), (13, overflow)])), (88, NodeWeightOverflow));
    assert_eq!(fault(&both([(14, overflow), (15, overflow)])), (112, EdgeWeightOverflow));
    // The place in the file, although the list was sorted.
    let unsorted = wide(&[3, 3, 4, 56, 72, 80, 88, 2, 1, 0, 1]);
    assert_eq!(fault(&unsorted), (56, MissingBackwardArc { node: 0, target: 2 }));
}

#[test]
fn a_file_that_ends_early_or_goes_on_is_refused_there() {
    for width in WIDTHS {
        let bytes = written(&generate::mesh(5, 4, 1), GraphContent::ALL_WEIGHTS, width);
        let expected = bytes.len() as u64;
        for length in 0..bytes.len() {
            let (offset, found) = fault(&bytes[..length]);
            assert_eq!(offset, length as u64);
            let whole = if length < 24 { 24 } else { expected };
            assert!(matches!(found, ParhipFault::TooShort { expected, .. } if expected == whole), "{found}");
        }
        let more = [&bytes[..], &[0]].concat();
        assert_eq!(fault(&more), (expected, ParhipFault::TooLong { expected }));
    }
}

#[test]
fn what_a_header_promises_takes_no_memory() {
    // 4 billion vertices and arcs in a few bytes.
    let numbers = [0, u32::MAX.into(), (u32::MAX - 1).into(), 0];
    assert!(matches!(fault(&wide(&numbers)), (32, ParhipFault::TooShort { section: "the offsets", .. })));
}

#[test]
fn it_is_recognised_wherever_graphs_are_read() {
    let graph = generate::mesh(6, 5, 2);
    for format in GraphFormat::ALL {
        let mut bytes = Vec::new();
        io::write_graph(&mut bytes, &graph, format).unwrap();
        let source = || Source::new("test", &bytes[..]).unwrap();
        assert_eq!(io::read_graph(source(), NodeWeights::Read).unwrap(), graph, "{format}");
        let is_binary = format != GraphFormat::Metis;
        assert_eq!(parhip::is_parhip(&bytes), is_binary);
        let reading = if is_binary { Reading::PARHIP } else { Reading::GRAPH };
        assert_eq!(io::readings(&bytes, true), [reading]);
        let text = metis::read(source(), NodeWeights::Read).map_err(|error| error.to_string());
        match text {
            Ok(text) => assert!(!is_binary && text == graph),
            Err(error) => {
                assert!(is_binary && error.contains("a graph in ParHIP's binary format"), "{error}")
            }
        }
    }
    assert!(
        parhip::is_parhip(&[0; 8]) && !parhip::is_parhip(&[0; 7]) && !parhip::is_parhip(b"3 2\n2\n1 3\n2\n")
    );
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        n in 1u32..30,
        edges in prop::collection::vec((0u32..30, 0u32..30, 1i64..1 << 40), 0..60),
        weights in prop::collection::vec(0i64..1 << 40, 30),
        damage in (any::<prop::sample::Index>(), any::<u8>()),
    ) {
        let mut builder = GraphBuilder::new(n as usize);
        let mut seen = std::collections::BTreeSet::new();
        for (u, v, weight) in edges {
            let (u, v) = (u % n, v % n);
            if u != v && seen.insert((u.min(v), u.max(v))) {
                builder.add_edge(u, v, weight);
            }
        }
        (0..n).for_each(|node| builder.set_node_weight(node, weights[node as usize]));
        let graph = builder.build().unwrap();
        for width in WIDTHS {
            let mut bytes = written(&graph, GraphContent::ALL_WEIGHTS, width);
            prop_assert_eq!(&read(&bytes).unwrap(), &graph);
            let plain = read(&written(&graph, GraphContent::NO_WEIGHTS, width)).unwrap();
            prop_assert_eq!((plain.offsets(), plain.targets()), (graph.offsets(), graph.targets()));
            // A damaged file is a graph or refused.
            let place = damage.0.index(bytes.len());
            bytes[place] = damage.1;
            if let Ok(damaged) = read(&bytes) {
                let arcs = damaged.nodes().flat_map(|node| damaged.arcs(node));
                let (targets, edge_weights): (Vec<_>, Vec<_>) = arcs.unzip();
                let again = CsrGraph::new(
                    damaged.offsets().to_vec(), targets, edge_weights, damaged.node_weights().to_vec(),
                );
                prop_assert_eq!(again.as_ref(), Ok(&damaged));
            }
        }
    }
}
