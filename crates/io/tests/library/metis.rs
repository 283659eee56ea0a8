//! Graph files: valid input, errors with their positions, and repair.

use proptest::prelude::*;
use viem::graph::CsrGraph;
use viem_io::metis::{self, CheckReport, FaultKind, GraphContent, NodeWeights, RepairError, Role};
use viem_io::{NumberFault, ReadError, Source};

fn source(text: &[u8]) -> Source<'_> {
    Source::new("test", text).unwrap()
}

fn read(text: &[u8]) -> Result<CsrGraph, ReadError> {
    metis::read(source(text), NodeWeights::Read)
}

fn check(text: &[u8]) -> CheckReport {
    metis::check(source(text), usize::MAX).unwrap()
}

/// The lines, columns and kinds of all faults; the reader must report exactly the first of them.
fn faults(text: &[u8]) -> Vec<(u64, u64, FaultKind)> {
    let report = check(text);
    assert_eq!(report.num_faults, report.faults.len() as u64);
    match (read(text), report.faults.first()) {
        (Ok(_), None) => {}
        (Err(ReadError::Invalid { file, line, column, kind }), Some(first)) => {
            let kind = kind.fault::<FaultKind>().unwrap();
            assert_eq!((file.as_str(), line, column, kind), ("test", first.line, first.column, &first.kind));
        }
        (result, first) => panic!("{result:?}, but the checker says {first:?}"),
    }
    report.faults.into_iter().map(|fault| (fault.line, fault.column, fault.kind)).collect()
}

fn number(role: Role, fault: NumberFault) -> FaultKind {
    FaultKind::Number { role, fault }
}

fn fractional(role: Role, text: &str) -> FaultKind {
    FaultKind::FractionalWeight { role, text: text.to_owned() }
}

