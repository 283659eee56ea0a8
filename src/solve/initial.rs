//! Initial mappings: given ones, and ranges of an order of the processes or vertices on the parts of the machine in order.

use super::error::SolveError;
use super::prepared::PreparedMachine;
use crate::graph::{Coordinates, CsrGraph};
use crate::ground::observer::Observer;
use crate::ground::types::PeId;
use crate::mapping::Mapping;
use crate::mapping::problem::check_room;
use crate::partition::{FixedVertices, PartitionAlgorithm, PartitionInput, Targets};

/// The beginning of the search, instead of a construction.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Initial<'a> {
    /// A mapping. Where fixed processes are elsewhere, it is repaired.
    Mapping(&'a Mapping),
    /// The order of an algorithm that divides graphs. One-to-one, the i-th process of the order is on the i-th place of the machine in the order of
    /// its parts; with balanced loads, blocks in proportion to the capacities are on the PEs in that order.
    Along {
        /// The algorithm.
        algorithm: PartitionAlgorithm,
        /// A point for each process, where the algorithm needs them.
        coordinates: Option<&'a Coordinates>,
    },
}

/// The problem that an initial mapping is made for. It uses the threads of the current pool.
pub(super) struct Along<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a PreparedMachine<'a>,
    pub algorithm: PartitionAlgorithm,
    pub coordinates: Option<&'a Coordinates>,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

impl Along<'_> {
    fn input(&self) -> PartitionInput<'_> {
        let input = PartitionInput::new(self.graph).with_seed(self.seed);
        PartitionInput { coordinates: self.coordinates, observer: self.observer, ..input }
    }

    /// The processes of the order on the places in order; O(n) plus the time of algorithm and machine.
    pub fn one_to_one(&self) -> Result<Mapping, SolveError> {
        check_room(self.graph.num_nodes(), self.machine.machine())?;
        let order = self.algorithm.order(&self.input())?;
        let places = self.machine.places(self.observer)?;
        let mut pe_of = vec![0; order.len()];
        order.iter().zip(places.pe_of()).for_each(|(&process, &pe)| pe_of[process as usize] = pe);
        Ok(Mapping::from_places(pe_of))
    }

    /// The blocks of the algorithm on the PEs in order. Loads are as close to their shares as the algorithm achieves it, and fixed vertices are
    /// where they must be.
    pub fn balanced(&self, fixed: Option<&FixedVertices>) -> Result<Mapping, SolveError> {
        let (graph, machine) = (self.graph, self.machine.machine());
        let parts = self.machine.parts(self.observer)?;
        let order = parts.order();
        let capacities: Vec<u32> = order.iter().map(|&pe| machine.capacity(pe)).collect();
        // Algorithms aim at the exact shares, regardless of the bounds above them.
        let mut targets = Targets::proportional(graph, &capacities, 0.0)?;
        if let Some(fixed) = fixed {
            fixed.check(graph.num_nodes(), order.len())?;
            let mut block_of = vec![0; order.len()];
            (0..).zip(order).for_each(|(block, &pe)| block_of[pe as usize] = block);
            targets = targets.with_fixed(graph, fixed.renamed(&block_of))?;
        }
        let partition = self.algorithm.partition(&self.input(), &targets)?;
        let pe_of: Vec<PeId> = partition.blocks().iter().map(|&block| order[block as usize]).collect();
        Ok(Mapping::many(machine.num_pes(), pe_of)?)
    }
}
