//! Any bytes to be repaired: the result is valid, and repairing it again changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem_io::{Source, metis};

fuzz_target!(|text: &[u8]| {
    let repair = |text: &[u8]| {
        let outcome = metis::repair(Source::new("fuzz", text).expect("a slice can be read"), 5).ok()?;
        let graph = outcome.result.ok()?;
        let mut written = Vec::new();
        graph.write(&mut written).expect("a vector can be written");
        Some((outcome.report, written))
    };
    if let Some((_, repaired)) = repair(text) {
        let (report, again) = repair(&repaired).expect("a repaired graph is valid");
        assert!(report.is_valid(), "{:?}", report.faults);
        assert_eq!(repaired, again);
    }
});
