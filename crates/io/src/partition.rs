//! Partition files: line i holds the block of vertex i, both counted from 0; one number a line.

use std::io::{self, Write};

use super::lines::{self, Words};
use crate::{ReadError, Source};
use viem::base::types::BlockId;

const WORDS: Words = Words::of_vertices(
    "block",
    "the line must hold one whole number from 0 to 4294967294",
    ("the partition ends", "the partition goes on"),
);

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
        _ => Err(WORDS.not_a_value(number)),
    };
    lines::read(source, num_nodes, &WORDS, take)
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
        let cases = [
            ("0\nx\n", 2, 1, "`x` is not a block; the line must hold one whole number from 0 to 4294967294"),
            ("4294967295\n", 1, 1, "`4294967295` is not a block"),
            ("0\n\n1\n", 3, 1, "it must hold the block of vertex 1"),
            ("0 1\n", 1, 3, "`1` is too much; a line holds the block of one vertex"),
        ];
        lines::check_faults(|source| read(source, None), &cases);
        let ends = ("0\n", 2, 1, "the partition ends after 1 of 2 vertices");
        lines::check_faults(|source| read(source, Some(2)), &[ends]);
        let goes_on = ("0\n1\n", 2, 1, "the partition goes on after 1 vertex,");
        lines::check_faults(|source| read(source, Some(1)), &[goes_on]);
        assert_eq!(read(source(""), None).unwrap(), [0; 0]);
    }
}
