//! Writing graphs.

use std::io::{self, Write};

use super::header::{Header, Width};
use crate::metis::GraphContent;
use viem::base::types::Weight;
use viem::graph::CsrGraph;

/// The number of bytes of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParhipWidth {
    /// Eight each, as ParHIP itself reads them.
    Eight,
    /// Four where all numbers of a kind fit, as KaMinPar reads them.
    Least,
}

/// Bytes gathered before they are written.
const CAPACITY: usize = 1 << 16;

/// Gathers numbers and writes them in large pieces.
struct NumberWriter<'a, W: ?Sized> {
    out: &'a mut W,
    buffer: Vec<u8>,
}

impl<W: Write + ?Sized> NumberWriter<'_, W> {
    fn all(&mut self, numbers: impl Iterator<Item = u64>, width: Width) -> io::Result<()> {
        for number in numbers {
            match width {
                Width::Four => self.buffer.extend_from_slice(&(number as u32).to_le_bytes()),
                Width::Eight => self.buffer.extend_from_slice(&number.to_le_bytes()),
            }
            if self.buffer.len() >= CAPACITY {
                self.finish()?;
            }
        }
        self.finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Writes a graph; O(n + m). Reading it gives the same graph if all weights are written or 1.
pub fn write(
    out: &mut (impl Write + ?Sized),
    graph: &CsrGraph,
    content: GraphContent,
    width: ParhipWidth,
) -> io::Result<()> {
    let header = header_of(graph, content, width);
    out.write_all(&header.bytes())?;
    let mut writer = NumberWriter { out, buffer: Vec::with_capacity(CAPACITY + 8) };
    let place = |&offset: &usize| header.first_list() + offset as u64 * header.neighbours.bytes();
    writer.all(graph.offsets().iter().map(place), header.offsets)?;
    writer.all(graph.targets().iter().map(|&target| u64::from(target)), header.neighbours)?;
    if let Some(width) = header.node_weights {
        writer.all(graph.node_weights().iter().map(|&weight| weight as u64), width)?;
    }
    if let Some(width) = header.edge_weights {
        let weights = graph.nodes().flat_map(|node| graph.arcs(node)).map(|(_, weight)| weight as u64);
        writer.all(weights, width)?;
    }
    Ok(())
}

fn header_of(graph: &CsrGraph, content: GraphContent, width: ParhipWidth) -> Header {
    let is_least = width == ParhipWidth::Least;
    let narrow = if is_least { Width::Four } else { Width::Eight };
    let fits = |greatest: Weight| is_least && greatest <= Weight::from(i32::MAX);
    let weights = |greatest: Weight| if fits(greatest) { Width::Four } else { Width::Eight };
    let greatest_node_weight = graph.node_weights().iter().copied().max().unwrap_or(0);
    let greatest_edge_weight =
        || graph.nodes().flat_map(|node| graph.arcs(node)).map(|(_, weight)| weight).max().unwrap_or(0);
    let header = Header {
        num_nodes: graph.num_nodes() as u64,
        num_arcs: graph.num_arcs() as u64,
        offsets: narrow,
        neighbours: narrow,
        node_weights: content.node_weights.then(|| weights(greatest_node_weight)),
        edge_weights: content.edge_weights.then(|| weights(greatest_edge_weight())),
        absent_weights: narrow,
    };
    let is_short = header.end_of_lists() <= u64::from(u32::MAX);
    Header { offsets: if is_short { narrow } else { Width::Eight }, ..header }
}
