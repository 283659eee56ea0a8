//! Graphs.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{c_char, c_int};
use std::fmt::Display;
use std::path::Path;
use std::sync::OnceLock;

use viem::CsrGraph;
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrSlices, VertexWeights};
use viem_ffi::{array, check_memory, count, memory_of_graph, optional, text, write_graph};
use viem_io::Source;
use viem_io::metis::NodeWeights;
use viem_traffic::{Collector, TrafficConfig};

use crate::error::{Error, Status, call, create, free, given, note};

/// An undirected graph with weights of vertices (at least 0) and of edges (at least 1), all sums of which fit 63 bits. It does not change,
/// so any number of threads may use it at once.
pub struct Graph {
    /// Of several weights of a vertex, it has the first.
    pub(crate) csr: CsrGraph,
    /// All weights of the vertices, if they have several.
    pub(crate) several: Option<VertexWeights>,
    /// The weight of each arc, where it was asked for and all are 1.
    ones: OnceLock<Vec<i64>>,
}

impl From<CsrGraph> for Graph {
    fn from(csr: CsrGraph) -> Self {
        Self { csr, several: None, ones: OnceLock::new() }
    }
}

/// An integer of C that graphs are made of.
trait Integer: Copy + Display + TryInto<i64> + TryInto<usize> + TryInto<NodeId> {}
impl Integer for i32 {}
impl Integer for i64 {}

/// The arrays of a graph, as C gives them.
struct Arrays<I, W> {
    num_vertices: i64,
    offsets: *const I,
    targets: *const I,
    edge_weights: *const W,
    vertex_weights: *const W,
}

impl<I: Integer, W: Copy + Display + TryInto<Weight>> Arrays<I, W> {
    /// # Safety
    ///
    /// The arrays are as long as `viem_graph_new32` says, and they do not change during the call.
    unsafe fn graph(&self) -> Result<Graph, Error> {
        let num_vertices = vertex_count(self.num_vertices)?;
        check_memory(memory_of_graph(num_vertices, 0))?;
        // SAFETY: the caller's promise.
        let offsets = unsafe { array("offsets", self.offsets, num_vertices + 1) }?;
        let num_arcs = last_offset(offsets)?;
        check_memory(memory_of_graph(num_vertices, num_arcs))?;
        // SAFETY: the caller's promise, and the offsets are checked.
        let targets = unsafe { array("targets", self.targets, num_arcs) }?;
        // SAFETY: as above.
        let edge_weights = unsafe { optional("edge_weights", self.edge_weights, num_arcs) }?;
        // SAFETY: as above.
        let node_weights = unsafe { optional("vertex_weights", self.vertex_weights, num_vertices) }?;
        Ok(CsrGraph::from_slices(CsrSlices { offsets, targets, edge_weights, node_weights })?.into())
    }
}

/// A number of vertices that a graph can have.
fn vertex_count(num_vertices: i64) -> Result<usize, Error> {
    let count = count("num_vertices", num_vertices)?;
    if count > NodeId::MAX as usize {
        let most = NodeId::MAX;
        return Err(Error::usage(format!("the graph has {count} vertices; at most {most} are supported")));
    }
    Ok(count)
}

/// The number of arcs, once the offsets are known to run from 0 up to it: only then is it the length of arrays.
fn last_offset<I: Integer>(offsets: &[I]) -> Result<usize, Error> {
    let mut last = 0i64;
    for (index, &offset) in offsets.iter().enumerate() {
        let wrong = |what| {
            Error::entry(Status::BadData, index, format!("entry {index} of the offsets is {offset}; {what}"))
        };
        let next: i64 = offset.try_into().map_err(|_| wrong("it is too large"))?;
        match index {
            0 if next != 0 => return Err(wrong("the first is 0")),
            _ if next < last => return Err(wrong("offsets must not fall")),
            _ if next >= i64::from(u32::MAX) => {
                return Err(wrong("there are less than 2^32 - 1 arcs, two for each edge"));
            }
            _ => last = next,
        }
    }
    Ok(last as usize)
}

