//! The common part of the fuzz targets.

#![allow(dead_code, unused_imports)] // each target uses a part of it

#[path = "../../tests/common/check.rs"]
mod check;
#[path = "../../tests/common/stop_after.rs"]
mod stop_after;

pub use check::*;
use std::io::Read;

use libfuzzer_sys::arbitrary::{self, Unstructured};
pub use stop_after::StopAfter;
use viem_io::Source;

/// When to stop a run: soon, or so late that only the hardest of these small problems do not end before. Those would take most of the time.
pub fn stop(u: &mut Unstructured) -> arbitrary::Result<StopAfter> {
    Ok(StopAfter::questions(if u.arbitrary()? { 1 << 16 } else { number(u, 12)? as u64 }))
}

/// A number below 2^`bits`, where `bits` is drawn first: small and large ones are as likely.
pub fn number(u: &mut Unstructured, greatest_bits: u32) -> arbitrary::Result<i64> {
    let bits = u.int_in_range(0..=greatest_bits)?;
    u.int_in_range(0..=((1u64 << bits) - 1) as i64)
}

/// The text that readers get from these bytes, as the auditor expects it: unpacked, with plain ends of lines.
pub fn text_of_bytes(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    if let Ok(mut source) = Source::new("fuzz", bytes) {
        source.read_to_end(&mut text).ok();
    }
    String::from_utf8_lossy(&text).into_owned()
}
