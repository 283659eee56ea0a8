//! The application graph: a METIS file, or a graph in another format.

use super::options::Options;
use super::traffic::warn;
use crate::console::Console;
use crate::error::Result;
use crate::files;
use viem::graph::CsrGraph;
use viem_io as io;
use viem_io::Source;
use viem_io::metis::NodeWeights;
use viem_traffic::{Collector, Format, TrafficConfig};

/// The format of a graph of which each entry of a matrix is an edge.
const MATRIX_MARKET: &str = "mtx";

/// A graph that is divided or mapped.
pub(super) struct Application {
    pub(super) graph: CsrGraph,
    /// The graph as a METIS file, if the one that was read is none.
    pub(super) text: Option<String>,
}

/// The format of the application graph, if it is not METIS.
pub(super) fn format(options: &Options, source: &mut Source<'_>) -> Option<Format> {
    options.traffic.from.or_else(|| Format::recognise(&source.start())).filter(|format| format.is_graph())
}

/// Reads the graph, and says what was made of a file that is not METIS.
pub(super) fn read(
    options: &Options,
    mut source: Source<'_>,
    threads: usize,
    console: Console,
) -> Result<Application> {
    let Some(format) = format(options, &mut source) else {
        let graph = files::read_graph(source, NodeWeights::Read, threads, console)?;
        return Ok(Application { graph, text: None });
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
    warn(console, &summary.notes);
    let mut text = Vec::new();
    if options.verify {
        io::metis::write(&mut text, &graph, io::metis::GraphContent::EDGE_WEIGHTS)
            .expect("memory takes what is written to it");
    }
    Ok(Application { graph, text: options.verify.then(|| String::from_utf8_lossy(&text).into_owned()) })
}