/// Makes a graph from arrays in compressed sparse row form, which are copied.
///
/// The neighbours of vertex `u` are `targets[offsets[u]]` to `targets[offsets[u + 1] - 1]`, counted from 0, in any order. Each edge is in
/// the lists of both its ends, with the same weight; none leads from a vertex to itself, and none occurs twice in a list. METIS calls these
/// arrays `xadj`, `adjncy`, `adjwgt` and `vwgt`. O(n + m) for n vertices and m edges; 16 n + 24 m bytes.
///
/// - `num_vertices`: n, at least 0 and below 2^32
/// - `offsets`: n + 1 entries, which do not fall; the first is 0, the last 2 m
/// - `targets`: 2 m entries
/// - `edge_weights`: 2 m entries, at least 1; null if all are 1
/// - `vertex_weights`: n entries, at least 0; null if all are 1
/// - `graph`: gets the graph, which `viem_graph_free` frees; null on failure
/// - `error`: gets the error, which `viem_error_free` frees; null on success. May be null
///
/// # Safety
///
/// The arrays have these lengths. They do not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_new32(
    num_vertices: i64,
    offsets: *const i32,
    targets: *const i32,
    edge_weights: *const i32,
    vertex_weights: *const i32,
    graph: *mut *mut Graph,
    error: *mut *mut Error,
) -> Status {
    let arrays = Arrays { num_vertices, offsets, targets, edge_weights, vertex_weights };
    // SAFETY: the caller's promise is the same.
    create(("graph", graph), error, || unsafe { arrays.graph() })
}

/// The same for ids and weights of 64 bits.
///
/// # Safety
///
/// As for `viem_graph_new32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_new64(
    num_vertices: i64,
    offsets: *const i64,
    targets: *const i64,
    edge_weights: *const i64,
    vertex_weights: *const i64,
    graph: *mut *mut Graph,
    error: *mut *mut Error,
) -> Status {
    let arrays = Arrays { num_vertices, offsets, targets, edge_weights, vertex_weights };
    // SAFETY: the caller's promise is the same.
    create(("graph", graph), error, || unsafe { arrays.graph() })
}

/// The same for ids of 32 bits and weights of 64 bits.
///
/// # Safety
///
/// As for `viem_graph_new32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_new32w64(
    num_vertices: i64,
    offsets: *const i32,
    targets: *const i32,
    edge_weights: *const i64,
    vertex_weights: *const i64,
    graph: *mut *mut Graph,
    error: *mut *mut Error,
) -> Status {
    let arrays = Arrays { num_vertices, offsets, targets, edge_weights, vertex_weights };
    // SAFETY: the caller's promise is the same.
    create(("graph", graph), error, || unsafe { arrays.graph() })
}

/// Makes a graph of vertices of weight 1 from edges, which are copied: edge `i` joins `from[i]` and `to[i]`, counted from 0.
///
/// Edges may come in any order and direction, and several times: their weights are summed. Edges of weight 0, and from a vertex to itself,
/// are left out. So recorded traffic can be given as it is. O(n + m).
///
/// - `num_edges`: the length of `from`, `to` and `weights`
/// - `weights`: at least 0; null if all are 1
///
/// # Safety
///
/// The arrays have these lengths. They do not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_from_edges(
    num_vertices: i64,
    num_edges: i64,
    from: *const i64,
    to: *const i64,
    weights: *const i64,
    graph: *mut *mut Graph,
    error: *mut *mut Error,
) -> Status {
    create(("graph", graph), error, || {
        let (num_vertices, num_edges) = (vertex_count(num_vertices)?, count("num_edges", num_edges)?);
        check_memory(memory_of_graph(num_vertices, num_edges).saturating_mul(3))?;
        // SAFETY: the caller's promise.
        let from = vertices("from", unsafe { array("from", from, num_edges) }?, num_vertices)?;
        // SAFETY: the caller's promise.
        let to = vertices("to", unsafe { array("to", to, num_edges) }?, num_vertices)?;
        // SAFETY: the caller's promise.
        let weights = unsafe { optional("weights", weights, num_edges) }?;
        if let Some(index) = weights.and_then(|weights| weights.iter().position(|&weight| weight < 0)) {
            let message = format!("entry {index} of the weights is negative");
            return Err(Error::entry(Status::BadData, index, message));
        }
        let weight = |index: usize| weights.map_or(1, |weights| weights[index]);
        let edges = from.into_iter().zip(to).enumerate().map(|(index, (u, v))| (u, v, weight(index)));
        Ok(CsrGraph::from_edges(num_vertices, edges)?.into())
    })
}

