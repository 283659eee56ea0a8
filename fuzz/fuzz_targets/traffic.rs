//! Any bytes as recorded traffic of any kind: an error, or a valid graph that survives a round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::graph::CsrGraph;
use viem_io::metis::{self, GraphContent, NodeWeights};
use viem_io::{ReadError, Source};
use viem_traffic::{Collector, Format, Share, TrafficConfig, Weighing};

/// Limits the run time: a few bytes can name a rank that leads to a graph of millions of vertices.
const MOST_RANKS: u64 = 1000;

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, text) = (usize::from(input.0), input.1);
    // The kind and the weight; a recognised kind must behave as if it had been named.
    let format = Format::ALL[choice % Format::ALL.len()];
    let source = |text| Source::new("fuzz", text);
    let mut collector = Collector::new(None);
    let result = source(text).and_then(|source| collector.read(source, Some(format)));
    let start = source(text).map(|mut source| source.start()).unwrap_or_default();
    if Format::recognise(&start) == Some(format) {
        let again = source(text).and_then(|source| Collector::new(None).read(source, None));
        assert_eq!(format!("{result:?}"), format!("{again:?}"));
    }
    match result {
        Ok(()) => {}
        Err(ReadError::Invalid { line, column, kind, .. }) => {
            assert!(line > 0 && column > 0 && !kind.to_string().is_empty());
            return;
        }
        Err(error) => panic!("a slice can be read: {error}"),
    }
    let weighing = ["bytes", "msgs", "1.5e-6+2.5e-10"][choice / 7 % 3];
    let config = TrafficConfig::new(Weighing::parse(weighing).expect("a weight"))
        .with_top((choice / 21 % 2 > 0).then(|| Share::parse("90%").expect("a share")))
        .with_num_ranks(MOST_RANKS);
    let Ok((graph, summary)) = collector.finish(&config) else { return };
    assert_eq!(graph.num_nodes() as u64, MOST_RANKS);
    assert_eq!(summary.files, 1);
    let (offsets, targets) = (graph.offsets().to_vec(), graph.targets().to_vec());
    let weights = graph.nodes().flat_map(|node| graph.arcs(node)).map(|(_, weight)| weight).collect();
    let nodes = graph.node_weights().to_vec();
    assert_eq!(CsrGraph::new(offsets, targets, weights, nodes).as_ref(), Ok(&graph));
    let mut written = Vec::new();
    let content = GraphContent::EDGE_WEIGHTS;
    metis::write(&mut written, &graph, content).expect("a vector can be written");
    let again = source(&written).expect("a slice can be read");
    assert_eq!(metis::read(again, NodeWeights::Read).expect("a graph that was written"), graph);
});
