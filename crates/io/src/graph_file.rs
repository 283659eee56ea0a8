//! Graphs in any format that is one of graphs, recognised by its content.

use std::io::{self, Write};

use super::metis::{self, GraphContent, GraphNote, GraphRead, NodeWeights};
use super::parhip::{self, ParhipWidth};
use super::{ReadError, Source};
use viem::graph::{CsrGraph, VertexWeights};

/// A format of graph files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GraphFormat {
    /// METIS: text.
    Metis,
    /// The binary format of ParHIP, 64 bits for each number.
    Parhip,
    /// Its extension by KaMinPar: 32 bits for numbers that fit.
    Parhip32,
}

impl GraphFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Metis, Self::Parhip, Self::Parhip32];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Metis => "metis",
            Self::Parhip => "parhip",
            Self::Parhip32 => "parhip32",
        }
    }

    /// Returns whether such files have several weights of a vertex.
    pub fn has_several_weights(self) -> bool {
        match self {
            Self::Metis => true,
            Self::Parhip | Self::Parhip32 => false,
        }
    }
}

impl std::fmt::Display for GraphFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads a graph in METIS or ParHIP format, or refuses it at its first fault; see [`metis::read`] and [`parhip::read`].
pub fn read_graph(source: Source<'_>, node_weights: NodeWeights) -> Result<CsrGraph, ReadError> {
    read_noted_graph(source, node_weights).map(|(graph, _)| graph)
}

/// Reads a graph as [`read_graph`] does, and says what it leaves out of its file.
pub fn read_noted_graph(
    mut source: Source<'_>,
    node_weights: NodeWeights,
) -> Result<(CsrGraph, Vec<GraphNote>), ReadError> {
    if parhip::is_parhip(&source.start()) {
        parhip::read(source, node_weights).map(|graph| (graph, Vec::new()))
    } else {
        metis::read_noted(source, node_weights)
    }
}

/// Reads a graph as [`read_graph`] does, with all weights of its vertices if each has several; see [`metis::read_several`].
pub fn read_several_graph(mut source: Source<'_>, node_weights: NodeWeights) -> Result<GraphRead, ReadError> {
    if parhip::is_parhip(&source.start()) {
        parhip::read(source, node_weights).map(|graph| (graph, None, Vec::new()))
    } else {
        metis::read_several(source, node_weights)
    }
}

/// Writes a graph, with the weights of vertices or edges unless all of them are 1; O(n + m).
pub fn write_graph(out: &mut (impl Write + ?Sized), graph: &CsrGraph, format: GraphFormat) -> io::Result<()> {
    let mut content = GraphContent::ALL_WEIGHTS;
    content.node_weights = graph.node_weights().iter().any(|&weight| weight != 1);
    content.edge_weights = graph.edge_weights().is_some();
    match format {
        GraphFormat::Metis => metis::write(out, graph, content),
        GraphFormat::Parhip => parhip::write(out, graph, content, ParhipWidth::Eight),
        GraphFormat::Parhip32 => parhip::write(out, graph, content, ParhipWidth::Least),
    }
}

/// Writes a graph as [`write_graph`] does, with all weights of its vertices if they have several and the [format has
/// them](GraphFormat::has_several_weights); O(n + m).
pub fn write_several_graph(
    out: &mut (impl Write + ?Sized),
    graph: &CsrGraph,
    weights: Option<&VertexWeights>,
    format: GraphFormat,
) -> io::Result<()> {
    match weights.filter(|_| format.has_several_weights()) {
        Some(weights) => metis::write_several(out, graph, weights),
        None => write_graph(out, graph, format),
    }
}