/// Output of scripts, editors and other tools: accepted, or rejected first at this position with this
/// message.
#[test]
fn files_from_the_wild_are_accepted_or_rejected_for_the_right_reason() {
    let lattice = "3 2\n2\n1 3\n2\n";
    let accepted = [
        lattice.replace('\n', "\r\n"),
        lattice.replace(' ', "\t"),
        lattice.replace('\n', "  \n  "),
        lattice.trim_end().to_string(),
        "% a\n3 2\n%\n2\n% b\n1 3\n%c\n2\n% end".to_string(),
        format!("%{}\n{lattice}", "x".repeat(300_000)),
        lattice.to_string() + "\n \n\t\n%\n\n",
        "3 2 0\n2\n1 3\n2\n".to_string(),
        "3 2 000\n2\n1 3\n2\n".to_string(),
        "3 2 1\n2 5\n1 5 3 6\n2 6\n".to_string(),
        "3 2 01\n2 5\n1 5 3 6\n2 6\n".to_string(),
        "3 2 001\n2 5\n1 5 3 6\n2 6\n".to_string(),
        "3 2 10 2\n1 0 2\n1 1 1 3\n1 1 2\n".to_string(),
        "3 2 11 3\n1 2 3 2 5\n0 0 0 1 5 3 6\n1 1 1 2 6\n".to_string(),
        "3 2 111\n1 7 2 5\n1 7 1 5 3 6\n1 7 2 6\n".to_string(),
        format!("3 2\n{}2\n1 3\n2\n", "0".repeat(70_000)),
        "\u{feff}3 2\r\n2\r\n1 3\r\n2\r\n".to_string(),
        "3 2\r2\r1 3\r2\r".to_string(),
        "3 2\n+2\n1 3\n2\n".to_string(),
        "3.0 2\n2.0\n1. 3e0\n2\n".to_string(),
        "3 2 1\n2 1.0\n1 1.000D+00 3 5e3\n2 5000\n".to_string(),
    ];
    for text in accepted {
        assert_eq!(faults(text.as_bytes()), [], "{:.80}", text);
    }
    let lots = format!("3 2\n{}\n1 3\n2\n", "2".repeat(100_000));
    let refused = [
        ("  % c\n3 2\n2\n1 3\n2\n", 1, 3, "not a number"),
        ("# c\n3 2\n", 1, 1, "edge list"),
        ("\n3 2\n2\n1 3\n2\n", 1, 1, "the header is missing"),
        ("3\n2\n1 3\n2\n", 1, 2, "the header ends before the number of edges"),
        ("3  4\n2\n1 3\n2\n", 1, 4, "the header counts each edge twice"),
        ("3 2\n2\n3\n\n", 1, 3, "the file lists each edge once"),
        ("3 2\n1\n0 2\n1\n", 1, 1, "counts its vertices from 0"),
        ("% c\n3 2 1\n1 7\n0 7 2 8\n1 8\n", 2, 1, "counts its vertices from 0"),
        ("3 5\n1 2 3\n3 4\n4 5 1\n", 1, 1, "a hypergraph"),
        ("4\n1 2 3\n2 3 4\n3 4 5\n4 5 6\n", 1, 1, "a METIS mesh"),
        ("0 1 4\n1 2 6\n2 0 9\n", 1, 1, "a dense matrix or an edge list"),
        ("3 2\n2\n1 3\n2\n1\n", 5, 1, "goes on after the 3 vertices"),
        ("3 2\n2\n\n1 3\n2\n", 4, 3, "edge to itself"),
        ("3 2 2\n2\n1 3\n2\n", 1, 5, "not a format"),
        ("3 2 abc\n2\n1 3\n2\n", 1, 5, "not a format"),
        ("3 2 1111\n2\n1 3\n2\n", 1, 5, "not a format"),
        ("3 2 +1\n2\n1 3\n2\n", 1, 5, "not a format"),
        ("3 2 1 1\n", 1, 7, "vertices have none"),
        ("3 2 11 1 1\n", 1, 10, "the header goes on"),
        ("3 2 10 2\n1 1 2\n1\n1 1 2\n", 3, 2, "ends before the weight of a vertex"),
        ("3 2 10 4000000000\n1 2\n1 1 3\n1 2\n", 2, 4, "ends before the weight of a vertex"),
        ("graph G {\n", 1, 1, "Graphviz"),
        ("viem_order 1\nrank 0 of 1\nend 0\n", 1, 1, "the recorded order of messages"),
        ("source,target\n1,2\n", 1, 1, "an edge list with separators (CSV)"),
        ("name,colour\na,red\n", 1, 1, "CSV"),
        ("{\"nodes\": [1]}\n", 1, 1, "JSON"),
        ("[[1,2],[2,3]]", 1, 1, "JSON"),
        ("*Vertices 3\n", 1, 1, "Pajek"),
        ("c x\np edge 3 2\ne 1 2\n", 1, 1, "DIMACS"),
        ("%PDF-1.4\n1 0 obj\n", 1, 1, "PDF"),
        ("3 2\n2\n1\u{a0}3\n2\n", 3, 1, "not a number"),
        ("\u{663} \u{662}\n", 1, 1, "not a number"),
        (&lots, 2, 1, "too large"),
        ("3 2\n2.5\n1 3\n2\n", 2, 1, "not a whole number"),
        ("3 2\n2e-1\n1 3\n2\n", 2, 1, "not a whole number"),
        ("3 2\n0x2\n1 3\n2\n", 2, 1, "not a number"),
        ("3 2\n2_0\n1 3\n2\n", 2, 1, "not a number"),
        ("3 2\n2 -1\n1 3\n2\n", 2, 3, "negative"),
        ("3 2\n2\n1,3\n2\n", 3, 1, "not a number"),
        ("3 2 1\n2 nan\n1 1 3 1\n2 1\n", 2, 3, "not a number"),
        ("3 2\n2\n1 3\n2\n\u{1a}", 5, 1, "goes on after the 3 vertices"),
        ("3 2 100\n-1 2\n1 1 3\n1 2\n", 2, 1, "the size of a vertex is negative"),
    ];
    for (text, line, column, words) in refused {
        let first = check(text.as_bytes()).faults.swap_remove(0);
        assert_eq!((first.line, first.column), (line, column), "{first} in {text:.80}");
        assert!(first.to_string().contains(words), "{first} in {text:.80}");
        faults(text.as_bytes());
    }
    let utf16: Vec<u8> = "\u{feff}3 2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(check(&utf16).faults[0].kind, FaultKind::TooFewLines { expected: 3, found: 0 });
}

