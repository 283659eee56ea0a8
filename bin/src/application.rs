//! Graphs as verbs take them: METIS or ParHIP files, meshes, or graphs in other formats.

use std::path::Path;
use std::sync::LazyLock;

use crate::console::Console;
use crate::error::Result;
use crate::files;
use crate::hints;
use crate::mesh::{MeshGraph, MeshOptions};
use viem::graph::{Coordinates, CsrGraph, VertexWeights};
use viem_io as io;
use viem_io::metis::NodeWeights;
use viem_io::{GraphFormat, Source};
use viem_mesh::Format as MeshFormat;
use viem_traffic::{Collector, Format, TrafficConfig};

/// The format of a graph of which each entry of a matrix is an edge.
const MATRIX_MARKET: &str = "mtx";

/// The formats of graphs that are no recorded traffic.
pub(crate) static FORMATS: LazyLock<Vec<Format>> =
    LazyLock::new(|| Format::ALL.into_iter().filter(|format| format.is_graph()).collect());

/// A graph that is divided, mapped or converted.
pub(crate) struct Application {
    pub(crate) graph: CsrGraph,
    /// All weights of the vertices, if they have several.
    pub(crate) weights: Option<VertexWeights>,
    /// Whether the file is in METIS or ParHIP format.
    pub(crate) is_metis: bool,
    /// The graph as a METIS file, if the one that was read is none.
    pub(crate) text: Option<String>,
    /// The coordinates of the vertices, if the file has them.
    pub(crate) coordinates: Option<Coordinates>,
    /// Whether it is a mesh of OpenFOAM.
    is_foam: bool,
}

/// How a graph is read.
pub(crate) struct How<'a> {
    pub(crate) mesh: &'a MeshOptions,
    /// What is read of the weights of vertices in METIS and ParHIP files.
    pub(crate) weights: NodeWeights,
    /// Whether it is needed as a METIS file, too.
    pub(crate) as_text: bool,
    pub(crate) threads: usize,
    pub(crate) console: Console,
}

/// What a path leads to.
pub(crate) enum Input<'a> {
    Mesh(MeshFormat, Source<'a>),
    /// A folder, which may be a case of OpenFOAM.
    Folder(&'a Path),
    Other(Source<'a>),
}

impl<'a> Input<'a> {
    /// Opens a file, and recognises meshes.
    pub(crate) fn open(path: &'a Path) -> Result<Self> {
        if path.is_dir() {
            return Ok(Self::Folder(path));
        }
        let mut source = Source::open(path)?;
        Ok(match MeshFormat::recognise(&source.start()) {
            Some(format) => Self::Mesh(format, source),
            None => Self::Other(source),
        })
    }
}

impl Input<'_> {
    /// The name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Mesh(_, source) | Self::Other(source) => source.name().to_owned(),
            Self::Folder(path) => files::name(path),
        }
    }

    /// The first bytes of a file; none of a folder.
    pub(crate) fn start(&mut self) -> Vec<u8> {
        match self {
            Self::Mesh(_, source) | Self::Other(source) => source.start(),
            Self::Folder(_) => Vec::new(),
        }
    }
}

/// Reads a graph in METIS or ParHIP format, or a mesh, and prints what was made of that.
pub(crate) fn read_graph(input: Input<'_>, how: &How<'_>) -> Result<Application> {
    let mesh = match input {
        Input::Mesh(format, source) => how.mesh.read(source, format, how.console)?,
        Input::Folder(path) => how.mesh.read_folder(path, how.console)?,
        Input::Other(source) => {
            how.mesh.check_unused()?;
            let (graph, weights) = files::read_several(source, how.weights, how.threads, how.console)?;
            return Ok(Application { weights, is_metis: true, ..Application::of(graph) });
        }
    };
    let MeshGraph { graph, weights, coordinates, is_foam } = mesh;
    let text = how.as_text.then(|| text(&graph, weights.as_ref()));
    Ok(Application { weights, text, coordinates, is_foam, ..Application::of(graph) })
}

/// Reads the same, or a graph in another format. `from` is what it is, where that was said.
pub(crate) fn read(input: Input<'_>, from: Option<Format>, how: &How<'_>) -> Result<Application> {
    match input {
        Input::Other(mut source) => match format(from, &mut source) {
            Some(format) => read_other(source, format, how),
            None => read_graph(Input::Other(source), how),
        },
        mesh => read_graph(mesh, how),
    }
}

impl Application {
    /// A graph of which nothing else is known.
    fn of(graph: CsrGraph) -> Self {
        Self { graph, weights: None, is_metis: false, text: None, coordinates: None, is_foam: false }
    }

    /// Says that all weights of the vertices but the first are left out, if there are others.
    pub(crate) fn leave_weights(&mut self, name: &str, console: Console) {
        if let Some(weights) = self.weights.take() {
            files::warn_of_weights(name, &weights, console);
        }
    }

    /// Returns whether the PEs or blocks of its vertices go to a file of this name as OpenFOAM reads them.
    pub(crate) fn is_decomposition(&self, name: &str) -> bool {
        self.is_foam && Path::new(name).file_name().is_some_and(|name| name == viem_mesh::DECOMPOSITION)
    }

    /// Prints what OpenFOAM needs besides such a file.
    pub(crate) fn print_dictionary(&self, name: &str, num_parts: usize, console: Console) {
        if self.is_decomposition(name) {
            console.line(format_args!("for system/decomposeParDict:"));
            for entry in viem_mesh::decomposition_entries(num_parts) {
                console.line(format_args!("    {entry}"));
            }
        }
    }
}

/// The format of a graph, if it is not METIS or ParHIP.
fn format(from: Option<Format>, source: &mut Source<'_>) -> Option<Format> {
    from.or_else(|| Format::recognise(&source.start())).filter(|format| format.is_graph())
}

fn read_other(source: Source<'_>, format: Format, how: &How<'_>) -> Result<Application> {
    how.mesh.check_unused()?;
    let name = source.name().to_owned();
    let is_pattern = format.name() == MATRIX_MARKET;
    let collector = Collector::new(None);
    let mut collector = if is_pattern { collector.of_pattern() } else { collector };
    collector.read(source, Some(format))?;
    let (graph, summary) = collector.finish(&TrafficConfig::default())?;
    let weights =
        if is_pattern { "its pattern, each edge of weight 1" } else { "weights summed over both directions" };
    how.console.line(format_args!("{name} is {}: {weights}", format.title()));
    hints::warn_of_traffic(how.console, &summary.notes);
    let text = how.as_text.then(|| text(&graph, None));
    Ok(Application { text, ..Application::of(graph) })
}

/// A graph as a METIS file.
fn text(graph: &CsrGraph, weights: Option<&VertexWeights>) -> String {
    let mut text = Vec::new();
    io::write_several_graph(&mut text, graph, weights, GraphFormat::Metis)
        .expect("memory takes what is written to it");
    String::from_utf8_lossy(&text).into_owned()
}
