//! Any bytes as a list of PEs: a list without repeats that the auditor reads in the same way, or an error.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use common::text_of_bytes;
use libfuzzer_sys::fuzz_target;
use viem::base::number_list::ListOf;
use viem_io::{Source, number_list};
use viem_verify::{MachineText, audit_on};

fuzz_target!(|input: (u8, &[u8])| {
    let (num_pes, text) = (usize::from(input.0).max(2), input.1);
    let source = Source::new("fuzz", text);
    let Ok(list) = source.and_then(|source| number_list::read(source, ListOf::Pes, num_pes)) else { return };
    let mut sorted = list.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert!(sorted.len() == list.len() && !list.is_empty());
    assert!(sorted.iter().all(|&pe| (pe as usize) < num_pes));
    let (spec, text) = (format!("mesh:{num_pes}"), text_of_bytes(text));
    if list.len() > 1 {
        let machine =
            MachineText { spec: &spec, distances: None, file: None, pes: Some(&text), link_cycles: None };
        let last = list.len() - 1;
        let hops = u128::from(list[0].abs_diff(list[last]));
        assert_eq!(audit_on("2 1\n2\n1\n", &format!("0\n{last}\n"), &machine), Ok(2 * hops));
    }
});
