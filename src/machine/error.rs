//! A fault in a machine.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::number;
use crate::base::text::counted;
use crate::base::types::{Distance, NodeId, PeId};

/// The reason why there is no such machine, or no distances of it. PEs and vertices are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MachineError {
    #[error("a machine has at least 1 processing element")]
    NoPes,
    #[error("the machine has more than {} processing elements", PeId::MAX)]
    TooManyPes,
    #[error(
        "the processing elements have room for {room} processes together, of which {} at most can be placed; give smaller capacities",
        PeId::MAX - 1
    )]
    TooMuchRoom { room: u64 },
    #[error("a dimension of {length} vertices is too long; a dimension of a grid has {most} at most")]
    DimensionTooLong { length: u32, most: u32 },
    #[error("distance {distance} is negative")]
    NegativeDistance { distance: Distance },
    #[error("distances exceed {}; divide them by a common factor", Distance::MAX)]
    DistanceOverflow,
    #[error("entry {index} of the list is processing element {pe}, but the machine has 0..{count}")]
    PeOutOfRange { index: usize, pe: PeId, count: usize },
    #[error("entry {index} of the list is processing element {pe}, which is already listed")]
    PeListedTwice { index: usize, pe: PeId },
    #[error(
        "all {routers} vertices of the network have weight 0, so all are routers; processing elements have a weight of 1 or more"
    )]
    RoutersOnly { routers: usize },
    #[error(
        "no path of the network leads from vertex {} to vertex {}, which is processing element {pe} \
         (vertices are counted from 1 as in graph files, processing elements from 0)",
        first + 1, vertex + 1
    )]
    Disconnected { first: NodeId, pe: usize, vertex: NodeId },
    #[error("the network has {own} vertices, but the graph with the times of its links has {found}")]
    VerticesDiffer { own: usize, found: usize },
    #[error("vertex {} has other links in the graph with the times of links than in the network (vertices are counted from 1)", vertex + 1)]
    LinksDiffer { vertex: NodeId },
    #[error("a square matrix of {num_pes} rows has as many columns, but {entries} entries are given")]
    NotSquare { num_pes: usize, entries: usize },
    #[error(
        "the distance from processing element {row} to {column} is {distance}; distances are not negative"
    )]
    NegativeEntry { row: usize, column: usize, distance: Distance },
    #[error("the distance of processing element {pe} to itself is {distance}; it must be 0")]
    NotZero { pe: usize, distance: Distance },
    #[error(
        "the distance from processing element {row} to {column} is {distance}, but {back} on the way back; \
         distances are the same both ways (all counted from 0)"
    )]
    Asymmetric { row: usize, column: usize, distance: Distance, back: Distance },
    #[error("{count} {what} take {bytes} bytes, which is more than can be allocated")]
    OutOfMemory { what: &'static str, count: usize, bytes: u128 },
    #[error(
        "a machine of {num_pes} processing elements needs {bytes} bytes of memory, and {available} are free"
    )]
    TooLarge { num_pes: usize, bytes: u128, available: u64 },
    #[error(
        "the network has {count} vertices between which distances are stored (routers with processing elements, and processing \
         elements of several links), but it may have {most}; give a grid as torus:16x16x18 or mesh:16x16x18 instead, of any size"
    )]
    TooManyAttachments { count: usize, most: usize },
    #[error("{found} capacities are given for {num_pes} processing elements")]
    CapacitiesDiffer { num_pes: usize, found: usize },
    #[error("processing element {pe} has capacity 0; it is at least 1")]
    NoCapacity { pe: usize },
    #[error("the parts are a division of {found} processing elements, but the machine has {num_pes}")]
    PartsDiffer { num_pes: usize, found: usize },
    #[error("the machine has {num_pes} processing elements, but distances of {found}")]
    DistancesDiffer { num_pes: usize, found: usize },
    #[error("processing elements {first} and {second} have the same digits at all levels of the tree")]
    SameDigits { first: usize, second: usize },
    #[error(
        "the tree is too uneven: with all groups of a level as large as its largest, it would have more than 2^64 processing elements"
    )]
    TooUneven,
    #[error(transparent)]
    Tree(#[from] HierarchyError),
    #[error(transparent)]
    Stored(#[from] StoredDistancesError),
}

impl HasKind for MachineError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoPes
            | Self::TooManyPes
            | Self::TooMuchRoom { .. }
            | Self::DimensionTooLong { .. }
            | Self::NegativeDistance { .. }
            | Self::DistanceOverflow
            | Self::PeOutOfRange { .. }
            | Self::PeListedTwice { .. }
            | Self::RoutersOnly { .. }
            | Self::Disconnected { .. }
            | Self::VerticesDiffer { .. }
            | Self::LinksDiffer { .. }
            | Self::NotSquare { .. }
            | Self::NegativeEntry { .. }
            | Self::NotZero { .. }
            | Self::Asymmetric { .. }
            | Self::TooManyAttachments { .. }
            | Self::CapacitiesDiffer { .. }
            | Self::NoCapacity { .. }
            | Self::PartsDiffer { .. }
            | Self::DistancesDiffer { .. }
            | Self::SameDigits { .. }
            | Self::TooUneven
            | Self::Tree(..) => ErrorKind::BadData,
            Self::OutOfMemory { .. } | Self::TooLarge { .. } => ErrorKind::NoResources,
            Self::Stored(error) => error.kind(),
        }
    }
}

