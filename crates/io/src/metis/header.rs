//! The first line of a graph file.

/// The declarations in the first line of a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Number of vertices.
    pub num_nodes: usize,
    /// Number of edges, each counted once.
    pub num_edges: u64,
    /// True if each line starts with the size of its vertex.
    pub has_node_sizes: bool,
    /// Number of weights of each vertex.
    pub num_constraints: u64,
    /// True if each neighbour is followed by the weight of the edge.
    pub has_edge_weights: bool,
}

impl Header {
    /// Returns the parts of the file that the graph does not have.
    pub fn notes(&self) -> Vec<GraphNote> {
        let more = GraphNote::MoreWeights { count: self.num_constraints };
        if self.num_constraints > 1 { vec![more] } else { Vec::new() }
    }
}

/// A part of the file that the graph leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum GraphNote {
    #[error("each vertex has {count} weights, of which all but the first are ignored")]
    MoreWeights { count: u64 },
}
