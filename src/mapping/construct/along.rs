//! Mappings along an order: consecutive ranges of processes, or of graph parts, go to consecutive parts of
//! the machine.

use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::types::{NodeId, PeId};
use crate::machine::Places;
use crate::machine::division::divide;
use crate::machine::{Machine, MachineError, distances_of};
use crate::mapping::problem::{ProblemError, check_room};
use crate::mapping::{Mapping, MappingError};
use crate::partition::{
    FixedError, FixedVertices, PartitionAlgorithm, PartitionAlgorithmError, PartitionInput, Targets,
    TargetsError,
};

/// Why there is no mapping along an order.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum AlongError {
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(
        "entry {entry} of the order is process {process}, but it must have each of the processes 0..{count} once"
    )]
    Order { entry: usize, process: NodeId, count: usize },
    #[error(transparent)]
    Mapping(#[from] MappingError),
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Fixed(#[from] FixedError),
    #[error(transparent)]
    Algorithm(#[from] PartitionAlgorithmError),
}

impl HasKind for AlongError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Problem(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Mapping(error) => error.kind(),
            Self::Algorithm(error) => error.kind(),
            Self::Fixed(error) => error.kind(),
            Self::Targets(..) | Self::Order { .. } => ErrorKind::BadData,
        }
    }
}

/// Maps the i-th process of an order to the i-th place in the order of the machine's parts; O(n) plus the
/// time the machine needs.
///
/// ```
/// use viem::Hierarchy;
/// use viem::mapping::construct::along;
///
/// let machine = Hierarchy::parse("2:2", "1:10")?;
/// assert_eq!(along(&machine, &[3, 2, 0, 1])?.pes(), [2, 3, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn along(machine: &dyn Machine, order: &[NodeId]) -> Result<Mapping, AlongError> {
    check_room(order.len(), machine)?;
    let places = Places::of(machine)?;
    let count = order.len();
    let mut pe_of = vec![None; count];
    for (entry, (&process, &pe)) in order.iter().zip(places.pe_of()).enumerate() {
        match pe_of.get_mut(process as usize) {
            Some(free @ None) => *free = Some(pe),
            _ => return Err(AlongError::Order { entry, process, count }),
        }
    }
    Ok(Mapping::on(machine, pe_of.into_iter().flatten().collect())?)
}

/// Many-to-one: an algorithm partitions the graph, and block i goes to the i-th PE in the order of the
/// machine's parts. Block weights are proportional to the capacities of the PEs, as closely as the algorithm
/// achieves it. Runs on the threads of the current rayon pool; the result does not depend on them.
///
/// ```
/// use viem::Hierarchy;
/// use viem::mapping::construct::along_many;
/// use viem::graph::generate;
/// use viem::partition::{PartitionAlgorithm, PartitionInput};
///
/// let (path, machine) = (generate::grid(8, 1), Hierarchy::parse("2:2", "1:10")?);
/// let mapping = along_many(&PartitionInput::new(&path), PartitionAlgorithm::Linear, &machine)?;
/// assert_eq!(mapping.pes(), [0, 0, 1, 1, 2, 2, 3, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn along_many(
    input: &PartitionInput<'_>,
    algorithm: PartitionAlgorithm,
    machine: &dyn Machine,
) -> Result<Mapping, AlongError> {
    along_many_around(input, algorithm, machine, None)
}

/// As [`along_many`], with vertices that must be on given PEs: they are put there, and the parts are balanced
/// again.
pub fn along_many_around(
    input: &PartitionInput<'_>,
    algorithm: PartitionAlgorithm,
    machine: &dyn Machine,
    fixed: Option<&FixedVertices>,
) -> Result<Mapping, AlongError> {
    let parts = divide(machine, &distances_of(machine)?, input.observer);
    let order = parts.order();
    let capacities: Vec<u32> = order.iter().map(|&pe| machine.capacity(pe)).collect();
    // Algorithms aim at the exact shares, regardless of the bounds above them.
    let mut targets = Targets::proportional(input.graph, &capacities, 0.0)?;
    if let Some(fixed) = fixed {
        fixed.check(input.graph.num_nodes(), order.len())?;
        let mut block_of = vec![0; order.len()];
        (0..).zip(order).for_each(|(block, &pe)| block_of[pe as usize] = block);
        targets = targets.with_fixed(input.graph, fixed.renamed(&block_of))?;
    }
    let partition = algorithm.partition(input, &targets)?;
    let pe_of: Vec<PeId> = partition.blocks().iter().map(|&block| order[block as usize]).collect();
    Ok(Mapping::many(machine.num_pes(), pe_of)?)
}
