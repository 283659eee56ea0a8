//! What a run has taken of memory, for reports.

use serde::Serialize;

use viem::base::memory;
use viem::graph::CsrGraph;

/// The greatest memory that the process has had so far; nothing where the system does not report it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct JsonMemory {
    peak_bytes: Option<u64>,
    /// The same by the arcs of the graph that is divided or mapped, two for each edge.
    bytes_per_arc: Option<f64>,
}

impl JsonMemory {
    /// Of a run on a graph.
    pub(crate) fn of(graph: &CsrGraph) -> Self {
        let peak_bytes = memory::peak();
        let bytes_per_arc =
            peak_bytes.filter(|_| graph.num_arcs() > 0).map(|bytes| bytes as f64 / graph.num_arcs() as f64);
        Self { peak_bytes, bytes_per_arc }
    }
}
