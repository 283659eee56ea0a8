//! Properties of all readers, for those of this package.

use viem_cluster::files;
use viem_cluster::nodes::{Cluster, ClusterSpec, NodeSpec, Unit, regular};
use viem_io::{Source, mapping};
use viem_launch::placement;

use crate::reader::{Reader, check, reader};

/// A file of a launcher, on two hosts of two cores.
fn placed(name: &'static str, text: &str) -> Reader {
    let num_ranks = if name == "hosts of ranks" || name == "rank order" { 3 } else { 2 };
    let read = move |source: Source<'_>| {
        let hosts = Source::new("hosts", "n1 slots=2\nn2 slots=2\n".as_bytes())?;
        let nodes = files::hostfile::read(hosts)?.into_iter().map(|host| NodeSpec::new(Some(host.name), 0));
        let draft = ClusterSpec::new(nodes.collect(), vec![regular(&[2])], Unit::Core);
        let machine = Cluster::new(draft).expect("two nodes alike");
        placement::read(source, num_ranks, &machine, mapping::Room::plain(4), None)
    };
    reader(name, text, read).numbers_from(None)
}

fn all() -> Vec<Reader> {
    vec![
        placed("rankfile", "rank 0=n1 slot=0:1\nrank 1=n2 slot=0:0-1\n"),
        placed("hosts of ranks", "n1\nn2\nn1\n"),
        placed("rank order", "0,2\n1-1\n"),
        placed(
            "script of ranks",
            "#!/bin/sh\n# The host, the GPU and the number of each rank:\nn1 1 0\nn2 0 1\n",
        ),
        placed("pods", "{\"pods\": [\n{\"host\": \"n1\", \"gpus\": [1, 0], \"ranks\": [0, 1]}]}\n"),
        placed("inverse", "1\n-1\n0\n-1\n"),
    ]
}

#[test]
fn spellings_encodings_and_damage_are_treated_alike() {
    check(&all());
}
