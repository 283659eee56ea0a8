//! The places of a machine.

use crate::ground::memory;
use crate::ground::observer::Observer;
use crate::ground::types::PeId;
use crate::machine::{Distances, Hierarchy, Machine, MachineError, Parts, distances_of};

use super::division;

/// Bytes per PE that mapping needs at least: 36 for parts, 4 for the list of places, 24 for mappings and for the graph, which has a
/// process for each place.
const PE_BYTES: u128 = 64;

/// Makes sure that there is memory for that many PEs, whatever represents their distances. Called before any of it is allocated.
pub fn check_memory(machine: &dyn Machine) -> Result<(), MachineError> {
    check_memory_of(machine.num_pes())
}

fn check_memory_of(num_pes: usize) -> Result<(), MachineError> {
    let (bytes, available) = (num_pes as u128 * PE_BYTES, memory::available());
    if bytes > u128::from(available) {
        return Err(MachineError::TooLarge { num_pes, bytes, available });
    }
    Ok(())
}

/// One place for each process that a machine has room for: a PE of capacity c is c places at distance 0 from each other.
///
/// Places are numbered so that every part of the machine is a range of them. So algorithms always look for a permutation of
/// places; a free place holds a process without edges.
#[derive(Clone, Debug)]
pub struct Places {
    pe_of: Vec<PeId>,
    parts: Parts,
    distances: Distances,
    hierarchy: Option<Hierarchy>,
}

impl Places {
    /// The places of a machine, computed in parallel on the current rayon pool.
    ///
    /// `distances` are those of the machine. Once the observer asks to stop, the machine is not divided further.
    pub fn new(
        machine: &dyn Machine,
        distances: Distances,
        observer: &dyn Observer,
    ) -> Result<Self, MachineError> {
        check_memory(machine)?;
        let count = machine.room();
        if count >= u64::from(PeId::MAX) {
            return Err(MachineError::TooMuchRoom { room: count });
        }
        check_memory_of(count as usize)?;
        let is_plain = count == machine.num_pes() as u64;
        let parts = division::divide(machine, &distances, observer);
        let parts = if is_plain { parts } else { parts.with_capacities(|pe| machine.capacity(pe)) };
        let pe_of = parts.order().to_vec();
        if let Some(hierarchy) = machine.hierarchy().filter(|_| is_plain) {
            return Ok(Self { pe_of, parts, distances, hierarchy: Some(hierarchy.clone()) });
        }
        Ok(Self { distances: distances.listed(&pe_of).tabulated(), pe_of, parts, hierarchy: None })
    }

    /// The places of a machine with its own distances.
    pub fn of(machine: &dyn Machine) -> Result<Self, MachineError> {
        Self::new(machine, distances_of(machine)?, &())
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.pe_of.len()
    }

    /// Whether there is no place.
    pub fn is_empty(&self) -> bool {
        self.pe_of.is_empty()
    }

    /// The PE of each place.
    pub fn pe_of(&self) -> &[PeId] {
        &self.pe_of
    }

    /// The places in the order of their PEs, the n-th place of a PE after its first n - 1.
    pub fn by_pe(&self) -> Vec<PeId> {
        let mut places: Vec<PeId> = (0..self.pe_of.len() as PeId).collect();
        places.sort_by_key(|&place| self.pe_of[place as usize]);
        places
    }

    /// The place of each process if process i is on PE `pe_of[i]`, and no PE has more processes than room. Processes beyond
    /// these take the free places, in order. O(places).
    pub fn seats(&self, pe_of: &[PeId]) -> Vec<PeId> {
        let by_pe = self.by_pe();
        let pes = self.pe_of.iter().copied().max().map_or(0, |pe| pe as usize + 1);
        // Where the places of each PE begin in their order.
        let mut next = vec![0; pes + 1];
        for &pe in &self.pe_of {
            next[pe as usize + 1] += 1;
        }
        for pe in 0..pes {
            next[pe + 1] += next[pe];
        }
        let mut is_taken = vec![false; self.len()];
        let mut seats = Vec::with_capacity(self.len());
        for &pe in pe_of {
            is_taken[next[pe as usize]] = true;
            seats.push(by_pe[next[pe as usize]]);
            next[pe as usize] += 1;
        }
        seats.extend(by_pe.iter().zip(is_taken).filter(|&(_, is_taken)| !is_taken).map(|(&place, _)| place));
        seats
    }

    /// The parts, over the places in the order of their numbers.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The distances between places.
    pub fn distances(&self) -> &Distances {
        &self.distances
    }

    /// The machine as a regular tree, if it is one; places are its PEs then.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.as_ref()
    }
}
