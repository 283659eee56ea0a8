//! The nodes of a machine, and which groups each has room for.

use super::process_groups::{GroupError, ProcessGroups};
use crate::base::types::{NodeId, PeId};
use crate::machine::{Machine, Nodes};
use crate::mapping::Mapping;
use crate::partition::FixedVertices;

/// Groups of processes, and what decides on which node each may be.
pub(super) struct Groups<'a> {
    groups: &'a ProcessGroups,
    pub nodes: &'a Nodes,
    /// The node that fixed processes tie each group to.
    pub tied: Vec<Option<usize>>,
}

impl<'a> Groups<'a> {
    pub fn new(
        groups: &'a ProcessGroups,
        fixed: Option<&FixedVertices>,
        nodes: &'a Nodes,
    ) -> Result<Self, GroupError> {
        let size = groups.size();
        let mut tied_by: Vec<Option<(usize, NodeId)>> = vec![None; groups.count()];
        for (second, pe) in fixed.into_iter().flat_map(FixedVertices::iter) {
            let node = nodes.node(pe);
            let (earlier, first) = *tied_by[groups.group_of(second) as usize].get_or_insert((node, second));
            if earlier != node {
                let host = |node: usize| nodes.hosts()[node].clone();
                return Err(GroupError::FixedApart {
                    size,
                    first,
                    second,
                    host: host(earlier),
                    other: host(node),
                });
            }
        }
        let tied = tied_by.into_iter().map(|tied| tied.map(|(node, _)| node)).collect();
        Ok(Self { groups, nodes, tied })
    }

    pub fn count(&self) -> usize {
        self.tied.len()
    }

    pub fn group_of(&self, process: NodeId) -> NodeId {
        self.groups.group_of(process)
    }

    pub fn members(&self, group: usize) -> &[NodeId] {
        self.groups.members(group)
    }

    /// The number of processes of the last group if that is smaller than the others, else 0.
    fn rest(&self) -> usize {
        self.groups.num_processes() % self.groups.size()
    }

    /// Two processes of a group that a mapping has on different nodes.
    pub fn split_pair(&self, mapping: &Mapping) -> Option<(NodeId, NodeId)> {
        let node = |process: NodeId| self.nodes.node(mapping.pe_of(process));
        let members = (0..self.count()).map(|group| self.members(group));
        let mut pairs = members.flat_map(|members| members.iter().map(|&second| (members[0], second)));
        pairs.find(|&(first, second)| node(first) != node(second))
    }

    pub fn check_kept(&self, start: &Mapping) -> Result<(), GroupError> {
        let Some((first, second)) = self.split_pair(start) else { return Ok(()) };
        let host = |process| self.nodes.site(start.pe_of(process)).host.to_owned();
        Err(GroupError::StartApart {
            size: self.groups.size(),
            first,
            second,
            host: host(first),
            other: host(second),
        })
    }
}

/// The nodes with room for groups.
pub(super) struct Rooms {
    /// The PEs of each node.
    pub pes: Vec<Vec<PeId>>,
    /// The groups that each node has room for.
    pub groups: Vec<u32>,
    /// The node that the last group is tied to if it is in what others leave free.
    pub last: Option<usize>,
}

impl Rooms {
    pub fn of(machine: &dyn Machine, groups: &Groups<'_>) -> Result<Self, GroupError> {
        let mut pes = vec![Vec::new(); groups.nodes.hosts().len()];
        (0..machine.num_pes() as PeId).for_each(|pe| pes[groups.nodes.node(pe)].push(pe));
        let places = |pes: &Vec<PeId>| pes.iter().map(|&pe| u64::from(machine.capacity(pe))).sum::<u64>();
        let places: Vec<u64> = pes.iter().map(places).collect();
        let (size, rest, count) = (groups.groups.size() as u64, groups.rest() as u64, groups.count());
        let mut rooms: Vec<u64> = places.iter().map(|places| places / size).collect();
        let mut last = None;
        if rest > 0 {
            let is_tied = |node: &usize| groups.tied[count - 1] == Some(*node);
            let is_short = rooms.iter().sum::<u64>() < count as u64;
            let has_left = |node: &usize| places[*node] % size >= rest;
            let all = 0..places.len();
            last = all.clone().find(is_tied).or_else(|| all.rev().filter(|_| is_short).find(has_left));
            if let Some(node) = last {
                rooms[node] = places[node].checked_sub(rest).map_or(0, |left| left / size + 1);
            }
        }
        let room = rooms.iter().sum::<u64>();
        if room < count as u64 {
            let largest = places.iter().copied().max().unwrap_or(0);
            return Err(GroupError::NoRoom { size: groups.groups.size(), groups: count, room, largest });
        }
        let mut tied = vec![0; rooms.len()];
        groups.tied.iter().flatten().for_each(|&node| tied[node] += 1);
        let rooms: Vec<u32> = rooms.into_iter().map(|room| room.min(count as u64) as u32).collect();
        match (0..rooms.len()).find(|&node| tied[node] > rooms[node] as usize) {
            Some(node) => Err(GroupError::FixedTogether {
                size: groups.groups.size(),
                groups: tied[node],
                room: rooms[node],
                host: groups.nodes.hosts()[node].clone(),
            }),
            None => Ok(Self { pes, groups: rooms, last }),
        }
    }
}
