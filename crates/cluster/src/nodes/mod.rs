//! Clusters: nodes with names, their insides, and their network.
//!
//! A [`ClusterSpec`] describes a cluster; [`Cluster::new`] makes a machine of it: a [`Hierarchy`] where all is regular.
//!
//! PEs are numbered in the order of the nodes, and in a node in the order of hwloc. So a mapping of rank i to PE i is what
//! launchers do by themselves when they fill one node after the other.

mod built;
mod error;
mod fabric;
mod levels;
mod network;
mod shape;
mod share;

pub use error::ClusterError;
pub use shape::{Unit, regular};

use crate::files::hwloc::{Object, ObjectKind};
use crate::files::latency::Latencies;
use crate::files::topology::Topology;
use built::{Built, Outline};
use levels::{Given, Members};
use network::Network;
use shape::{Leaf, Levels};
use share::Shares;
use viem::base::memory;
use viem::base::types::{Distance, PeId};
use viem::machine::{
    Audited, Distances, Division, Hierarchy, Interconnect, Located, Location, Machine, MachineError, Note,
    SlurmJob,
};

/// PEs of a cluster at most, all nodes together: 2^28 take several GiB.
const MOST_PES: u64 = 1 << 28;

/// Bytes that a PE takes at least while a cluster is made.
const PE_BYTES: u128 = 128;

/// A node of a draft.
///
/// It has a PE for each rank. Without a number of ranks, there are as many as its cores or hardware threads suffice for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeSpec {
    /// The name that the system gives it, if known.
    pub host: Option<String>,
    /// The index of its inside.
    pub inside: usize,
    /// The number of its cores or hardware threads that may be used, the first ones, if not all.
    pub limit: Option<u32>,
    /// The CPUs that may be used, by the numbers of the operating system in ascending order, if not all. A core has those that are among
    /// them, and does not count if it has none. A GPU has those near it that are among them.
    pub cpus: Option<Vec<u32>>,
    /// The number of ranks that a file of hosts or a batch system gives it; no more than it has cores or hardware threads.
    pub slots: Option<u32>,
    /// The number of ranks that it must have, whatever its slots.
    pub ranks: Option<u32>,
    /// The number of cores or hardware threads of a rank. Otherwise, they are an equal share; 1 without a number of ranks.
    pub cores_per_rank: Option<u32>,
}

impl NodeSpec {
    /// A node whose cores or hardware threads are a PE each.
    pub fn new(host: Option<String>, inside: usize) -> Self {
        Self { host, inside, limit: None, cpus: None, slots: None, ranks: None, cores_per_rank: None }
    }

    /// The same node with this many slots.
    pub fn with_slots(self, slots: Option<u32>) -> Self {
        Self { slots, ..self }
    }
}

/// The description of a cluster.
#[derive(Clone, Debug)]
pub struct ClusterSpec<'a> {
    /// The nodes.
    pub nodes: Vec<NodeSpec>,
    /// The insides of the nodes: [`ObjectKind::Machine`]s.
    pub insides: Vec<Object>,
    /// The unit that is a PE.
    pub unit: Unit,
    /// The network of the nodes.
    pub topology: Topology,
    /// The distances that the user has given, innermost first.
    pub distances: Option<&'a str>,
    /// The measured latencies between hosts.
    pub latencies: Option<Latencies>,
    /// The job of Slurm that the nodes belong to, if they do.
    pub slurm_job: Option<SlurmJob>,
    /// Further notes for the user.
    pub notes: Vec<Note>,
}

impl ClusterSpec<'_> {
    /// A draft of these nodes, all of them alike to the network, of which nothing else is known.
    pub fn new(nodes: Vec<NodeSpec>, insides: Vec<Object>, unit: Unit) -> Self {
        Self {
            nodes,
            insides,
            unit,
            topology: Topology::Flat,
            distances: None,
            latencies: None,
            slurm_job: None,
            notes: Vec::new(),
        }
    }
}

