//! Kinds of files, by the names that messages give them.

use std::fmt;

/// A kind that a file may be by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    name: &'static str,
    traffic: Option<&'static str>,
    mesh: Option<&'static str>,
    hint: &'static str,
}

const CONVERT: &str = "give a graph, or convert the file to one";
const OF_MESH: &str = "convert it to the graph of its elements first";
const SUM: &str = "if it is recorded traffic, sum it into a graph first";

impl Reading {
    /// A METIS graph, perhaps a faulty one.
    pub const GRAPH: Self = Self::new("a graph in METIS format", CONVERT);
    /// A graph in ParHIP's format, perhaps a faulty one.
    pub const PARHIP: Self = Self::new("a graph in ParHIP's binary format", "convert it to text");
    /// A mapping or a partition.
    pub const MAPPING: Self = Self::new("a mapping or a partition (one number a line)", CONVERT);
    /// A hypergraph.
    pub const HYPERGRAPH: Self = Self::new(
        "a hypergraph (hMETIS: nets, vertices, then the vertices of each net)",
        "hypergraphs are not read; give a graph, such as one with an edge for each two vertices of a net",
    );
    /// The elements of a mesh of METIS.
    pub const MESH: Self =
        Self::of_mesh("a METIS mesh (the number of elements, then the nodes of each)", "metis");
    /// A quadratic assignment problem.
    pub const QAP: Self =
        Self::new("a quadratic assignment problem (n and two matrices)", "say that it is one");
    /// A dense matrix.
    pub const MATRIX: Self = Self::of_traffic("a dense matrix", "matrix");
    /// A list of edges.
    pub const EDGES: Self = Self::of_traffic("an edge list (a line for each edge)", "edges");
    /// A list of edges whose ends have names.
    pub(super) const NAMED_EDGES: Self = Self::new(
        "an edge list with names (a line for each edge)",
        "number the vertices from 0 and give these numbers in place of names",
    );
    /// A list of edges with commas or semicolons.
    pub const CSV_EDGES: Self = Self::of_traffic("an edge list with separators (CSV)", "edges");
    /// A schedule of messages in the language GOAL.
    pub const GOAL: Self = Self::of_traffic("a GOAL schedule", "goal");
    pub(super) const MATRIX_MARKET: Self = Self::of_traffic("a Matrix Market file", "mtx");
    pub(super) const CSV: Self = Self::new("a table with separators (CSV)", CONVERT);
    /// A text of no recognised kind.
    pub const TEXT: Self = Self::new("a text (its first lines hold no numbers)", CONVERT);
    pub(super) const BINARY: Self = Self::new("a binary file", CONVERT);
    pub(super) const HASHES: Self = Self::new("an edge list (SNAP) or a script", CONVERT);

    /// A workload.
    pub const WORKLOAD: Self = Self::foreign("a workload (PROCESS ...)");
    /// The order of messages that the recorder of MPI traffic writes.
    pub const ORDER: Self = Self::foreign("the recorded order of messages (viem_order ...)");

    const fn new(name: &'static str, hint: &'static str) -> Self {
        Self { name, traffic: None, mesh: None, hint }
    }

    /// Recorded traffic of a kind.
    pub(super) const fn of_traffic(name: &'static str, kind: &'static str) -> Self {
        Self { traffic: Some(kind), ..Self::new(name, SUM) }
    }

    /// A mesh of a kind.
    pub(super) const fn of_mesh(name: &'static str, kind: &'static str) -> Self {
        Self { mesh: Some(kind), ..Self::new(name, OF_MESH) }
    }

    /// One that nothing here reads.
    pub(super) const fn foreign(name: &'static str) -> Self {
        Self::new(name, CONVERT)
    }

    /// Returns its name, with an article.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The kind of recorded traffic, by its name, if it may be that.
    pub fn traffic_kind(self) -> Option<&'static str> {
        self.traffic
    }

    /// The kind of mesh, by its name, if it may be one.
    pub fn mesh_kind(self) -> Option<&'static str> {
        self.mesh
    }

    /// Several of them in a message: `an edge list or a dense matrix`.
    pub fn listed(readings: &[Self]) -> String {
        readings.iter().map(|reading| reading.name).collect::<Vec<_>>().join(" or ")
    }

    /// Returns advice for such a file where a graph is needed.
    pub fn hint(self) -> &'static str {
        self.hint
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
