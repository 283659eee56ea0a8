//! Nodes that a file lists: `hosts:hosts.txt`, `hosts:hosts.txt,node=16:2`, `hosts:hosts.txt,node[old*]=16:2,node=22:2`; or a batch system,
//! as in `hosts:lsf,node=16:2`.

use crate::files::hostfile::Host;
use crate::nodes::{ClusterError, ClusterSpec, NodeSpec, plain_nodes};
use crate::spec::cluster::described::{Described, warn_of_fewer};
use crate::spec::cluster::parts::Parts;
use crate::spec::cluster::request::read_topology;
use crate::spec::cluster::{batch, inside};
use crate::spec::cluster_kind::{ClusterKind, Request};
use crate::spec::error::SpecError;

const KEYS: [&str; 4] = ["node", "topology", "ranks", "cores"];

pub(in crate::spec) const HOSTS: ClusterKind = ClusterKind {
    name: "hosts",
    example: "hosts:hosts.txt",
    about: "the hosts of a file (of Open MPI, MPICH, batch systems, or plain) or of a job (lsf, sge, pbs), with a hierarchy or an hwloc file for what is in each",
    may_stand_alone: false,
    files: |rest| {
        let parts = Parts::new(rest, &KEYS);
        parts.files(Some(parts.first))
    },
    make: |request| {
        let parts = Parts::new(request.rest, &KEYS);
        let mut draft = request.draft(Vec::new());
        let hosts = batch::hosts(request, parts.first, &mut draft.notes)?;
        fill(request, &parts, hosts, &mut draft)?;
        request.set_ranks(&mut draft, &parts)?;
        warn_of_fewer(&draft.nodes, &draft.insides, draft.unit, &mut draft.notes);
        draft.topology = read_topology(parts.topology())?;
        request.cluster(draft)
    },
};

/// The nodes of the hosts. Those that are not described have as many cores as slots.
fn fill(
    request: &Request<'_>,
    parts: &Parts<'_>,
    hosts: Vec<Host>,
    draft: &mut ClusterSpec<'_>,
) -> Result<(), SpecError> {
    let refused = |error| request.refused(error);
    let others =
        parts.option("node").map(|text| inside::read(request, text, &mut draft.notes)).transpose()?;
    let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    let Described { mut insides, inside_of } =
        Described::new(request, parts, &names, others, &mut draft.notes)?;
    let not_described = |host: &Host| match insides.is_empty() {
        true => ClusterError::NoInside,
        false => ClusterError::NotDescribed { host: host.name.clone() },
    };
    let plain = hosts.iter().zip(&inside_of).filter(|(_, inside)| inside.is_none()).map(|(host, _)| host);
    let slots = plain.map(|host| host.slots.ok_or_else(|| not_described(host)));
    let slots: Vec<u32> = slots.collect::<Result<_, _>>().map_err(refused)?;
    let (plain, plain_of) = plain_nodes(&slots).map_err(refused)?;
    let mut plain_of = plain_of.into_iter().map(|inside| inside + insides.len());
    let mut inside_of =
        inside_of.into_iter().map(|inside| inside.or_else(|| plain_of.next()).unwrap_or_default());
    let node = |host: Host| {
        NodeSpec::new(Some(host.name), inside_of.next().unwrap_or_default()).with_slots(host.slots)
    };
    draft.nodes = hosts.into_iter().map(node).collect();
    insides.extend(plain);
    draft.insides = insides;
    Ok(())
}
