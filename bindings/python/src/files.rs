//! Files: graphs, mappings, traffic, what launchers need.

use std::io::Write;
use std::path::{Path, PathBuf};

use numpy::IntoPyArray;
use pyo3::prelude::*;
use viem::io::metis::{self, GraphContent, NodeWeights};
use viem::io::output::{Content, Fill};
use viem::io::traffic::{Collector, Format, Summary, TrafficConfig, Weighing};
use viem::io::{self, Outputs, ReadError, Source};
use viem::launch::{self, Launch};
use viem::{CsrGraph, Mapping};

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::machine::Machine;
use crate::map::{Pes, json, pes_of};

/// Writes a file, whole or not at all.
pub(crate) fn write(path: &Path, fill: Fill<'_>) -> PyResult<()> {
    let mut outputs = Outputs::new();
    let output = outputs.add(path, &[]).or_raise()?;
    outputs.write(&[(Some(output), fill)]).or_raise()
}

/// Reads a graph in the format of METIS.
#[pyfunction]
pub(crate) fn read_graph(py: Python<'_>, path: PathBuf) -> PyResult<Graph> {
    let read = || metis::read(Source::open(&path)?, NodeWeights::Read);
    py.detach(read).map(Graph::new).or_raise()
}

/// Writes a graph in the format of METIS, with the weights that are not all 1.
#[pyfunction]
pub(crate) fn write_graph(py: Python<'_>, path: PathBuf, graph: &Graph) -> PyResult<()> {
    let are_ones = |weights: &[i64]| weights.iter().all(|&weight| weight == 1);
    let mut content = GraphContent::ALL_WEIGHTS;
    content.node_weights = !are_ones(graph.csr.node_weights());
    content.edge_weights = !are_ones(graph.csr.edge_weights());
    py.detach(|| write(&path, &|out| metis::write(out, &graph.csr, content)))
}

/// Reads a number for each vertex: a partition or a mapping.
#[pyfunction]
pub(crate) fn read_mapping<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Pes<'py>> {
    let read = || io::partition::read(Source::open(&path)?, None);
    let pes: Vec<i64> = py.detach(read).or_raise()?.into_iter().map(i64::from).collect();
    Ok(pes.into_pyarray(py))
}

/// Writes a number for each vertex.
#[pyfunction]
pub(crate) fn write_mapping(py: Python<'_>, path: PathBuf, pes: &Bound<'_, PyAny>) -> PyResult<()> {
    let pes = pes_of("mapping", pes)?;
    py.detach(|| write(&path, &|out| io::mapping::write(out, &pes)))
}

/// A graph, a report as JSON, and the numbers of its vertices where they were renumbered.
type Recorded = (Graph, String, Option<Vec<u64>>);

/// Sums recorded traffic into a graph.
#[pyfunction]
pub(crate) fn read_traffic(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    kind: Option<&str>,
    weight: &str,
    ranks: Option<u64>,
    include: Option<Vec<String>>,
    renumber: bool,
) -> PyResult<Recorded> {
    let format = kind.map(format_of).transpose()?;
    let config = TrafficConfig::new(Weighing::parse(weight).or_raise()?).with_num_ranks(ranks);
    let collector = Collector::new(include);
    let collector = if renumber { collector.renumbered() } else { collector };
    let (graph, summary) = py.detach(|| collected(collector, &paths, format, &config))?;
    Ok((Graph::new(graph), json(&summary)?, summary.ids))
}

fn format_of(name: &str) -> Result<Format, Fault> {
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Fault::usage(format!("no kind of traffic is called `{name}`; there are {}", names.join(", ")))
    })
}

fn collected(
    mut collector: Collector,
    paths: &[PathBuf],
    format: Option<Format>,
    config: &TrafficConfig,
) -> Result<(CsrGraph, Summary), Fault> {
    let mut read = |path: &PathBuf| -> Result<(), ReadError> { collector.read(Source::open(path)?, format) };
    paths.iter().try_for_each(&mut read)?;
    Ok(collector.finish(config)?)
}

/// Writes the files that start a job as it was mapped, into a folder; returns their names and the command line.
#[pyfunction]
pub(crate) fn write_launch(
    py: Python<'_>,
    kind: &str,
    machine: &Machine,
    pes: &Bound<'_, PyAny>,
    folder: PathBuf,
) -> PyResult<(Vec<String>, Option<String>)> {
    let kind = launch::kind(kind).ok_or_else(|| {
        let names: Vec<&str> = launch::KINDS.iter().map(|kind| kind.name).collect();
        Fault::usage(format!("no launcher is called `{kind}`; there are {}", names.join(", ")))
    })?;
    let mapping = Mapping::on(&machine.inner, pes_of("mapping", pes)?).or_raise()?;
    let name = |file: &&str| {
        let path = if folder == Path::new(".") { PathBuf::from(file) } else { folder.join(file) };
        path.into_os_string().into_string().map_err(|_| Fault::usage("the name of the folder is not UTF-8"))
    };
    let paths: Vec<String> = kind.files.iter().map(name).collect::<Result<_, _>>()?;
    let launch = kind.launch(&machine.inner, &mapping, &paths).or_raise()?;
    py.detach(|| write_all(&launch, &paths)).or_raise()?;
    Ok((paths, launch.line))
}

/// All files, each whole, or none.
fn write_all(launch: &Launch, paths: &[String]) -> Result<(), io::WriteError> {
    let mut outputs = Outputs::new();
    let fill = |content: &'_ str| {
        let content = content.to_owned();
        move |out: &mut dyn Write| out.write_all(content.as_bytes())
    };
    let fills: Vec<_> = launch.files.iter().map(|file| fill(&file.content)).collect();
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
