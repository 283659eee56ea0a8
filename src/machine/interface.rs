//! The interface between mapping and a machine.

use crate::base::types::PeId;
use crate::machine::{
    Audited, DistanceOracle as _, Distances, Division, Hierarchy, Interconnect, Located, MachineError,
};

/// A machine that processes can be mapped to.
///
/// Only [`num_pes`](Self::num_pes) and [`distances`](Self::distances) are required.
pub trait Machine: Send + Sync {
    /// Number of PEs.
    fn num_pes(&self) -> usize;

    /// The distances between all [`num_pes`](Self::num_pes) PEs. May take time and memory, and fails if there is too little memory.
    fn distances(&self) -> Result<Distances, MachineError>;

    /// Returns the division of the machine into parts whose PEs are near each other and far from the others.
    fn division(&self) -> Division {
        Division::ByDistance
    }

    /// The distances between some PEs: PE i of the result is PE `list[i]` of this machine. Machines that know distances without a table
    /// take no longer than the list is.
    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        Ok(distances_of(self)?.listed(list))
    }

    /// Returns the division of some PEs, each listed once, into parts; they are numbered by their position in the list. Regular machines take no longer than
    /// the list is.
    fn division_among(&self, list: &[PeId]) -> Division {
        self.division().listed(list)
    }

    /// Returns the medium of messages.
    fn interconnect(&self) -> Interconnect {
        Interconnect::Ports
    }

    /// Returns the number of processes that a PE has room for.
    fn capacity(&self, _pe: PeId) -> u32 {
        1
    }

    /// The [`capacity`](Self::capacity) of each PE, by PE; O(PEs).
    fn capacities(&self) -> Vec<u32> {
        (0..self.num_pes() as PeId).map(|pe| self.capacity(pe)).collect()
    }

    /// Returns the number of processes that all PEs together have room for; O(PEs).
    fn room(&self) -> u64 {
        (0..self.num_pes() as PeId).map(|pe| u64::from(self.capacity(pe))).sum()
    }

    /// A smaller machine that consists of the first PEs of this one, at least `least` of them, with the same numbers and
    /// distances; it is as compact as any part of its size. `None` if there is no such part, or none is known.
    fn first_pes(&self, _least: usize) -> Option<Box<dyn Machine>> {
        None
    }

    /// Some PEs that are near each other, at least `least` of them, in ascending order, if they are a small part of the machine. They are as
    /// compact as any part of this size. Asked where [`first_pes`](Self::first_pes) knows none. `None` if there is no such part, or none
    /// is known.
    fn compact_pes(&self, _least: usize) -> Option<Vec<PeId>> {
        None
    }

    /// The number that users know a PE by: that in the whole machine, if this is a part of one.
    fn number(&self, pe: PeId) -> PeId {
        pe
    }

    /// The machine of which this one has only some PEs, if it is such a part.
    fn whole(&self) -> Option<&dyn Machine> {
        None
    }

    /// The machine as a regular tree, if it is one.
    fn hierarchy(&self) -> Option<&Hierarchy> {
        None
    }

    /// The machine in a few words, for people.
    fn describe(&self) -> String {
        format!("machine of {} processing elements", self.num_pes())
    }

    /// Returns the nodes of the PEs, if the machine knows them. Otherwise each PE counts as a node of its own, with as many CPUs as it
    /// has room for processes, but at most 4096.
    fn located(&self) -> Option<&dyn Located> {
        None
    }

    /// The machine as an auditor sees it, if it cannot be read again from what its user typed.
    fn audited(&self) -> Option<&dyn Audited> {
        None
    }
}

/// The distances of a machine, possibly a user's own. Fails if their number of PEs differs.
pub fn distances_of<M: Machine + ?Sized>(machine: &M) -> Result<Distances, MachineError> {
    let distances = machine.distances()?;
    let (num_pes, found) = (machine.num_pes(), distances.num_pes());
    if num_pes == found { Ok(distances) } else { Err(MachineError::DistancesDiffer { num_pes, found }) }
}