#[test]
fn every_format_is_read() {
    let path = |weights: [i64; 3], edges: [i64; 2]| {
        let edges = [(0, 1, edges[0]), (1, 2, edges[1])];
        CsrGraph::from_weights_and_edges(weights.to_vec(), edges).unwrap()
    };
    let plain = path([1; 3], [1; 2]);
    let (weights, edges) = ([4, 0, 6], [7, 8]);
    let cases: [(&str, CsrGraph); 16] = [
        ("3 2\n2\n1 3\n2\n", plain.clone()),
        ("3 2 0\n2\n3 1\n2", plain.clone()),
        ("3 2 000\r\n2\r\n1 3\r\n2\r\n\r\n", plain.clone()),
        ("%a\n%\n3 2 00\n% 9 9\n 2 \n1\t3\n%b\n2\n%c\n\n \n%", plain.clone()),
        ("3 2 1\n2 7\n1 7 3 8\n2 8\n", path([1; 3], edges)),
        ("3 2 001 0\n2 7\n3 8 1 7\n2 8\n", path([1; 3], edges)),
        ("3 2 10\n4 2\n0 1 3\n6 2\n", path(weights, [1; 2])),
        ("3 2 010 1\n4 2\n0 1 3\n6 2\n", path(weights, [1; 2])),
        ("3 2 10 3\n4 9 9 2\n0 9 9 1 3\n6 9 9 2\n", path(weights, [1; 2])),
        ("3 2 11\n4 2 7\n0 1 7 3 8\n6 2 8\n", path(weights, edges)),
        ("3 2 011 2\n4 5 2 7\n0 5 1 7 3 8\n6 5 2 8\n", path(weights, edges)),
        ("3 2 100\n9 2\n9 1 3\n9 2\n", plain.clone()),
        ("3 2 101\n9 2 7\n9 1 7 3 8\n9 2 8\n", path([1; 3], edges)),
        ("3 2 110\n9 4 2\n9 0 1 3\n9 6 2\n", path(weights, [1; 2])),
        ("3 2 111\n9 4 2 7\n9 0 1 7 3 8\n9 6 2 8\n", path(weights, edges)),
        ("0000000000000000000000000000000000003 2\n002\n1 3\n2", plain),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text:?}");
        assert!(check(text.as_bytes()).is_valid(), "{text:?}");
    }
}

#[test]
fn small_and_empty_graphs() {
    for (text, n) in [("0 0", 0), ("0 0\n\n\n", 0), ("1 0\n\n", 1), ("1 0 10\n5", 1), ("3 0\n\n\n\n\n", 3)] {
        let graph = read(text.as_bytes()).unwrap();
        assert_eq!((graph.num_nodes(), graph.num_arcs()), (n, 0), "{text:?}");
    }
}