/// The reason why a hierarchy or its distances were refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum HierarchyError {
    #[error(
        "{what} `{text}` is empty; give numbers separated by colons, innermost level first, such as {example}"
    )]
    Empty { what: &'static str, text: String, example: &'static str },
    #[error(
        "{what} `{text}`: `{token}` at column {column} is not a whole number from {least} to {greatest}{}; \
         give numbers separated by colons, innermost level first, such as {example}",
        number::scaling(token)
    )]
    BadNumber {
        what: &'static str,
        text: String,
        token: String,
        column: usize,
        least: u64,
        greatest: u64,
        example: &'static str,
    },
    #[error(
        "the hierarchy has {groups}, but {given}; give one distance per level",
        groups = counted(levels, "level", "levels"),
        given = counted(distances, "distance", "distances")
    )]
    LevelsDiffer { levels: usize, distances: usize },
    #[error(
        "rails have at least 2 levels (GPUs of a node, nodes of a pod) and one distance more than levels (of a node, of a rail in \
         a pod, of a pod, and so on), but these have {groups} and {given}",
        groups = counted(levels, "level", "levels"),
        given = counted(distances, "distance", "distances")
    )]
    Rails { levels: usize, distances: usize },
    #[error("a group of a hierarchy has at least 1 member, but level {level} has 0")]
    ZeroArity { level: usize },
    #[error("distance {distance} of level {level} is negative")]
    NegativeDistance { level: usize, distance: Distance },
    #[error("the hierarchy has more than {} processing elements", PeId::MAX)]
    TooManyPes,
}

impl HasKind for HierarchyError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Empty { .. }
            | Self::BadNumber { .. }
            | Self::LevelsDiffer { .. }
            | Self::Rails { .. }
            | Self::ZeroArity { .. }
            | Self::NegativeDistance { .. }
            | Self::TooManyPes => ErrorKind::Usage,
        }
    }
}

/// The reason why a matrix of distances cannot be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum StoredDistancesError {
    #[error(
        "a stored distance matrix of {num_pes} processing elements needs {needed} bytes, \
         and {available} are free; use hierarchyonline, which stores none"
    )]
    OutOfMemory { num_pes: usize, needed: u128, available: u64 },
}

impl HasKind for StoredDistancesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::OutOfMemory { .. } => ErrorKind::NoResources,
        }
    }
}
