//! METIS graph files.
//!
//! A header `n m [format [weights per vertex]]`, then a line for each vertex: its size and its weights if
//! the format declares them, then its neighbours, counted from 1, each followed by the weight of the edge
//! if the format declares those. The format is up to three digits 0 or 1: vertex sizes, vertex weights,
//! edge weights. Lines that start with `%` are comments, wherever they are. An empty line is a vertex
//! without neighbours. Lines may end with CR LF, and the last need not end at all; blank lines after the
//! last vertex are accepted. Weights of vertices are 0 or more, of edges 1 or more, all below 2^63.
//! (Karypis, "METIS: a software package for partitioning unstructured graphs", manual of version 5.)
//!
//! | member | purpose |
//! |---|---|
//! | [`read`] | the graph, or the first fault |
//! | [`check`] | all faults |
//! | [`repair`] | repairs what can be repaired safely |
//! | [`part`] | parts of files, for those who read one together |
//! | [`write()`] | writes a graph |
//!
//! All of them share one parser, so a file is valid exactly if it can be read.

mod columns;
mod fault;
mod header;
pub(super) mod parse;
pub mod part;
mod pieces;
mod repair;
mod write;

pub use fault::{Fault, FaultKind, Role};
pub use header::{GraphNote, Header};
pub use repair::{Changes, Repair, RepairError, RepairedGraph, repair};
pub use write::{GraphContent, write, write_several};

use self::fault::Faults;
use self::parse::{Keep, Parser, Rows, counts_from_zero};
use super::scanner::Scanner;
use super::source::read_error;
use crate::reading::Reading;
use crate::recognise::{readings, signed};
use crate::{ContentError, ReadError, Source};
use viem::base::threads;
use viem::base::types::Weight;
use viem::graph::{CsrGraph, VertexWeights};

/// The use of the weights of vertices. They are checked in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeWeights {
    /// Take the first weight of each vertex; 1 if the file has none.
    Read,
    /// Let each vertex weigh 1. The weights in the file are ignored, so their sum may overflow.
    Ignore,
    /// Take the weights if there are more vertices than this, else let each vertex weigh 1.
    ReadBeyond(usize),
}

impl NodeWeights {
    /// The parts of a file that are kept; `all` weights of each vertex, or the first.
    fn kept(self, all: bool) -> Keep {
        match (self, all) {
            (Self::Read, false) => Keep::FirstWeight,
            (Self::Read, true) => Keep::AllWeights,
            (Self::Ignore, _) => Keep::Nothing,
            (Self::ReadBeyond(most), false) => Keep::FirstWeightBeyond(most),
            (Self::ReadBeyond(most), true) => Keep::AllWeightsBeyond(most),
        }
    }
}

/// Reads a graph, or refuses it at its first fault. Neighbours come out in ascending order.
///
/// O(n + m) if the lines list neighbours in ascending order, otherwise sorting each adds a logarithmic
/// factor in its length. Peak memory: 16n + 16 · 2m bytes, or 16n + 8 · 2m if
/// the edges have no weights.
///
/// ```
/// use viem_io::Source;
/// use viem_io::metis::{NodeWeights, read};
///
/// // Three vertices in a row: two edges.
/// let graph = read(Source::new("row", "3 2\n2\n1 3\n2\n".as_bytes())?, NodeWeights::Ignore)?;
/// assert_eq!((graph.num_nodes(), graph.num_edges()), (3, 2));
/// // A fault has its place.
/// let error = read(Source::new("bad", "2 1\n3\n1\n".as_bytes())?, NodeWeights::Ignore).unwrap_err();
/// assert!(error.to_string().starts_with("bad, line 2, column 1: "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, node_weights: NodeWeights) -> Result<CsrGraph, ReadError> {
    read_noted(source, node_weights).map(|(graph, _)| graph)
}

/// Reads a graph, and says what it leaves out of its file; see [`read`].
pub fn read_noted(
    source: Source<'_>,
    node_weights: NodeWeights,
) -> Result<(CsrGraph, Vec<GraphNote>), ReadError> {
    let (graph, _, notes) = read_kept(source, node_weights.kept(false))?;
    Ok((graph, notes))
}

/// Reads a graph with all weights of its vertices, if each has several and they are taken, and says what is left out otherwise; see [`read`]. The
/// graph itself has the first of them.
///
/// ```
/// use viem_io::Source;
/// use viem_io::metis::{NodeWeights, read_several};
///
/// // Two vertices with two weights each.
/// let source = Source::new("pair", "2 1 010 2\n5 3 2\n4 0 1\n".as_bytes())?;
/// let (graph, weights, _) = read_several(source, NodeWeights::Read)?;
/// assert_eq!((graph.node_weights(), weights.unwrap().of(1)), (&[5, 4][..], &[4, 0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_several(source: Source<'_>, node_weights: NodeWeights) -> Result<GraphRead, ReadError> {
    read_kept(source, node_weights.kept(true))
}

/// A graph, all weights of its vertices if each has several and they are kept, and what is left out.
pub type GraphRead = (CsrGraph, Option<VertexWeights>, Vec<GraphNote>);

