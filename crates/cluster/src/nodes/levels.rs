//! The levels of a cluster: their names, and their assumed distances.

use super::error::ClusterError;
use crate::files::hwloc::ObjectKind;
use viem::base::types::{Distance, greatest_common_divisor};
use viem::machine::{Hierarchy, MachineError};

/// The members of the groups of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// Parts of a node.
    Inside(ObjectKind),
    Nodes,
    /// Switches that have this many levels of switches below them.
    Switches(usize),
    /// Blocks that have this many levels of blocks below them.
    Blocks(usize),
}

/// The unit of assumed distances: tenths.
const TENTHS: Distance = 10;

/// A level of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) members: Members,
    /// Most members of a group.
    pub(super) arity: u32,
    pub(super) distance: Distance,
}

impl Members {
    /// Returns the name of this many of them, for people.
    pub(super) fn name(self, count: u64) -> String {
        let name = match self {
            Members::Inside(ObjectKind::Pu) => "hardware thread",
            Members::Inside(ObjectKind::Core) => "core",
            Members::Inside(ObjectKind::L3) => "L3 cache",
            Members::Inside(ObjectKind::Die) => "die",
            Members::Inside(ObjectKind::Numa) => "NUMA node",
            Members::Inside(ObjectKind::Package) => "socket",
            Members::Inside(ObjectKind::Gpu { is_single: true, .. }) => "GPU",
            Members::Inside(ObjectKind::Gpu { .. }) => "group of GPUs",
            Members::Inside(ObjectKind::Group) => "group",
            Members::Inside(ObjectKind::Machine) | Members::Nodes => "node",
            Members::Switches(0) => "switch",
            Members::Switches(_) => "group of switches",
            Members::Blocks(0) => "block",
            Members::Blocks(_) => "group of blocks",
        };
        match (count, name) {
            (1, name) => name.to_owned(),
            (_, "switch") => "switches".to_owned(),
            (_, "group of GPUs") => "groups of GPUs".to_owned(),
            (_, "group of switches") => "groups of switches".to_owned(),
            (_, "group of blocks") => "groups of blocks".to_owned(),
            (_, name) => format!("{name}s"),
        }
    }

    /// The distance that is assumed of two members of a group, in tenths of that of two cores, unless that is less than further inside.
    ///
    /// The ratios are those of message latencies that are usual between cores of a socket, sockets and nodes: 1, 3 and 30. Each level of
    /// switches adds as much as a node does, more than latencies would, because messages wait for each other at shared links: on the trees of
    /// `benches/proof` with 64 ranks and `scatter=44`, J then correlates with simulated time by 0.944 in the mean of 33 pairs; by 0.938 if a level
    /// adds a third of that, and by 0.945 or 0.946 if it adds more.
    fn assumed(self) -> Distance {
        match self {
            Members::Inside(ObjectKind::Pu) => 5,
            Members::Inside(ObjectKind::Core) => 10,
            Members::Inside(ObjectKind::L3) => 15,
            Members::Inside(ObjectKind::Die | ObjectKind::Numa | ObjectKind::Group) => 20,
            Members::Inside(ObjectKind::Gpu { distance, .. }) => TENTHS * Distance::from(distance.0),
            Members::Inside(ObjectKind::Package) => 30,
            Members::Inside(ObjectKind::Machine) | Members::Nodes => 300,
            Members::Switches(below) | Members::Blocks(below) => 600 + 300 * below as Distance,
        }
    }

    /// Returns whether they are GPUs, whose distances are those of their links.
    fn are_gpus(self) -> bool {
        matches!(self, Members::Inside(ObjectKind::Gpu { .. }))
    }

    /// Returns the rank of a name by familiarity, for levels with several names.
    fn familiarity(self) -> u32 {
        match self {
            Members::Inside(ObjectKind::Package) => 5,
            Members::Inside(ObjectKind::Numa) => 4,
            Members::Inside(ObjectKind::Die) => 3,
            Members::Inside(ObjectKind::L3) => 2,
            _ => 0,
        }
    }
}

