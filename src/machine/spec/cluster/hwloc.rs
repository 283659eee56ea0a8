//! Nodes as hwloc describes them: `hwloc`, `hwloc:node.xml,hosts=hosts.txt`, `hwloc:pack:2 numa:4 core:16 pu:1`.

use crate::machine::cluster::DraftNode;
use crate::machine::spec::cluster::{Parts, batch, inside, read_topology};
use crate::machine::spec::{ClusterKind, MachineKind};

const KEYS: [&str; 2] = ["hosts", "topology"];

pub(in super::super) const HWLOC: MachineKind = MachineKind {
    name: "hwloc",
    example: "hwloc:node.xml",
    about: "this node, or that of an XML file of hwloc, or a synthetic one; as many times as there are hosts in a file",
    cluster: Some(ClusterKind {
        may_stand_alone: true,
        files: |rest| {
            let parts = Parts::new(rest, &KEYS);
            let node = Some(parts.first).filter(|first| !first.is_empty()).and_then(inside::file_of);
            node.into_iter()
                .chain(parts.option("hosts").and_then(batch::file_of))
                .chain(parts.topology())
                .collect()
        },
    }),
    make: |request| {
        let parts = Parts::new(request.rest, &KEYS);
        let mut notes = Vec::new();
        let node = match parts.first {
            "" => inside::this_node(request)?,
            text => inside::read(request, text, &mut notes)?,
        };
        let nodes = match parts.option("hosts") {
            Some(text) => batch::hosts(request, text)?
                .into_iter()
                .map(|host| DraftNode { host: Some(host.name), inside: 0, limit: host.slots })
                .collect(),
            None => {
                let host = parts.first.is_empty().then(inside::this_host).flatten();
                vec![DraftNode { host, inside: 0, limit: None }]
            }
        };
        let mut draft = request.draft(nodes);
        (draft.insides, draft.notes) = (vec![node], notes);
        draft.topology = read_topology(parts.topology())?;
        request.cluster(draft)
    },
};
