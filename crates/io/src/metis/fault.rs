//! Faults in graph files, with their place and their correction.

use std::fmt;
use std::ops::ControlFlow;

use crate::reading::Reading;
use viem::base::number::{self, NumberFault};
use viem::base::types::Weight;

/// A fault of a graph file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// Line, from 1.
    pub line: u64,
    /// Column in bytes, from 1.
    pub column: u64,
    /// The offending text, shortened if it is long; empty where something is missing.
    pub text: String,
    /// The fault.
    pub kind: FaultKind,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, text, kind } = self;
        write!(f, "line {line}, column {column}: ")?;
        if !text.is_empty() {
            write!(f, "`{text}`: ")?;
        }
        write!(f, "{kind}")
    }
}

/// The meaning of a number in a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Role {
    NumNodes,
    NumEdges,
    Format,
    NumConstraints,
    NodeSize,
    NodeWeight,
    Neighbour,
    EdgeWeight,
}

impl Role {
    /// The least and the greatest number that is allowed there, whatever the graph.
    fn range(self) -> (u64, u64) {
        match self {
            Self::NumNodes => (0, u64::from(u32::MAX)),
            Self::NumEdges | Self::NumConstraints => (0, i64::MAX as u64),
            Self::Format => (0, 111),
            Self::NodeSize | Self::NodeWeight => (0, Weight::MAX as u64),
            Self::Neighbour => (1, u64::from(u32::MAX)),
            Self::EdgeWeight => (1, Weight::MAX as u64),
        }
    }

    /// Returns whether a number is allowed there, whatever the graph.
    pub(super) fn admits(self, number: u64) -> bool {
        let (least, greatest) = self.range();
        (least..=greatest).contains(&number)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NumNodes => "the number of vertices",
            Self::NumEdges => "the number of edges",
            Self::Format => "the format",
            Self::NumConstraints => "the number of weights of each vertex",
            Self::NodeSize => "the size of a vertex",
            Self::NodeWeight => "the weight of a vertex",
            Self::Neighbour => "a neighbour",
            Self::EdgeWeight => "the weight of an edge",
        })
    }
}

/// A fault in a graph file. Vertices are counted from 1, as in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum FaultKind {
    /// The content is of another kind, named by what it looks like.
    OtherFormat {
        readings: Vec<Reading>,
    },
    /// Vertices are counted from 0 throughout the file.
    CountsFromZero,
    MissingHeader,
    /// The header ends before the numbers of vertices and edges.
    ShortHeader {
        missing: Role,
    },
    /// More than four numbers.
    LongHeader,
    BadFormat,
    ConstraintsWithoutWeights {
        constraints: u64,
    },
    Number {
        role: Role,
        fault: NumberFault,
    },
    /// A weight or size with decimal places.
    FractionalWeight {
        role: Role,
        text: String,
    },
    NeighbourZero {
        count: u64,
    },
    NeighbourOutOfRange {
        count: u64,
    },
    /// The line of a vertex ends before its sizes and weights.
    MissingNodeValue {
        role: Role,
        node: u64,
    },
    /// The line ends after a neighbour whose weight should follow.
    MissingEdgeWeight {
        node: u64,
        target: u64,
    },
    /// `leads`: the line starts with its own vertex.
    SelfLoop {
        node: u64,
        leads: bool,
    },
    ParallelEdge {
        node: u64,
        target: u64,
    },
    MissingBackwardArc {
        node: u64,
        target: u64,
        target_line: u64,
    },
    UnequalWeights {
        node: u64,
        target: u64,
        forward: Weight,
        backward: Weight,
        backward_line: u64,
    },
    TooFewLines {
        expected: u64,
        found: u64,
    },
    TooManyLines {
        expected: u64,
    },
    WrongEdgeCount {
        declared: u64,
        arcs: u64,
    },
    EdgeWeightOverflow,
    NodeWeightOverflow,
    TooManyArcs,
}

