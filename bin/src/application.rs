//! Graphs that are divided or converted: METIS or ParHIP files, or graphs in other formats.

use std::sync::LazyLock;

use crate::console::Console;
use crate::error::Result;
use crate::files;
use crate::hints;
use viem::graph::{CsrGraph, VertexWeights};
use viem_io as io;
use viem_io::Source;
use viem_io::metis::NodeWeights;
use viem_traffic::{Collector, Format, TrafficConfig};

/// The format of a graph of which each entry of a matrix is an edge.
const MATRIX_MARKET: &str = "mtx";

/// The formats of graphs that are no recorded traffic.
pub(crate) static FORMATS: LazyLock<Vec<Format>> =
    LazyLock::new(|| Format::ALL.into_iter().filter(|format| format.is_graph()).collect());

/// A graph that is divided or converted.
pub(crate) struct Application {
    pub(crate) graph: CsrGraph,
    /// All weights of the vertices, if they have several.
    pub(crate) weights: Option<VertexWeights>,
    /// Whether the file is in METIS or ParHIP format.
    pub(crate) is_metis: bool,
    /// The graph as a METIS file, if the one that was read is none.
    pub(crate) text: Option<String>,
}

impl Application {
    /// Says that all weights of the vertices but the first are left out, if there are others.
    pub(crate) fn leave_weights(&mut self, name: &str, console: Console) {
        if let Some(weights) = self.weights.take() {
            files::warn_of_weights(name, &weights, console);
        }
    }
}

/// The format of a graph, if it is not METIS or ParHIP.
fn format(from: Option<Format>, source: &mut Source<'_>) -> Option<Format> {
    from.or_else(|| Format::recognise(&source.start())).filter(|format| format.is_graph())
}

/// Reads the graph, and prints what was made of a file that is not METIS. `from` is what it is, where that was said; `as_text`: whether
/// it is needed as a METIS file, too.
pub(crate) fn read(
    mut source: Source<'_>,
    (from, as_text): (Option<Format>, bool),
    threads: usize,
    console: Console,
) -> Result<Application> {
    let Some(format) = format(from, &mut source) else {
        let (graph, weights) = files::read_several(source, NodeWeights::Read, threads, console)?;
        return Ok(Application { graph, weights, is_metis: true, text: None });
    };
    let name = source.name().to_owned();
    let is_pattern = format.name() == MATRIX_MARKET;
    let collector = Collector::new(None);
    let mut collector = if is_pattern { collector.of_pattern() } else { collector };
    collector.read(source, Some(format))?;
    let (graph, summary) = collector.finish(&TrafficConfig::default())?;
    let weights =
        if is_pattern { "its pattern, each edge of weight 1" } else { "weights summed over both directions" };
    console.line(format_args!("{name} is {}: {weights}", format.title()));
    hints::warn_of_traffic(console, &summary.notes);
    let mut text = Vec::new();
    if as_text {
        io::metis::write(&mut text, &graph, io::metis::GraphContent::EDGE_WEIGHTS)
            .expect("memory takes what is written to it");
    }
    Ok(Application {
        graph,
        weights: None,
        is_metis: false,
        text: as_text.then(|| String::from_utf8_lossy(&text).into_owned()),
    })
}
