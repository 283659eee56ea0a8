//! The sparse quadratic assignment problem: a communication graph, and a machine with as many PEs as
//! processes.

use crate::graph::CsrGraph;
use crate::ground::error::{ErrorKind, HasKind};
use crate::ground::types::{Cost, Distance, PeId, Weight};
use crate::machine::{DistanceOracle, Distances, Machine, Parts};

/// A communication graph and the machine it is mapped to.
///
/// Constructing one proves that there are as many processes as PEs, and that the greatest possible J (the sum
/// of all arc weights times the greatest distance) fits [`Cost`]. Every J and every change of J is then a sum
/// of parts of that bound and needs no overflow check.
///
/// The distances are of any kind. Loops that read many distances use one of a single kind `O`
/// (`with_oracle`).
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a, O = Distances> {
    graph: &'a CsrGraph,
    oracle: &'a O,
    parts: Option<&'a Parts>,
}

/// Why a graph cannot be mapped to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ProblemError {
    #[error(
        "the graph has {processes} vertices but the machine has {pes} processing elements; \
         change the hierarchy so that the product of its numbers is {processes}"
    )]
    SizesDiffer { processes: usize, pes: usize },
    #[error(
        "the graph has {processes} vertices, but the machine has room for {room}; \
         use a larger machine, or a graph of at most {room} vertices"
    )]
    TooManyProcesses { processes: usize, room: u64 },
    #[error("the mapping has {found} processes, the graph {expected}")]
    MappingDiffers { found: usize, expected: usize },
    #[error("process {process} is on PE {pe}, but the PEs are 0..{count}")]
    PeOutOfRange { process: usize, pe: PeId, count: usize },
    #[error(
        "J can be as large as {total_arc_weight} (edge weights, both directions) times {max_distance} \
         (greatest distance), which exceeds {}; divide the edge weights or the distances by a common factor",
        Cost::MAX
    )]
    CostOverflow { total_arc_weight: Weight, max_distance: Distance },
}

impl HasKind for ProblemError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::SizesDiffer { .. }
            | Self::TooManyProcesses { .. }
            | Self::MappingDiffers { .. }
            | Self::PeOutOfRange { .. }
            | Self::CostOverflow { .. } => ErrorKind::BadData,
        }
    }
}

/// Checks that a machine has enough capacity for this number of processes. O(PEs).
pub fn check_room(processes: usize, machine: &dyn Machine) -> Result<(), ProblemError> {
    let room = machine.room();
    if processes as u64 > room { Err(ProblemError::TooManyProcesses { processes, room }) } else { Ok(()) }
}

/// Checks that no J of the graph can exceed [`Cost`] with distances up to this one.
pub fn check_cost(graph: &CsrGraph, max_distance: Distance) -> Result<(), ProblemError> {
    let total_arc_weight = graph.total_arc_weight();
    match total_arc_weight.checked_mul(max_distance) {
        Some(_) => Ok(()),
        None => Err(ProblemError::CostOverflow { total_arc_weight, max_distance }),
    }
}

impl<'a, O: DistanceOracle> Problem<'a, O> {
    /// The problem of mapping `graph` to the machine with the distances `oracle`.
    pub fn new(graph: &'a CsrGraph, oracle: &'a O) -> Result<Self, ProblemError> {
        let (processes, pes) = (graph.num_nodes(), oracle.num_pes());
        if processes != pes {
            return Err(ProblemError::SizesDiffer { processes, pes });
        }
        check_cost(graph, oracle.max_distance())?;
        Ok(Self { graph, oracle, parts: None })
    }

    /// The same problem with known machine parts, which cover the PEs in numerical order.
    pub fn with_parts(self, parts: &'a Parts) -> Self {
        Self { parts: Some(parts), ..self }
    }

    /// The same problem for another graph of the same size and total weight, such as a renumbered one.
    pub(crate) fn with_graph<'b>(&self, graph: &'b CsrGraph) -> Problem<'b, O>
    where
        'a: 'b,
    {
        debug_assert_eq!(graph.total_arc_weight(), self.graph.total_arc_weight());
        Problem { graph, oracle: self.oracle, parts: self.parts }
    }

    /// The same problem with the same distances in another representation.
    pub(crate) fn with_oracle<'b, P>(&self, oracle: &'b P) -> Problem<'b, P>
    where
        'a: 'b,
    {
        Problem { graph: self.graph, oracle, parts: self.parts }
    }

    /// The parts of the machine, if they are known.
    pub fn parts(&self) -> Option<&'a Parts> {
        self.parts
    }

    /// The communication graph.
    #[inline]
    pub fn graph(&self) -> &'a CsrGraph {
        self.graph
    }

    /// The distances of the machine.
    #[inline]
    pub fn oracle(&self) -> &'a O {
        self.oracle
    }

    /// Number of processes, which equals the number of PEs.
    #[inline]
    pub fn size(&self) -> usize {
        self.graph.num_nodes()
    }
}
