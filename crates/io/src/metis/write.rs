//! Writing graphs.

use std::io::{self, Write};

use super::header::Header;
use crate::digits::DigitWriter;
use viem::base::types::{NodeId, Weight};
use viem::graph::{CsrGraph, VertexWeights};

/// The weights that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphContent {
    /// True if the weights of the vertices are written.
    pub node_weights: bool,
    /// True if the weights of the edges are written.
    pub edge_weights: bool,
}

impl GraphContent {
    /// Both kinds of weights: format 11.
    pub const ALL_WEIGHTS: Self = Self { node_weights: true, edge_weights: true };
    /// The weights of the edges only: format 1.
    pub const EDGE_WEIGHTS: Self = Self { node_weights: false, edge_weights: true };
    /// No weights: format 0.
    pub const NO_WEIGHTS: Self = Self { node_weights: false, edge_weights: false };
}

/// Writes a graph; O(n + m). Reading it gives the same graph if all weights are written or 1.
pub fn write(out: &mut (impl Write + ?Sized), graph: &CsrGraph, content: GraphContent) -> io::Result<()> {
    let header = Header {
        num_nodes: graph.num_nodes(),
        num_edges: graph.num_edges() as u64,
        has_node_sizes: false,
        num_constraints: u64::from(content.node_weights),
        has_edge_weights: content.edge_weights,
    };
    let values = if content.node_weights { graph.node_weights() } else { &[] };
    write_rows(out, header, values, |node| graph.arcs(node))
}

/// Writes a graph with several weights of its vertices, and the weights of its edges unless all are 1; O(n + m). Reading it with
/// [`read_several`](super::read_several) gives the same graph and weights.
pub fn write_several(
    out: &mut (impl Write + ?Sized),
    graph: &CsrGraph,
    weights: &VertexWeights,
) -> io::Result<()> {
    let header = Header {
        num_nodes: graph.num_nodes(),
        num_edges: graph.num_edges() as u64,
        has_node_sizes: false,
        num_constraints: weights.num_weights() as u64,
        has_edge_weights: graph.edge_weights().is_some(),
    };
    write_rows(out, header, weights.values(), |node| graph.arcs(node))
}

/// Writes a header, and for each vertex its `values` and its arcs.
pub(super) fn write_rows<A: Iterator<Item = (NodeId, Weight)>>(
    out: &mut (impl Write + ?Sized),
    header: Header,
    values: &[Weight],
    arcs: impl Fn(NodeId) -> A,
) -> io::Result<()> {
    let mut digits = DigitWriter::new(out);
    digits.number(header.num_nodes as u64);
    digits.byte(b' ');
    digits.number(header.num_edges);
    let format = [header.has_node_sizes, header.num_constraints > 0, header.has_edge_weights];
    if format.contains(&true) {
        digits.byte(b' ');
        let first = format.iter().position(|&is_set| is_set).unwrap_or(0);
        for &is_set in &format[first..] {
            digits.byte(if is_set { b'1' } else { b'0' });
        }
    }
    if header.num_constraints > 1 {
        digits.byte(b' ');
        digits.number(header.num_constraints);
    }
    digits.byte(b'\n');
    let values_per_node = values.len() / header.num_nodes.max(1);
    for node in 0..header.num_nodes {
        let own = &values[node * values_per_node..(node + 1) * values_per_node];
        let arcs = arcs(node as NodeId).flat_map(|(target, weight)| {
            let weight = header.has_edge_weights.then_some(weight as u64);
            [Some(u64::from(target) + 1), weight].into_iter().flatten()
        });
        for (index, number) in own.iter().map(|&value| value as u64).chain(arcs).enumerate() {
            if index > 0 {
                digits.byte(b' ');
            }
            digits.number(number);
        }
        digits.byte(b'\n');
        digits.relieve()?;
    }
    digits.finish()
}
