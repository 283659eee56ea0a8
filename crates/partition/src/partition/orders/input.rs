//! What is divided, and what a way to divide it does.

use super::grouping::Grouping;
use crate::base::error::{ErrorKind, HasKind};
use crate::base::observer::Observer;
use crate::base::text::counted;
use crate::base::types::{BlockId, NodeId};
use crate::graph::{Coordinates, CsrGraph};
use crate::partition::settings::PartitionPreset;
use crate::partition::targets::Targets;

/// A graph to be divided, and what decides how.
#[derive(Clone, Copy)]
pub struct PartitionInput<'a> {
    /// The graph.
    pub graph: &'a CsrGraph,
    /// A point for each vertex, for the algorithms that need them.
    pub coordinates: Option<&'a Coordinates>,
    /// The trade-off of time and quality of the multilevel partitioner.
    pub preset: PartitionPreset,
    /// How recursive algorithms group parts of unequal weights.
    pub grouping: Grouping,
    /// The seed of all random streams.
    pub seed: u64,
    /// Once it asks to stop, `multilevel` and `rsb` divide what is left in the order of the numbers of the vertices. The
    /// others take O(n log n) and do not ask.
    pub observer: &'a dyn Observer,
}

impl<'a> PartitionInput<'a> {
    /// A graph without coordinates, with preset `eco`, simple grouping and seed 0.
    pub fn new(graph: &'a CsrGraph) -> Self {
        Self {
            graph,
            coordinates: None,
            preset: PartitionPreset::Eco,
            grouping: Grouping::default(),
            seed: 0,
            observer: &(),
        }
    }

    /// The same with a point for each vertex.
    pub fn with_coordinates(self, coordinates: &'a Coordinates) -> Self {
        Self { coordinates: Some(coordinates), ..self }
    }

    /// The same with a preset of the multilevel partitioner.
    pub fn with_preset(self, preset: PartitionPreset) -> Self {
        Self { preset, ..self }
    }

    /// The same with a grouping.
    pub fn with_grouping(self, grouping: Grouping) -> Self {
        Self { grouping, ..self }
    }

    /// The same with a seed.
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The points, which an algorithm needs.
    pub(super) fn points(&self, algorithm: &'static str) -> Result<&'a Coordinates, PartitionAlgorithmError> {
        let points = self.coordinates.ok_or(PartitionAlgorithmError::NoCoordinates { algorithm })?;
        let (found, expected) = (points.len(), self.graph.num_nodes());
        if found != expected {
            return Err(PartitionAlgorithmError::Points { found, expected });
        }
        Ok(points)
    }

    /// Returns whether all vertices weigh 1.
    pub(super) fn has_unit_weights(&self) -> bool {
        self.graph.node_weights().iter().all(|&weight| weight == 1)
    }
}

/// The reason why an algorithm does not work on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum PartitionAlgorithmError {
    #[error("{algorithm} needs the coordinates of the vertices, and none are given")]
    NoCoordinates { algorithm: &'static str },
    #[error(
        "the coordinates are those of {points}, but the graph has {vertices}",
        points = counted(found, "point", "points"),
        vertices = counted(expected, "vertex", "vertices")
    )]
    Points { found: usize, expected: usize },
    #[error(
        "the order has {vertices}, the graph {expected}",
        vertices = counted(found, "vertex", "vertices")
    )]
    Positions { found: usize, expected: usize },
}

impl HasKind for PartitionAlgorithmError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoCoordinates { .. } => ErrorKind::Usage,
            Self::Points { .. } | Self::Positions { .. } => ErrorKind::BadData,
        }
    }
}

/// From a graph and targets to the part of each vertex.
type Parts = fn(&PartitionInput<'_>, &Targets) -> Result<Vec<BlockId>, PartitionAlgorithmError>;

/// What a member does.
pub(super) struct Method {
    /// An order of the vertices, of which parts can be ranges; vertex weights do not count.
    pub order: fn(&PartitionInput<'_>) -> Result<Vec<NodeId>, PartitionAlgorithmError>,
    /// The part of each vertex, if parts are not ranges of the order.
    pub parts: Option<Parts>,
    /// True if sets of parts are divided in two recursively, so that it matters how they are grouped.
    pub is_recursive: bool,
    pub needs_coordinates: bool,
}
