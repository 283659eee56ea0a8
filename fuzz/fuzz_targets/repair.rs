//! Any bytes to be mended: what comes out is valid, and mending it again changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::io::{Source, metis};

fuzz_target!(|text: &[u8]| {
    let mend = |text: &[u8]| {
        let repair = metis::repair(Source::new("fuzz", text).expect("a slice can be read"), 5).ok()?;
        let graph = repair.result.ok()?;
        let mut written = Vec::new();
        graph.write(&mut written).expect("a vector can be written");
        Some((repair.report, written))
    };
    if let Some((_, mended)) = mend(text) {
        let (report, again) = mend(&mended).expect("a mended graph is valid");
        assert!(report.is_valid(), "{:?}", report.faults);
        assert_eq!(mended, again);
    }
});
