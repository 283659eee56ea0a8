//! Initial mappings: given ones, and ranges of an order of the processes or vertices on the parts of the machine in order.

use super::balance::LoadLimits;
use super::error::SolveError;
use super::prepared::PreparedMachine;
use crate::base::observer::Observer;
use crate::base::types::{BlockId, PeId};
use crate::graph::{Coordinates, CsrGraph};
use crate::mapping::Mapping;
use crate::mapping::problem::check_room;
use crate::partition::{
    FixedVertices, Grouping, OrderIndex, PartitionAlgorithm, PartitionAlgorithmError, PartitionInput,
    PartitionPreset, Targets,
};

/// The beginning of the search, instead of a construction.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Initial<'a> {
    /// A mapping. Where fixed processes are elsewhere, it is repaired.
    Mapping(&'a Mapping),
    /// An order. One-to-one, the i-th process of the order is on the i-th place of the machine in the order of its parts; with balanced loads,
    /// blocks in proportion to the capacities are on the PEs in that order. If the cut is minimised, these blocks are the result.
    Along(Order<'a>),
}

/// An order of the processes or vertices, of which blocks are ranges.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Order<'a> {
    /// The order of an algorithm that divides graphs, or the blocks that it makes.
    Algorithm {
        /// The algorithm.
        algorithm: PartitionAlgorithm,
        /// A point for each process, where the algorithm needs them.
        coordinates: Option<&'a Coordinates>,
        /// The grouping of unequal blocks, where the algorithm is recursive.
        grouping: Grouping,
    },
    /// An order that is known. Its ranges are exact: neither fixed vertices nor least loads count.
    Index(&'a OrderIndex),
}

impl From<PartitionAlgorithm> for Order<'_> {
    /// The order of an algorithm that needs no coordinates, with simple grouping.
    fn from(algorithm: PartitionAlgorithm) -> Self {
        Self::Algorithm { algorithm, coordinates: None, grouping: Grouping::default() }
    }
}

/// The problem that is solved along an order. It uses the threads of the current pool.
#[derive(Clone, Copy)]
pub(super) struct Along<'a> {
    pub graph: &'a CsrGraph,
    pub machine: &'a PreparedMachine<'a>,
    pub order: Order<'a>,
    pub preset: PartitionPreset,
    pub seed: u64,
    pub observer: &'a dyn Observer,
}

impl<'a> Along<'a> {
    fn input(&self, coordinates: Option<&'a Coordinates>, grouping: Grouping) -> PartitionInput<'a> {
        let &Self { graph, preset, seed, observer, .. } = self;
        PartitionInput { graph, coordinates, preset, grouping, seed, observer }
    }

    /// The index of an order with a position for each vertex of the graph.
    fn checked(&self, index: &'a OrderIndex) -> Result<&'a OrderIndex, PartitionAlgorithmError> {
        let (found, expected) = (index.positions().len(), self.graph.num_nodes());
        if found == expected {
            Ok(index)
        } else {
            Err(PartitionAlgorithmError::Positions { found, expected })
        }
    }

    /// The processes of the order on the places in order; O(n) plus the time of algorithm and machine.
    pub fn one_to_one(&self) -> Result<Mapping, SolveError> {
        check_room(self.graph.num_nodes(), self.machine.machine())?;
        let made;
        let index = match self.order {
            Order::Algorithm { algorithm, coordinates, grouping } => {
                let order = algorithm.order(&self.input(coordinates, grouping))?;
                made = OrderIndex::of_order(&order).expect("algorithms order all vertices");
                &made
            }
            Order::Index(index) => self.checked(index)?,
        };
        let (places, positions) = (self.machine.places(self.observer)?, index.positions().iter());
        Ok(Mapping::from_places(positions.map(|&place| places.pe_of()[place as usize]).collect()))
    }

    /// The block of each vertex. Algorithms put fixed vertices where they must be.
    pub fn blocks(&self, targets: &Targets) -> Result<Vec<BlockId>, PartitionAlgorithmError> {
        match self.order {
            Order::Algorithm { algorithm, coordinates, grouping } => {
                let partition = algorithm.partition(&self.input(coordinates, grouping), targets)?;
                Ok(partition.into_blocks())
            }
            Order::Index(index) => Ok(self.checked(index)?.cut(self.graph.node_weights(), targets)),
        }
    }

    /// The blocks of the algorithm on the PEs in order. Loads are as close to their shares as the algorithm achieves it, and fixed vertices are
    /// where they must be.
    pub fn balanced(
        &self,
        limits: LoadLimits<'_>,
        fixed: Option<&FixedVertices>,
    ) -> Result<Mapping, SolveError> {
        let (graph, machine) = (self.graph, self.machine.machine());
        let parts = self.machine.parts(self.observer)?;
        let order = parts.order();
        // Algorithms aim at the exact shares, regardless of the bounds above them.
        let mut targets = limits.shares(graph, machine, order)?;
        if let Some(fixed) = fixed {
            fixed.check(graph.num_nodes(), order.len())?;
            let mut block_of = vec![0; order.len()];
            (0..).zip(order).for_each(|(block, &pe)| block_of[pe as usize] = block);
            targets = targets.with_fixed(graph, fixed.renamed(&block_of))?;
        }
        let blocks = self.blocks(&targets)?;
        let pe_of: Vec<PeId> = blocks.iter().map(|&block| order[block as usize]).collect();
        Ok(Mapping::many(machine.num_pes(), pe_of)?)
    }
}
