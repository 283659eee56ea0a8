//! Index files: line i holds the position of vertex i in an order of all vertices, both counted from 0; one number a line.

use std::io::{self, Write};

use super::lines::{self, LineFault, Words};
use crate::{ReadError, Source};
use viem::base::memory;
use viem::base::types::NodeId;

const WORDS: Words = Words::of_vertices(
    "position",
    "the line must hold one whole number from 0 on, below the number of vertices",
    ("the index ends", "the index goes on"),
);

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
            None => Err(WORDS.not_a_value(number)),
            Some(true) => Err(LineFault::Line(format!(
                "two vertices have position {number}; an index gives each position to one vertex"
            ))),
            Some(false) => Ok(number as NodeId),
        }
    };
    lines::read(source, Some(num_nodes), &WORDS, take)
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
        assert_eq!(read(Source::new("test", "2\n0\n1\n\n".as_bytes()).unwrap(), 3).unwrap(), [2, 0, 1]);
        let cases = [
            ("0\n3\n", 2, 1, "`3` is not a position; the line must hold one whole number from 0 on, below"),
            ("0\n-1\n", 2, 1, "`-1` is not a position"),
            ("0\n2\n0\n", 3, 1, "two vertices have position 0"),
            ("0\n\n", 2, 1, "it must hold the position of vertex 1"),
            ("0 1\n", 1, 3, "`1` is too much"),
            ("0\n1\n", 3, 1, "the index ends after 2 of 3 vertices"),
            ("0\n1\n2\n0\n", 4, 1, "the index goes on after 3 vertices"),
        ];
        lines::check_faults(|source| read(source, 3), &cases);
    }
}
