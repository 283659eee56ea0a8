//! The sparse quadratic assignment problem: a communication graph, and a machine with as many PEs as
//! processes.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::{DistanceOracle, Distances, Machine, Parts};
use crate::mapping::annealing::FIXED;
use crate::partition::{FixedError, FixedVertices};

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
    fixed: Option<&'a FixedVertices>,
}

/// The reason why a graph cannot be mapped to a machine.
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
    #[error(
        "the load of a link can be as large as {total_arc_weight} (edge weights, both directions) times {cycles} \
         (cycles of the slowest link), which exceeds {}; divide the edge weights or the cycles of all links by a common factor",
        Cost::MAX
    )]
    LoadOverflow { total_arc_weight: Weight, cycles: Cost },
}

impl HasKind for ProblemError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::SizesDiffer { .. }
            | Self::TooManyProcesses { .. }
            | Self::MappingDiffers { .. }
            | Self::PeOutOfRange { .. }
            | Self::CostOverflow { .. }
            | Self::LoadOverflow { .. } => ErrorKind::BadData,
        }
    }
}

/// Checks that a machine has enough capacity for this number of processes. O(PEs).
pub fn check_room(processes: usize, machine: &dyn Machine) -> Result<(), ProblemError> {
    let room = machine.room();
    if processes as u64 > room { Err(ProblemError::TooManyProcesses { processes, room }) } else { Ok(()) }
}

/// Checks that each process has a PE, process i `pe_of[i]`, and that there are these PEs.
pub fn check_pes(graph: &CsrGraph, num_pes: usize, pe_of: &[PeId]) -> Result<(), ProblemError> {
    let (found, expected, count) = (pe_of.len(), graph.num_nodes(), num_pes);
    if found != expected {
        return Err(ProblemError::MappingDiffers { found, expected });
    }
    match pe_of.iter().position(|&pe| pe as usize >= count) {
        Some(process) => Err(ProblemError::PeOutOfRange { process, pe: pe_of[process], count }),
        None => Ok(()),
    }
}

/// Checks that no J of the graph can exceed [`Cost`] with distances up to this one.
pub fn check_cost(graph: &CsrGraph, max_distance: Distance) -> Result<(), ProblemError> {
    let total_arc_weight = graph.total_arc_weight();
    match total_arc_weight.checked_mul(max_distance) {
        Some(_) => Ok(()),
        None => Err(ProblemError::CostOverflow { total_arc_weight, max_distance }),
    }
}

/// Checks that no load of a link can exceed [`Cost`], if a message of weight 1 loads it by up to `cycles`. Each message passes a link at most once.
pub fn check_load(graph: &CsrGraph, cycles: Cost) -> Result<(), ProblemError> {
    let total_arc_weight = graph.total_arc_weight();
    match total_arc_weight.checked_mul(cycles) {
        Some(_) => Ok(()),
        None => Err(ProblemError::LoadOverflow { total_arc_weight, cycles }),
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
        Ok(Self { graph, oracle, parts: None, fixed: None })
    }

    /// The same problem with known machine parts, which cover the PEs in numerical order.
    pub fn with_parts(self, parts: &'a Parts) -> Self {
        Self { parts: Some(parts), ..self }
    }

    /// The same problem with processes that must be on given PEs. Constructions, searches and improvements
    /// leave them there; a search expects that its start does, too. Fails if the list is for another number of
    /// processes or PEs, or if two processes are fixed on one PE.
    ///
    /// ```
    /// use viem::graph::generate;
    /// use viem::machine::{Grid, Machine as _};
    /// use viem::mapping::Mapping;
    /// use viem::mapping::problem::Problem;
    /// use viem::base::observer::Seeded;
    /// use viem::mapping::search::{SearchConfig, local_search};
    /// use viem::partition::FixedVertices;
    ///
    /// let (graph, machine) = (generate::grid(4, 4), Grid::mesh(&[4, 4])?);
    /// let distances = machine.distances()?;
    /// let fixed = FixedVertices::new(&[Some(0), None].repeat(8), 16);
    /// assert!(Problem::new(&graph, &distances)?.with_fixed(&fixed?).is_err());
    /// let mut fixed = FixedVertices::none(16, 16);
    /// fixed.fix(5, 5)?;
    /// let problem = Problem::new(&graph, &distances)?.with_fixed(&fixed)?;
    /// let outcome = local_search(&problem, &Mapping::identity(16), &SearchConfig::default(), Seeded::new(0));
    /// assert_eq!(outcome.mapping.pe_of(5), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_fixed(self, fixed: &'a FixedVertices) -> Result<Self, FixedError> {
        fixed.check(self.size(), self.size())?;
        fixed.check_room(|_| 1)?;
        Ok(self.with_known_fixed(Some(fixed)))
    }

    /// The same with processes that are known to fit.
    pub(crate) fn with_known_fixed(self, fixed: Option<&'a FixedVertices>) -> Self {
        Self { fixed: fixed.filter(|fixed| !fixed.is_empty()), ..self }
    }

    /// The same problem for another graph of the same size and total weight, such as a renumbered one, and its
    /// fixed processes.
    pub(crate) fn with_graph<'b>(
        &self,
        graph: &'b CsrGraph,
        fixed: Option<&'b FixedVertices>,
    ) -> Problem<'b, O>
    where
        'a: 'b,
    {
        debug_assert_eq!(graph.total_arc_weight(), self.graph.total_arc_weight());
        Problem { graph, oracle: self.oracle, parts: self.parts, fixed }
    }

    /// The fixed processes after process `order[i]` is renamed to `i`; O(n).
    pub(crate) fn renumbered_fixed(&self, order: &[NodeId]) -> Option<FixedVertices> {
        self.fixed.map(|fixed| fixed.among(order.iter().copied(), self.size(), |pe| pe))
    }

    /// The same problem with the same distances in another representation.
    pub(crate) fn with_oracle<'b, P>(&self, oracle: &'b P) -> Problem<'b, P>
    where
        'a: 'b,
    {
        Problem { graph: self.graph, oracle, parts: self.parts, fixed: self.fixed }
    }

    /// The parts of the machine, if they are known.
    pub fn parts(&self) -> Option<&'a Parts> {
        self.parts
    }

    /// The processes that must be on given PEs, if there are any.
    #[inline]
    pub fn fixed(&self) -> Option<&'a FixedVertices> {
        self.fixed
    }

    /// Returns whether a process must stay on its PE.
    #[inline]
    pub fn is_fixed(&self, process: NodeId) -> bool {
        self.fixed.is_some_and(|fixed| fixed.of(process).is_some())
    }

    /// The kinds of places for annealing: those of fixed processes are [`FIXED`]. Empty if there are none.
    pub(crate) fn kinds_of_places(&self) -> Vec<u32> {
        let Some(fixed) = self.fixed else { return Vec::new() };
        let mut kinds = vec![0; self.size()];
        fixed.iter().for_each(|(_, place)| kinds[place as usize] = FIXED);
        kinds
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