/// A cluster that processes can be mapped to.
pub struct Cluster {
    hosts: Vec<Option<String>>,
    /// The list of PEs of each node.
    filling: Vec<usize>,
    /// Lists of the PEs of a node.
    leaves: Vec<Vec<Leaf>>,
    /// The first PE of each node, and the end of the last.
    first_pe: Vec<PeId>,
    slurm_job: Option<SlurmJob>,
    tree: Box<dyn Machine>,
    /// The machine with the same links, where these are not those of `tree`.
    links: Option<Box<dyn Machine>>,
    outline: Outline,
    understood: String,
    notes: Vec<Note>,
}

impl Cluster {
    /// The machine of a draft. O(p log p) for p PEs, and O(n²) for n nodes where their distances are given by pairs.
    pub fn new(draft: ClusterSpec<'_>) -> Result<Self, ClusterError> {
        let levels = Levels::new(&draft.insides, draft.unit);
        let pools = Pools::new(&draft, &levels);
        let rooms = rooms(&draft, &pools)?;
        let first_pe = count_pes(&rooms)?;
        let network = network(&draft, &rooms)?;
        let mut notes = Vec::new();
        let (filling, pes) = fill(&draft, &pools, &rooms, &levels, &mut notes);
        let digits = digits(&filling, &pes, &network);
        let classes = members(&levels, &network);
        let arities = most_members(&digits, classes.len());
        let all: Vec<(Members, u32)> = classes.into_iter().zip(arities).collect();
        let given = match draft.distances {
            Some(text) => Given::Distances(text),
            None => Given::Assumed { in_tenths: draft.latencies.is_some() },
        };
        let mut to_network = to_network(&filling, &pes);
        let has_distances_to_network = !to_network.is_empty();
        let (kept, indices) = levels::kept(&all, &given, &mut to_network)?;
        let digits: Vec<u32> = digits
            .chunks_exact(all.len())
            .flat_map(|digits| indices.iter().map(|&index| digits[index]))
            .collect();
        let hosts = draft.nodes.iter().map(|node| node.host.clone()).collect();
        let num_pes = first_pe.last().map_or(0, |&end| end as usize);
        let how = if draft.distances.is_some() { "given" } else { "assumed" };
        let sizes: Vec<usize> = rooms.iter().map(|room| room.ranks).filter(|&ranks| ranks > 0).collect();
        if sizes.len() > network::MOST_NODES {
            to_network.clear();
        }
        if has_distances_to_network && to_network.is_empty() {
            let reason = match draft.distances {
                Some(_) => "distances are given".to_owned(),
                None => format!("there are more than {} nodes", network::MOST_NODES),
            };
            let text = format!("how far GPUs are from network adapters is left out, since {reason}");
            notes.push(Note::new(text));
        }
        let built = Built::new(&kept, digits, &network, &sizes, to_network)?;
        let understood =
            built.describe(&kept, &network, how, sizes.len(), num_pes) + &built.describe_network();
        let Built { tree, links, outline, .. } = built;
        let slurm_job = draft.slurm_job;
        notes.splice(..0, draft.notes);
        let is_cut = |(index, node): &(usize, &NodeSpec)| {
            node.limit.is_some_and(|limit| (limit as usize) < pools.of_node(*index).len())
        };
        if let Some((_, node)) = draft.nodes.iter().enumerate().find(is_cut) {
            let unit = draft.unit.plural(&draft.insides[node.inside]);
            let text = format!("where a job has fewer {unit} than a node, the first ones are taken");
            notes.push(Note::new(text));
        }
        if !outline.distances.is_sorted() {
            let text = format!(
                "the distances {} fall from the inside out; innermost levels come first",
                levels::distances(&kept)
            );
            notes.push(Note::warning(text));
        }
        if matches!(&draft.topology, Topology::Tori(tori) if tori.iter().any(|torus| torus.is_order_assumed))
        {
            let text = "the places of nodes in a torus are not in the topology; nodes are taken to be listed with x varying fastest";
            notes.push(Note::warning(text.to_owned()));
        }
        Ok(Self { hosts, filling, leaves: pes, first_pe, slurm_job, tree, links, outline, understood, notes })
    }

    fn node_of(&self, pe: PeId) -> usize {
        self.first_pe.partition_point(|&first| first <= pe) - 1
    }
}

