//! Nodes that a file lists: `hosts:hosts.txt`, `hosts:hosts.txt,node=16:2`; or a batch system, as in `hosts:lsf,node=16:2`.

use crate::io::cluster::hostfile::Host;
use crate::machine::cluster::{ClusterError, DraftNode, plain_nodes};
use crate::machine::spec::cluster::{Parts, batch, inside, read_topology};
use crate::machine::spec::{ClusterKind, MachineKind};

const KEYS: [&str; 2] = ["node", "topology"];

pub(in super::super) const HOSTS: MachineKind = MachineKind {
    name: "hosts",
    example: "hosts:hosts.txt",
    about: "the hosts of a file (of Open MPI, MPICH, batch systems, or plain) or of a job (lsf, sge, pbs), with a hierarchy or an hwloc file for what is in each",
    cluster: Some(ClusterKind {
        may_stand_alone: false,
        files: |rest| {
            let parts = Parts::new(rest, &KEYS);
            let node = parts.option("node").and_then(inside::file_of);
            batch::file_of(parts.first).into_iter().chain(node).chain(parts.topology()).collect()
        },
    }),
    make: |request| {
        let parts = Parts::new(request.rest, &KEYS);
        let hosts = batch::hosts(request, parts.first)?;
        let mut draft = request.draft(Vec::new());
        match parts.option("node") {
            Some(text) => {
                draft.insides = vec![inside::read(request, text, &mut draft.notes)?];
                let node = |host: Host| DraftNode { host: Some(host.name), inside: 0, limit: host.slots };
                draft.nodes = hosts.into_iter().map(node).collect();
            }
            None => {
                let slots = hosts.iter().map(|host| host.slots).collect::<Option<Vec<u32>>>();
                let slots = slots.ok_or_else(|| request.refused(ClusterError::NoInside))?;
                let (insides, inside_of) = plain_nodes(&slots).map_err(|error| request.refused(error))?;
                let node =
                    |(host, inside): (Host, usize)| DraftNode { host: Some(host.name), inside, limit: None };
                draft.nodes = hosts.into_iter().zip(inside_of).map(node).collect();
                draft.insides = insides;
            }
        }
        draft.topology = read_topology(parts.topology())?;
        request.cluster(draft)
    },
};