/// Vertices of a graph, by their numbers.
fn vertices(name: &str, numbers: &[i64], num_vertices: usize) -> Result<Vec<NodeId>, Error> {
    let vertex = |(index, &number): (usize, &i64)| {
        let vertex = NodeId::try_from(number).ok().filter(|&vertex| (vertex as usize) < num_vertices);
        vertex.ok_or_else(|| {
            let message =
                format!("entry {index} of `{name}` is {number}, but the vertices are 0..{num_vertices}");
            Error::entry(Status::BadData, index, message)
        })
    };
    numbers.iter().enumerate().map(vertex).collect()
}

/// Reads a graph from a METIS file, packed with gzip or not, or from one in ParHIP's binary format. Where the file is
/// faulty, the error has line and column, or names the byte. Vertices with several weights keep all of them.
///
/// - `path`: the name of the file, in UTF-8
/// - `unit_weights`: 0 to take the weights of the vertices, any other number to let each vertex weigh 1
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_read(
    path: *const c_char,
    unit_weights: c_int,
    graph: *mut *mut Graph,
    error: *mut *mut Error,
) -> Status {
    create(("graph", graph), error, || {
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        let weights = if unit_weights == 0 { NodeWeights::Read } else { NodeWeights::Ignore };
        let (graph, several, notes) = viem_io::read_several_graph(Source::open(Path::new(path))?, weights)?;
        if unit_weights == 0 {
            notes.iter().for_each(|left_out| note(&format!("{path}: {left_out}")));
        }
        Ok(Graph { several, ..graph.into() })
    })
}

/// Makes the same graph with several weights of its vertices, such as time and memory, in place of those that it has. Partitions and many-to-one
/// mappings balance each of them; `viem_settings_set_limits_of_weights` gives each limits of its own. METIS calls the number `ncon` and the array `vwgt`.
/// O(n + m + c n) for c weights.
///
/// - `num_weights`: c, at least 1
/// - `weights`: c n entries, at least 0, all weights of one vertex after the other
/// - `weighted`: gets the graph, which `viem_graph_free` frees; null on failure
///
/// # Safety
///
/// The array has this length. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_with_weights(
    graph: Option<&Graph>,
    num_weights: i64,
    weights: *const i64,
    weighted: *mut *mut Graph,
    error: *mut *mut Error,
) -> Status {
    create(("weighted", weighted), error, || {
        let csr = &given("graph", graph)?.csr;
        let num_weights = count("num_weights", num_weights)?;
        let length = csr.num_nodes().checked_mul(num_weights).filter(|_| num_weights > 0);
        let length = length.ok_or_else(|| {
            Error::usage(format!(
                "a vertex has {num_weights} weights; there must be at least one, and they must fit in memory"
            ))
        })?;
        check_memory(memory_of_graph(csr.num_nodes(), csr.num_arcs()) + 8 * length as u128)?;
        // SAFETY: the caller's promise.
        let weights = unsafe { array("weights", weights, length) }?;
        let first = weights.iter().step_by(num_weights).copied().collect();
        let several =
            (num_weights > 1).then(|| VertexWeights::new(num_weights, weights.to_vec())).transpose()?;
        Ok(Graph { several, ..csr.clone().with_node_weights(first)?.into() })
    })
}

