//! Any bytes as a file of fixed processes: what the auditor reads from it too, or an error; and any of it on a small
//! problem: a mapping that respects it.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::text_of_bytes;
use libfuzzer_sys::fuzz_target;
use viem::graph::generate;
use viem::machine::Hierarchy;
use viem::solve::{Config, MapPreset, PreparedMachine, Request};
use viem_io::Source;
use viem_io::fixed::{self, FixedKind};
use viem_io::mapping::Room;

/// Processes, and PEs.
const COUNT: usize = 16;

fuzz_target!(|text: &[u8]| {
    let source = Source::new("fuzz", text);
    let Ok(fixed) =
        source.and_then(|source| fixed::read(source, COUNT, Room::plain(COUNT), FixedKind::Processes))
    else {
        return;
    };
    let machine = Hierarchy::parse("2:2:4", "1:10:100").expect("a machine");
    let graph = generate::grid(4, 4);
    let config = Config::preset(MapPreset::Fast);
    let solution = Request::new(&graph, &PreparedMachine::new(&machine))
        .fixed(&fixed)
        .solve(&config)
        .expect("the reader has checked all");
    assert_eq!(fixed.violated_by(solution.mapping.pes()), None);
    assert!(solution.report.cost <= solution.report.cost_of_identity);
    let lines: String = solution.mapping.pes().iter().map(|pe| format!("{pe}\n")).collect();
    assert_eq!(viem_verify::audit_fixed(&text_of_bytes(text), &lines), Ok(fixed.count()));
});
