//! The job to launch: what launchers ask of it.

use super::error::LaunchError;
use super::shell::word;
use viem::base::types::{NodeId, PeId};
use viem::machine::{Machine, Nodes, Site, SlurmJob};
use viem::mapping::Mapping;

/// The job to launch.
pub(super) struct Job<'a> {
    pub(super) kind: &'static str,
    pub(super) nodes: &'a Nodes,
    pub(super) machine: &'a dyn Machine,
    pub(super) mapping: &'a Mapping,
    pub(super) files: &'a [String],
    /// The job of Slurm that the hosts belong to, if the machine was read inside one.
    pub(super) slurm: Option<&'a SlurmJob>,
}

/// The ranks of a node.
pub(super) struct NodeRanks<'a> {
    pub(super) host: &'a str,
    /// The ranks in ascending order.
    pub(super) ranks: Vec<NodeId>,
}

impl<'a> Job<'a> {
    pub(super) fn num_ranks(&self) -> usize {
        self.mapping.num_processes()
    }

    pub(super) fn ranks(&self) -> impl Iterator<Item = NodeId> + use<> {
        0..self.num_ranks() as NodeId
    }

    pub(super) fn site(&self, rank: NodeId) -> Site<'a> {
        self.nodes.site(self.mapping.pe_of(rank))
    }

    /// The name of a node, or its description in messages if it has no name.
    pub(super) fn host(&self, node: usize) -> &'a str {
        let hosts = self.nodes.hosts();
        if self.nodes.are_named() || hosts.len() > 1 { &hosts[node] } else { "localhost" }
    }

    /// Fails if a launcher would take a host for an option.
    pub(super) fn check_hosts(&self) -> Result<(), LaunchError> {
        match self.nodes.hosts().iter().find(|host| host.starts_with('-')) {
            Some(host) => Err(LaunchError::HostLikeOption { host: host.clone() }),
            None => Ok(()),
        }
    }

    /// The host of a rank.
    pub(super) fn host_of(&self, rank: NodeId) -> &'a str {
        self.host(self.site(rank).node)
    }

    /// The nodes with ranks, in order.
    pub(super) fn used_nodes(&self) -> Vec<NodeRanks<'a>> {
        let mut ranks = vec![Vec::new(); self.nodes.hosts().len()];
        self.ranks().for_each(|rank| ranks[self.site(rank).node].push(rank));
        let nodes = ranks.into_iter().enumerate().filter(|(_, ranks)| !ranks.is_empty());
        nodes.map(|(node, ranks)| NodeRanks { host: self.host(node), ranks }).collect()
    }

    /// The number of the PE of each rank among those that the machine has on its node, in the order of their GPUs or else their CPUs. Each PE may
    /// have one rank.
    pub(super) fn pe_numbers(&self) -> Result<Vec<u32>, LaunchError> {
        self.rank_on_each_pe()?;
        let mut pes: Vec<PeId> = (0..self.nodes.num_pes() as PeId).collect();
        pes.sort_by_key(|&pe| {
            let Site { node, gpus, cpus, .. } = self.nodes.site(pe);
            (node, gpus, cpus)
        });
        let mut numbers = vec![0; pes.len()];
        for of_node in pes.chunk_by(|&a, &b| self.nodes.node(a) == self.nodes.node(b)) {
            (0..).zip(of_node).for_each(|(number, &pe)| numbers[pe as usize] = number);
        }
        Ok(self.ranks().map(|rank| numbers[self.mapping.pe_of(rank) as usize]).collect())
    }

    /// The rank on each PE. There must not be two.
    pub(super) fn rank_on_each_pe(&self) -> Result<Vec<Option<NodeId>>, LaunchError> {
        let mut rank_on: Vec<Option<NodeId>> = vec![None; self.machine.num_pes()];
        for rank in self.ranks() {
            let pe = self.mapping.pe_of(rank);
            if let Some(first) = rank_on[pe as usize].replace(rank) {
                return Err(LaunchError::SharedPe { kind: self.kind, first, second: rank, pe });
            }
        }
        Ok(rank_on)
    }

    /// A file name as a shell word.
    pub(super) fn file(&self, index: usize) -> String {
        word(&self.files[index])
    }

    /// A file name in the form that makes a shell find the program.
    pub(super) fn program(&self, index: usize) -> String {
        let name = &self.files[index];
        word(&if name.contains('/') { name.clone() } else { format!("./{name}") })
    }
}