/// Reads the recorded traffic of a job as a graph: vertex `i` is rank `i`, and an edge weighs the bytes that its ends exchange. Flows of all
/// files are summed. `viem_notes` returns omissions and assumptions.
///
/// - `num_files`, `paths`: the names of the files, in UTF-8; all of one kind, which their content shows. The chapter docs/guide/traffic.md lists
///   the kinds
/// - `num_ranks`: the number of ranks of the job, which is that of the vertices; 0 for the highest that is mentioned, and one more
///
/// # Safety
///
/// There are as many names, and they end with zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_read_traffic(
    num_files: i64,
    paths: *const *const c_char,
    num_ranks: i64,
    graph: *mut *mut Graph,
    error: *mut *mut Error,
) -> Status {
    create(("graph", graph), error, || {
        // SAFETY: the caller's promise.
        let paths = unsafe { array("paths", paths, count("num_files", num_files)?) }?;
        let num_ranks = Some(count("num_ranks", num_ranks)? as u64).filter(|&num_ranks| num_ranks > 0);
        let mut collector = Collector::new(None);
        for &path in paths {
            // SAFETY: the caller's promise.
            let path = unsafe { text("paths", path) }?;
            collector.read(Source::open(Path::new(path))?, None)?;
        }
        let config = TrafficConfig::default().with_num_ranks(num_ranks);
        let (graph, summary) = collector.finish(&config)?;
        summary.notes.iter().for_each(|left_out| note(&left_out.to_string()));
        Ok(graph.into())
    })
}

/// Writes a graph to a METIS file, whole or not at all. Weights are written unless all of a kind are 1.
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_write(
    graph: Option<&Graph>,
    path: *const c_char,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let graph = given("graph", graph)?;
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        Ok(write_graph(Path::new(path), &graph.csr, graph.several.as_ref())?)
    })
}

/// Number of vertices; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_graph_num_vertices(graph: Option<&Graph>) -> i64 {
    graph.map_or(0, |graph| graph.csr.num_nodes() as i64)
}

/// Number of edges, each counted once; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_graph_num_edges(graph: Option<&Graph>) -> i64 {
    graph.map_or(0, |graph| graph.csr.num_edges() as i64)
}

/// Returns the offsets of the neighbours of each vertex in `viem_graph_targets`: one entry more than vertices. Valid until the graph is freed; null for
/// null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_graph_offsets(graph: Option<&Graph>) -> *const usize {
    graph.map_or(std::ptr::null(), |graph| graph.csr.offsets().as_ptr())
}

/// The neighbours of all vertices, two entries for each edge. Valid until the graph is freed; null for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_graph_targets(graph: Option<&Graph>) -> *const u32 {
    graph.map_or(std::ptr::null(), |graph| graph.csr.targets().as_ptr())
}

/// The weights of the edges, one for each entry of `viem_graph_targets`. Valid until the graph is freed; null for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_graph_edge_weights(graph: Option<&Graph>) -> *const i64 {
    graph.map_or(std::ptr::null(), |graph| {
        let ones = || graph.ones.get_or_init(|| vec![1; graph.csr.num_arcs()]).as_slice();
        graph.csr.edge_weights().unwrap_or_else(ones).as_ptr()
    })
}

/// Number of weights of each vertex; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_graph_num_weights(graph: Option<&Graph>) -> i64 {
    graph.map_or(0, |graph| graph.several.as_ref().map_or(1, |several| several.num_weights() as i64))
}

/// The weights of the vertices, all weights of one vertex after the other. Valid until the graph is freed; null for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_graph_vertex_weights(graph: Option<&Graph>) -> *const i64 {
    let weights = |graph: &Graph| match &graph.several {
        Some(several) => several.values().as_ptr(),
        None => graph.csr.node_weights().as_ptr(),
    };
    graph.map_or(std::ptr::null(), weights)
}

/// Frees a graph. Null is ignored.
///
/// # Safety
///
/// The graph is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_graph_free(graph: *mut Graph) {
    // SAFETY: the caller's promise is the same.
    unsafe { free(graph) };
}
