//! Any bytes as a file of any kind: no valid graph is taken for anything else, and what is taken for a file of a kind is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem_io::metis::{self, NodeWeights};
use viem_io::{Reading, Source, coordinates, matrix, readings};
use viem_traffic::{Collector, Format};

fuzz_target!(|text: &[u8]| {
    let source = || Source::new("fuzz", text);
    let Ok(mut opened) = source() else { return };
    let start = opened.start();
    let found = readings(&start, start.len() < Source::START);
    if let Ok(report) = metis::check(opened, 1)
        && report.is_valid()
    {
        assert_eq!(found, [Reading::GRAPH]);
        metis::read(source().expect("it was opened before"), NodeWeights::Ignore).expect("a valid graph");
    }
    for format in found.into_iter().filter_map(Format::of_reading) {
        let _ = source().and_then(|source| Collector::new(None).read(source, Some(format)));
    }
    let _ = source().and_then(matrix::read);
    let _ = source().and_then(|source| coordinates::read(source, 3));
});
