//! Parts of METIS graph files, for those who read one together.
//!
//! A reader of a part first counts its lines with [`count_rows`]; the sums over the parts before give the line and the vertex that it begins
//! with, and [`read`] reads it. What depends on other parts remains to be checked: whether both ends of each edge agree, and the number of edges.

use std::io::{self, Read};

use super::columns::{Arcs, Columns};
use super::fault::{Fault, FaultKind, Faults};
use super::header::Header;
use super::parse::{Before, Keep, Lines, Parser, Rows};
use super::{explanation, pieces};
use crate::recognise::signed;
use crate::scanner::Scanner;
use crate::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::types::{NodeId, Weight};

/// The number of lines of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowCount {
    /// All lines, the last of which need not end.
    pub lines: u64,
    /// Those that are no comments: the header, and a row for each vertex.
    pub rows: u64,
}

/// The start of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartStart {
    /// Its first line, from 1.
    pub line: u64,
    /// The number of lines before that are no comments: the header and the rows before, or nothing.
    pub rows: u64,
    /// True if the file ends with it.
    pub is_last: bool,
}

impl PartStart {
    /// A part that begins with this line, which follows this many lines that are no comments.
    pub fn new(line: u64, rows: u64, is_last: bool) -> Self {
        Self { line, rows, is_last }
    }
}

/// The vertices of a part.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MetisPart {
    /// The start of the arcs of each in `targets`, and the end of the last.
    pub offsets: Vec<usize>,
    /// Heads, counted from 0; ascending for each vertex.
    pub targets: Vec<NodeId>,
    /// The edge weights by arc, if the file has them.
    pub edge_weights: Option<Vec<Weight>>,
    /// The first weight of each vertex, if the file has them.
    pub node_weights: Option<Vec<Weight>>,
    /// The places of all these in the file.
    pub places: MetisPlaces,
}

/// The places of the vertices and arcs of a part.
#[derive(Clone, Debug)]
pub struct MetisPlaces {
    columns: Columns,
    lines: Lines,
    first: usize,
}

impl MetisPlaces {
    /// The line of a vertex of the part, which are counted from 0.
    pub fn line(&self, row: usize) -> u64 {
        self.lines.line(self.first + row)
    }

    /// The column of an arc of the part, given the first arc of its row, and the heads and weights of those from there up to it; O(d).
    pub fn column(&self, start: usize, heads: &[NodeId], weights: Option<&[Weight]>) -> u64 {
        self.columns.of(start, Arcs { heads, weights, first: 1 })
    }
}

/// Counts the lines of a part, which begins with a line; O(bytes).
pub fn count_rows(mut reader: impl Read) -> io::Result<RowCount> {
    let mut count = RowCount::default();
    let mut block = Vec::new();
    loop {
        // The rest of the last line comes first.
        let kept = block.len();
        reader.by_ref().take(BLOCK).read_to_end(&mut block)?;
        let is_end = block.len() == kept;
        let end = match is_end {
            true => block.len(),
            false => block[kept..].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| kept + end + 1),
        };
        let (lines, rows) = pieces::count_lines(&block[..end]);
        let is_open = is_end && end > 0;
        count.lines += lines + u64::from(is_open);
        count.rows += rows as u64 + u64::from(is_open && !block.starts_with(b"%"));
        if is_end {
            return Ok(count);
        }
        block.drain(..end);
    }
}

/// Bytes that are counted at once.
const BLOCK: u64 = 1 << 18;

/// The header of a file, from its start, and line and column of its number of edges; or why there is none that is valid.
///
/// ```
/// use viem_io::Source;
/// use viem_io::metis::part;
///
/// let (header, place) = part::header(Source::new("row", "% a comment\n3 2\n2\n1 3\n2\n".as_bytes())?)?;
/// assert_eq!((header.num_nodes, header.num_edges, place), (3, 2, (2, 3)));
/// let error = part::header(Source::new("none", "3 x\n".as_bytes())?).unwrap_err();
/// assert!(error.to_string().starts_with("none, line 1, column 3: "));
/// # Ok::<(), viem_io::ReadError>(())
/// ```
pub fn header(source: Source<'_>) -> Result<(Header, (u64, u64)), ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    if let Some(reading) = signed(scanner.at_hand()) {
        let kind = FaultKind::OtherFormat { readings: vec![reading] };
        return Err(invalid(&name, 1, 1, kind));
    }
    let (start, is_whole) = (scanner.at_hand().to_vec(), scanner.has_all_at_hand());
    let mut faults = Faults::first();
    let mut parser = Parser { scanner: &mut scanner, faults: &mut faults, lack: None };
    let header = parser.header().continue_value();
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    if let Some((line, kind)) = header.is_none().then(|| explanation(&start, is_whole, 1)).flatten() {
        return Err(invalid(&name, line, 1, kind));
    }
    header.ok_or_else(|| first_of(faults, &name))
}

