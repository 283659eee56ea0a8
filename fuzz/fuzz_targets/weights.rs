//! Any bytes as weights of PEs, speeds of parts and solutions of quadratic assignment problems: numbers in their range, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem_io::{Source, pe_weights, qap_solution};

fuzz_target!(|input: (u8, &[u8])| {
    let (count, text) = (usize::from(input.0) % 32, input.1);
    let source = || Source::new("fuzz", text).expect("a slice can be read");
    match pe_weights::read(source(), count) {
        Ok(weights) => assert!(weights.len() == count && weights.iter().all(|&weight| weight > 0)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Err(error) = pe_weights::read_speeds(source()) {
        assert!(!error.to_string().is_empty());
    }
    let list = String::from_utf8_lossy(text);
    if let Ok(speeds) = pe_weights::speeds_of(&list) {
        assert_eq!(speeds.len(), list.split(',').count());
    }
    match qap_solution::read(source(), count) {
        Ok(solution) => {
            let mut places = solution.order;
            places.sort_unstable();
            assert!(places.into_iter().eq(0..count as u32));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
