//! Index files: line i holds the position of vertex i in an order of all vertices, both counted from 0; one number a line.

use std::io::{self, Write};

use super::lines::{self, line_fault};
use crate::{ContentError, ReadError, Source};
use viem::base::memory;
use viem::base::types::NodeId;

/// A fault in an index file. Vertices and positions are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum IndexFault {
    #[error(
        "`{text}` is not a position; the line must hold one whole number from 0 on, below the number of vertices"
    )]
    NotAPosition { text: String },
    #[error("two vertices have position {position}; an index gives each position to one vertex")]
    PositionTaken { position: NodeId },
    #[error("the line is empty; it must hold the position of vertex {node}")]
    EmptyLine { node: usize },
    #[error("`{text}` is too much; a line holds the position of one vertex")]
    SecondNumber { text: String },
    #[error("the index ends after {found} of {expected} vertices; give each vertex of the graph a line")]
    TooFewLines { found: usize, expected: usize },
    #[error("the index goes on after {expected} vertices, which is all that the graph has")]
    TooManyLines { expected: usize },
}

line_fault!(IndexFault, NotAPosition, node);

/// Reads the position of each of `num_nodes` vertices, each position once; O(n), 4 bytes and a bit a vertex.
///
/// ```
/// use viem_io::{Source, index};
///
/// assert_eq!(index::read(Source::new("reversed", "1\n0\n".as_bytes())?, 2)?, [1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_nodes: usize) -> Result<Vec<NodeId>, ReadError> {
    let out_of_memory =
        |error| ReadError::OutOfMemory { file: source.name().to_owned(), line: 1, source: error };
    let mut is_taken = memory::filled(num_nodes, false).map_err(out_of_memory)?;
    let take = |number: u64| {
        let place = usize::try_from(number).ok().and_then(|position| is_taken.get_mut(position));
        match place.map(|is_taken| std::mem::replace(is_taken, true)) {
            None => Err(IndexFault::NotAPosition { text: number.to_string() }),
            Some(true) => Err(IndexFault::PositionTaken { position: number as NodeId }),
            Some(false) => Ok(number as NodeId),
        }
    };
    lines::read(source, Some(num_nodes), take, ContentError::new)
}

/// Writes the position of each vertex; O(n).
pub fn write(out: &mut (impl Write + ?Sized), positions: &[NodeId]) -> io::Result<()> {
    super::digits::write_lines(out, positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_order_is_refused_where_it_fails() {
        let fault = |text: &str| match read(Source::new("test", text.as_bytes()).unwrap(), 3).unwrap_err() {
            ReadError::Invalid { line, column, kind, .. } => {
                (line, column, kind.fault::<IndexFault>().unwrap().clone())
            }
            error => panic!("{error}"),
        };
        assert_eq!(read(Source::new("test", "2\n0\n1\n\n".as_bytes()).unwrap(), 3).unwrap(), [2, 0, 1]);
        assert_eq!(fault("0\n3\n"), (2, 1, IndexFault::NotAPosition { text: "3".to_owned() }));
        assert_eq!(fault("0\n-1\n"), (2, 1, IndexFault::NotAPosition { text: "-1".to_owned() }));
        assert_eq!(fault("0\n2\n0\n"), (3, 1, IndexFault::PositionTaken { position: 0 }));
        assert_eq!(fault("0\n\n"), (2, 1, IndexFault::EmptyLine { node: 1 }));
        assert_eq!(fault("0 1\n"), (1, 3, IndexFault::SecondNumber { text: "1".to_owned() }));
        assert_eq!(fault("0\n1\n"), (3, 1, IndexFault::TooFewLines { found: 2, expected: 3 }));
        assert_eq!(fault("0\n1\n2\n0\n"), (4, 1, IndexFault::TooManyLines { expected: 3 }));
    }
}