#[test]
fn every_fault_is_found_where_it_is() {
    use FaultKind::*;
    use NumberFault::*;
    use Role::*;
    let greatest = i64::MAX as u64;
    let other = |text: &[u8]| OtherFormat { readings: viem_io::readings(text, true) };
    let no = |role, (line, column), fault| (line, column, number(role, fault));
    let counts = |declared, arcs| (1, 3, WrongEdgeCount { declared, arcs });
    let one_way = |line, column, [node, target]: [u64; 2], target_line| {
        (line, column, MissingBackwardArc { node, target, target_line })
    };
    let cases = [
        // headers
        ("", vec![(1, 1, MissingHeader)]),
        ("% only\n%comments", vec![(2, 10, MissingHeader)]),
        ("\n3 2\n", vec![(1, 1, MissingHeader)]),
        ("3\n2\n", vec![(1, 2, ShortHeader { missing: NumEdges })]),
        ("0 0 0 0 7 8\n", vec![(1, 9, LongHeader)]),
        ("-2 1\n", vec![no(NumNodes, (1, 1), Negative)]),
        ("2 -1\n", vec![no(NumEdges, (1, 3), Negative)]),
        ("x y\n", vec![no(NumNodes, (1, 1), NotANumber), no(NumEdges, (1, 3), NotANumber)]),
        ("2 1.5\n", vec![no(NumEdges, (1, 3), Fractional)]),
        ("4294967296 1\n", vec![no(NumNodes, (1, 1), TooLarge)]),
        ("2 99999999999999999999\n", vec![no(NumEdges, (1, 3), TooLarge)]),
        ("2 1 2\n2\n1\n", vec![(1, 5, BadFormat)]),
        ("2 1 0001\n2\n1\n", vec![(1, 5, BadFormat)]),
        ("2 1 1x\n", vec![(1, 5, BadFormat)]),
        ("2 1 1 2\n2 1\n1 1\n", vec![(1, 7, ConstraintsWithoutWeights { constraints: 2 })]),
        ("%%MatrixMarket matrix coordinate\n", vec![(1, 1, other(b"%%MatrixMarket matrix coordinate\n"))]),
        ("{\"nodes\": 3}", vec![(1, 1, other(b"{\"nodes\": 3}"))]),
        ("\0\0\0\x01\0\0\0\x02", vec![(1, 1, other(b"\0\0\0\x01\0\0\0\x02"))]),
        // numbers of lines and edges
        (
            "4000000000 1\n",
            vec![
                (2, 1, TooFewLines { expected: 4_000_000_000, found: 0 }),
                (1, 12, WrongEdgeCount { declared: 1, arcs: 0 }),
            ],
        ),
        ("3 1\n2\n1\n", vec![(4, 1, TooFewLines { expected: 3, found: 2 })]),
        ("2 1\n2\n1\n\n%\n2\n3\n", vec![(6, 1, TooManyLines { expected: 2 })]),
        ("2 2\n2\n1\n", vec![counts(2, 2)]),
        ("3 2\n2 3\n\n\n", vec![counts(2, 2), one_way(2, 1, [1, 2], 3), one_way(2, 3, [1, 3], 4)]),
        ("2 9223372036854775807\n2\n1\n", vec![counts(greatest, 2)]),
        // neighbours
        ("2 1\n1\n0\n", vec![(1, 1, CountsFromZero)]),
        (
            "2 1\n1 2\n0\n",
            vec![
                (2, 1, SelfLoop { node: 1, leads: true }),
                (3, 1, NeighbourZero { count: 2 }),
                one_way(2, 3, [1, 2], 3),
                counts(1, 3),
            ],
        ),
        ("2 1\n2 3\n1\n", vec![(2, 3, NeighbourOutOfRange { count: 2 }), counts(1, 3)]),
        ("2 1\n2 99999999999999999999\n1\n", vec![no(Neighbour, (2, 3), TooLarge), counts(1, 3)]),
        (
            "2 1\n2 x\n1 -1 1.5\n",
            vec![
                no(Neighbour, (2, 3), NotANumber),
                no(Neighbour, (3, 3), Negative),
                no(Neighbour, (3, 6), Fractional),
                counts(1, 5),
            ],
        ),
        ("2 1\n2\0\n1\n", vec![no(Neighbour, (2, 1), Nul), one_way(3, 1, [2, 1], 2)]),
        ("2 1\r2\n1\n", vec![no(Format, (1, 4), CarriageReturn)]),
        ("2 1\n2 %\n1\n", vec![no(Neighbour, (2, 3), NotANumber), counts(1, 3)]),
        ("3 2\n2\n1  2 3\n2\n", vec![(3, 4, SelfLoop { node: 2, leads: false }), counts(2, 5)]),
        ("3 2\n3 2\n%\n1\n1 1\n", vec![(5, 3, ParallelEdge { node: 3, target: 1 }), counts(2, 5)]),
        ("3 2\n%\n 3 2\n\n1\n", vec![one_way(3, 4, [1, 2], 4), counts(2, 3)]),
        ("3 2\n3\n3 1\n1 2\n", vec![one_way(3, 3, [2, 1], 2), counts(2, 5)]),
        ("3 2\n2\n1 3\n1\n", vec![one_way(3, 3, [2, 3], 4), one_way(4, 1, [3, 1], 2)]),
        // weights
        (
            "2 1 1\n2 5\n1 4\n",
            vec![(2, 1, UnequalWeights { node: 1, target: 2, forward: 5, backward: 4, backward_line: 3 })],
        ),
        ("2 1 1\n2 0\n1 -1\n", vec![no(EdgeWeight, (2, 3), Zero), no(EdgeWeight, (3, 3), Negative)]),
        (
            "2 1 1\n2 0.5\n1 9223372036854775808\n",
            vec![(2, 3, fractional(EdgeWeight, "0.5")), no(EdgeWeight, (3, 3), TooLarge)],
        ),
        ("2 1 1\n2\n1 2 \n", vec![(2, 2, MissingEdgeWeight { node: 1, target: 2 })]),
        (
            "2 1 10\n-1 2\n1.5 1\n",
            vec![no(NodeWeight, (2, 1), Negative), (3, 1, fractional(NodeWeight, "1.5"))],
        ),
        ("2 1 100\nx 2\n1 1\n", vec![no(NodeSize, (2, 1), NotANumber)]),
        (
            "2 0 10 3\n1 2\n\n",
            vec![
                (2, 4, MissingNodeValue { role: NodeWeight, node: 1 }),
                (3, 1, MissingNodeValue { role: NodeWeight, node: 2 }),
            ],
        ),
        ("2 1 1\n2 9223372036854775807\n1 9223372036854775807\n", vec![(3, 1, EdgeWeightOverflow)]),
        ("2 1 1\n2 4611686018427387904\n1 4611686018427387904\n", vec![(3, 1, EdgeWeightOverflow)]),
    ];
    for (text, expected) in cases {
        assert_eq!(faults(text.as_bytes()), expected, "{text:?}");
    }
}

