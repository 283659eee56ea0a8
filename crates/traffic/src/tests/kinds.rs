//! Recorded traffic: one suite over all kinds of files.

use std::collections::BTreeMap;
use std::io::Read as _;

use super::{Flows, files};
use crate::{
    Collector, Format, MOST_RANKS, NoTraffic, Share, Summary, TrafficConfig, TrafficError, TrafficFault,
    TrafficNote, Weighing, read_goal, relabel_goal,
};
use proptest::prelude::*;
use viem::graph::CsrGraph;
use viem_io::metis::{self, NodeWeights};
use viem_io::{ReadError, Source};

const BYTES: TrafficConfig = TrafficConfig::new(Weighing::BYTES);
const MESSAGES: TrafficConfig = BYTES.with_weighing(Weighing::MESSAGES);

fn format(name: &str) -> Format {
    Format::ALL.into_iter().find(|format| format.name() == name).unwrap()
}

fn collect(format: Option<Format>, texts: &[impl AsRef<[u8]>]) -> Result<Collector, ReadError> {
    let mut collector = Collector::new(None);
    for (index, text) in texts.iter().enumerate() {
        collector.read(Source::new(format!("file {index}"), text.as_ref())?, format)?;
    }
    Ok(collector)
}

fn sum(format: Option<Format>, texts: &[impl AsRef<[u8]>], config: &TrafficConfig) -> (CsrGraph, Summary) {
    collect(format, texts).unwrap().finish(config).unwrap()
}

fn edges(graph: &CsrGraph) -> Vec<(u32, u32, i64)> {
    let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
    arcs.filter(|&(u, v, _)| u < v).collect()
}

/// Returns the messages with which texts are rejected.
fn refused(format: Option<Format>, texts: &[impl AsRef<[u8]>]) -> ReadError {
    let Err(error) = collect(format, texts) else {
        let shown = texts.iter().map(|text| String::from_utf8_lossy(text.as_ref()));
        panic!("{:?} is not rejected", shown.collect::<Vec<_>>())
    };
    error
}

/// Line, column and fault of a rejected text.
fn fault(name: &str, texts: &[impl AsRef<[u8]>]) -> (u64, u64, TrafficFault) {
    match refused(Some(format(name)), texts) {
        ReadError::Invalid { line, column, kind, .. } => (line, column, kind.fault().cloned().unwrap()),
        other => panic!("{other:?}"),
    }
}

/// The bytes of each class.
fn bytes_by_class(summary: &Summary) -> Vec<u128> {
    summary.classes.iter().map(|class| class.tally.bytes).collect()
}

/// The trace of a rank.
pub(crate) fn kineto(me: u32, n: u32, events: &[String]) -> String {
    let other = "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_SendRecv\", \"args\": {\"Collective name\": \"send\"}}";
    let events: Vec<&str> = std::iter::once(other).chain(events.iter().map(String::as_str)).collect();
    format!(
        "{{\n\"schemaVersion\": 1,\n\"deviceProperties\": [],\n\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {me}, \"world_size\": {n}}},\n\
         \"traceEvents\": [\n{}\n]}}\n",
        events.join(",\n")
    )
}

/// A call of a collective, with further arguments.
pub(crate) fn event(name: &str, kind: &str, sent: u64, received: u64, more: &str) -> String {
    format!(
        "{{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", \"args\": {{\"Collective name\": \"{name}\", \
         \"dtype\": \"{kind}\", \"In msg nelems\": {sent}, \"Out msg nelems\": {received}, {more}}}}}"
    )
}

