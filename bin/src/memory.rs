//! What a run has taken of memory, for reports; and how much of it is kept for later.

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

/// Makes the allocator of glibc return large arrays to the system once they are freed.
///
/// By default it learns from what is freed, and keeps up to 64 MiB for each thread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn return_freed_arrays() {
    /// Arrays from this size on are mapped by themselves. Balances memory against the time for new pages. Tuned on random geometric graphs of
    /// 2^18 and 2^22 vertices: 16 threads take 1.1 times the memory of one, where it was 1.7 times; 8 MiB do not suffice.
    const LEAST_MAPPED: libc::c_int = 4 << 20;
    /// What is kept at the end of each arena.
    const MOST_KEPT: libc::c_int = 8 << 20;
    let settings = [(libc::M_MMAP_THRESHOLD, LEAST_MAPPED), (libc::M_TRIM_THRESHOLD, MOST_KEPT)];
    for (parameter, value) in settings {
        // SAFETY: mallopt may be called at any time; it takes numbers only.
        #[allow(unsafe_code)]
        unsafe {
            libc::mallopt(parameter, value);
        }
    }
}

/// Nothing is known to be kept by other allocators.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_freed_arrays() {}