fn read_kept(source: Source<'_>, keep: Keep) -> Result<GraphRead, ReadError> {
    let name = source.name().to_owned();
    let mut faults = Faults::first();
    let rows = parse_source(source, keep, &mut faults, |_, _| 1)?;
    if let Some(Fault { line, column, kind, .. }) = faults.kept.pop() {
        return Err(ReadError::Invalid { file: name, line, column, kind: ContentError::new(kind) });
    }
    let mut rows = rows.expect("only a fault stops the parser");
    let weights = several_weights(&mut rows, keep, &name)?;
    let notes = if weights.is_some() { Vec::new() } else { rows.header.notes() };
    let n = rows.header.num_nodes;
    let ones = |count| {
        let out_of_memory =
            |source| ReadError::OutOfMemory { file: name.clone(), line: n as u64 + 1, source };
        threads::filled(count, 1).map_err(out_of_memory)
    };
    let node_weights = if rows.node_values.is_empty() { ones(n)? } else { rows.node_values };
    let graph = if rows.header.has_edge_weights {
        CsrGraph::from_symmetric(rows.offsets, rows.targets, rows.weights, node_weights)
    } else {
        CsrGraph::from_symmetric_unweighted(rows.offsets, rows.targets, node_weights)
    };
    Ok((graph.expect("the parser has proven the sums"), weights, notes))
}

/// Takes all weights of the vertices from the rows, if there are several, and leaves the first of each.
fn several_weights(rows: &mut Rows, keep: Keep, name: &str) -> Result<Option<VertexWeights>, ReadError> {
    let count = rows.header.num_constraints as usize;
    let are_kept = matches!(keep, Keep::AllWeights | Keep::AllWeightsBeyond(_)) && count > 1;
    if !are_kept || rows.node_values.is_empty() {
        return Ok(None);
    }
    let first = rows.node_values.iter().step_by(count).copied().collect();
    let values = std::mem::replace(&mut rows.node_values, first);
    if let Some(node) = first_overflow(&values, count) {
        let kind = ContentError::new(FaultKind::NodeWeightOverflow);
        let line = rows.lines.line(node);
        return Err(ReadError::Invalid { file: name.to_owned(), line, column: 1, kind });
    }
    Ok(Some(VertexWeights::new(count, values).expect("the parser has checked each weight")))
}

/// The first vertex with which the sum of a weight does not fit, if there is one.
fn first_overflow(values: &[Weight], count: usize) -> Option<usize> {
    let mut sums: Vec<Weight> = vec![0; count];
    let overflows = |row: &[Weight]| {
        sums.iter_mut().zip(row).any(|(sum, value)| {
            let (after, overflows) = sum.overflowing_add(*value);
            *sum = after;
            overflows
        })
    };
    values.chunks_exact(count).position(overflows)
}

/// The header of a file that starts with these bytes; nothing if it is not valid, or does not end there.
pub fn header(start: &[u8]) -> Option<Header> {
    let (mut scanner, mut faults) = (Scanner::new(start), Faults::first());
    let mut parser = Parser { scanner: &mut scanner, faults: &mut faults, lack: None };
    parser.header().continue_value().map(|(header, _)| header)
}

/// The result of [`check`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckReport {
    /// The header, if it is valid.
    pub header: Option<Header>,
    /// The first faults: those of single lines in the order of the file, then those of edges whose ends
    /// disagree, then those of the whole.
    pub faults: Vec<Fault>,
    /// Number of faults found, kept or not.
    pub num_faults: u64,
}

impl CheckReport {
    /// Returns whether the file is a valid graph.
    pub fn is_valid(&self) -> bool {
        self.num_faults == 0
    }
}

/// Finds every fault of a graph file, keeps the first `max_faults` and counts the rest.
///
/// As fast as [`read`]. A fault in the header ends the search. Weights of vertices may sum to any
/// number: only programs that add them care.
pub fn check(source: Source<'_>, max_faults: usize) -> Result<CheckReport, ReadError> {
    let mut faults = Faults::all(max_faults);
    let rows = parse_source(source, Keep::Nothing, &mut faults, |_, _| 1)?;
    Ok(CheckReport { header: rows.map(|rows| rows.header), faults: faults.kept, num_faults: faults.total })
}

/// Parses a file whose first vertex has the number that its start shows. If it is no graph, what it is comes instead of all its
/// faults.
fn parse_source(
    source: Source<'_>,
    keep: Keep,
    faults: &mut Faults,
    first: impl FnOnce(&[u8], bool) -> u64,
) -> Result<Option<Rows>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let (start, is_whole) = (scanner.at_hand().to_vec(), scanner.has_all_at_hand());
    if let Some(reading) = signed(&start) {
        let _ = faults.add(1, 1, FaultKind::OtherFormat { readings: vec![reading] }, String::new);
        return scanner.failure().map_or(Ok(None), |error| Err(read_error(&name, error, 1, 1)));
    }
    let first = first(&start, is_whole);
    let rows = pieces::parse(&mut scanner, keep, first, faults);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    let rows = rows.map_err(|source| ReadError::OutOfMemory { file: name, line: scanner.line(), source })?;
    if faults.total == 0 {
        return Ok(rows);
    }
    let Some((line, kind)) = explanation(&start, is_whole, first) else { return Ok(rows) };
    let is_repairable = kind.is_repairable();
    faults.replace(Fault { line, column: 1, text: String::new(), kind });
    Ok(rows.filter(|_| is_repairable))
}

/// Returns the kind of a file that is no graph, and the line that shows it: this explains all its faults.
fn explanation(start: &[u8], is_whole: bool, first: u64) -> Option<(u64, FaultKind)> {
    let is_comment = |line: &&[u8]| line.starts_with(b"%");
    let line = start.split(|&byte| byte == b'\n').take_while(is_comment).count() as u64 + 1;
    if first == 1 && counts_from_zero(start, is_whole) {
        return Some((line, FaultKind::CountsFromZero));
    }
    let readings = readings(start, is_whole);
    let is_other = first == 1 && !readings.is_empty() && !readings.contains(&Reading::GRAPH);
    is_other.then_some((line, FaultKind::OtherFormat { readings }))
}