#[test]
fn vertex_weights_that_overflow_only_matter_where_they_are_added() {
    let text = b"2 1 10\n9223372036854775807 2\n1 1\n";
    assert!(check(text).is_valid());
    assert_eq!(metis::read(source(text), NodeWeights::Ignore).unwrap().node_weights(), [1, 1]);
    let error = read(text).unwrap_err();
    let ReadError::Invalid { line: 3, column: 1, kind, .. } = error else { panic!("{error}") };
    assert_eq!(kind.fault(), Some(&FaultKind::NodeWeightOverflow));
}

#[test]
fn the_greatest_weights_are_read() {
    let half = i64::MAX / 2;
    let graph = read(format!("2 1 11\n{half} 2 {half}\n{half} 1 {half}\n").as_bytes()).unwrap();
    assert_eq!(graph.total_arc_weight(), i64::MAX - 1);
    assert_eq!(graph.total_node_weight(), i64::MAX - 1);
}

#[test]
fn faults_beyond_the_limit_are_counted() {
    let mut text = String::from("100 0\n");
    text.extend((0..100).map(|_| "x\n"));
    let report = metis::check(source(text.as_bytes()), 7).unwrap();
    assert_eq!((report.faults.len(), report.num_faults), (7, 101));
    assert_eq!(report.faults[6].line, 8);
    assert_eq!(
        report.faults[0].to_string(),
        "line 2, column 1: `x`: a neighbour is not a number; it must be a whole number from 1 to 4294967295"
    );
}

#[test]
fn offending_texts_are_shown_short_and_printable() {
    let text = format!("1 0\n{}\u{7}{}\n", "y".repeat(10), "z".repeat(100_000));
    let report = check(text.as_bytes());
    assert_eq!(report.faults[0].text, format!("{}\\u{{7}}{}...", "y".repeat(10), "z".repeat(29)));
}

fn repaired(text: &str) -> Result<(String, String), RepairError> {
    let repair = metis::repair(source(text.as_bytes()), 20).unwrap();
    let graph = repair.result?;
    let mut out = Vec::new();
    graph.write(&mut out).unwrap();
    assert!(check(&out).is_valid(), "{:?}", check(&out).faults);
    Ok((String::from_utf8(out).unwrap(), graph.changes().to_string()))
}