/// Returns the explanation of the faults of a file that starts like this: that it is no graph, or counts its vertices from 0.
pub fn explain(mut source: Source<'_>) -> Option<ReadError> {
    let start = source.start();
    let name = source.name().to_owned();
    let (line, kind) = explanation(&start, start.len() < Source::START, 1)?;
    Some(invalid(&name, line, 1, kind))
}

/// Reads a part of a file with this header, or refuses it at the first fault of its lines.
///
/// O(bytes), or a logarithmic factor more for rows that are not in ascending order. Memory: 8 bytes for a vertex and its weight each, 4 for an
/// arc, 8 more for its weight, and 4 more where a row is not spelled plainly: in ascending order, with a blank between two numbers.
///
/// ```
/// use viem_io::Source;
/// use viem_io::metis::part;
///
/// let text = "3 2\n2\n1 3\n2\n";
/// let (header, _) = part::header(Source::new("row", text.as_bytes())?)?;
/// // From the line of the second vertex on.
/// assert_eq!(part::count_rows(&text.as_bytes()[..6]).unwrap().rows, 2);
/// let start = part::PartStart::new(3, 2, true);
/// let part = part::read(Source::new("row", &text.as_bytes()[6..])?, header, start)?;
/// assert_eq!((part.offsets, part.targets), (vec![0, 2, 3], vec![0, 2, 1]));
/// # Ok::<(), viem_io::ReadError>(())
/// ```
pub fn read(source: Source<'_>, header: Header, start: PartStart) -> Result<MetisPart, ReadError> {
    let name = source.name().to_owned();
    let first = usize::try_from(start.rows.saturating_sub(1)).unwrap_or(usize::MAX).min(header.num_nodes);
    let mut rows = Rows::new(header, 1, Before { rows: first, ..Before::default() });
    let mut faults = Faults::first();
    let mut scanner = Scanner::new(source);
    scanner.stand_at(start.line, 1);
    scanner.allow_blank_rows(header.num_nodes);
    let mut parser = Parser { scanner: &mut scanner, faults: &mut faults, lack: None };
    // A part of comments only has not even the header.
    if start.rows > 0 || parser.scanner.has_line() {
        let is_open = start.rows > 0 || parser.header().is_continue();
        let _ = is_open.then(|| parser.rows(&mut rows, Keep::FirstWeight, start.is_last));
    }
    let lack = parser.lack;
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    if let Some(source) = lack {
        return Err(ReadError::OutOfMemory { file: name, line: scanner.line(), source });
    }
    if !faults.kept.is_empty() {
        return Err(first_of(faults, &name));
    }
    let Rows { offsets, targets, weights, node_values, columns, lines, .. } = rows;
    Ok(MetisPart {
        offsets,
        targets,
        edge_weights: header.has_edge_weights.then_some(weights),
        node_weights: (header.num_constraints > 0).then_some(node_values),
        places: MetisPlaces { columns, lines, first },
    })
}

/// The fault of a header whose number of edges, at this line and column, is not half of the arcs that all parts have; nothing if it is.
pub fn wrong_count(name: &str, header: Header, place: (u64, u64), arcs: u64) -> Option<ReadError> {
    let declared = header.num_edges;
    let is_wrong = u128::from(declared) * 2 != u128::from(arcs);
    is_wrong.then(|| invalid(name, place.0, place.1, FaultKind::WrongEdgeCount { declared, arcs }))
}

/// An arc that is listed at one end of an edge only, or with different weights at both. Vertices are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unpaired {
    /// Its line and column.
    pub place: (u64, u64),
    /// Tail and head.
    pub ends: (NodeId, NodeId),
    /// Its weight, and that at the other end, 0 if it is missing there.
    pub weights: (Weight, Weight),
    /// The line of the head.
    pub line_of_head: u64,
}

impl Unpaired {
    /// An arc that is at `place`, which is line and column.
    pub fn new(
        place: (u64, u64),
        ends: (NodeId, NodeId),
        weights: (Weight, Weight),
        line_of_head: u64,
    ) -> Self {
        Self { place, ends, weights, line_of_head }
    }

    /// The error of the file that contains it.
    pub fn error(self, name: &str) -> ReadError {
        let Self { place: (line, column), ends, weights: (forward, backward), line_of_head } = self;
        let (node, target) = (u64::from(ends.0) + 1, u64::from(ends.1) + 1);
        let kind = match backward {
            0 => FaultKind::MissingBackwardArc { node, target, target_line: line_of_head },
            _ => FaultKind::UnequalWeights { node, target, forward, backward, backward_line: line_of_head },
        };
        invalid(name, line, column, kind)
    }
}

fn invalid(name: &str, line: u64, column: u64, kind: FaultKind) -> ReadError {
    ReadError::Invalid { file: name.to_owned(), line, column, kind: ContentError::new(kind) }
}

/// The first fault as an error. There is one.
fn first_of(mut faults: Faults, name: &str) -> ReadError {
    let fault = faults.kept.pop();
    let Fault { line, column, kind, .. } = fault.expect("only a fault stops the parser");
    invalid(name, line, column, kind)
}