/// The cores or hardware threads that may be used, once for all nodes that have the same.
struct Pools {
    leaves: Vec<Vec<Leaf>>,
    pool_of: Vec<usize>,
}

impl Pools {
    /// O(n log n) for n nodes and their CPUs, besides the leaves.
    fn new(draft: &ClusterSpec<'_>, levels: &Levels) -> Self {
        let key = |node: &'_ NodeSpec| (node.inside, node.cpus.clone());
        let mut kinds: Vec<(usize, Option<Vec<u32>>)> = draft.nodes.iter().map(key).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let pool = |node: &NodeSpec| {
            kinds.partition_point(|(inside, cpus)| (*inside, cpus) < (node.inside, &node.cpus))
        };
        let pool_of = draft.nodes.iter().map(pool).collect();
        let all: Vec<Vec<Leaf>> = draft.insides.iter().map(|inside| levels.leaves(inside)).collect();
        let leaves = kinds.iter().map(|(inside, cpus)| match cpus {
            Some(cpus) => shape::among(&all[*inside], cpus),
            None => all[*inside].clone(),
        });
        Self { leaves: leaves.collect(), pool_of }
    }

    fn of_node(&self, node: usize) -> &[Leaf] {
        &self.leaves[self.pool_of[node]]
    }
}

/// The room of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Room {
    pool: usize,
    inside: usize,
    /// The cores or hardware threads that may be used, the first ones.
    usable: usize,
    ranks: usize,
    cores_per_rank: usize,
}

/// Returns the room of each node.
fn rooms(draft: &ClusterSpec<'_>, pools: &Pools) -> Result<Vec<Room>, ClusterError> {
    let unit_of = |inside: usize| draft.unit.plural(&draft.insides[inside]);
    let room = |(index, node): (usize, &NodeSpec)| {
        let unit = unit_of(node.inside);
        let found = pools.of_node(index).len();
        let host = || node.host.clone().unwrap_or_else(|| format!("node{index}"));
        for (count, what) in [(node.limit, "CPUs"), (node.slots, "slots")] {
            if let Some(slots) = count.filter(|&count| count as usize > found) {
                return Err(ClusterError::MoreSlots { host: host(), slots, what, found, unit });
            }
        }
        let usable = node.limit.map_or(found, |limit| limit as usize);
        let ranks = node.ranks.or(node.slots).map(|ranks| ranks as usize);
        let cores = node.cores_per_rank.map(|cores| cores.max(1) as usize);
        let (ranks, cores_per_rank) = match (ranks, cores) {
            (None, cores) => (usable / cores.unwrap_or(1), cores.unwrap_or(1)),
            (Some(ranks), Some(cores)) => (ranks, cores),
            (Some(ranks), None) => (ranks, (usable / ranks.max(1)).max(1)),
        };
        if ranks.saturating_mul(cores_per_rank) > usable {
            let needed = ranks.saturating_mul(cores_per_rank);
            return Err(ClusterError::TooFewCores {
                host: host(),
                ranks,
                cores_per_rank,
                needed,
                usable,
                unit,
            });
        }
        Ok(Room { pool: pools.pool_of[index], inside: node.inside, usable, ranks, cores_per_rank })
    };
    let rooms: Vec<Room> = draft.nodes.iter().enumerate().map(room).collect::<Result<_, _>>()?;
    let largest = rooms.iter().max_by_key(|room| room.usable);
    match largest.filter(|room| room.cores_per_rank > 1 && rooms.iter().all(|room| room.ranks == 0)) {
        Some(&Room { usable, cores_per_rank, inside, .. }) => {
            Err(ClusterError::NoRoom { cores_per_rank, usable, unit: unit_of(inside) })
        }
        None => Ok(rooms),
    }
}

/// The first PE of each node, and the end of the last.
fn count_pes(rooms: &[Room]) -> Result<Vec<PeId>, ClusterError> {
    let mut first_pe = vec![0];
    let mut sum = 0u64;
    for room in rooms {
        sum += room.ranks as u64;
        check_sum(sum)?;
        first_pe.push(sum as PeId);
    }
    if sum == 0 { Err(MachineError::NoPes.into()) } else { Ok(first_pe) }
}