/// Bytes fit 2^40, so that the megabytes of `aps` are exact.
fn any_flows() -> impl Strategy<Value = (u32, Flows)> {
    (2u32..20).prop_flat_map(|n| {
        let flow = ((0..n, 0..n), (0u64..1 << 40, 1u64..1000));
        (Just(n), prop::collection::btree_map(flow.0, flow.1, 0..40))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_kind_gives_the_expected_graph((n, flows) in any_flows(), cut in 0usize..9) {
        for kind in Format::ALL {
            let Some(write) = kind.sample.write else { continue };
            let (texts, has_messages) = (write(n, &flows), kind.sample.has_messages);
            if flows.is_empty() && matches!(kind.name(), "edges" | "aps") {
                continue;
            }
            let config = BYTES.with_num_ranks(u64::from(n)).with_first_rank(0);
            let (graph, summary) = sum(Some(kind), &texts, &config);
            let mut expected = BTreeMap::new();
            for (&(from, to), &(bytes, messages)) in flows.iter().filter(|((from, to), _)| from != to) {
                let sums = expected.entry((from.min(to), from.max(to))).or_insert((0, 0));
                *sums = (sums.0 + bytes, sums.1 + messages);
            }
            let of = |weight: fn((u64, u64)) -> u64| -> Vec<_> {
                let weighed = expected.iter().map(|(&(u, v), &sums)| (u, v, weight(sums) as i64));
                weighed.filter(|edge| edge.2 > 0).collect()
            };
            prop_assert_eq!(edges(&graph), of(|sums| sums.0), "{}", kind.name());
            prop_assert_eq!(graph.num_nodes(), n as usize);
            prop_assert_eq!(summary.left_out.torn_lines, 0);
            let bytes: u128 = flows.values().map(|flow| u128::from(flow.0)).sum();
            prop_assert_eq!(summary.classes.iter().map(|class| class.tally.bytes).sum::<u128>(), bytes);
            if has_messages && !expected.is_empty() {
                let messages = config.with_weighing(Weighing::MESSAGES);
                prop_assert_eq!(edges(&sum(Some(kind), &texts, &messages).0), of(|sums| sums.1));
                let both = config.with_weighing(Weighing::parse("7+0.5").unwrap());
                let (graph, summary) = sum(Some(kind), &texts, &both);
                prop_assert_eq!(edges(&graph), of(|sums| 70 * sums.1 + 5 * sums.0));
                prop_assert_eq!(summary.decimal_places, 1);
            }
            if let Some(recognised) = Format::recognise(&texts[0]) {
                prop_assert_eq!(recognised, kind);
            } else {
                prop_assert!(kind.name() == "matrix" && n < 5);
            }
            // However the file is truncated, nothing panics and no ranks are invented.
            let short = &texts[0][..texts[0].len() * cut / 9];
            let config = config.with_num_ranks(None);
            let cut_off = collect(Some(kind), &[short]).ok().and_then(|collector| collector.finish(&config).ok());
            prop_assert!(cut_off.is_none_or(|(graph, _)| graph.num_nodes() <= n as usize));
        }
    }

    #[test]
    fn any_bytes_are_survived(text in prop::collection::vec(any::<u8>(), 0..80)) {
        for kind in Format::ALL {
            let _ = collect(Some(kind), &[&text]);
        }
        let _ = Format::recognise(&text);
    }

    #[test]
    fn anything_much_like_a_file_is_survived(text in "[0-9EIR\t ,.%#a-e|>\n-]{0,60}", name in 0..Format::ALL.len()) {
        let collected = collect(Some(Format::ALL[name]), &[&text]);
        let made = collected.ok().and_then(|collector| collector.finish(&BYTES).ok());
        prop_assert!(made.is_none_or(|(graph, _)| graph.num_nodes() as u64 <= MOST_RANKS));
    }
}

fn recording() -> String {
    let path = files::instance("gromacs_water_pme_16.prof.gz");
    std::io::read_to_string(Source::open(&path).unwrap()).unwrap()
}

fn instance(name: &str) -> CsrGraph {
    metis::read(Source::open(&files::instance(name)).unwrap(), NodeWeights::Ignore).unwrap()
}

#[test]
fn a_real_recording_gives_the_graphs_that_were_made_of_it() {
    let text = recording();
    let graph = |config, include: Option<&[&str]>| {
        let mut collector =
            Collector::new(include.map(|names| names.iter().map(|name| name.to_string()).collect()));
        collector.read(Source::new("stream", text.as_bytes()).unwrap(), None).unwrap();
        collector.finish(config).unwrap()
    };
    let (by_bytes, summary) = graph(&BYTES, None);
    assert_eq!(by_bytes, instance("gromacs_water_pme_16.bytes.graph"));
    assert_eq!((summary.silent_ranks, summary.left_out.torn_lines), (vec![], 0));
    assert_eq!(graph(&MESSAGES, None).0, instance("gromacs_water_pme_16.msgs.graph"));
    assert_eq!(graph(&BYTES, Some(&["E"])).0, instance("gromacs_water_pme_16_p2p.bytes.graph"));
}

#[test]
fn torn_lines_of_a_stream_are_skipped_and_counted() {
    let text = recording();
    let lines: Vec<&str> = text.lines().collect();
    let is_flow = |line: &str| line.starts_with(['E', 'I']);
    let first = lines.iter().position(|line| is_flow(line)).unwrap();
    // What the application writes: the line in two parts with another one in between, and half a line at the
    // end.
    let (head, tail) = lines[first].split_at(lines[first].len() / 3);
    let mut torn = vec!["Reading file topol.tpr", head, lines[first + 1], tail];
    torn.extend(lines[first + 2..].iter().filter(|line| is_flow(line)));
    torn.push("E\t3\t4\t5120 by");
    let torn = torn.join("\n");
    let (graph, summary) = sum(Some(format("openmpi")), &[&torn], &BYTES);
    assert_eq!(summary.left_out.torn_lines, 4);
    assert_eq!(summary.left_out.first_torn, Some(("file 0".to_string(), 1)));
    let missing: i64 = lines[first].split(['\t', ' ']).nth(3).unwrap().parse().unwrap();
    let whole = instance("gromacs_water_pme_16.bytes.graph").total_arc_weight() / 2;
    let of_self = lines[first].split('\t').nth(1) == lines[first].split('\t').nth(2);
    assert_eq!(graph.total_arc_weight() / 2, if of_self { whole } else { whole - missing });
}

#[test]
fn missing_and_repeated_ranks_are_reported() {
    let text = recording();
    let of = |rank: usize| {
        let own = format!("\t{rank}\t");
        let is_own = |line: &&str| line.get(1..).is_some_and(|line| line.starts_with(&own));
        text.lines().filter(is_own).map(|line| format!("{line}\n")).collect::<String>()
    };
    let files: Vec<String> = (0..16).map(of).collect();
    let some: Vec<&[u8]> = files.iter().map(|file| file.as_bytes()).collect();
    let (graph, summary) = sum(None, &some, &BYTES);
    assert_eq!((graph, summary.files), (instance("gromacs_water_pme_16.bytes.graph"), 16));
    let (_, summary) = sum(None, &[&some[..3], &some[5..], &some[5..6]].concat(), &BYTES);
    assert_eq!((summary.silent_ranks, summary.repeated_ranks), (vec![3, 4], 1));
    let trace = b"viem_trace 1\nrank 2 of 4\np2p 1 1 1\nend 1\n";
    assert_eq!(sum(None, &[trace], &BYTES).1.silent_ranks, [0, 1, 3]);
}

#[test]
fn files_are_taken_as_they_come() {
    type Edges = &'static [(u32, u32, i64)];
    let cases: [(&str, &str, Edges); 37] = [
        ("edges", "0 1 5\n", &[(0, 1, 5)]),
        ("edges", "1 2 5\r\n2 1 1\r\n", &[(0, 1, 6)]),
        ("edges", "# SNAP\n0\t1\n1\t0\n2 1\n", &[(0, 1, 2), (1, 2, 1)]),
        ("edges", "from;to;x;messages;bytes\n0;1;oh;3;7\n", &[(0, 1, 7)]),
        ("edges", "\"source\",\"target\"\n\"0\",\"1\"\n", &[(0, 1, 1)]),
        ("edges", "src dst size\n0 1 5.0\n0 1 1e3\n", &[(0, 1, 1005)]),
        ("edges", "0,1,5\n\n1,1,9\n", &[(0, 1, 5)]),
        ("edges", "0, 1 ,5\r\n , \r\n1 ,\t1, 9\r\n", &[(0, 1, 5)]),
        ("edges", "rank,peer,messages,bytes\n0,1,3,7\n", &[(0, 1, 7)]),
        ("edges", "Bytes;To;From\n7;1;0\n", &[(0, 1, 7)]),
        ("edges", ",source,target,bytes,note\n0,0,1,7,\n1,1,0,2,\"oh\"\n", &[(0, 1, 9)]),
        ("edges", "\"\",\"source\",\"target\",\"bytes\"\n\"1\",0,1,7\n", &[(0, 1, 7)]),
        ("edges", "name,source,target,bytes\n\"a, \"\"b\"\"\",0,1,7\n b\",0,1,2\n", &[(0, 1, 9)]),
        ("edges", "\"sent; to\",source,target,bytes\n \"x;y,z\" ,0,1,7\n", &[(0, 1, 7)]),
        ("edges", "\u{feff}source,target,weight\r\n0,1,7\r\n", &[(0, 1, 7)]),
        ("edges", "\u{feff}weight;target;source\n7;1;0\n", &[(0, 1, 7)]),
        ("edges", "\u{feff}0,1,7\n", &[(0, 1, 7)]),
        ("matrix", "\u{feff}0 5\n1 0\n", &[(0, 1, 6)]),
        ("mtx", "%%MatrixMarket matrix coordinate pattern general\n \t\x0b\r\n2 2 1\n1 2\n ", &[(0, 1, 1)]),
        ("mtx", "\u{feff}%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2", &[(0, 1, 1)]),
        ("trace", "\u{feff}viem_trace 1\nrank 0 of 2\np2p 1 1 5\nend 1\n", &[(0, 1, 5)]),
        ("matrix", "0 5\n1 0", &[(0, 1, 6)]),
        ("matrix", " 9\t5.0 0\r\n0 0 0\r\n2e0 0 0\r\n\r\n", &[(0, 1, 5), (0, 2, 2)]),
        ("mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 5.0\n2 1 1\n", &[(0, 1, 6)]),
        (
            "mtx",
            "%%matrixmarket MATRIX Coordinate Integer Symmetric\n%\n\n2 2 2\n%\n2 1 5\n\n1 1 7\n",
            &[(0, 1, 10)],
        ),
        ("mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1", &[(0, 2, 2)]),
        ("scotch", "0 2 2 0 000 1 1 1 0", &[(0, 1, 1)]),
        ("scotch", "0\n3 4\n1 010\n1 5 2\n2 5 1 6 3\n1 6 2\n", &[(0, 1, 5), (1, 2, 6)]),
        ("scotch", "0\n2 2\n0 111\n70 1 1 9 50\n50 1 1 9 70\n", &[(0, 1, 9)]),
        ("aps", "| Rank --> Rank\n0001 --> 0000 1 2 0.5 4 7\n", &[(0, 1, 524_288)]),
        ("aps", "0000 <-> 0001 16 34.7826 877039\n| [skipped 4 lines]\n", &[(0, 1, 16 << 20)]),
        ("aps", "0000 --> 0001 0 0 3.8147e-06 1e-07 2.5e+06\n", &[(0, 1, 4)]),
        ("trace", "viem_trace 1\nrank 0 of 2\np2p 1 1 5\ncollective 1 1 6\nend 2\n", &[(0, 1, 11)]),
        (
            "trace",
            "viem_trace 1\nrank 0 of 2\nelsewhere 1 5\nuncounted 3\np2p 1 1 5\nend 3\n\n",
            &[(0, 1, 5)],
        ),
        ("openmpi", "E\t0\t1\t5 bytes\t1 msgs sent\nI\t1\t0\t6 bytes\t1 msgs sent\t0,1\n", &[(0, 1, 11)]),
        ("openmpi", "[1,0]<stdout>:E\t0\t1\t5 bytes\t1 msgs sent\n", &[(0, 1, 5)]),
        ("openmpi", "S\t0\t1\t5 bytes\t1 msgs sent\nC\t0\t1\t9 bytes\t1 msgs sent\r\n", &[(0, 1, 5)]),
    ];
    for (name, text, expected) in cases {
        let (graph, _) = sum(Some(format(name)), &[&text], &BYTES);
        assert_eq!(edges(&graph), expected, "{name}: {text:?}");
    }
}

#[test]
fn skipped_rows_are_counted_up_to_the_greatest_number() {
    let table = |count: u64| format!("0000 <-> 0001 16 34.7826 877039\n| [skipped {count} lines]\n");
    let left_out = |tables: [u64; 2]| {
        let (_, summary) = sum(Some(format("aps")), &[tables.map(table).concat()], &BYTES);
        summary.left_out.omitted_rows
    };
    assert_eq!(left_out([4, 5]), 9);
    assert_eq!(left_out([u64::MAX, 5]), u64::MAX);
}

#[test]
fn ranks_of_edge_lists_start_where_the_files_say() {
    let from_one: [&[u8]; 2] = [b"1 2 5\n", b"3 4 6\n"];
    let (graph, summary) = sum(Some(format("edges")), &from_one, &BYTES);
    assert_eq!((graph.num_nodes(), edges(&graph)), (4, vec![(0, 1, 5), (2, 3, 6)]));
    assert_eq!(summary.first_rank, Some(1));
    let (graph, summary) = sum(Some(format("edges")), &[from_one[0], b"0 2 1\n"], &BYTES);
    assert_eq!((graph.num_nodes(), summary.first_rank), (3, Some(0)));
    let config = BYTES.with_first_rank(0).with_num_ranks(9);
    let (graph, summary) = sum(Some(format("edges")), &from_one, &config);
    assert_eq!((graph.num_nodes(), summary.first_rank), (9, Some(0)));
    assert_eq!(edges(&graph), [(1, 2, 5), (3, 4, 6)]);
    let refused =
        |config, text: &[u8]| collect(Some(format("edges")), &[&text]).unwrap().finish(config).unwrap_err();
    let config = BYTES.with_first_rank(1);
    assert_eq!(refused(&config, b"0 1 1\n"), TrafficError::BelowFirst { found: 0, first: 1 });
    let config = BYTES.with_num_ranks(2);
    assert_eq!(refused(&config, b"0 2 1\n"), TrafficError::TooManyRanks { found: 3, asked: 2 });
    let config = BYTES.with_num_ranks(MOST_RANKS + 1);
    assert_eq!(refused(&config, b"0 2 1\n"), TrafficError::TooManyAsked { asked: MOST_RANKS + 1 });
}

/// Returns whether the kind is given or recognised, damage is reported where reading ends; otherwise nothing is
/// recognised.
#[test]
fn damaged_compression_is_reported_with_its_position() {
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        let mut bytes = encoder.finish().unwrap();
        bytes.truncate(bytes.len() - 4);
        bytes
    };
    let error = |kind: Option<Format>, bytes: &[u8]| refused(kind, &[bytes]).to_string();
    // More than is decompressed at once, so that some lines are read before the damage is found.
    let long = format!("source,target\n{}", "0,1\n".repeat(1 << 13));
    let edges = packed(&long);
    let said = error(Some(format("edges")), &edges);
    assert!(said.contains("cannot be unpacked") && !said.contains("line 1,"), "{said}");
    assert_eq!(error(None, &edges), said);
    let nothing = error(None, &packed("nothing of the kind"));
    assert!(nothing.contains("cannot be unpacked"), "{nothing}");
}

#[test]
fn faulty_files_are_rejected_with_the_position() {
    use TrafficFault::{
        Asymmetric, ColumnTwice, EdgeColumns, EmptyField, InEdge, InEvent, Json, Missing, Names, NoColumn,
        NoSuchRank, OtherColumns, OtherSize, OutOfRange, RankTwice, TooManyRanks, TooMuch, Unexpected, Xml,
    };
    type Check = fn(&TrafficFault) -> bool;
    let missing: Check = |fault| matches!(fault, Missing { .. });
    let unexpected: Check = |fault| matches!(fault, Unexpected { .. } | OutOfRange { .. });
    let too_much: Check = |fault| matches!(fault, TooMuch { .. });
    let columns: Check = |fault| matches!(fault, OtherColumns { .. });
    let names: Check = |fault| matches!(fault, Names { names: 1, columns: 2 });
    let edge_columns: Check = |fault| matches!(fault, EdgeColumns { .. });
    let empty: Check = |fault| matches!(fault, EmptyField { .. });
    let no_source: Check = |fault| matches!(fault, NoColumn { what: "source", .. });
    let no_target: Check = |fault| matches!(fault, NoColumn { what: "target", .. });
    let no_weight: Check = |fault| matches!(fault, NoColumn { what: "weight or messages", .. });
    let twice: Check = |fault| matches!(fault, ColumnTwice { .. });
    let no_rank: Check = |fault| matches!(fault, NoSuchRank { .. });
    let twice_there: Check = |fault| matches!(fault, RankTwice { rank: 0 });
    let json: Check = |fault| matches!(fault, Json { .. });
    let xml: Check = |fault| matches!(fault, Xml { .. });
    let in_edge: Check =
        |fault| matches!(fault, InEdge { number: 2, fault } if matches!(**fault, Unexpected { .. }));
    let weighed = |weight: &str| {
        let links = format!(
            "{{\"source\": 0, \"target\": 1}},\n{{\"source\": 1, \"target\": 0, \"weight\": {weight}}}"
        );
        format!("{{\"nodes\": [{{\"id\": 0}}, {{\"id\": 1}}], \"links\": [{links}]}}")
    };
    let graphml = |data: &str| {
        let nodes = "<node id=\"0\"/><node id=\"1\"/>";
        format!(
            "<graphml>\n<key id=\"w\" for=\"edge\" attr.name=\"weight\"/>\n<graph>{nodes}\n<edge source=\"0\" target=\"1\">{data}</edge></graph></graphml>"
        )
    };
    let in_event: Check = |fault| matches!(fault, InEvent { number: 2, .. });
    let too_many: Check = |fault| matches!(fault, TooManyRanks { .. });
    let other_size: Check = |fault| matches!(fault, OtherSize { .. });
    const MTX: &str = "%%MatrixMarket matrix coordinate integer general\n";
    let mtx = |rest: &str| format!("{MTX}{rest}");
    let trace = |rest: &str| format!("viem_trace 1\nrank 0 of 2\n{rest}");
    let cases: Vec<(&str, Vec<String>, u64, u64, Check)> = vec![
        // Foreign, empty, or only torn lines.
        ("openmpi", vec!["".into()], 1, 1, missing),
        ("openmpi", vec!["2 1\n2\n1\n".into()], 4, 1, missing),
        ("openmpi", vec!["E\t0\t1\t5 bytes\t1 msgs".into()], 1, 1, missing),
        ("openmpi", vec!["E\t0\t16777216\t5 bytes\t1 msgs sent\n".into()], 1, 1, too_many),
        // Torn and truncated.
        ("matrix", vec!["0 1 2\n1 0\n".into()], 2, 4, columns),
        ("matrix", vec!["bytes\na,0,1\nb,1,0\n".into()], 1, 1, names),
        ("matrix", vec!["0 1\n".into()], 2, 1, missing),
        ("matrix", vec!["".into()], 1, 1, missing),
        ("matrix", vec!["0 1\n1 0 5\n".into()], 2, 5, too_much),
        ("matrix", vec!["0 1\n1 0\n0 1\n".into()], 3, 1, too_much),
        ("matrix", vec!["0 x\n1 0\n".into()], 1, 3, unexpected),
        ("matrix", vec!["0 -1\n1 0\n".into()], 1, 3, unexpected),
        ("matrix", vec!["0 1.5\n1 0\n".into()], 1, 3, unexpected),
        ("matrix", vec!["0 18446744073709551616\n1 0\n".into()], 1, 3, unexpected),
        ("matrix", vec!["0 1\n1 0\n".into(), "0 1 1\n1 0 1\n1 1 0\n".into()], 4, 1, other_size),
        ("nccl", vec!["n1: some other line\n".into()], 2, 1, missing),
        ("nccl", vec![" NCCL INFO comm 0x7 rank 0 nranks 16777217\n".into()], 1, 1, too_many),
        // A weight that is there is a number.
        ("json", vec![weighed("null")], 2, 1, in_edge),
        ("json", vec![weighed("\"1\"")], 2, 1, in_edge),
        ("json", vec![weighed("true")], 2, 1, in_edge),
        ("json", vec![weighed("[1]")], 2, 1, in_edge),
        ("graphml", vec!["<!DOCTYPE graphml [\n<!ENTITY e \"x\">]><graphml/>".into()], 2, 1, xml),
        ("graphml", vec![graphml("<data key=\"w\"></data>")], 4, 1, unexpected),
        ("graphml", vec![graphml("<data key=\"w\">x</data>")], 4, 1, unexpected),
        ("kineto", vec!["{\"traceEvents\": [".into()], 1, 17, json),
        ("kineto", vec!["{\"traceEvents\": 5}".into()], 1, 17, json),
        ("kineto", vec!["{\"traceEvents\": []}".into()], 1, 1, missing),
        ("kineto", vec![kineto(3, 3, &[])], 1, 1, no_rank),
        ("kineto", vec![kineto(0, 3, &[event("send", "Byte", 1, 1, "\"Dst Rank\": 3")])], 1, 1, in_event),
        ("kineto", vec![kineto(0, 3, &[event("send", "Word", 1, 1, "\"Dst Rank\": 1")])], 1, 1, in_event),
        (
            "kineto",
            vec![kineto(0, 3, &[event("send", "Long", u64::MAX, 1, "\"Dst Rank\": 1")])],
            1,
            1,
            in_event,
        ),
        ("kineto", vec![kineto(0, 3, &[]), kineto(1, 4, &[])], 1, 1, other_size),
        ("goal", vec!["".into()], 1, 1, missing),
        ("goal", vec!["num_ranks 2\nrank 0 {\n".into()], 3, 1, missing),
        ("goal", vec!["rank 0 {\n}\nnum_ranks 2\n".into()], 1, 6, missing),
        ("goal", vec!["num_ranks 16777217\n".into()], 1, 1, too_many),
        ("goal", vec!["num_ranks 2\nrank 2 {\n}\n".into()], 2, 6, no_rank),
        ("goal", vec!["num_ranks 2\nrank 0 {\nsend 8b to 2\n}\n".into()], 3, 12, no_rank),
        ("goal", vec!["num_ranks 2\nrank 0 {\nrecv 8b from 7\n}\n".into()], 3, 14, no_rank),
        ("goal", vec!["num_ranks 2\nrank 0 {\nsend 8b from 1\n}\n".into()], 3, 9, unexpected),
        ("goal", vec!["num_ranks 2\nrank 0 {\nsend 8 to 1\n}\n".into()], 3, 8, unexpected),
        (
            "goal",
            vec!["num_ranks 2\nrank 0 {\nsend 18446744073709551616b to 1\n}\n".into()],
            3,
            6,
            unexpected,
        ),
        ("goal", vec!["num_ranks 2\nrank 0 {\nsend -1b to 1\n}\n".into()], 3, 6, unexpected),
        ("goal", vec!["num_ranks 2\nrank 0 {\nsend 8b to -1\n}\n".into()], 3, 12, unexpected),
        ("goal", vec!["num_ranks 2\nrank 0 {\nsend 8b to\n}\n".into()], 3, 11, missing),
        ("goal", vec!["num_ranks 2\nrank 0 {\nsend 8b to 1 core 5\n}\n".into()], 3, 14, unexpected),
        ("goal", vec!["num_ranks 2\nrank 0 {\nl1: wait 5\n}\n".into()], 3, 5, unexpected),
        ("goal", vec!["num_ranks 2\nrank 0 {\nl1 requires l2 l3\n}\n".into()], 3, 16, unexpected),
        ("goal", vec!["num_ranks 2\nrank 0 {\nrank 1 {\n}\n}\n".into()], 3, 6, unexpected),
        ("goal", vec!["num_ranks 2\nsend 8b to 1\n".into()], 2, 1, unexpected),
        ("goal", vec!["num_ranks 2\nrank 0 {\n}\n".into(), "num_ranks 3\n".into()], 1, 1, other_size),
        (
            "goal",
            vec!["num_ranks 2\nrank 0 {\n}\n".into(), "num_ranks 2\nrank 0 {\n}\n".into()],
            2,
            1,
            twice_there,
        ),
        ("edges", vec!["".into()], 1, 1, missing),
        ("edges", vec!["# nothing\n".into()], 2, 1, missing),
        ("edges", vec!["0\n".into()], 1, 1, edge_columns),
        ("edges", vec!["0 1 2\n3 4\n".into()], 2, 1, columns),
        ("edges", vec!["0 1 2 3 4\n".into()], 1, 1, edge_columns),
        ("edges", vec!["0,1,5,1,\n".into()], 1, 1, edge_columns),
        // Columns that are unnamed, unknown, or named twice.
        ("edges", vec!["a,b,c\n0,1,5\n".into()], 1, 1, no_source),
        ("edges", vec![".5,1,2\n0,1,5\n".into()], 1, 1, no_source),
        ("edges", vec!["id,peer,bytes\n0,1,5\n".into()], 1, 1, no_source),
        ("edges", vec!["# c\nrank,other,messages,bytes\n0,1,3,7\n".into()], 2, 1, no_target),
        ("edges", vec!["source,target,time\n0,1,5\n".into()], 1, 1, no_weight),
        ("edges", vec!["source,target,\n0,1,5\n".into()], 1, 1, no_weight),
        ("edges", vec!["rank,source,target,bytes\n0,0,1,5\n".into()], 1, 6, twice),
        ("edges", vec!["source;target;size; bytes\n0;1;5;6\n".into()], 1, 21, twice),
        // Empty fields, and other separators than in the first line.
        ("edges", vec!["0,1,,5\n".into()], 1, 5, empty),
        ("edges", vec!["0,1,5\n0,1,\n".into()], 2, 5, empty),
        ("edges", vec!["0,1,5\n,1, 5\n".into()], 2, 1, empty),
        ("edges", vec!["0,1,5\n0, \t,5\n".into()], 2, 5, empty),
        ("edges", vec!["0;1;5\n0;1;\"\"\n".into()], 2, 5, empty),
        ("edges", vec!["0,1,5\n0,1,,5\n".into()], 2, 5, empty),
        ("edges", vec!["source,target,weight,x\n0,1,,5\n".into()], 2, 5, empty),
        ("edges", vec!["0;1;1,5\n".into()], 1, 5, unexpected),
        ("edges", vec!["0,1,5\n0 1 5\n".into()], 2, 1, unexpected),
        ("edges", vec!["source,target,weight\n0,1,2,3\n".into()], 2, 1, columns),
        ("edges", vec!["0,1,x\n".into()], 1, 5, unexpected),
        ("edges", vec!["0,1,-4\n".into()], 1, 5, unexpected),
        ("edges", vec!["0,1,0.5\n".into()], 1, 5, unexpected),
        ("edges", vec!["-1,0,5\n".into()], 1, 1, unexpected),
        ("edges", vec!["0 4294967296 5\n".into()], 1, 1, too_many),
        ("edges", vec!["0 18446744073709551615 5\n".into()], 1, 1, too_many),
        ("mtx", vec!["".into()], 1, 1, missing),
        ("mtx", vec!["2 1\n".into()], 1, 1, unexpected),
        ("mtx", vec!["%%MatrixMarket matrix array real general\n".into()], 1, 23, unexpected),
        ("mtx", vec!["%%MatrixMarket matrix coordinate complex general\n".into()], 1, 34, unexpected),
        ("mtx", vec!["%%MatrixMarket matrix coordinate real skew-symmetric\n".into()], 1, 39, unexpected),
        ("mtx", vec!["%%MatrixMarket matrix coordinate real\n".into()], 1, 38, missing),
        ("mtx", vec![MTX.into()], 2, 1, missing),
        ("mtx", vec![mtx("2 3 1\n1 2 5\n")], 2, 3, unexpected),
        ("mtx", vec![mtx("2 2 2\n1 2 5\n")], 4, 1, missing),
        ("mtx", vec![mtx("2 2 1\n1 2\n")], 3, 4, missing),
        ("mtx", vec![mtx("2 2 1\n1 3 5\n")], 3, 3, no_rank),
        ("mtx", vec![mtx("2 2 1\n0 1 5\n")], 3, 1, no_rank),
        ("mtx", vec![mtx("2 2 1\n1 2 5 6\n")], 3, 7, too_much),
        ("mtx", vec![mtx("2 2 1\n1 2 5\n1 2 5\n")], 4, 1, too_much),
        ("mtx", vec![mtx("99999999 99999999 1\n1 2 5\n")], 2, 1, too_many),
        ("mtx", vec![mtx("2 2 18446744073709551615\n1 2 5\n")], 4, 1, missing),
        ("scotch", vec!["".into()], 1, 1, missing),
        ("scotch", vec!["2 1\n2\n1\n".into()], 1, 1, unexpected),
        ("scotch", vec!["0\n2 2\n2 000\n".into()], 3, 1, unexpected),
        ("scotch", vec!["0\n2 2\n0 002\n".into()], 3, 3, unexpected),
        ("scotch", vec!["0\n2 2\n0 000\n1 1\n1\n".into()], 6, 1, missing),
        ("scotch", vec!["0\n2 2\n0 000\n1 1\n1 2\n".into()], 5, 3, no_rank),
        ("scotch", vec!["0\n2 2\n1 000\n1 2\n1 0\n".into()], 5, 3, no_rank),
        ("scotch", vec!["0\n2 4\n0 000\n1 1\n1 0\n".into()], 6, 1, unexpected),
        ("scotch", vec!["0\n2 2\n0 000\n1 1\n1 0\n7\n".into()], 6, 1, unexpected),
        ("scotch", vec!["0\n2 2\n0 100\n5 1 6\n5 1 5\n".into()], 5, 1, unexpected),
        ("scotch", vec!["0\n2 1\n0 000\n1 1\n0\n".into()], 4, 3, |fault| {
            *fault == Asymmetric { from: 0, to: 1, weight: 1 }
        }),
        ("scotch", vec!["0\n2 2\n0 010\n1 5 1\n1 6 0\n".into()], 4, 5, |fault| {
            *fault == Asymmetric { from: 0, to: 1, weight: 5 }
        }),
        ("scotch", vec!["0\n99999999 0\n0 000\n".into()], 3, 3, too_many),
        ("aps", vec!["".into()], 1, 1, missing),
        ("aps", vec!["| Rank --> Rank\n| TOTAL 5\n".into()], 3, 1, missing),
        ("aps", vec!["0003 --> 0000 1 2 3 4".into()], 1, 22, missing),
        ("aps", vec!["0003 -".into()], 1, 6, unexpected),
        ("aps", vec!["0003 --> 0000 1 2 3 4 5 6\n".into()], 1, 25, too_much),
        ("aps", vec!["0003 --> 0000 1 2 nan 4 5\n".into()], 1, 19, unexpected),
        ("aps", vec!["0003 --> 0000 1 2 -3 4 5\n".into()], 1, 19, unexpected),
        ("aps", vec!["0003 --> 0000 1 2 1e300 4 5\n".into()], 1, 19, unexpected),
        ("trace", vec!["".into()], 1, 1, missing),
        ("trace", vec!["viem_trace 2\n".into()], 1, 12, unexpected),
        ("trace", vec!["viem_trace 1\nrank 2 of 2\n".into()], 2, 1, no_rank),
        ("trace", vec![trace("p2p 1 1 5\n")], 4, 1, missing),
        ("trace", vec![trace("p2p 1 1 5\nend 2\n")], 4, 1, unexpected),
        ("trace", vec![trace("p2p 1 1\nend 1\n")], 3, 8, missing),
        ("trace", vec![trace("p2p 2 1 5\nend 1\n")], 3, 1, no_rank),
        ("trace", vec![trace("file 1 1 5\nend 1\n")], 3, 1, unexpected),
        ("trace", vec![trace("end 0\nmore\n")], 4, 1, too_much),
        ("trace", vec![trace("end 0\n"), "viem_trace 1\nrank 1 of 3\nend 0\n".into()], 2, 1, other_size),
        ("trace", vec![trace("end 0\n"), trace("end 0\n")], 2, 1, |fault| *fault == RankTwice { rank: 0 }),
    ];
    let mut wrong = Vec::new();
    for (name, texts, line, column, check) in cases {
        let found = fault(name, &texts);
        if (found.0, found.1) != (line, column) || !check(&found.2) {
            wrong.push(format!("{name} {texts:?}: line {}, column {}: {}", found.0, found.1, found.2));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines that do not fit the buffer of the scanner, which has 2^18 bytes.
#[test]
fn long_lines_are_read_to_their_end() {
    let buffer = 1 << 18;
    let separators = |separator: &str, line: &str| separator.repeat(buffer - line.len() - 1);
    // The boundary is in the middle of a weight.
    for separator in [" ", "\t"] {
        let text = format!("0 1{}500\n1 2 6\n", separators(separator, "0 1"));
        let (graph, _) = sum(Some(format("edges")), &[&text], &BYTES);
        assert_eq!(edges(&graph), [(0, 1, 500), (1, 2, 6)]);
    }
    let text = format!("source,target,weight\n0,1{}500\n", separators(",", "0,1"));
    assert!(matches!(fault("edges", &[&text]), (2, 5, TrafficFault::EmptyField { .. })));
    let names: String = (0..60_000).map(|column| format!("unknown {column},")).collect();
    let text = format!("{names}source,target,weight\n{}0,1,500\n", ",".repeat(60_000));
    assert_eq!(edges(&sum(Some(format("edges")), &[&text], &BYTES).0), [(0, 1, 500)]);

    let row = "0000 <-> 0001 16 34.7826";
    let text = format!("{row}{}877039\n", separators(" ", row));
    assert_eq!(sum(Some(format("aps")), &[&text], &MESSAGES).0.total_arc_weight(), 2 * 877_039);
    let text = format!("viem_trace 1\nrank 0 of 2\np2p 1 1{}500\nend 1\n", separators(" ", "p2p 1 1"));
    assert_eq!(edges(&sum(None, &[&text], &BYTES).0), [(0, 1, 500)]);

    // The communicator lines of a job of many ranks.
    let ranks: Vec<String> = (0..60_000).map(|rank| rank.to_string()).collect();
    let communicator = format!("D\tMPI_COMM_WORLD\tprocs: {}", ranks.join(","));
    let flow = "E\t0\t1\t5 bytes\t1 msgs sent\n";
    for (text, num_torn) in [
        (format!("{flow}{communicator}\n{flow}"), 0),
        (format!("{flow}{communicator}"), 0),
        (format!("{flow}{communicator},x\n{flow}"), 1),
    ] {
        let (graph, summary) = sum(None, &[&text], &BYTES);
        assert_eq!(summary.left_out.torn_lines, num_torn);
        assert_eq!(graph.arcs(0).next(), Some((1, 5 * text.matches(flow).count() as i64)));
    }
}

#[test]
fn an_endless_line_is_rejected() {
    for (name, start) in [
        ("edges", "0 1 5\n"),
        ("openmpi", "# OSC\n"),
        ("aps", "0000 <-> 0001 1 2 3\n"),
        ("trace", "viem_trace 1\n"),
    ] {
        let text = start.as_bytes().chain(std::io::repeat(b'7'));
        let source = Source::new("endless", text).unwrap();
        let error = Collector::new(None).read(source, Some(format(name))).unwrap_err().to_string();
        let expected = "endless, line 2, column 1: the line is longer than 64 MiB, which is the most that is read as one";
        assert_eq!(error, expected, "{name}");
    }
}

#[test]
fn blanks_of_any_number_may_stand_in_a_matrix_market_file() {
    let banner = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n";
    let entry = "1 2 5\n";
    // An empty line and the start of an entry at the boundary of the buffer, which is at byte 2^18.
    for (blanks, shift) in [(200, 7), (200, 100), (33, 32), (300_000, 500), (40, 1)] {
        let comment = format!("%{}\n", " ".repeat((1 << 18) - banner.len() - shift - 2));
        let blanks = " ".repeat(blanks);
        for text in [
            format!("{banner}{comment}{blanks}\n{entry}{blanks}{entry}{blanks}\n"),
            format!("{banner}{comment}{blanks}\r\n\n{entry}{entry}{blanks}"),
        ] {
            let (graph, _) = sum(None, &[&text], &BYTES);
            assert_eq!(edges(&graph), [(0, 1, 10)], "{} blanks, {shift} before the seam", blanks.len());
        }
    }
}

#[test]
fn a_job_may_have_as_many_ranks_whether_they_count_from_0_or_from_1() {
    let (last, beyond) = (MOST_RANKS, MOST_RANKS + 1);
    let read = |texts: &[&str]| collect(Some(format("edges")), texts);
    // That fewer are asked for spares the graph.
    let fewer = BYTES.with_num_ranks(MOST_RANKS - 1);
    let too_many = TrafficError::TooManyRanks { found: MOST_RANKS, asked: MOST_RANKS - 1 };
    let from_one = format!("1,{last},5\n");
    for text in [&from_one, &format!("0,{},5\n", last - 1)] {
        assert_eq!(read(&[text]).unwrap().finish(&fewer).unwrap_err(), too_many, "{text}");
    }
    let from_zero = BYTES.with_first_rank(0);
    let too_large = TrafficError::TooLarge { count: MOST_RANKS + 1 };
    assert_eq!(read(&[&from_one]).unwrap().finish(&from_zero).unwrap_err(), too_large);
    let count = MOST_RANKS + 1;
    for (texts, line) in [
        (&[&*format!("0,{last},5\n")][..], 1),
        (&[&format!("1,{beyond},5\n")], 1),
        (&[&format!("1,2,5\n{beyond},3,5\n")], 2),
        (&[&format!("1,{last},5\n2,1,5\n1,0,5\n")], 3),
        (&[&from_one, "1,2,3\n0,1,1\n"], 2),
    ] {
        assert_eq!(fault("edges", texts), (line, 1, TrafficFault::TooManyRanks { count }), "{texts:?}");
    }
}

#[test]
fn kinds_are_recognised_and_not_mixed() {
    for text in ["0,1,,5\n", "0;1\n", "Bytes\tRank\tPeer\r\n", "rank,source,target,bytes\n"] {
        assert_eq!(Format::recognise(text.as_bytes()).map(Format::name), Some("edges"), "{text:?}");
    }
    for text in [
        "",
        "2 1\n2\n1\n",
        "% comment\n2 1\n2\n1\n",
        "0 1 5\n",
        "4 4 11 1\n1 2 3 4\n",
        "0\n",
        "{}",
        "hello\n",
    ] {
        assert_eq!(Format::recognise(text.as_bytes()), None, "{text:?}");
        let error = refused(None, &[&text]).to_string();
        assert!(
            error.starts_with("file 0, line 1, column 1: this ") && error.contains("a known kind"),
            "{error}"
        );
    }
    // Alone, the second file may be a matrix, too.
    let (graph, _) = sum(None, &["0,1,5\n", "0,1\n1,0\n"], &BYTES);
    assert_eq!(edges(&graph), [(0, 1, 7)]);
    let ambiguous = refused(None, &[b"0,1\n1,0\n"]).to_string();
    assert!(ambiguous.contains("this is a dense matrix or an edge list"), "{ambiguous}");
    let files: [&[u8]; 2] = [b"0,1,5\n", b"%%MatrixMarket matrix coordinate integer general\n2 2 0\n"];
    let error = refused(None, &files).to_string();
    assert_eq!(
        error,
        "file 1, line 1, column 1: this is a file of kind mtx, but the files before it are of kind edges; sum them one by one"
    );
}

#[test]
fn sums_beyond_64_bits_are_rejected() {
    let edges = |text: &[u8], config: &TrafficConfig| {
        collect(Some(format("edges")), &[&text]).unwrap().finish(config)
    };
    let limit = i64::MAX as u64 / 2;
    assert!(edges(format!("0 1 {limit}\n").as_bytes(), &BYTES).is_ok());
    for text in [
        format!("0 1 {}\n", limit + 1),
        format!("0 1 {limit}\n1 2 1\n"),
        format!("0 1 {}\n", u64::MAX),
        format!("0 1 {0}\n1 2 {0}\n", i64::MAX),
    ] {
        assert_eq!(edges(text.as_bytes(), &BYTES).unwrap_err(), TrafficError::WeightOverflow, "{text}");
    }
    let text = format!("3 1 {0}\n1 3 {0}\n", u64::MAX);
    let config = BYTES.with_first_rank(0);
    assert_eq!(edges(text.as_bytes(), &config).unwrap_err(), TrafficError::Overflow(1, 3));
    let text = format!("0 1 1 {0}\n1 0 1 {0}\n", u64::MAX);
    assert_eq!(edges(text.as_bytes(), &BYTES).unwrap_err(), TrafficError::Overflow(0, 1));
    // Costs with decimal places are scaled down instead.
    let config = BYTES.with_weighing(Weighing::parse("1.5e-6+2.5e-10").unwrap());
    let text = format!("0 1 {0} {0}\n1 2 1 1\n", 1u64 << 60);
    let weight = (((150_025u128 << 60) + 500_000_000) / 1_000_000_000) as i64;
    let (graph, summary) = edges(text.as_bytes(), &config).unwrap();
    assert_eq!(summary.decimal_places, 2);
    assert_eq!(graph.arcs(0).next(), Some((1, weight)));
    assert_eq!((graph.num_edges(), summary.left_out.weightless_pairs), (1, 1));
}

#[test]
fn histograms_are_as_long_as_those_of_most_lines() {
    let line = |peer: u32, histogram: &str| format!("E\t0\t{peer}\t8 bytes\t1 msgs sent\t{histogram}\n");
    let text = line(1, "0,1")
        + &line(2, "0,1,2,0")
        + &line(3, "0,1,2,0")
        + &line(4, "0,1,2,00,1")
        + &line(5, "0,1,2,0");
    let (graph, summary) = sum(Some(format("openmpi")), &[&text], &BYTES);
    assert_eq!(edges(&graph), [(0, 1, 8), (0, 2, 8), (0, 3, 8), (0, 5, 8)]);
    assert_eq!(summary.left_out.torn_lines, 1);
}

#[test]
fn requested_data_must_exist() {
    let collector = |include: &[&str]| {
        let include = include.iter().map(|name| name.to_string()).collect();
        let mut collector = Collector::new(Some(include));
        let text = "E\t0\t1\t5 bytes\t1 msgs sent\nC\t0\t1\t9 bytes\t2 msgs sent\n";
        collector.read(Source::new("test", text.as_bytes()).unwrap(), None).unwrap();
        collector
    };
    assert_eq!(edges(&collector(&["C", "E"]).finish(&BYTES).unwrap().0), [(0, 1, 14)]);
    assert_eq!(edges(&collector(&["C"]).finish(&MESSAGES).unwrap().0), [(0, 1, 2)]);
    assert_eq!(collector(&["S"]).finish(&BYTES).unwrap().0.num_edges(), 0);
    let error = collector(&["E", "p2p"]).finish(&BYTES).unwrap_err();
    assert_eq!(error.to_string(), "files of kind openmpi have no class `p2p`; they have E, I, S, R, C");
    let plain = collect(Some(format("edges")), &[b"0 1 5\n"]).unwrap();
    assert_eq!(plain.finish(&MESSAGES).unwrap_err(), TrafficError::NoMessages);
    let counts = || collect(Some(format("edges")), &[b"src,dst,messages\n0,1,7\n"]).unwrap();
    assert_eq!(counts().finish(&BYTES).unwrap_err(), TrafficError::NoBytes);
    assert_eq!(edges(&counts().finish(&MESSAGES).unwrap().0), [(0, 1, 7)]);
    assert_eq!(Collector::new(None).finish(&BYTES).unwrap_err(), TrafficError::NoRanks);
}

#[test]
fn the_heaviest_edges_are_kept() {
    let text = b"0 1 50\n1 2 30\n2 3 15\n3 4 5\n";
    let kept = |share: &str| {
        let config = BYTES.with_top(Share::parse(share).unwrap());
        let (graph, summary) = sum(Some(format("edges")), &[&text], &config);
        assert_eq!(graph.num_nodes(), 5);
        assert_eq!(graph.num_edges() + summary.left_out.light_pairs, 4);
        edges(&graph).iter().map(|edge| edge.2).collect::<Vec<_>>()
    };
    assert_eq!(kept("1"), [50, 30, 15, 5]);
    assert_eq!(kept("0.95"), [50, 30, 15]);
    assert_eq!(kept("80%"), [50, 30]);
    assert_eq!(kept("81%"), [50, 30, 15]);
    assert_eq!(kept("0.1"), [50]);
    let equal: String = (0..100).map(|rank| format!("{rank} {} 1\n", rank + 1)).collect();
    for (share, count) in [("55%", 55), ("0.55", 55), ("7%", 7), ("28%", 28), ("28.01%", 29), ("1e-9", 1)] {
        let config = BYTES.with_top(Share::parse(share).unwrap());
        assert_eq!(sum(Some(format("edges")), &[&equal], &config).0.num_edges(), count, "{share}");
    }
    let far_apart = b"0 1 9007199254740992\n1 2 1\n";
    let config = BYTES.with_top(Share::parse("100%").unwrap());
    assert_eq!(sum(Some(format("edges")), &[far_apart], &config).0.num_edges(), 2);
}

/// The sums of the traces of all ranks, in which all make these calls.
fn of_calls(n: u32, events: &[String]) -> (Vec<(u32, u32, i64)>, Summary) {
    let texts: Vec<String> = (0..n).map(|me| kineto(me, n, events)).collect();
    let (graph, summary) = sum(None, &texts, &BYTES);
    (edges(&graph), summary)
}

#[test]
fn collectives_of_traces_are_sent_as_rings_do() {
    let group = |ranks: &str| format!("\"Group size\": 4, \"Process Group Ranks\": \"{ranks}\", \"Rank\": 1");
    let all = group("[0, 1, 2, 3]");
    let ring = |bytes| vec![(0, 1, bytes), (0, 3, bytes), (1, 2, bytes), (2, 3, bytes)];
    let cases = [
        ("allreduce", "Float", 100, 100, ring(600)),
        ("all_reduce", "torch.bfloat16", 100, 100, ring(300)),
        ("_allgather_base", "BFloat16", 100, 400, ring(600)),
        ("reduce_scatter_tensor_coalesced", "Half", 400, 100, ring(600)),
        ("broadcast", "Byte", 100, 100, vec![(0, 3, 100), (1, 2, 100), (2, 3, 100)]),
        ("_reduce_oop", "Long", 10, 10, vec![(0, 1, 80), (0, 3, 80), (2, 3, 80)]),
        ("gather", "Int", 10, 40, vec![(0, 1, 40), (1, 2, 40), (1, 3, 40)]),
        ("scatter", "Int", 40, 10, vec![(0, 1, 40), (1, 2, 40), (1, 3, 40)]),
    ];
    for (name, kind, sent, received, expected) in cases {
        let (edges, summary) = of_calls(4, &[event(name, kind, sent, received, &all)]);
        assert_eq!(edges, expected, "{name}");
        assert_eq!((summary.silent_ranks, summary.left_out.uncounted_calls), (vec![], 0));
    }
    // Rings follow the order of the group.
    let (edges, _) = of_calls(4, &[event("allreduce", "Byte", 4, 4, &group("[0, 2, 1, 3]"))]);
    assert_eq!(edges, [(0, 2, 6), (0, 3, 6), (1, 2, 6), (1, 3, 6)]);
    // Barriers and what is received send nothing.
    let quiet = [
        event("barrier", "Byte", 0, 0, &all),
        event("recv", "Byte", 5, 5, &all),
        event("wait", "", 0, 0, "\"x\": 1"),
    ];
    let (edges, summary) = of_calls(4, &quiet);
    assert_eq!((edges, summary.left_out.uncounted_calls), (vec![], 0));
}

#[test]
fn tokens_go_to_experts_as_they_are_split() {
    let group = "\"Group size\": 3, \"Process Group Ranks\": [0, 1, 2]";
    let call = |splits: &str| {
        event("all_to_allv", "Float", 30, 30, &format!("{group}, \"In split size\": \"{splits}\""))
    };
    let bytes = |splits: &str| of_calls(3, &[call(splits)]).0;
    assert_eq!(bytes("[]"), [(0, 1, 80), (0, 2, 80), (1, 2, 80)]);
    assert_eq!(bytes("[1, 2, 0]"), [(0, 1, 120), (0, 2, 40), (1, 2, 80)]);
    assert_eq!(bytes("[1, 2, ...]"), bytes("[]"), "a list that is cut");
}

#[test]
fn ranks_of_groups_that_are_cut_are_found_elsewhere() {
    let call = |more: &str| {
        event("allreduce", "Byte", 4, 4, &format!("\"Process Group Ranks\": \"[0, 2, ...]\", {more}"))
    };
    let of = |more: &str, config: &str| {
        let text = kineto(2, 8, &[call(more)]);
        let text = text.replace("\"world_size\": 8", &format!("\"world_size\": 8{config}"));
        let (graph, summary) = sum(None, &[&text], &BYTES);
        (edges(&graph), summary.left_out.uncounted_calls)
    };
    let config = ", \"pg_config\": [{\"pg_name\": \"7\", \"pg_size\": 3, \"ranks\": [0, 2, 5]}]";
    assert_eq!(of("\"Group size\": 3, \"Process Group Name\": \"7\"", config), (vec![(2, 5, 6)], 0));
    let stride = "\"Group size\": 4, \"Global rank start\": 0, \"Global rank stride\": 2";
    assert_eq!(of(stride, ""), (vec![(2, 4, 6)], 0));
    assert_eq!(of("\"Group size\": 8", ""), (vec![(2, 3, 7)], 0));
    assert_eq!(of("\"Group size\": 3", ""), (vec![], 1));
    assert_eq!(of("\"Group size\": 3, \"Process Group Name\": \"8\"", config), (vec![], 1));
}

/// Lines of NCCL of a process that has one GPU.
fn nccl(process: u32, lines: &[String]) -> String {
    let line = |line: &String| {
        format!("n{}:{}:{} [{}] NCCL INFO {line}\n", process / 2, 100 + process, 200 + process, process % 2)
    };
    lines.iter().map(line).collect()
}

/// Initialisation of a communicator, and with it what a rank prints in between.
fn initialised(address: u32, rank: u32, num_ranks: u32, id: &str, between: &[&str]) -> Vec<String> {
    let line = |how: &str, id: &str| {
        format!(
            "comm 0x{address:x} rank {rank} nranks {num_ranks} cudaDev 0 nvmlDev 0 busId 1000{id} - Init {how}"
        )
    };
    let mut lines =
        if id.is_empty() { vec![] } else { vec![format!("ncclCommInitRank {}", line("START", id))] };
    lines.extend(between.iter().map(|line| line.to_string()));
    lines.push(line("COMPLETE", id));
    lines
}

#[test]
fn rings_of_logs_are_those_of_the_job() {
    for id in ["", " commId 0x99"] {
        let ring = ["Channel 00/02 :    0   2   1   3", "Channel 01/02 :    0   2   1   3"];
        let ranks =
            (0..4).map(|rank| nccl(rank, &initialised(7, rank, 4, id, if rank == 0 { &ring } else { &[] })));
        let text = ranks.collect::<String>() + "some other line\n";
        let (graph, summary) = sum(None, &[&text], &BYTES);
        assert_eq!(edges(&graph), [(0, 2, 2), (0, 3, 2), (1, 2, 2), (1, 3, 2)], "{id}");
        assert_eq!(bytes_by_class(&summary), [8, 0, 0]);
    }
}

#[test]
fn ranks_of_communicators_are_found_by_process_in_any_file() {
    // The job has 4 ranks, and the processes 1 and 3 form a communicator of their own.
    let of_job = |rank: u32| initialised(7, rank, 4, " commId 0x99", &[]);
    let channel = "Channel 00/0 : 0[1] -> 1[1] [send] via NET/IB/0";
    let texts: Vec<String> = (0..4)
        .map(|rank| {
            let own = match rank {
                1 => initialised(
                    8,
                    0,
                    2,
                    " commId 0xab",
                    &["Channel 00/01 :    0   1", channel, "Channel 00/1 : 0[1] -> 1[1] via P2P/IPC"],
                ),
                3 => initialised(
                    8,
                    1,
                    2,
                    " commId 0xab",
                    &["Channel 00/0 : 0[1] -> 1[1] [receive] via NET/IB/0"],
                ),
                _ => vec![],
            };
            nccl(rank, &[of_job(rank), own].concat())
        })
        .collect();
    let files: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let (graph, summary) = sum(None, &files, &BYTES);
    assert_eq!((graph.num_nodes(), edges(&graph)), (4, vec![(1, 3, 3)]));
    assert_eq!(bytes_by_class(&summary), [2, 0, 1]);
    assert_eq!(summary.left_out.unplaced_connections, 0);
    // Without the log of process 3, rank 1 is unknown.
    let (graph, summary) = sum(None, &files[..3], &BYTES);
    assert_eq!((edges(&graph), summary.left_out.unplaced_connections), (vec![], 4));
}

#[test]
fn connections_complete_rings_that_are_cut() {
    let cut = "Channel 00/02 :    0   1   2   3   1";
    let whole = (0..16).map(|rank| {
        let between: &[&str] = &[cut];
        nccl(rank, &initialised(7, rank, 16, " commId 0x99", &between[..usize::from(rank == 0)]))
    });
    let (graph, _) = sum(None, &[whole.collect::<String>()], &BYTES);
    assert_eq!(edges(&graph), [(0, 1, 1), (1, 2, 1), (2, 3, 1)]);
    let joined = (0..16).map(|rank| {
        let send = format!("Channel 00/0 : {rank}[1] -> {}[0] [send] via NET/IB/0", (rank + 1) % 16);
        let between: &[&str] = &[cut, &send];
        nccl(rank, &initialised(7, rank, 16, " commId 0x99", &between[usize::from(rank > 0)..]))
    });
    let (graph, summary) = sum(None, &[joined.collect::<String>()], &BYTES);
    assert_eq!(edges(&graph).len(), 16);
    assert!(edges(&graph).iter().all(|edge| edge.2 == 1));
    assert_eq!(bytes_by_class(&summary), [3, 13, 0]);
}

#[test]
fn lines_of_old_versions_are_connections_of_the_job() {
    let text = "ip-1:5:6 [0] NCCL INFO Ring 00 : 2 -> 0 [send] via NET/Socket/0\nip-2:5:6 [0] NCCL INFO Ring 00 : 2 -> 0 [receive] via NET/Socket/0\n\
                ip-1:5:6 [0] NCCL INFO Channel 01 : 0[6000] -> 1[b000] via P2P/IPC\nip-1:5:6 [0] NCCL INFO Ring 01 : 0 -> 1 -> 2\n";
    let (graph, _) = sum(None, &[&text], &BYTES);
    assert_eq!(edges(&graph), [(0, 1, 1), (0, 2, 1), (1, 2, 1)]);
}

#[test]
fn a_renamed_schedule_has_the_same_traffic_under_other_names() {
    let mut rng = viem::base::rng::Rng::new(5);
    for case in 0..20 {
        let n = 2 + rng.below(8);
        let flows: Flows = (0..3 * n)
            .map(|_| ((rng.below(n), rng.below(n)), (u64::from(rng.below(999)), 1 + u64::from(rng.below(3)))))
            .collect();
        let text = format("goal").sample.write.unwrap()(n, &flows).remove(0);
        let num_places = n + case % 4;
        let mut places: Vec<u32> = (0..num_places).collect();
        rng.shuffle(&mut places);
        places.truncate(n as usize);
        let source = Source::new("job.goal", text.as_slice()).unwrap();
        let renamed = relabel_goal(source, &places, num_places as usize).unwrap();
        let (graph, summary) = sum(None, &[&renamed], &BYTES);
        assert_eq!((graph.num_nodes(), &summary.silent_ranks), (num_places as usize, &vec![]));
        let (original, _) = sum(None, &[&text], &BYTES);
        let mut expected: Vec<_> = edges(&original)
            .into_iter()
            .map(|(u, v, weight)| (places[u as usize], places[v as usize], weight))
            .map(|(u, v, weight)| (u.min(v), u.max(v), weight))
            .collect();
        expected.sort_unstable();
        assert_eq!(edges(&graph), expected);
        // And back.
        let mut back = vec![0; num_places as usize];
        let mut free = n..;
        for place in 0..num_places {
            let rank = places.iter().position(|&taken| taken == place);
            back[place as usize] = rank.map_or_else(|| free.next().unwrap(), |rank| rank as u32);
        }
        let source = Source::new("renamed.goal", renamed.as_bytes()).unwrap();
        let again = relabel_goal(source, &back, num_places as usize).unwrap();
        if num_places == n {
            assert_eq!(again.as_bytes(), text);
        }
    }
    let source = |text: &'static str| Source::new("job.goal", text.as_bytes()).unwrap();
    let one_line =
        "/* a\n b */ num_ranks 2 rank 0 { l1: recv 8b from -1 tag -1\n} // a rank\n\nrank 1 { send 8b to 0 }";
    let error = relabel_goal(source(one_line), &[1, 0], 2).unwrap_err().to_string();
    assert!(error.contains("line 5, column 23: `}` is not tag, cpu, nic or the end of the line"), "{error}");
    let good = "/* a\n b */ num_ranks 2 rank 0 { l1: recv 8b from -1 tag -1\n} // a rank\n\nrank 1 { send 8b to 0\n}";
    let renamed = relabel_goal(source(good), &[1, 0], 2).unwrap();
    let expected = "/* a\n b */ num_ranks 2  // a rank\n\nrank 0 { send 8b to 1\n}\nrank 1 { l1: recv 8b from -1 tag -1\n}\n";
    assert_eq!(renamed, expected);
    let error = relabel_goal(source("num_ranks 3\n"), &[1, 0], 2).unwrap_err().to_string();
    assert!(error.contains("line 1, column 1: the schedule has 3 ranks, but 2 are mapped"), "{error}");
}

/// A call recorded as the kernel of an id.
fn kernel(name: &str, id: u64, event: &str) -> String {
    let event = event.replace(
        "\"cat\": \"cpu_op\", \"name\": \"record_param_comms\"",
        &format!("\"cat\": \"kernel\", \"name\": \"{name}\""),
    );
    event.replace("\"args\": {", &format!("\"args\": {{\"External id\": {id}, "))
}

#[test]
fn calls_are_counted_once_however_they_are_recorded() {
    let group = "\"Group size\": 4, \"Process Group Ranks\": \"[0, 1, 2, 3]\"";
    let of = |elements| event("allreduce", "Half", elements, elements, group);
    let ring = |bytes| vec![(0, 1, bytes), (0, 3, bytes), (1, 2, bytes), (2, 3, bytes)];
    let (new, old) = (
        "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclKernel_AllReduce_RING_LL_Sum_half(ncclWorkElem)",
    );
    let range = |event: &str| {
        event.replace("cpu_op", "user_annotation").replace("record_param_comms", "nccl:all_reduce")
    };
    let unnamed = |event: &str| range(event).replace("\"Collective name\": \"allreduce\", ", "");
    let bare = kernel(
        new,
        3,
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"record_param_comms\", \"args\": {\"x\": 1}}",
    );
    let cases = [
        ("the call", vec![of(1024)], 3072),
        ("the kernel", vec![kernel(new, 3, &of(1024))], 3072),
        ("the kernel of an older version", vec![kernel(old, 3, &of(1024))], 3072),
        ("the range", vec![range(&of(1024))], 3072),
        ("a range whose name has the collective", vec![unnamed(&of(1024))], 3072),
        ("both", vec![of(1024), kernel(new, 3, &of(1024))], 3072),
        ("all three", vec![of(1024), range(&of(1024)), kernel(new, 3, &of(1024))], 3072),
        ("two kernels of a call", vec![kernel(new, 3, &of(1024)), kernel(new, 3, &of(1024))], 3072),
        ("two equal calls", vec![kernel(new, 3, &of(1024)), kernel(new, 4, &of(1024))], 6144),
        ("one of two without its kernel", vec![of(1024), of(1024), kernel(new, 3, &of(1024))], 6144),
        (
            "two, one of them as a kernel only",
            vec![of(1024), kernel(new, 3, &of(1024)), kernel(new, 4, &of(2048))],
            9216,
        ),
        ("a call whose kernel has no arguments", vec![of(1024), bare.clone()], 3072),
    ];
    for (what, events, expected) in cases {
        let (edges, summary) = of_calls(4, &events);
        assert_eq!((edges, summary.notes), (ring(expected), vec![]), "{what}");
    }
    // Ranks 1 and 3 have nothing that counts, and are named.
    let texts =
        [kineto(0, 4, &[of(1024)]), kineto(1, 4, &[bare]), kineto(2, 4, &[of(1024)]), kineto(3, 4, &[])];
    let (graph, summary) = sum(None, &texts, &BYTES);
    assert_eq!(edges(&graph), [(0, 1, 3072), (2, 3, 3072)]);
    assert_eq!(summary.notes, [TrafficNote::SilentRanks(vec![1, 3])]);
}

#[test]
fn recordings_without_traffic_are_warned_of() {
    use NoTraffic::*;
    let kernels = kineto(0, 1, &[]);
    let cases: [(&str, &str, NoTraffic); 10] = [
        ("trace", "viem_trace 1\nrank 0 of 1\nend 0\n", Nothing),
        ("trace", "viem_trace 1\nrank 0 of 1\nelsewhere 2 16\nend 1\n", WithinRanks),
        ("trace", "viem_trace 1\nrank 0 of 1\nuncounted 2\nend 1\n", Uncounted),
        ("goal", "num_ranks 1\nrank 0 {\ncalc 5\n}\n", Nothing),
        ("matrix", "0 0\n0 0\n", Nothing),
        ("matrix", "7 0\n0 7\n", WithinRanks),
        ("edges", "0,1,0\n", Weightless),
        ("mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 0\n", Nothing),
        ("openmpi", "C\t0\t1\t80 bytes\t2 msgs sent\nC\t1\t0\t80 bytes\t2 msgs sent\n", OtherClasses),
        ("kineto", &kernels, Uncounted),
    ];
    for (name, text, expected) in cases {
        let (graph, summary) = sum(Some(format(name)), &[&text], &BYTES);
        assert_eq!(graph.num_edges(), 0);
        let reason = summary.notes.iter().find_map(|note| match note {
            TrafficNote::NoTraffic { reason, .. } => Some(*reason),
            _ => None,
        });
        assert_eq!(reason, Some(expected), "{name} {text}");
    }
    let (_, summary) = sum(Some(format("edges")), &[b"0,1,5\n"], &BYTES);
    assert_eq!(summary.notes, []);
    let empty = "num_ranks 1\nrank 0 {\ncalc 5\n}\n";
    let notes = read_goal(Source::new("test", empty.as_bytes()).unwrap()).unwrap().notes();
    assert_eq!(notes, [TrafficNote::NoTraffic { reason: Nothing, advice: "" }]);
}

#[test]
fn adapters_of_ranks_are_vertices_if_asked_for() {
    let schedule = "num_ranks 2\nrank 0 {\nl1: send 1000b to 1 tag 0 nic 0\nsend 200b to 1 tag 1 nic 1\ncalc 50 nic 1\n}\n\
                    rank 1 {\nrecv 1000b from 0 tag 0 nic 0\nrecv 200b from 0 tag 1 nic 1\nsend 30b to 0 tag 2 nic 1\n}\n";
    let of = |text: &str, adapters: Option<u64>| {
        let mut collector = Collector::new(None).with_adapters(adapters);
        collector.read(Source::new("job.goal", text.as_bytes()).unwrap(), None)?;
        let (graph, summary) = collector.finish(&BYTES).unwrap();
        Ok::<_, ReadError>((graph.num_nodes(), edges(&graph), summary.notes))
    };
    let note = TrafficNote::Adapters { greatest: 1 };
    assert_eq!(of(schedule, None).unwrap(), (2, vec![(0, 1, 1230)], vec![note.clone()]));
    assert_eq!(of(schedule, Some(2)).unwrap(), (4, vec![(0, 2, 1000), (1, 3, 230)], vec![]));
    assert_eq!(of(schedule, Some(3)).unwrap(), (6, vec![(0, 3, 1000), (1, 4, 230)], vec![]));
    let error = of(schedule, Some(1)).unwrap_err().to_string();
    assert!(error.starts_with("job.goal, line 4, column 1: there is no network adapter 1"), "{error}");
    // Where the receiver names another adapter, it arrives there: the k-th message at the k-th receive.
    let crossed = "num_ranks 2\nrank 1 {\nrecv 5b from 0 nic 1\nrecv 7b from 0 nic 0\nrecv 9b from -1 nic 0\n}\n\
                   rank 0 {\nsend 5b to 1\nsend 7b to 1 nic 1\nsend 9b to 1 nic 1\n}\n";
    assert_eq!(of(crossed, Some(2)).unwrap().1, [(0, 3, 5), (1, 2, 7), (1, 3, 9)]);
    let notes = read_goal(Source::new("test", schedule.as_bytes()).unwrap()).unwrap().notes();
    assert_eq!(notes, [note]);
    let only_first = schedule.replace("nic 1", "nic 0");
    assert_eq!(of(&only_first, None).unwrap().2, []);
}

#[test]
fn matrices_that_are_printed_from_below_are_warned_of() {
    let is_warned = |name: &str, rows: &[Vec<u64>]| {
        let flows: Flows = (0..)
            .zip(rows)
            .flat_map(|(i, row)| (0..).zip(row).map(move |(j, &w)| ((i, j), (w, 1))))
            .collect();
        let texts = format(name).sample.write.unwrap()(rows.len() as u32, &flows);
        let (_, summary) = sum(Some(format(name)), &[&texts[0]], &BYTES);
        summary.notes.contains(&TrafficNote::UpsideDown)
    };
    let mut rng = viem::base::rng::Rng::new(5);
    for n in 2..12usize {
        let mut rows = vec![vec![0; n]; n];
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let weight = 1 + u64::from(rng.below(9));
            (rows[i][j], rows[j][i]) = (weight, weight);
        }
        let reversed: Vec<Vec<u64>> = rows.iter().rev().cloned().collect();
        let mut other = reversed.clone();
        // Another weight of one direction.
        other[n - 1][n - 1] += 1;
        let chain: Vec<Vec<u64>> = (0..n).map(|i| (0..n).map(|j| u64::from(j == i + 1)).collect()).collect();
        for name in ["matrix", "npy"] {
            assert!(is_warned(name, &reversed), "{name} {n}");
            assert!(
                !is_warned(name, &rows) && !is_warned(name, &other) && !is_warned(name, &chain),
                "{name} {n}"
            );
        }
    }
}

#[test]
fn links_of_paje_are_messages_between_the_ranks_in_their_names() {
    let dump = "Container, 0, 0, 0.000000, 0.004000, 0.004000, root\nContainer, root, PROCESS, 0, 0.004, 0.004, rank0\n\
                State, rank0, STATE, 0.000100, 0.000300, 0.000200, 0.000000, MPI_Send\n\
                Link, root, LINK, 0.000210, 0.000340, 0.000130, PTP, rank0, rank1, 0, 800\n\
                Link, root, LINK, 0.001210, 0.001340, 0.000130, PTP, rank1, rank0, 1, 2e2\n";
    let unsized_ = "container,linkType,startTime,endTime,duration,value,startContainer,endContainer\n\
                    root,LINK,0.000210,0.000340,0.000130,PTP,rank0,rank1\nroot,LINK,0.001210,0.001340,0.000130,PTP,rank1,rank0\n";
    let counted = vec![TrafficNote::CountedMessages];
    let cases = [
        (dump.to_owned(), vec![(0, 1, 1000)], vec![]),
        (dump.replace(", 0, 800", "").replace(", 1, 2e2", ""), vec![(0, 1, 2)], counted.clone()),
        (dump.replace("rank1", "p-12").replace("rank0", "p-1"), vec![(0, 11, 1000)], vec![]),
        (unsized_.to_owned(), vec![(0, 1, 2)], counted),
        (
            "size;endContainer;startContainer\n7;\"rank-2\";\"rank-0\"\n\n8;rank-1;rank-2\n".to_owned(),
            vec![(0, 2, 7), (1, 2, 8)],
            vec![],
        ),
    ];
    for (text, expected, notes) in cases {
        let (graph, summary) = sum(None, &[&text], &BYTES);
        assert_eq!((summary.format, edges(&graph), summary.notes), ("paje", expected, notes), "{text}");
        let messages = edges(&sum(None, &[&text], &MESSAGES).0).iter().map(|edge| edge.2).sum::<i64>();
        assert_eq!(messages, 2);
    }
    let fault = |text: String| fault("paje", &[&text]);
    let unnumbered = dump.replace("rank1, rank0", "rank1, host");
    let column = unnumbered.lines().last().unwrap().find("host").unwrap() as u64 + 1;
    assert!(matches!(fault(unnumbered), (5, at, TrafficFault::Unexpected { .. }) if at == column));
    assert!(matches!(
        fault(dump.replace(", rank1, rank0, 1, 2e2", "")),
        (5, _, TrafficFault::Missing { .. })
    ));
    assert!(matches!(fault(dump.replace("State,", "Stake,")), (3, 1, TrafficFault::Unexpected { .. })));
}

/// Returns the traffic of a rank in a time-independent trace of three ranks, all of which do the same.
fn simulated(actions: &str) -> (Vec<(u32, u32, i64)>, Summary) {
    let line =
        |rank: u32| actions.lines().map(move |action| format!("{rank} {action}\n")).collect::<String>();
    let texts: Vec<String> =
        (0..3).map(|rank| format!("{rank} init\n{}{rank} finalize\n", line(rank))).collect();
    let (graph, summary) = sum(None, &texts, &BYTES);
    (edges(&graph), summary)
}

#[test]
fn time_independent_traces_send_what_their_actions_say() {
    let text = "# a trace\n0 init 1\n0 send 1 0 1e6\n0 isend 2 7 10 1\n1 init\n1 send 2 5\n1 Ssend p0 3 2.0\n0 compute 5e6\n2 recv 1 0 5\n";
    let (graph, summary) = sum(None, &[&text], &BYTES);
    assert_eq!((summary.format, summary.silent_ranks), ("simgrid", vec![]));
    assert_eq!(edges(&graph), [(0, 1, 8_000_002), (0, 2, 40), (1, 2, 5)]);
    let ring = |bytes| vec![(0, 1, bytes), (0, 2, bytes), (1, 2, bytes)];
    let cases = [
        ("allreduce 30 5", ring(40)),
        ("allreduce 30 5 1", ring(160)),
        ("allgather 10 10", ring(20)),
        ("allgatherv 10 10 20 30", ring(40)),
        ("reducescatter 10 10 10 5", ring(20)),
        ("alltoall 5 5", ring(10)),
        ("alltoallv 9 1 2 3 9 1 2 3", vec![(0, 1, 3), (0, 2, 4), (1, 2, 5)]),
        ("bcast 7", vec![(0, 1, 7), (1, 2, 7)]),
        ("bcast 7 1 5", vec![(0, 2, 28), (1, 2, 28)]),
        ("reduce 7 9 0", vec![(0, 2, 7), (1, 2, 7)]),
        ("gather 4 4 2", vec![(0, 2, 4), (1, 2, 4)]),
        ("scatter 4 4 1 0 0", vec![(0, 1, 32), (1, 2, 32)]),
        ("scatterv 1 2 3 1 0", vec![(0, 1, 2), (0, 2, 3)]),
        ("barrier\nwaitall 3\nallreduce 30 5\nallreduce 30 5", ring(80)),
    ];
    for (actions, expected) in cases {
        let (edges, summary) = simulated(actions);
        assert_eq!((edges, summary.left_out.uncounted_calls), (expected, 0), "{actions}");
    }
    assert_eq!(simulated("scan 4 4\nbcast 4 9\nallgatherv 1 2").1.left_out.uncounted_calls, 9);
    for (text, line, column) in [
        ("0 init\nx send 1 0 5\n", 2, 1),
        ("0 init\n0 sand 1 0 5\n", 2, 3),
        ("0 send 1\n", 1, 9),
        ("0 send 1 0 5 7\n", 1, 14),
    ] {
        assert!(matches!(fault("simgrid", &[text]), (l, c, _) if (l, c) == (line, column)), "{text}");
    }
}

#[test]
fn columns_may_be_called_by_several_words() {
    let rows = "0,1,5,2\n1,2,7,3\n";
    for (names, expected) in [
        ("src_rank,dst_rank,nbytes,nmsgs", vec![(0, 1, 5), (1, 2, 7)]),
        ("Source Rank,Target Rank,Total Bytes,Num Messages", vec![(0, 1, 5), (1, 2, 7)]),
        ("from,to,count,bytes", vec![(0, 1, 2), (1, 2, 3)]),
        ("n,rank_from,rank_to,nbytes", vec![(1, 5, 2), (2, 7, 3)]),
        ("sender.id,receiver.id,volume,other", vec![(0, 1, 5), (1, 2, 7)]),
        // A name alone takes precedence over one with a word more.
        ("src,dst,weight,weight_of_process", vec![(0, 1, 5), (1, 2, 7)]),
    ] {
        for separator in [",", ";", "\t"] {
            let text = format!("{names}\n{rows}").replace(',', separator);
            if separator == "\t" && names.contains(' ') {
                continue;
            }
            let (graph, _) = sum(None, &[&text], &BYTES.with_first_rank(0));
            assert_eq!(edges(&graph), expected, "{text}");
        }
    }
    let twice = b"src_rank,rank_src,dst,bytes\n0,1,2,5\n";
    assert!(collect(Some(format("edges")), &[twice]).is_err());
}
