//! Graphs from a folder, and the results of peers on them.

use std::path::{Path, PathBuf};

use viem::graph::{CsrGraph, generate};
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

use super::fail;

/// The METIS graph of a file.
pub fn read_graph(path: &Path, node_weights: NodeWeights) -> CsrGraph {
    let source = Source::open(path).unwrap_or_else(|error| fail(error));
    metis::read(source, node_weights).unwrap_or_else(|error| fail(error))
}

/// The graphs (`*.graph`) of a folder, by name.
pub fn graphs_of(folder: &str) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| fail(format!("{folder}: {error}")));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap_or_else(|error| fail(format!("{folder}: {error}"))).path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "graph"));
    paths.sort();
    let name = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    paths.into_iter().map(|path| (name(&path), path)).collect()
}

/// The generated graphs, by name.
pub const GENERATED: [&str; 2] = ["geometric", "mesh"];

/// A graph of so many vertices: `geometric` is a random geometric graph of average degree 13 with shuffled vertices, `mesh` a triangulation of
/// average degree 6, numbered row by row.
pub fn generated(name: &str, num_nodes: usize) -> CsrGraph {
    match name {
        "geometric" => generate::random_geometric(num_nodes, 13.0, 1),
        "mesh" => {
            let width = 1 << num_nodes.ilog2().div_ceil(2);
            generate::mesh(width, num_nodes / width, 1)
        }
        _ => unreachable!("the graphs are {GENERATED:?}"),
    }
}

/// The named columns of a table with headings and tab-separated columns.
pub fn columns<const N: usize>(path: &str, names: [&str; N]) -> Vec<[String; N]> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| fail(format!("{path}: {error}")));
    let headings: Vec<&str> = text.lines().next().unwrap_or("").split('\t').collect();
    let places = names.map(|name| {
        let place = headings.iter().position(|heading| *heading == name);
        place.unwrap_or_else(|| fail(format!("{path}, line 1: no column is called `{name}`")))
    });
    let rows = text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(index, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        places.map(|place| match cells.get(place) {
            Some(cell) => (*cell).to_owned(),
            None => {
                fail(format!("{path}, line {}: {} columns, not {}", index + 1, cells.len(), headings.len()))
            }
        })
    })
    .collect()
}

/// The number in a cell of such a table; `None` for `-`.
pub fn number_in(cell: &str) -> Option<f64> {
    match cell {
        "-" => None,
        _ => Some(cell.parse().unwrap_or_else(|_| fail(format!("`{cell}` is not a number")))),
    }
}