impl FaultKind {
    /// Returns whether [`repair`](super::repair()) can repair it without a guess.
    pub fn is_repairable(&self) -> bool {
        matches!(
            self,
            Self::CountsFromZero
                | Self::SelfLoop { .. }
                | Self::ParallelEdge { .. }
                | Self::MissingBackwardArc { .. }
                | Self::UnequalWeights { .. }
                | Self::WrongEdgeCount { .. }
                | Self::Number { role: Role::EdgeWeight, fault: NumberFault::Zero }
        )
    }
}

impl FaultKind {
    /// Returns the kinds of file that it may be instead of a graph.
    pub fn readings(&self) -> &[Reading] {
        match self {
            Self::OtherFormat { readings } => readings,
            _ => &[],
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherFormat { readings } => {
                let hint = readings.first().map_or("", |reading| reading.hint());
                write!(f, "this looks like {}, not like a METIS graph; {hint}", Reading::listed(readings))
            }
            Self::CountsFromZero => f.write_str(
                "the file counts its vertices from 0, but METIS graphs count from 1; add 1 to every neighbour",
            ),
            Self::MissingHeader => f.write_str(
                "the header is missing; the first line that is no comment must hold the number of vertices and the number of edges",
            ),
            Self::ShortHeader { missing } => write!(
                f,
                "the header ends before {missing}; it must be `vertices edges [format [weights per vertex]]`"
            ),
            Self::LongHeader => f.write_str(
                "the header goes on; it must be `vertices edges [format [weights per vertex]]`",
            ),
            Self::BadFormat => f.write_str(
                "this is not a format; it must be up to three digits 0 or 1: vertex sizes, vertex weights, edge weights",
            ),
            Self::ConstraintsWithoutWeights { constraints } => write!(
                f,
                "the header gives each vertex {constraints} weights, but its format says that vertices have none; the format must be 10, 11, 110 or 111"
            ),
            Self::Number { role, fault } => {
                let (least, greatest) = role.range();
                write!(f, "{role} {fault}; it must be a whole number from {least} to {greatest}")
            }
            Self::FractionalWeight { role, text } => {
                let (least, greatest) = role.range();
                let advice = number::scaling(text);
                write!(f, "{role} is not a whole number; it must be one from {least} to {greatest}{advice}")
            }
            Self::NeighbourZero { count } => write!(
                f,
                "vertices are counted from 1 to {count}; if the file counts from 0, add 1 to every neighbour"
            ),
            Self::NeighbourOutOfRange { count } => {
                write!(f, "there is no such vertex; the header says that they are 1 to {count}")
            }
            Self::MissingNodeValue { role, node } => write!(
                f,
                "the line of vertex {node} ends before {role}, which the header declares"
            ),
            Self::MissingEdgeWeight { node, target } => write!(
                f,
                "the line of vertex {node} ends after its neighbour {target}, whose edge weight must follow: the header declares edge weights"
            ),
            Self::SelfLoop { node, leads: false } => {
                write!(f, "vertex {node} has an edge to itself; remove it")
            }
            Self::SelfLoop { node, leads: true } => write!(
                f,
                "vertex {node} has an edge to itself; remove it (if every line starts with its own vertex, remove these numbers)"
            ),
            Self::ParallelEdge { node, target } => {
                write!(f, "vertex {node} lists its neighbour {target} more than once; list it once")
            }
            Self::MissingBackwardArc { node, target, target_line } => write!(
                f,
                "vertex {node} lists {target}, but {target} (line {target_line}) does not list {node}; each edge must be listed at both ends"
            ),
            Self::UnequalWeights { node, target, forward, backward, backward_line } => write!(
                f,
                "the edge of {node} and {target} weighs {forward} here and {backward} on line {backward_line}; both must be the same"
            ),
            Self::TooFewLines { expected, found } => write!(
                f,
                "the file ends after {found} of {expected} vertices; each vertex has a line, an empty one if it has no neighbour"
            ),
            Self::TooManyLines { expected } => write!(
                f,
                "the file goes on after the {expected} vertices that the header declares; correct the header or remove the lines"
            ),
            Self::WrongEdgeCount { declared, arcs } if declared == arcs => write!(
                f,
                "the header declares {declared} edges, and the lines list {arcs} neighbours in all: either the header counts each edge twice, or the file lists each edge once; {declared} edges are {} entries",
                u128::from(*declared) * 2
            ),
            Self::WrongEdgeCount { declared, arcs } if arcs % 2 == 1 => write!(
                f,
                "the header declares {declared} edges, but the lines list {arcs} neighbours in all, which is odd: {declared} edges are {} entries, one at each end",
                u128::from(*declared) * 2
            ),
            Self::WrongEdgeCount { declared, arcs } => write!(
                f,
                "the header declares {declared} edges, but the lines list {arcs} neighbours in all, which are {} edges",
                arcs / 2
            ),
            Self::EdgeWeightOverflow => write!(
                f,
                "up to here the edge weights sum to more than {}, both directions counted; scale them down",
                Weight::MAX
            ),
            Self::NodeWeightOverflow => write!(
                f,
                "up to here the vertex weights sum to more than {}; scale them down",
                Weight::MAX
            ),
            Self::TooManyArcs => write!(
                f,
                "up to here the vertices list more than {} neighbours; larger graphs are not supported",
                u32::MAX - 1
            ),
        }
    }
}