/// The PEs of nodes, one list for all nodes that have the same, and which of them each node has.
fn fill(
    draft: &ClusterSpec<'_>,
    pools: &Pools,
    rooms: &[Room],
    levels: &Levels,
    notes: &mut Vec<Note>,
) -> (Vec<usize>, Vec<Vec<Leaf>>) {
    let mut kinds = rooms.to_vec();
    kinds.sort_unstable();
    kinds.dedup();
    let filling: Vec<usize> = rooms.iter().map(|room| kinds.partition_point(|kind| kind < room)).collect();
    let mut pes = Vec::with_capacity(kinds.len());
    for (index, &Room { pool, inside, usable, ranks, cores_per_rank }) in kinds.iter().enumerate() {
        let Shares { leaves, num_split, split_level } =
            share::shares(&pools.leaves[pool][..usable], ranks, cores_per_rank);
        if let Some(kind) = levels.kinds().nth(split_level).filter(|_| num_split > 0) {
            let nodes = draft.nodes.iter().zip(&filling).filter(|&(_, &filling)| filling == index);
            let mut hosts = nodes.map(|(node, _)| node.host.as_deref().unwrap_or("the node"));
            let (host, others) = (hosts.next().unwrap_or_default(), hosts.count());
            let others = if others > 0 { format!(" and {others} more") } else { String::new() };
            let (parts, unit) = (Members::Inside(kind).name(2), draft.unit.plural(&draft.insides[inside]));
            let text = format!(
                "ranks of {cores_per_rank} {unit} do not fill the {parts} of {host}{others}: {num_split} of {ranks} ranks there \
                 have {unit} of several {parts}"
            );
            notes.push(Note::new(text));
        }
        pes.push(leaves);
    }
    (filling, pes)
}

/// Makes sure that a cluster of this many PEs is not too large.
fn check_sum(num_pes: u64) -> Result<(), MachineError> {
    if num_pes > MOST_PES {
        return Err(MachineError::TooManyPes);
    }
    let (bytes, available) = (u128::from(num_pes) * PE_BYTES, memory::available());
    if bytes > u128::from(available) {
        return Err(MachineError::TooLarge { num_pes: num_pes as usize, bytes, available });
    }
    Ok(())
}

/// Returns the network of the nodes that have PEs.
fn network(draft: &ClusterSpec<'_>, rooms: &[Room]) -> Result<Network, ClusterError> {
    let all = draft.nodes.iter().zip(rooms).enumerate();
    let used: Vec<usize> = all.filter(|(_, (_, room))| room.ranks > 0).map(|(index, _)| index).collect();
    let hosts: Vec<Option<&str>> = used.iter().map(|&node| draft.nodes[node].host.as_deref()).collect();
    let mut names: Vec<&str> = hosts.iter().copied().flatten().collect();
    if let Some(latencies) = &draft.latencies {
        return Network::of_latencies(latencies, &hosts, &used, draft.nodes.len());
    }
    if draft.topology == Topology::Flat || names.len() < hosts.len() {
        return Ok(Network::flat(hosts.len()));
    }
    let network = Network::of_topology(&draft.topology, &names)?;
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ClusterError::HostTwice { host: pair[0].to_owned() }),
        None => Ok(network),
    }
}

/// The PEs of each node that has any.
fn used<'a>(filling: &'a [usize], pes: &'a [Vec<Leaf>]) -> impl Iterator<Item = &'a Vec<Leaf>> {
    filling.iter().map(|&filling| &pes[filling]).filter(|leaves| !leaves.is_empty())
}

/// The digits of all PEs at all levels, innermost first.
fn digits(filling: &[usize], pes: &[Vec<Leaf>], network: &Network) -> Vec<u32> {
    let mut digits = Vec::new();
    for (index, leaves) in used(filling, pes).enumerate() {
        let own = [index as u32];
        let of_node = match network {
            Network::Tree { digits, .. } => digits[index].as_slice(),
            Network::Pairs { .. } => &own,
        };
        for leaf in leaves {
            digits.extend_from_slice(&leaf.digits);
            digits.extend_from_slice(of_node);
        }
    }
    digits
}

