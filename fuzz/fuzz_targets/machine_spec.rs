//! Any text as a machine, followed by its distances and two PEs, separated by blanks: the auditor confirms
//! the distance of the two, or there is an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::base::types::PeId;
use viem::machine::{DistanceOracle as _, Machine};
use viem_cluster::spec::KINDS;
use viem_verify::{MachineText, audit_on};

fuzz_target!(|text: &str| {
    let mut fields = text.split(' ');
    let (spec, distances) = (fields.next().unwrap_or(""), fields.next().filter(|text| !text.is_empty()));
    let [p, q] = [(); 2].map(|()| fields.next().and_then(|pe| pe.parse::<PeId>().ok()).unwrap_or(0));
    // Clusters are read from files, or detected in the environment.
    let is_cluster = KINDS.iter().any(|kind| spec.starts_with(kind.name));
    if is_cluster || viem_cluster::file_of(spec).is_some() {
        return;
    }
    let machine = match viem_cluster::build(spec, distances) {
        Ok(machine) => machine,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let n = machine.num_pes() as PeId;
    if !(2..=1 << 16).contains(&n) {
        return;
    }
    let (p, q) = (p % n, q % n);
    let distance = machine.distances().expect("such a machine fits the memory").distance(p, q);
    let text = MachineText { spec, distances, file: None, pes: None, link_cycles: None };
    if p != q {
        assert_eq!(audit_on("2 1\n2\n1\n", &format!("{p}\n{q}\n"), &text), Ok(2 * distance as u128));
    }
});
