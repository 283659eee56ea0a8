//! The reasons for which a request is refused, or has no solution.

use super::groups::GroupError;
use crate::base::error::{ErrorKind, HasKind};
use crate::base::settings::ConfigError;
use crate::base::text::counted;
use crate::base::threads::ThreadsError;
use crate::base::types::Weight;
use crate::graph::VertexWeightsError;
use crate::machine::MachineError;
use crate::mapping::MappingError;
use crate::mapping::construct::ConstructionError;
use crate::mapping::objective::ScoreError;
use crate::mapping::problem::ProblemError;
use crate::partition::{FixedError, PartitionAlgorithmError, RemapError, TargetsError};

/// The reason for which a request has no solution.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum SolveError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Problem(#[from] ProblemError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(transparent)]
    Construction(#[from] ConstructionError),
    #[error(transparent)]
    Algorithm(#[from] PartitionAlgorithmError),
    #[error(transparent)]
    Targets(#[from] TargetsError),
    #[error(transparent)]
    Weights(#[from] VertexWeightsError),
    #[error(transparent)]
    Remap(#[from] RemapError),
    #[error("the start mapping has {found} processes, the graph {expected}")]
    StartSize { found: usize, expected: usize },
    #[error("the start mapping: {0}")]
    Start(#[from] MappingError),
    #[error(transparent)]
    Fixed(#[from] FixedError),
    #[error(transparent)]
    Groups(#[from] GroupError),
    /// Boxed, as it is the largest.
    #[error(transparent)]
    Secondary(Box<ScoreError>),
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

impl From<ScoreError> for SolveError {
    fn from(error: ScoreError) -> Self {
        Self::Secondary(Box::new(error))
    }
}

impl HasKind for SolveError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Request(error) => error.kind(),
            Self::Config(error) => error.kind(),
            Self::Problem(error) => error.kind(),
            Self::Machine(error) => error.kind(),
            Self::Construction(error) => error.kind(),
            Self::Algorithm(error) => error.kind(),
            Self::Weights(error) => error.kind(),
            Self::Remap(error) => error.kind(),
            Self::Start(error) => error.kind(),
            Self::Fixed(error) => error.kind(),
            Self::Targets(error) => error.kind(),
            Self::Groups(error) => error.kind(),
            Self::Secondary(error) => error.kind(),
            Self::Threads(error) => error.kind(),
            Self::StartSize { .. } => ErrorKind::BadData,
        }
    }
}

/// The contradiction between two constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation
pub enum RequestError {
    #[error(
        "groups of processes share a node where each process has a place of its own, so loads cannot be balanced, too"
    )]
    GroupsAreBalanced,
    #[error(
        "a previous assignment is resumed where loads are balanced; a one-to-one mapping takes it as a start"
    )]
    PreviousIsOneToOne,
    #[error(
        "the cut is minimised where loads are balanced; each process of a one-to-one mapping is apart from the others"
    )]
    CutIsOneToOne,
    #[error(
        "a partition takes a previous assignment, with the weight of migration, and no start or initial mapping"
    )]
    CutHasStart,
    #[error("ranges of an order ignore fixed vertices; leave out the fixed vertices or the order")]
    RangesAreFixed,
    #[error(
        "ranges of an order that are the blocks ignore least loads; leave out the least load or the order"
    )]
    RangesHaveLeastLoads,
    #[error(
        "ranges of an order that are the blocks need not be connected; leave out the order, or this wish"
    )]
    RangesAreConnected,
    #[error("blocks are connected where loads are balanced; here each process has a place of its own")]
    ConnectedIsOneToOne,
    #[error("blocks are connected where vertices have one weight, not several")]
    SeveralAreConnected,
    #[error("a secondary objective would take connected blocks apart; leave one of them out")]
    ConnectedHasSecondary,
    #[error(
        "an initial mapping that is kept as it is need not be connected; search from it, or leave this wish out"
    )]
    ConnectedIsKept,
    #[error("a previous assignment is resumed without joining what lies apart; leave out one of them")]
    ConnectedHasPrevious,
    #[error("a secondary objective needs distances, which the cut leaves out")]
    CutHasSecondary,
    #[error(
        "a previous assignment is where the search begins, so there is no start or initial mapping beside it"
    )]
    PreviousHasStart,
    #[error(
        "a secondary objective would move what the previous assignment holds back; leave one of them out"
    )]
    PreviousHasSecondary,
    #[error(
        "groups are mapped before their processes, so these have no initial mapping; a start may be given"
    )]
    GroupsHaveInitial,
    #[error(
        "with balanced loads, the initial mapping is the start of the search, so there is no other start beside it"
    )]
    StartAndInitial,
    #[error(
        "the targets are those of {found}, the machine has {pes}",
        found = counted(found, "block", "blocks"),
        pes = counted(expected, "PE", "PEs")
    )]
    TargetsDiffer { found: usize, expected: usize },
    #[error(
        "there are {capacities}, the machine has {pes}",
        capacities = counted(found, "capacity", "capacities"),
        pes = counted(expected, "PE", "PEs")
    )]
    CapacitiesDiffer { found: usize, expected: usize },
    #[error("PE {pe} has capacity {capacity} for a weight, but none in the machine")]
    ClosedHasCapacity { pe: usize, capacity: u32 },
    #[error(
        "there are bounds of {found}, the machine has {nodes}",
        found = counted(found, "node", "nodes"),
        nodes = counted(expected, "node", "nodes")
    )]
    NodeBoundsDiffer { found: usize, expected: usize },
    #[error("the bound of node {node} is {bound}; bounds must not be negative")]
    NegativeNodeBound { node: usize, bound: Weight },
    #[error(
        "there are {limits} for {weights}; give one for all or one for each",
        limits = counted(found, "limit", "limits"),
        weights = counted(expected, "weight", "weights")
    )]
    LimitsDiffer { found: usize, expected: usize },
    #[error(
        "ranges of an order that are the blocks know one weight of the vertices, not several; leave out the order"
    )]
    RangesHaveSeveral,
    #[error("where each process has a place of its own within bounds, there is no secondary objective")]
    PlacesHaveSecondary,
    #[error("where each process has a place of its own within bounds, there are no least loads")]
    PlacesHaveLeastLoads,
    #[error("where vertices have several weights, there is no secondary objective")]
    SeveralHaveSecondary,
    #[error("the targets have fixed vertices; give these to the request instead")]
    TargetsHaveFixed,
}

impl HasKind for RequestError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}
