//! Mappings: which process runs on which PE.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::{NodeId, PeId};
use crate::graph::{CsrGraph, quotient};
use crate::machine::Machine;

/// A mapping of processes to PEs. No PE has more processes than its capacity.
///
/// If there are as many PEs as processes, each with capacity 1, it is a permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pe_of: Vec<PeId>,
}

/// The reason why a list of PEs is not a one-to-one mapping. Processes and PEs are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MappingError {
    #[error("process {process} is on PE {pe}, but the PEs are 0..{count}")]
    PeOutOfRange { process: usize, pe: u64, count: usize },
    #[error("process {process} is on PE {pe}, and so is process {earlier}")]
    PeTaken { process: usize, pe: u64, earlier: usize },
    #[error("process {process} is on PE {pe}, which has room for {capacity} and is full")]
    PeFull { process: usize, pe: u64, capacity: u32 },
}

impl HasKind for MappingError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::PeOutOfRange { .. } | Self::PeTaken { .. } | Self::PeFull { .. } => ErrorKind::BadData,
        }
    }
}

impl Mapping {
    /// The quotient graph: vertex `i` stands for PE `i` and weighs 1, and an edge weighs as much as all edges between its two PEs. It is the model of
    /// communication if each PE runs one process for all its vertices; O(n + m).
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::Mapping;
    ///
    /// let pairs = Mapping::many(2, vec![0, 0, 1, 1])?.quotient(&generate::grid(4, 1), 2);
    /// assert_eq!((pairs.num_nodes(), pairs.num_edges(), pairs.node_weights()), (2, 1, &[1, 1][..]));
    /// # Ok::<(), viem::mapping::MappingError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// The graph has another number of vertices, or one is on a PE from `num_pes` on.
    pub fn quotient(&self, graph: &CsrGraph, num_pes: usize) -> CsrGraph {
        assert_eq!(graph.num_nodes(), self.pe_of.len(), "a mapping of the vertices of the graph");
        quotient::contract(graph, &self.pe_of, num_pes).with_unit_node_weights()
    }

    /// The mapping of process `i` to PE `i`.
    pub fn identity(num_processes: usize) -> Self {
        Self { pe_of: (0..num_processes as PeId).collect() }
    }

    /// The mapping of process `i` to PE `pe_of[i]`; O(n). Fails at the first process whose PE does not exist
    /// or is taken.
    pub fn from_pes(pe_of: Vec<PeId>) -> Result<Self, MappingError> {
        let count = pe_of.len();
        let mut taken_by = vec![usize::MAX; count];
        for (process, &pe) in pe_of.iter().enumerate() {
            let pe = u64::from(pe);
            match taken_by.get_mut(pe as usize) {
                None => return Err(MappingError::PeOutOfRange { process, pe, count }),
                Some(earlier) if *earlier != usize::MAX => {
                    return Err(MappingError::PeTaken { process, pe, earlier: *earlier });
                }
                Some(free) => *free = process,
            }
        }
        Ok(Self { pe_of })
    }

    /// The mapping of process `process_on[i]` to PE `i`, or nothing unless each process is on one PE; O(n).
    ///
    /// ```
    /// use viem::Mapping;
    ///
    /// let mapping = Mapping::from_processes(&[1, 2, 0]).expect("each process once");
    /// assert_eq!(mapping.pes(), [2, 0, 1]);
    /// ```
    pub fn from_processes(process_on: &[NodeId]) -> Option<Self> {
        Self::from_pes(process_on.to_vec()).ok()?.process_on_each_pe().map(Self::from_permutation)
    }

    /// The mapping to a machine with process `i` on PE `pe_of[i]`; O(n + PEs). Fails at the first process
    /// whose PE does not exist or is full.
    pub fn on(machine: &dyn Machine, pe_of: Vec<PeId>) -> Result<Self, MappingError> {
        let count = machine.num_pes();
        let mut taken_by: Vec<(u32, usize)> = vec![(0, 0); count];
        for (process, &pe) in pe_of.iter().enumerate() {
            let Some((taken, earlier)) = taken_by.get_mut(pe as usize) else {
                return Err(MappingError::PeOutOfRange { process, pe: pe.into(), count });
            };
            match machine.capacity(pe) {
                1 if *taken == 1 => {
                    return Err(MappingError::PeTaken { process, pe: pe.into(), earlier: *earlier });
                }
                capacity if *taken >= capacity => {
                    return Err(MappingError::PeFull { process, pe: pe.into(), capacity });
                }
                _ => (*taken, *earlier) = (*taken + 1, process),
            }
        }
        Ok(Self { pe_of })
    }

