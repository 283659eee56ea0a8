//! Any bytes as each kind of file of a launcher, or as the kind that they look like: a place for each rank that the machine has, or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem_cluster::files::topology::Topology;
use viem_cluster::nodes::{Cluster, ClusterSpec, NodeSpec, Unit, regular};
use viem_io::Source;
use viem_io::mapping::Room;
use viem_launch::placement;

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (ranks, kind, text) = (usize::from(input.0) % 40, usize::from(input.1), input.2);
    let node = |host: &str| NodeSpec::new(Some(host.to_owned()), 0);
    let draft = ClusterSpec {
        nodes: vec![node("n1"), node("n2.site"), node("n3")],
        insides: vec![regular(&[4, 2])],
        unit: Unit::Core,
        topology: Topology::Flat,
        distances: None,
        latencies: None,
        slurm_job: None,
        notes: Vec::new(),
    };
    let machine = Cluster::new(draft).expect("three nodes alike");
    let capacity = |pe| machine.capacity(pe);
    let room = Room::new(machine.num_pes(), &capacity);
    let source = Source::new("fuzz", text).expect("a slice can be read");
    match placement::read(
        source,
        ranks,
        &machine,
        room,
        placement::KINDS.get(kind).and_then(|kind| placement::kind(kind.name)),
    ) {
        Ok(placement) => {
            assert_eq!(placement.pes.len(), ranks);
            assert!(Mapping::on(&machine, placement.pes).is_ok());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