/// The distances that a user has given: as a text, or none.
pub(super) enum Given<'a> {
    Distances(&'a str),
    /// Tenths are kept where what is measured needs a finer unit.
    Assumed {
        in_tenths: bool,
    },
}

/// The levels that have more than one member in some group, with their distances, and the index of each among all. `all` has the members of
/// each level and the most of them in a group, innermost first. `more` are further distances, in the unit of links between GPUs; they are
/// brought to that of the levels, and none of them is left if distances are given.
pub(super) fn kept(
    all: &[(Members, u32)],
    given: &Given<'_>,
    more: &mut Vec<Distance>,
) -> Result<(Vec<Level>, Vec<usize>), ClusterError> {
    let (mut levels, mut indices): (Vec<Level>, Vec<usize>) = (Vec::new(), Vec::new());
    for (index, &(members, arity)) in all.iter().enumerate().filter(|(_, (_, arity))| *arity > 1) {
        // What has one member is the same as that, and may be called by its name.
        let dropped =
            all[..index].iter().rev().take_while(|(_, arity)| *arity == 1).map(|&(members, _)| members);
        let names = dropped.filter(|_| matches!(members, Members::Inside(_)));
        let members = names.fold(members, |best, name| {
            let is_inside = matches!(best, Members::Inside(kind) if kind < ObjectKind::Core);
            if is_inside && name.familiarity() > best.familiarity() { name } else { best }
        });
        levels.push(Level { members, arity, distance: 0 });
        indices.push(index);
    }
    match given {
        Given::Distances(text) => {
            more.clear();
            give(&mut levels, text)?;
        }
        Given::Assumed { in_tenths } => assume(&mut levels, *in_tenths, more),
    }
    Ok((levels, indices))
}

fn assume(levels: &mut [Level], in_tenths: bool, more: &mut [Distance]) {
    let mut last = 0;
    let have_gpus = levels.iter().any(|level| level.members.are_gpus());
    for level in levels.iter_mut() {
        let least = if last == 0 { 0 } else { last + 5 };
        let is_inside = matches!(level.members, Members::Inside(_));
        // Nodes with GPUs are then as far from each other as GPUs of two NUMA nodes.
        let (factor, divisor) = if have_gpus && !is_inside { (12, 5) } else { (1, 1) };
        level.distance = (level.members.assumed() * factor / divisor).max(least);
        last = level.distance;
    }
    more.iter_mut().for_each(|distance| *distance = distance.saturating_mul(TENTHS));
    let mut all: Vec<&mut Distance> =
        levels.iter_mut().map(|level| &mut level.distance).chain(more.iter_mut()).collect();
    let divisor = all.iter().fold(0, |divisor, distance| greatest_common_divisor(divisor, **distance)).max(1);
    if !in_tenths {
        all.iter_mut().for_each(|distance| **distance /= divisor);
    }
}

fn give(levels: &mut [Level], text: &str) -> Result<(), ClusterError> {
    let found = text.split(':').count();
    if found != levels.len() {
        return Err(ClusterError::Distances {
            understood: chain(levels),
            levels: levels.iter().map(|level| level.members.name(2)).collect::<Vec<_>>().join(":"),
            needed: levels.len(),
            found,
        });
    }
    let distances = Hierarchy::parse_distances(text).map_err(MachineError::from)?;
    levels.iter_mut().zip(distances).for_each(|(level, distance)| level.distance = distance);
    Ok(())
}

/// `8 nodes x 2 sockets x 16 cores`.
pub(super) fn chain(levels: &[Level]) -> String {
    let level = |level: &Level| format!("{} {}", level.arity, level.members.name(level.arity.into()));
    levels.iter().rev().map(level).collect::<Vec<_>>().join(" x ")
}

/// The distances as a user types them.
pub(super) fn distances(levels: &[Level]) -> String {
    levels.iter().map(|level| level.distance.to_string()).collect::<Vec<_>>().join(":")
}
