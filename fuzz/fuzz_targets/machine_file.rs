//! Any bytes as a target file, a network or a matrix: a machine with distances that the auditor confirms and
//! complete parts, or an error.
#![no_main]

#[path = "../common/mod.rs"]
mod common;

use std::path::Path;

use common::text_of_bytes;
use libfuzzer_sys::fuzz_target;
use viem::base::types::PeId;
use viem::machine::{Division, Interconnect, Machine, MachineError};
use viem_io::Source;
use viem_verify::{MachineText, audit_on};

const NAMES: [&str; 4] = ["machine", "machine.tgt", "machine.graph", "machine.matrix"];

/// Upper limit on the PEs of a whole machine: its parts are found by dividing the whole, which takes seconds
/// for the largest machines that fit the memory.
const MOST_PES: usize = 1 << 20;

/// The number of PEs of the machine that this one is a part of, if that can be large.
fn num_pes_of_whole(interconnect: &Interconnect) -> usize {
    match interconnect {
        Interconnect::Listed { whole, .. } => num_pes_of_whole(whole),
        Interconnect::Grid(grid) => grid.num_pes(),
        Interconnect::Tree(tree) => tree.num_pes(),
        _ => 0,
    }
}

fuzz_target!(|input: (u8, &[u8])| {
    let (name, text) = (NAMES[usize::from(input.0) % NAMES.len()], input.1);
    let source = Source::new("fuzz", text).expect("a slice can be read");
    let machine = match viem_cluster::read(source, Path::new(name)) {
        Ok(machine) => machine,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let is_large = machine.num_pes() > 64 || num_pes_of_whole(&machine.interconnect()) > MOST_PES;
    if is_large {
        return;
    }
    if let Division::Parts(parts) = machine.division() {
        let mut order = parts.order().to_vec();
        order.sort_unstable();
        assert!(order.into_iter().eq(0..machine.num_pes() as PeId));
    }
    let distances = match machine.distances() {
        Ok(distances) => distances,
        // The list may have a few of very many PEs.
        Err(MachineError::TooLarge { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let file = text_of_bytes(text);
    let text = MachineText { spec: name, distances: None, file: Some(&file), pes: None, link_cycles: None };
    for (pe, distance) in distances.rows().next().into_iter().flatten().enumerate().skip(1) {
        assert_eq!(audit_on("2 1\n2\n1\n", &format!("{pe}\n0\n"), &text), Ok(2 * distance as u128));
    }
});
