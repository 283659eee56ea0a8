//! Files, each written whole or not at all.

use std::io::Write;
use std::path::Path;

use viem::graph::{CsrGraph, VertexWeights};
use viem_io::output::{Content, Fill};
use viem_io::{GraphFormat, Outputs, WriteError};
use viem_launch::Launch;

/// Writes one file.
pub fn write(path: &Path, fill: Fill<'_>) -> Result<(), WriteError> {
    let mut outputs = Outputs::new();
    let output = outputs.add(path, &[])?;
    outputs.write(&[(Some(output), fill)])
}

/// Writes a graph in the format of METIS, with the weights that are not all 1, or with several weights of its vertices.
pub fn write_graph(path: &Path, graph: &CsrGraph, several: Option<&VertexWeights>) -> Result<(), WriteError> {
    write(path, &|out| viem_io::write_several_graph(out, graph, several, GraphFormat::Metis))
}

/// Writes the files of a launcher, as many as there are paths; all of them or none.
pub fn write_launch(launch: &Launch, paths: &[String]) -> Result<(), WriteError> {
    let mut outputs = Outputs::new();
    let fills: Vec<_> = launch
        .files
        .iter()
        .map(|file| move |out: &mut dyn Write| out.write_all(file.content.as_bytes()))
        .collect();
    let mut contents: Vec<Content<'_>> = Vec::new();
    for ((file, path), fill) in launch.files.iter().zip(paths).zip(&fills) {
        let output = outputs.add(Path::new(path), &[])?;
        if file.is_program {
            outputs.make_program(output);
        }
        contents.push((Some(output), fill));
    }
    outputs.write(&contents)
}