impl std::error::Error for FaultKind {}

/// Gathers faults: all are counted, the first ones kept.
pub(super) struct Faults {
    /// Faults that are kept.
    limit: usize,
    /// True if the search ends when the limit is reached.
    stops: bool,
    pub(super) kept: Vec<Fault>,
    pub(super) total: u64,
    /// Faults that cannot be repaired safely.
    pub(super) irreparable: u64,
}

impl Faults {
    /// Ends the search at the first fault.
    pub(super) fn first() -> Self {
        Self { stops: true, ..Self::all(1) }
    }

    /// Keeps `limit` faults and counts them all.
    pub(super) fn all(limit: usize) -> Self {
        Self { limit, stops: false, kept: Vec::new(), total: 0, irreparable: 0 }
    }

    /// An empty collection that keeps as many and ends as early.
    pub(super) fn alike(&self) -> Self {
        Self { limit: self.limit, stops: self.stops, kept: Vec::new(), total: 0, irreparable: 0 }
    }

    /// Adds faults found further on; says whether to go on.
    pub(super) fn append(&mut self, later: Self) -> ControlFlow<()> {
        self.total += later.total;
        self.irreparable += later.irreparable;
        let room = self.room();
        self.kept.extend(later.kept.into_iter().take(room));
        if self.stops && later.total > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Number of faults that would still be kept.
    pub(super) fn room(&self) -> usize {
        self.limit - self.kept.len()
    }

    /// Takes one fault for all that were found.
    pub(super) fn replace(&mut self, fault: Fault) {
        *self = self.alike();
        let Fault { line, column, text, kind } = fault;
        let _ = self.add(line, column, kind, || text);
    }

    /// Counts faults that can be repaired without keeping them.
    pub(super) fn count_repairable(&mut self, count: u64) {
        self.total += count;
    }

    /// Adds a fault; says whether to go on. `text` is made only if the fault is kept.
    #[cold]
    pub(super) fn add(
        &mut self,
        line: u64,
        column: u64,
        kind: FaultKind,
        text: impl FnOnce() -> String,
    ) -> ControlFlow<()> {
        self.total += 1;
        self.irreparable += u64::from(!kind.is_repairable());
        if self.kept.len() < self.limit {
            self.kept.push(Fault { line, column, text: text(), kind });
        }
        if self.stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
