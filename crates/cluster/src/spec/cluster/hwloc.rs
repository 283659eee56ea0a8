//! Nodes as hwloc describes them: `hwloc`, `hwloc:node.xml,hosts=hosts.txt`, `hwloc:pack:2 numa:4 core:16 pu:1`.

use crate::nodes::{ClusterError, NodeSpec};
use crate::spec::cluster::described::{Described, warn_of_fewer};
use crate::spec::cluster::parts::Parts;
use crate::spec::cluster::request::read_topology;
use crate::spec::cluster::{batch, inside};
use crate::spec::cluster_kind::ClusterKind;

const KEYS: [&str; 5] = ["hosts", "node", "topology", "ranks", "cores"];

pub(in crate::spec) const HWLOC: ClusterKind = ClusterKind {
    name: "hwloc",
    example: "hwloc:node.xml",
    about: "this node, or that of an XML file of hwloc, or a synthetic one; as many times as there are hosts in a file",
    may_stand_alone: true,
    files: |rest| {
        let parts = Parts::new(rest, &KEYS);
        let node = match parts.first {
            "" => inside::read_for_this_node(),
            text => inside::read_for(text),
        };
        node.into_iter().chain(parts.files(parts.option("hosts"))).collect()
    },
    make: |request| {
        let parts = Parts::new(request.rest, &KEYS);
        let mut notes = Vec::new();
        let node = match parts.first {
            "" => inside::this_node(request, &mut notes)?,
            text => inside::read(request, text, &mut notes)?,
        };
        if let Some(value) = parts.option("node") {
            let (option, known) =
                (format!("node={value}"), "hosts=, node[HOSTS]=, ranks=, cores= and topology=");
            return Err(request.refused(ClusterError::Option { kind: "hwloc", option, known }));
        }
        let hosts = match parts.option("hosts") {
            Some(text) => batch::hosts(request, text, &mut notes)?,
            None => Vec::new(),
        };
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        let described = Described::new(request, &parts, &names, Some(node), &mut notes)?;
        let nodes = hosts.into_iter().zip(&described.inside_of).map(|(host, inside)| {
            NodeSpec::new(Some(host.name), inside.unwrap_or_default()).with_slots(host.slots)
        });
        let mut draft = request.draft(nodes.collect());
        if draft.nodes.is_empty() {
            let host = parts.first.is_empty().then(inside::this_host).flatten();
            draft.nodes.push(NodeSpec::new(host, 0));
        }
        (draft.insides, draft.notes) = (described.insides, notes);
        request.set_ranks(&mut draft, &parts)?;
        warn_of_fewer(&draft.nodes, &draft.insides, draft.unit, &mut draft.notes);
        draft.topology = read_topology(parts.topology())?;
        request.cluster(draft)
    },
};
