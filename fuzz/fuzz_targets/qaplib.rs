//! Any bytes as a quadratic assignment problem: one whose J the auditor confirms, or an error.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::text_of_bytes;
use libfuzzer_sys::fuzz_target;
use viem::qap::{Qap, QapConfig, QapRequest};
use viem::solve::MapPreset;
use viem_io::{Source, qaplib};
use viem_verify::audit_qap;

fuzz_target!(|text: &[u8]| {
    let source = Source::new("fuzz", text).expect("a slice can be read");
    let problem = match qaplib::read(source) {
        Ok(problem) => problem,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let size = problem.size;
    assert!(problem.a.len() == size * size && problem.b.len() == size * size);
    let Ok(qap) = Qap::from_matrices(size, problem.a, problem.b) else { return };
    if size > 7 {
        return;
    }
    let solution =
        QapRequest::new(&qap).solve(&QapConfig::preset(MapPreset::Fast)).expect("the settings are in range");
    assert!(solution.is_optimal && solution.cost <= solution.cost_of_identity);
    let places: String = solution.mapping.pes().iter().map(|place| format!("{place}\n")).collect();
    let audited = audit_qap(&text_of_bytes(text), &places);
    assert_eq!(audited, Ok(i128::from(solution.cost)));
});
