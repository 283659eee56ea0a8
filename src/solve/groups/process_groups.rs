//! Groups of processes, and why they cannot be kept.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::NodeId;

/// The reason for which groups cannot be kept. Processes and groups are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum GroupError {
    #[error("a group has at least one process")]
    NoSize,
    #[error(
        "group {group} has {size} processes, but {largest} has {most}; groups that must share a node have one size, but for one that may be \
         smaller"
    )]
    OtherSize { group: NodeId, size: usize, largest: NodeId, most: usize },
    #[error("there are groups of {found} processes, but the graph has {expected}")]
    OtherCount { found: usize, expected: usize },
    #[error(
        "groups of {size} processes must share a node, but the nodes have room for {room} of {groups} groups; the largest has room for \
         {largest} processes"
    )]
    NoRoom { size: usize, groups: usize, room: u64, largest: u64 },
    #[error(
        "processes {first} and {second} are of one group of {size}, which must share a node, but they are fixed on {host} and {other}"
    )]
    FixedApart { size: usize, first: NodeId, second: NodeId, host: String, other: String },
    #[error("processes of {groups} groups of {size} are fixed on {host}, which has room for {room}")]
    FixedTogether { size: usize, groups: usize, room: u32, host: String },
    #[error(
        "the start mapping has the processes {first} and {second} on {host} and {other}, but they are of one group of {size}, which must share a node"
    )]
    StartApart { size: usize, first: NodeId, second: NodeId, host: String, other: String },
}

impl HasKind for GroupError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSize | Self::OtherCount { .. } => ErrorKind::Usage,
            Self::OtherSize { .. }
            | Self::NoRoom { .. }
            | Self::FixedApart { .. }
            | Self::FixedTogether { .. }
            | Self::StartApart { .. } => ErrorKind::BadData,
        }
    }
}

/// Groups of processes of one size; one of them may be smaller.
///
/// ```
/// use viem::solve::ProcessGroups;
///
/// let groups = ProcessGroups::of_list(&[7, 2, 7, 2, 5])?;
/// assert_eq!(groups.members(0), [1, 3]);
/// assert_eq!(groups.members(2), [4]);
/// assert_eq!(ProcessGroups::of_size(5, 2)?.members(2), [4]);
/// # Ok::<(), viem::solve::GroupError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroups {
    size: usize,
    /// The group of each process, counted from 0.
    group_of: Vec<NodeId>,
    /// The processes, group by group; the last group has what remains.
    members: Vec<NodeId>,
}

impl ProcessGroups {
    /// Groups of this many consecutive processes; the last group has what remains. O(n).
    pub fn of_size(num_processes: usize, size: usize) -> Result<Self, GroupError> {
        if size == 0 {
            return Err(GroupError::NoSize);
        }
        let group_of = (0..num_processes).map(|process| (process / size) as NodeId).collect();
        Ok(Self { size, group_of, members: (0..num_processes as NodeId).collect() })
    }

    /// The processes with the same number are a group; any numbers will do. Groups are counted in the order of their numbers, but
    /// for the smaller one, which is the last. O(n log n).
    pub fn of_list(numbers: &[NodeId]) -> Result<Self, GroupError> {
        let mut members: Vec<NodeId> = (0..numbers.len() as NodeId).collect();
        let number = |process: &NodeId| numbers[*process as usize];
        members.sort_by_key(number);
        let mut groups: Vec<&[NodeId]> = members.chunk_by(|a, b| number(a) == number(b)).collect();
        let size = groups.iter().map(|group| group.len()).max().unwrap_or(1);
        groups.sort_by_key(|group| group.len() < size);
        // Of two smaller ones, the last but one is not whole.
        let others = &groups[..groups.len().saturating_sub(1)];
        if let Some(other) = others.iter().find(|group| group.len() < size) {
            let (group, largest) = (number(&other[0]), number(&groups[0][0]));
            return Err(GroupError::OtherSize { group, size: other.len(), largest, most: size });
        }
        let members: Vec<NodeId> = groups.concat();
        let mut group_of = vec![0; members.len()];
        for (place, &process) in members.iter().enumerate() {
            group_of[process as usize] = (place / size) as NodeId;
        }
        Ok(Self { size, group_of, members })
    }

    /// The number of processes.
    pub fn num_processes(&self) -> usize {
        self.members.len()
    }

    /// The number of groups.
    pub fn count(&self) -> usize {
        self.members.len().div_ceil(self.size)
    }

    /// The number of processes of a group; one may have fewer.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The group of a process.
    pub fn group_of(&self, process: NodeId) -> NodeId {
        self.group_of[process as usize]
    }

    /// The processes of a group, in ascending order.
    pub fn members(&self, group: usize) -> &[NodeId] {
        let begin = group * self.size;
        &self.members[begin..(begin + self.size).min(self.members.len())]
    }
}
