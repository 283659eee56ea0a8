//! Partition files: line i holds the block of vertex i, both counted from 0; one number a line.

use std::io::{self, Write};

use super::lines::{self, line_fault};
use crate::{ContentError, ReadError, Source};
use viem::base::types::BlockId;

/// A fault in a partition file. Vertices and blocks are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum PartitionFault {
    #[error("`{text}` is not a block; the line must hold one whole number from 0 to {most}", most = BlockId::MAX - 1)]
    NotABlock { text: String },
    #[error("the line is empty; it must hold the block of vertex {node}")]
    EmptyLine { node: usize },
    #[error("`{text}` is too much; a line holds the block of one vertex")]
    SecondNumber { text: String },
    #[error("the partition ends after {found} of {expected} vertices; give each vertex of the graph a line")]
    TooFewLines { found: usize, expected: usize },
    #[error("the partition goes on after {expected} vertices, which is all that the graph has")]
    TooManyLines { expected: usize },
}

line_fault!(PartitionFault, NotABlock, node);

/// Reads the block of each of `num_nodes` vertices, or of as many as there are; O(n), 4 bytes a vertex.
///
/// ```
/// use viem_io::{Source, partition};
///
/// assert_eq!(partition::read(Source::new("old", "1\n0\n1\n".as_bytes())?, None)?, [1, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_nodes: Option<usize>) -> Result<Vec<BlockId>, ReadError> {
    let take = |number: u64| match BlockId::try_from(number) {
        Ok(block) if block < BlockId::MAX => Ok(block),
        _ => Err(PartitionFault::NotABlock { text: number.to_string() }),
    };
    lines::read(source, num_nodes, take, ContentError::new)
}

/// Writes the block of each vertex; O(n).
pub fn write(out: &mut (impl Write + ?Sized), blocks: &[BlockId]) -> io::Result<()> {
    super::digits::write_lines(out, blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_faults_are_told_where_they_are() {
        let source = |text: &'static str| Source::new("test", text.as_bytes()).unwrap();
        let mut text = Vec::new();
        write(&mut text, &[3, 0, 12]).unwrap();
        assert_eq!(read(Source::new("test", &text[..]).unwrap(), Some(3)).unwrap(), [3, 0, 12]);
        let fault = |text, expected| match read(source(text), expected).unwrap_err() {
            ReadError::Invalid { line, column, kind, .. } => {
                (line, column, kind.fault::<PartitionFault>().unwrap().clone())
            }
            error => panic!("{error}"),
        };
        let not_a_block = |text: &str| PartitionFault::NotABlock { text: text.to_owned() };
        assert_eq!(fault("0\nx\n", None), (2, 1, not_a_block("x")));
        assert_eq!(fault("4294967295\n", None), (1, 1, not_a_block("4294967295")));
        assert_eq!(fault("0\n", Some(2)), (2, 1, PartitionFault::TooFewLines { found: 1, expected: 2 }));
        assert_eq!(fault("0\n1\n", Some(1)), (2, 1, PartitionFault::TooManyLines { expected: 1 }));
        assert_eq!(fault("0\n\n1\n", None).2, PartitionFault::EmptyLine { node: 1 });
        assert_eq!(fault("0 1\n", None), (1, 3, PartitionFault::SecondNumber { text: "1".to_owned() }));
        assert_eq!(read(source(""), None).unwrap(), [0; 0]);
    }
}
