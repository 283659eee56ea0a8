//! Files: graphs, mappings, traffic, what launchers need.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::IntoPyArray;
use pyo3::prelude::*;
use viem::{CsrGraph, Mapping};
use viem_ffi::write;
use viem_io as io;
use viem_io::metis::NodeWeights;
use viem_io::{ReadError, Source};
use viem_launch as launch;
use viem_traffic::{Collector, Format, Summary, TrafficConfig, TrafficNote, Weighing};

use crate::error::{Fault, OrRaise};
use crate::graph::Graph;
use crate::machine::Machine;
use crate::map::{Pes, json, pes_of};

/// Reads a graph in the format of METIS, or in the binary one of ParHIP; and notes on the parts of the file that it leaves out.
#[pyfunction]
pub(crate) fn read_graph(py: Python<'_>, path: PathBuf) -> PyResult<(Graph, Vec<String>)> {
    let read = || io::read_several_graph(Source::open(&path)?, NodeWeights::Read);
    let (graph, several, notes) = py.detach(read).or_raise()?;
    let graph = Graph { several: several.map(Arc::new), ..Graph::new(graph) };
    Ok((graph, notes.iter().map(|note| format!("{}: {note}", path.display())).collect()))
}

/// Writes a graph in the format of METIS, with the weights that are not all 1, and all of several weights of its vertices.
#[pyfunction]
pub(crate) fn write_graph(py: Python<'_>, path: PathBuf, graph: &Graph) -> PyResult<()> {
    py.detach(|| viem_ffi::write_graph(&path, &graph.csr, graph.several.as_deref())).or_raise()
}

/// Reads a number for each vertex: a partition or a mapping, also one of OpenFOAM.
#[pyfunction]
pub(crate) fn read_mapping<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Pes<'py>> {
    let read = || match viem_mesh::read_decomposition(Source::open(&path)?)? {
        Some(parts) => Ok(parts),
        None => io::partition::read(Source::open(&path)?, None),
    };
    let pes: Vec<i64> = py.detach(read).or_raise()?.into_iter().map(i64::from).collect();
    Ok(pes.into_pyarray(py))
}

/// Writes a number for each vertex.
#[pyfunction]
pub(crate) fn write_mapping(py: Python<'_>, path: PathBuf, pes: &Bound<'_, PyAny>) -> PyResult<()> {
    let pes = pes_of("mapping", pes)?;
    py.detach(|| write(&path, &|out| io::mapping::write(out, &pes))).or_raise()
}

/// A graph, a report as JSON, the numbers of its vertices where they were renumbered, and warnings.
type Recorded = (Graph, String, Option<Vec<u64>>, Vec<String>);

/// Sums recorded traffic into a graph.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn read_traffic(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    kind: Option<&str>,
    weight: &str,
    ranks: Option<u64>,
    include: Option<Vec<String>>,
    renumber: bool,
    nics: Option<u64>,
) -> PyResult<Recorded> {
    let format = kind.map(format_of).transpose()?;
    let config = TrafficConfig::new(Weighing::parse(weight).or_raise()?).with_num_ranks(ranks);
    let collector = Collector::new(include).with_adapters(nics);
    let collector = if renumber { collector.renumbered() } else { collector };
    let (graph, summary) = py.detach(|| collected(collector, &paths, format, &config))?;
    let warnings = summary.notes.iter().map(warning).collect();
    Ok((Graph::new(graph), json(&summary)?, summary.ids, warnings))
}

/// Returns the warning of a sum, with the argument that helps.
fn warning(note: &TrafficNote) -> String {
    match note {
        TrafficNote::Adapters { greatest } => {
            format!("{note}; nics={} makes each a vertex of its own", greatest.saturating_add(1))
        }
        _ => note.to_string(),
    }
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
    py.detach(|| viem_ffi::write_launch(&launch, &paths)).or_raise()?;
    Ok((paths, launch.line))
}