/// Returns how much farther each PE is from the network of its node than the nearest of all; none if all are as far, or there is one node.
fn to_network(filling: &[usize], pes: &[Vec<Leaf>]) -> Vec<Distance> {
    let distances = || used(filling, pes).flatten().map(|leaf| leaf.to_network);
    let least = distances().flatten().min().unwrap_or(0);
    let farther: Vec<Distance> =
        distances().map(|distance| distance.map_or(0, |distance| distance.saturating_sub(least))).collect();
    if used(filling, pes).nth(1).is_some() && farther.iter().any(|&distance| distance > 0) {
        farther
    } else {
        Vec::new()
    }
}

/// Returns the members of the groups of each level, innermost first.
fn members(levels: &Levels, network: &Network) -> Vec<Members> {
    let above: Vec<Members> = match network {
        Network::Tree { levels, are_blocks: true, .. } => {
            (1..*levels).map(|level| Members::Blocks(level - 1)).collect()
        }
        Network::Tree { levels, .. } => (1..*levels).map(|level| Members::Switches(level - 1)).collect(),
        Network::Pairs { .. } => Vec::new(),
    };
    levels.kinds().map(Members::Inside).chain([Members::Nodes]).chain(above).collect()
}

/// The most members that a group of each level has.
fn most_members(digits: &[u32], num_levels: usize) -> Vec<u32> {
    let mut most = vec![1; num_levels];
    for pe in digits.chunks_exact(num_levels) {
        most.iter_mut().zip(pe).for_each(|(most, &digit)| *most = (digit + 1).max(*most));
    }
    most
}

impl Machine for Cluster {
    fn num_pes(&self) -> usize {
        self.tree.num_pes()
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        self.tree.distances()
    }

    fn division(&self) -> Division {
        self.tree.division()
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        self.tree.hierarchy()
    }

    fn interconnect(&self) -> Interconnect {
        self.links.as_ref().unwrap_or(&self.tree).interconnect()
    }

    fn describe(&self) -> String {
        self.understood.clone()
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }

    fn audited(&self) -> Option<&dyn Audited> {
        Some(self)
    }
}

impl Located for Cluster {
    fn location(&self, pe: PeId) -> Location {
        let node = self.node_of(pe);
        let leaf = &self.leaves[self.filling[node]][(pe - self.first_pe[node]) as usize];
        let (cores, cpus) = (leaf.cores.clone(), leaf.cpus.clone());
        match leaf.gpus.is_empty() {
            true => Location::new(node as u32, cpus).with_cores(cores),
            false => Location::of_gpus(node as u32, leaf.gpus.clone()).with_near(cores, cpus),
        }
    }

    fn host(&self, node: u32) -> Option<&str> {
        self.hosts.get(node as usize)?.as_deref()
    }

    fn num_nodes(&self) -> Option<u32> {
        Some(self.hosts.len() as u32)
    }

    fn slurm_job(&self) -> Option<&SlurmJob> {
        self.slurm_job.as_ref()
    }
}

impl Audited for Cluster {
    fn notes(&self) -> Vec<Note> {
        // Machines that are not hierarchies are described anyway.
        let text = format!("machine: {}", self.understood);
        let understood = self.hierarchy().map(|_| Note::new(text));
        understood.into_iter().chain(self.notes.iter().cloned()).collect()
    }

    fn outline(&self) -> String {
        self.outline.text()
    }
}

/// Nodes of this many cores each, which are all alike: the insides that there are, and which of them each node has.
///
/// Fails if there are too many cores in all, before any of them is made.
pub fn plain_nodes(cores: &[u32]) -> Result<(Vec<Object>, Vec<usize>), ClusterError> {
    check_sum(cores.iter().copied().map(u64::from).sum())?;
    let mut sizes = cores.to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    let inside_of = cores.iter().map(|&cores| sizes.partition_point(|&size| size < cores)).collect();
    Ok((sizes.into_iter().map(plain).collect(), inside_of))
}

/// A node whose cores are all alike.
pub fn plain(cores: u32) -> Object {
    let cores = (0..cores).map(|core| Object::new(ObjectKind::Core, vec![Object::pu(core)]));
    Object::new(ObjectKind::Machine, cores.collect())
}
