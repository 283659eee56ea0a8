//! Signatures: the first bytes or lines by which files show their kind.
//!
//! Those of recorded traffic are here, below what reads it (`viem-traffic`): a reader that is given such a file in place of a graph or of a
//! mapping can name it. The common part of the signature and the reader of a format is here, once.

pub mod columns;
mod foreign;
mod goal;
pub mod openmpi;
pub mod paje;
pub mod simgrid;

use crate::array;
use crate::reading::Reading;
use crate::table::{Fields, is_blank};

pub(crate) use foreign::{by_bytes, by_opening};
pub use goal::{NUM_RANKS, is_goal};

/// The beginning of Matrix Market files, in letters of either case.
pub const MATRIX_MARKET: &str = "%%MatrixMarket";

/// The mark in the lines of logs of NCCL.
pub const NCCL: &[u8] = b" NCCL INFO ";

/// Names of the list of edges in node-link JSON.
pub const EDGE_LISTS: [&str; 2] = ["links", "edges"];

/// Returns whether a file that starts with these bytes says itself what it is.
pub type Signature = fn(&[u8]) -> bool;

/// The kinds of recorded traffic, each with its signature.
pub const TRAFFIC: &[(Reading, Signature)] = &[
    (Reading::of_traffic("a profile of Open MPI's monitoring (.prof)", "openmpi"), openmpi::is_certain),
    (Reading::MATRIX, |_| false),
    (Reading::EDGES, columns::is_certain),
    (Reading::MATRIX_MARKET, is_matrix_market),
    (Reading::of_traffic("a Scotch graph", "scotch"), is_scotch),
    (Reading::of_traffic("a rank-to-rank table of Intel APS", "aps"), is_aps),
    (Reading::of_traffic("a file of viem_trace.c", "trace"), |start| start.starts_with(b"viem_trace ")),
    (Reading::of_traffic("a NumPy array", "npy"), |start| start.starts_with(array::MARK)),
    (Reading::of_traffic("a graph as node-link JSON", "json"), is_node_link),
    (Reading::of_traffic("a GraphML file", "graphml"), is_graphml),
    (Reading::of_traffic("a log of NCCL", "nccl"), |start| {
        start.windows(NCCL.len()).any(|bytes| bytes == NCCL)
    }),
    (Reading::of_traffic("a trace of PyTorch's profiler", "kineto"), is_kineto),
    (Reading::GOAL, is_goal),
    (Reading::of_traffic("links of a trace in the Paje format", "paje"), paje::is_certain),
    (Reading::of_traffic("a time-independent trace of SimGrid", "simgrid"), simgrid::is_certain),
];

/// The kinds of meshes, each with its signature.
pub const MESHES: &[(Reading, Signature)] = &[
    (Reading::MESH, |_| false),
    (Reading::of_mesh("a mesh of Gmsh (.msh)", "gmsh"), |start| start.starts_with(b"$MeshFormat")),
    (Reading::of_mesh("a file of VTK (.vtk)", "vtk"), |start| start.starts_with(b"# vtk DataFile Version")),
    (Reading::of_mesh("a file of VTK in XML (.vtu)", "vtu"), is_vtk_xml),
];

/// An XML file with an element `VTKFile`.
fn is_vtk_xml(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&start[..start.len().min(1 << 10)]);
    text.trim_start().starts_with('<') && text.contains("<VTKFile")
}

/// Returns whether a file is in the Matrix Market format.
pub(crate) fn is_matrix_market(start: &[u8]) -> bool {
    let mark = MATRIX_MARKET.as_bytes();
    start.get(..mark.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(mark))
}

/// A line with nothing but 0, a line of two numbers, a line of a base and three flags.
fn is_scotch(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&start[..start.len().min(200)]);
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let is_number = |text: &&str| text.parse::<u64>().is_ok();
    let is_flags =
        |text: &str| (1..=3).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0' | b'1'));
    lines.next().is_some_and(|line| line == ["0"])
        && lines.next().is_some_and(|line| line.len() == 2 && line.iter().all(is_number))
        && lines.next().is_some_and(|line| line.len() == 2 && is_number(&line[0]) && is_flags(line[1]))
}

/// A line `| Rank --> Rank …`
fn is_aps(start: &[u8]) -> bool {
    let is_heading = |line: &[u8], arrow: &[u8]| {
        let mut fields = Fields::new(0, line, is_blank);
        let mut is = |word: &[u8]| fields.next().is_some_and(|field| field.text == word);
        is(b"|") && is(b"Rank") && is(arrow) && is(b"Rank")
    };
    let mut lines = start.split(|&byte| byte == b'\n');
    lines.any(|line| is_heading(line, b"-->") || is_heading(line, b"<->"))
}

/// An object that has a list of edges, or one of nodes or a flag of NetworkX before it.
fn is_node_link(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let has = |key: &str| {
        text.match_indices(&format!("\"{key}\"")).any(|(at, key)| {
            text[at + key.len()..]
                .trim_start()
                .strip_prefix(':')
                .is_some_and(|rest| rest.trim_start().starts_with('['))
        })
    };
    let has_edges = || EDGE_LISTS.iter().any(|list| has(list));
    text.trim_start().starts_with('{')
        && has("nodes")
        && (has_edges() || text.contains("\"multigraph\"") || text.contains("\"id\""))
}

/// An XML file with an element `graphml`.
fn is_graphml(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    text.trim_start().starts_with('<') && text.contains("<graphml")
}

/// An object with events, or with the entries before them.
fn is_kineto(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    text.trim_start().starts_with('{')
        && (has("traceEvents") || has("schemaVersion") && has("deviceProperties"))
}