    /// The identity on a machine: processes fill the PEs in order, each up to its capacity. `None` if there
    /// are more processes than the total capacity. O(n + PEs).
    pub fn in_order(machine: &dyn Machine, num_processes: usize) -> Option<Self> {
        let pes = 0..machine.num_pes() as PeId;
        let places = pes.flat_map(|pe| std::iter::repeat_n(pe, machine.capacity(pe) as usize));
        let pe_of: Vec<PeId> = places.take(num_processes).collect();
        (pe_of.len() == num_processes).then_some(Self { pe_of })
    }

    /// A many-to-one mapping with any number of vertices per PE. Fails at the first vertex whose PE does not
    /// exist.
    pub fn many(num_pes: usize, pe_of: Vec<PeId>) -> Result<Self, MappingError> {
        match pe_of.iter().position(|&pe| pe as usize >= num_pes) {
            Some(process) => {
                Err(MappingError::PeOutOfRange { process, pe: pe_of[process].into(), count: num_pes })
            }
            None => Ok(Self { pe_of }),
        }
    }

    /// A mapping to PEs that are known to exist and to have free capacity.
    pub fn from_places(pe_of: Vec<PeId>) -> Self {
        Self { pe_of }
    }

    /// A mapping from a known permutation.
    pub(crate) fn from_permutation(pe_of: Vec<PeId>) -> Self {
        debug_assert!(Self::from_pes(pe_of.clone()).is_ok());
        Self { pe_of }
    }

    /// Number of processes.
    pub fn num_processes(&self) -> usize {
        self.pe_of.len()
    }

    /// The PE of a process.
    #[inline]
    pub fn pe_of(&self, process: NodeId) -> PeId {
        self.pe_of[process as usize]
    }

    /// The PE of each process: entry `i` is that of process `i`.
    pub fn pes(&self) -> &[PeId] {
        &self.pe_of
    }

    /// The PE of each process, by value.
    pub fn into_pes(self) -> Vec<PeId> {
        self.pe_of
    }

    /// The same mapping after process `order[i]` is renamed to `i`; O(n).
    pub(crate) fn renumbered(&self, order: &[NodeId]) -> Self {
        Self::from_permutation(order.iter().map(|&process| self.pe_of(process)).collect())
    }

    /// Undoes [`renumbered`](Self::renumbered); O(n).
    pub(crate) fn numbered_back(&self, order: &[NodeId]) -> Self {
        let mut pe_of = vec![0; order.len()];
        for (&process, &pe) in order.iter().zip(&self.pe_of) {
            pe_of[process as usize] = pe;
        }
        Self::from_permutation(pe_of)
    }

    /// The process on each PE, the inverse of [`pes`](Self::pes): entry `i` is the process on PE `i`. Nothing
    /// unless each of the first n PEs has one process, as with a mapping [from PEs](Self::from_pes); O(n).
    pub fn process_on_each_pe(&self) -> Option<Vec<NodeId>> {
        Self::from_pes(self.pe_of.clone()).is_ok().then(|| process_on_each(&self.pe_of))
    }
}

/// The process on each place of a permutation; O(n).
pub(crate) fn process_on_each(place_of: &[PeId]) -> Vec<NodeId> {
    let mut process_on = vec![0; place_of.len()];
    for (process, &place) in place_of.iter().enumerate() {
        process_on[place as usize] = process as NodeId;
    }
    process_on
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_permutations_are_mappings() {
        assert_eq!(Mapping::from_pes(vec![1, 2, 0]).unwrap().process_on_each_pe(), Some(vec![2, 0, 1]));
        assert_eq!(
            Mapping::from_pes(vec![0, 3, 1]),
            Err(MappingError::PeOutOfRange { process: 1, pe: 3, count: 3 })
        );
        assert_eq!(
            Mapping::from_pes(vec![0, 1, 0]),
            Err(MappingError::PeTaken { process: 2, pe: 0, earlier: 0 })
        );
        assert_eq!(Mapping::many(3, vec![1, 1]).unwrap().process_on_each_pe(), None);
        assert_eq!(Mapping::many(3, vec![0, 2]).unwrap().process_on_each_pe(), None);
        assert_eq!(Mapping::identity(2).pes(), [0, 1]);
        assert_eq!(Mapping::from_pes(vec![]).unwrap().num_processes(), 0);
    }
}