#[test]
fn repairable_graphs_are_repaired() {
    let cases = [
        ("2 1\n2\n1\n", "2 1\n2\n1\n", "nothing to repair"),
        ("\u{feff}2 1\n2\n1\n", "2 1\n2\n1\n", "nothing to repair"),
        (
            "3 3\n1 2\n1\n\n",
            "3 1\n2\n1\n\n",
            "1 edge of a vertex to itself dropped, number of edges in the header corrected from 3",
        ),
        ("2 1 1\n2 3 2 4\n1 7\n", "2 1 1\n2 7\n1 7\n", "1 repeated neighbour merged"),
        (
            "3 2 1\n2 0\n1 0 3 5\n2 5\n",
            "3 1 1\n\n3 5\n2 5\n",
            "1 edge of weight zero dropped, number of edges in the header corrected from 2",
        ),
        (
            "3 2 1\n2 0.0\n3 5\n2 5\n",
            "3 1 1\n\n3 5\n2 5\n",
            "1 edge of weight zero dropped, number of edges in the header corrected from 2",
        ),
        ("3 2\n1\n0 2\n1\n", "3 2\n2\n1 3\n2\n", "vertices counted from 1 instead of 0"),
        (
            "3 2 11\n5 1 7\n5 0 7 2 8\n5 1 8\n",
            "3 2 11\n5 2 7\n5 1 7 3 8\n5 2 8\n",
            "vertices counted from 1 instead of 0",
        ),
        ("2 1 1\n2 0\n1 4\n", "2 1 1\n2 4\n1 4\n", "1 edge of two weights given the larger one"),
        ("2 1\n2 2\n1 1 1\n", "2 1\n2\n1\n", "3 repeated neighbours merged"),
        ("3 2\n2 3\n\n\n", "3 2\n2 3\n1\n1\n", "2 missing backward edges added"),
        ("2 1 1\n2 3\n1 5\n", "2 1 1\n2 5\n1 5\n", "1 edge of two weights given the larger one"),
        (
            "3 2 111 2\n1 2 3 2 9\n4 5 6 3 8\n7 8 9\n",
            "3 2 111 2\n1 2 3 2 9\n4 5 6 1 9 3 8\n7 8 9 2 8\n",
            "2 missing backward edges added",
        ),
    ];
    for (text, expected, changes) in cases {
        assert_eq!(repaired(text), Ok((expected.to_owned(), changes.to_owned())), "{text:?}");
    }
}

/// Random graphs of a few vertices in every format, with isolated vertices anywhere.
#[test]
fn no_valid_graph_is_taken_for_anything_else() {
    let mut state = 1u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    for _ in 0..20_000 {
        let n = 1 + below(7) as usize;
        let density = below(4);
        let mut rows = vec![Vec::new(); n];
        for u in 0..n {
            for v in 0..u {
                if below(4) < density {
                    let weight = 1 + below(5);
                    rows[u].push((v + 1, weight));
                    rows[v].push((u + 1, weight));
                }
            }
        }
        let edges = rows.iter().map(Vec::len).sum::<usize>() / 2;
        let formats = ["", " 0", " 00", " 000", " 1", " 01", " 10", " 11", " 100", " 110", " 111", " 001"];
        let format = formats[below(formats.len() as u64) as usize];
        let (has_size, has_weight, has_edges) = (
            format.len() == 4 && format.starts_with(" 1"),
            format.len() > 2 && format.as_bytes()[format.len() - 2] == b'1',
            format.ends_with('1'),
        );
        let mut text = format!("{n} {edges}{format}\n");
        for row in &rows {
            let mut numbers: Vec<String> = Vec::new();
            numbers.extend((has_size || has_weight).then(|| below(9).to_string()));
            numbers.extend((has_size && has_weight).then(|| below(9).to_string()));
            for &(target, weight) in row {
                numbers.push(target.to_string());
                numbers.extend(has_edges.then(|| weight.to_string()));
            }
            text += &(numbers.join(" ") + "\n");
        }
        let readings = viem_io::readings(text.as_bytes(), true);
        assert_eq!(readings, [viem_io::Reading::GRAPH], "{text}");
        assert_eq!(check(text.as_bytes()).faults, [], "{text}");
    }
}

#[test]
fn ambiguous_faults_are_not_repaired() {
    let cases = [
        ("2 1\n2 3\n1\n", RepairError::Unclear { count: 1 }),
        ("2 1\n0\n1\n", RepairError::Unclear { count: 1 }),
        ("2 1 1\n2 0\n1 x\n", RepairError::Unclear { count: 1 }),
        ("3 1\n2\n1\n", RepairError::Unclear { count: 1 }),
        ("2 x\n2\n1\n", RepairError::Unclear { count: 1 }),
        ("2 1 1\n2 4611686018427387903\n1 4611686018427387903 1 1\n", RepairError::Overflow),
    ];
    for (text, expected) in cases {
        assert_eq!(repaired(text), Err(expected), "{text:?}");
    }
}

