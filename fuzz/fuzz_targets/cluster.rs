//! Any text as each of the files that describe a cluster: nothing panics, and errors have a message. If a
//! file of hosts, a line of hwloc or an XML file of it describes a machine, the auditor confirms its
//! distances.
#![no_main]

use libfuzzer_sys::fuzz_target;
use viem::base::types::PeId;
use viem::machine::{Audited, DistanceOracle as _, Located, Machine};
use viem_cluster::files::hwloc::Object;
use viem_cluster::files::topology::Topology;
use viem_cluster::files::{gpus, hostfile, hostlist, hwloc, latency, numa, synthetic, topology};
use viem_cluster::nodes::{Cluster, ClusterSpec, NodeSpec, Unit, plain, regular};
use viem_io::{ReadError, Source};
use viem_verify::{MachineText, OUTLINE, audit_on};

fn source(text: &[u8]) -> Source<'_> {
    Source::new("fuzz", text).expect("bytes can be read")
}

fn checked<T>(result: Result<T, ReadError>) -> Option<T> {
    match result {
        Ok(found) => Some(found),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

/// Builds the cluster and reads a distance.
fn check(draft: ClusterSpec<'_>) {
    let Ok(cluster) = Cluster::new(draft) else { return };
    let n = cluster.num_pes() as PeId;
    if n < 2 || n > 1 << 10 {
        return;
    }
    let (p, q) = (n / 3, n - 1);
    let outline = cluster.outline();
    let text =
        MachineText { spec: OUTLINE, distances: None, file: Some(&outline), pes: None, link_cycles: None };
    let distance = cluster.distances().expect("it is small").distance(p, q);
    assert!(distance > 0 && !cluster.describe().is_empty());
    assert_eq!(audit_on("2 1\n2\n1\n", &format!("{p}\n{q}\n"), &text), Ok(2 * distance as u128));
    let location = cluster.location(p);
    assert!(!location.cpus.is_empty() || !location.gpus.is_empty());
}

fn draft(nodes: Vec<NodeSpec>, inside: Object, topology: Topology) -> ClusterSpec<'static> {
    ClusterSpec {
        nodes,
        insides: vec![inside],
        unit: Unit::Core,
        topology,
        distances: None,
        latencies: None,
        slurm_job: None,
        notes: Vec::new(),
    }
}

/// The number of objects that can be built quickly with instrumentation, four times per input.
const MOST_OBJECTS: usize = 1 << 12;

fn num_objects(object: &Object) -> usize {
    1 + object.children.iter().map(num_objects).sum::<usize>()
}

fn named(hosts: impl IntoIterator<Item = String>) -> Vec<NodeSpec> {
    hosts.into_iter().take(200).map(|host| NodeSpec::new(Some(host), 0)).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    if let Some(hosts) = checked(hostlist::read("fuzz", &text)) {
        assert!(!hosts.is_empty());
    }
    checked(hostlist::read_counts("fuzz", &text));
    checked(hostfile::read_entries(source(bytes)));
    checked(numa::read(source(bytes)));
    let tables = [checked(gpus::read(source(bytes))), checked(hwloc::read_gpus(source(bytes)))];
    let of_gpus = tables.map(|table| Some(table?.node().ok()?.node));
    if let Some(hosts) = checked(hostfile::read(source(bytes))) {
        check(draft(named(hosts.iter().map(|host| host.name.clone())), plain(2), Topology::Flat));
        let nodes =
            hosts.into_iter().take(200).map(|host| NodeSpec::new(Some(host.name), 0).with_slots(host.slots));
        check(draft(nodes.collect(), regular(&[3, 2, 2]), Topology::Flat));
    }
    let nodes = [checked(hwloc::read(source(bytes))), checked(synthetic::read("fuzz", &text))];
    for node in nodes.into_iter().chain(of_gpus).flatten().filter(|node| num_objects(node) <= MOST_OBJECTS) {
        let node_of = |unit| ClusterSpec {
            unit,
            ..draft(named(["a".into(), "b".into()]), node.clone(), Topology::Flat)
        };
        for unit in [Unit::Core, Unit::Pu] {
            check(node_of(unit));
            let mut shared = node_of(unit);
            shared.nodes[0].ranks = Some(bytes.len() as u32 % 7);
            shared.nodes[1].cores_per_rank = Some(1 + bytes.len() as u32 % 5);
            check(shared);
        }
    }
    if let Some(topology) = checked(topology::read(source(bytes))) {
        let hosts: Vec<String> = topology.nodes().into_iter().map(str::to_owned).collect();
        check(draft(named(hosts), plain(2), topology));
    }
    if let Some(latencies) = checked(latency::read(source(bytes))) {
        let names = latencies.hosts.clone();
        let hosts = names.unwrap_or_else(|| (0..latencies.num_hosts).map(|host| host.to_string()).collect());
        check(ClusterSpec { latencies: Some(latencies), ..draft(named(hosts), plain(2), Topology::Flat) });
    }
});
