//! Faults in a graph in ParHIP's format.

use viem::base::types::Weight;

/// A fault in a graph in ParHIP's format. Vertices are counted from 0, as in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ParhipFault {
    #[error("{version} is not a version of this format; versions are 0 to 63")]
    Version { version: u64 },
    #[error("the graph has {count} vertices; at most {} are supported", u32::MAX)]
    TooManyNodes { count: u64 },
    #[error("the graph has {count} arcs, two for each edge; at most {} are supported", u32::MAX - 1)]
    TooManyArcs { count: u64 },
    #[error("the file ends here, in {section}; by its header it has {expected} bytes")]
    TooShort { section: &'static str, expected: u64 },
    #[error("the file goes on; by its header it has {expected} bytes")]
    TooLong { expected: u64 },
    #[error("the list of vertex {node} begins at byte {found}, but the lists begin at byte {expected}")]
    FirstOffset { node: u64, found: u64, expected: u64 },
    #[error("the list of vertex {node} begins at byte {found}, before that of the vertex before it")]
    FallingOffset { node: u64, found: u64 },
    #[error("the list of vertex {node} begins at byte {found}, in the middle of a number")]
    OddOffset { node: u64, found: u64 },
    #[error("the last list ends at byte {found}, but by the header the lists end at byte {expected}")]
    LastOffset { found: u64, expected: u64 },
    #[error("vertex {node} lists a neighbour that does not exist; the vertices are counted from 0 to {last}")]
    NeighbourOutOfRange { node: u64, last: u64 },
    #[error("vertex {node} has an edge to itself")]
    SelfLoop { node: u64 },
    #[error("vertex {node} lists its neighbour {target} more than once")]
    ParallelEdge { node: u64, target: u64 },
    #[error(
        "vertex {node} lists {target}, but {target} does not list {node}; each edge must be listed at both ends"
    )]
    MissingBackwardArc { node: u64, target: u64 },
    #[error(
        "the edge of {node} and {target} weighs {forward} here and {backward} at its other end; both must be the same"
    )]
    UnequalWeights { node: u64, target: u64, forward: Weight, backward: Weight },
    #[error("vertex {node} weighs {weight}; weights of vertices must not be negative")]
    NodeWeight { node: u64, weight: Weight },
    #[error("an edge weighs {weight}; weights of edges must be positive")]
    EdgeWeight { weight: Weight },
    #[error("the weights of the vertices sum to more than {}", Weight::MAX)]
    NodeWeightOverflow,
    #[error("the weights of the edges sum to more than {}, both directions counted", Weight::MAX)]
    EdgeWeightOverflow,
}