prop_compose! {
    /// A graph of up to 20 vertices with random edges and weights.
    fn graphs()(n in 0usize..20)(
        weights in prop::collection::vec(0i64..1 << 40, n),
        edges in prop::collection::btree_map((0..n.max(1), 0..n.max(1)), 1i64..1 << 40, 0..40),
    ) -> CsrGraph {
        let edges = edges.into_iter().filter(|((u, v), _)| u < v);
        let edges = edges.map(|((u, v), weight)| (u as u32, v as u32, weight));
        CsrGraph::from_weights_and_edges(weights, edges).unwrap()
    }
}

fn written(graph: &CsrGraph) -> Vec<u8> {
    let mut text = Vec::new();
    metis::write(&mut text, graph, GraphContent::ALL_WEIGHTS).unwrap();
    text
}

/// The checker and the reader agree on a text, and a repaired text is valid.
fn survives(text: &[u8]) -> Result<(), TestCaseError> {
    let Ok(report) = metis::check(source(text), 5) else { return Ok(()) };
    match metis::read(source(text), NodeWeights::Ignore) {
        Ok(_) => prop_assert!(report.is_valid()),
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            let kind = kind.fault::<FaultKind>().unwrap();
            let first = &report.faults[0];
            prop_assert_eq!((line, column, kind), (first.line, first.column, &first.kind));
        }
        Err(error) => prop_assert!(false, "{error}"),
    }
    prop_assert_eq!(report.faults.len() as u64, report.num_faults.min(5));
    for fault in &report.faults {
        prop_assert!(fault.line >= 1 && fault.column >= 1 && !fault.to_string().is_empty());
    }
    let repair = metis::repair(source(text), 5).unwrap();
    prop_assert_eq!(repair.report.faults, report.faults);
    if let Ok(graph) = repair.result {
        let mut repaired = Vec::new();
        graph.write(&mut repaired).unwrap();
        prop_assert!(check(&repaired).is_valid(), "{:?}", check(&repaired).faults);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(graph in graphs()) {
        prop_assert_eq!(read(&written(&graph)).unwrap(), graph);
    }

    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..200)) {
        survives(&text)?;
    }

    #[test]
    fn any_text_of_numbers_is_survived(text in "[0-9 \n%.-]{0,80}") {
        survives(text.as_bytes())?;
    }

    #[test]
    fn small_headers_with_any_lines_are_survived(text in "[1-4] [0-4] ?(1|10|11|100|111)?\n([1-4 ]{0,6}\n){1,4}") {
        survives(text.as_bytes())?;
    }

    #[test]
    fn damaged_files_are_survived(
        graph in graphs(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 1..4),
    ) {
        let mut text = written(&graph);
        for (place, byte, change) in changes {
            let place = place.index(text.len().max(1));
            match change {
                _ if text.is_empty() => {}
                0 => drop(text.remove(place)),
                1 => text.insert(place, byte),
                2 => text[place] = byte,
                _ => text.truncate(place),
            }
        }
        survives(&text)?;
    }

    #[test]
    fn one_missing_entry_is_named_by_line_and_column(graph in graphs(), place in any::<prop::sample::Index>()) {
        // With a single edge, one entry is as many as the header declares, which is a fault of its own.
        prop_assume!(graph.num_edges() > 1);
        let arc = place.index(graph.num_arcs());
        let node = graph.nodes().find(|&u| graph.offsets()[u as usize + 1] > arc).unwrap();
        let target = graph.targets()[arc];
        let text = String::from_utf8(written(&graph)).unwrap();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let numbers: Vec<&str> = lines[node as usize + 1].split(' ').collect();
        let skipped = 1 + 2 * (arc - graph.offsets()[node as usize]);
        let kept = numbers.iter().enumerate().filter(|&(i, _)| i != skipped && i != skipped + 1);
        lines[node as usize + 1] = kept.map(|(_, &number)| number).collect::<Vec<_>>().join(" ");
        let report = check(lines.join("\n").as_bytes());
        let row = &lines[target as usize + 1];
        let expected = FaultKind::MissingBackwardArc {
            node: u64::from(target) + 1,
            target: u64::from(node) + 1,
            target_line: u64::from(node) + 2,
        };
        prop_assert_eq!(&report.faults[0].kind, &expected);
        prop_assert_eq!(report.faults[0].line, u64::from(target) + 2);
        let found: String = row[report.faults[0].column as usize - 1..].split(' ').next().unwrap().into();
        prop_assert_eq!(found, (node + 1).to_string());
        prop_assert_eq!(report.num_faults, 2);
    }
}
