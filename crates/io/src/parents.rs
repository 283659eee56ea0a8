//! Files of parents: line i holds the vertex of an older graph that vertex i comes from, both counted from 0; one number a line.

use super::lines::{self, LineFault, Words};
use crate::{ReadError, Source};
use viem::base::text::counted;
use viem::base::types::NodeId;

const WORDS: Words = Words::of_vertices(
    "parent",
    "the line must hold one whole number from 0 on, a vertex of the older graph",
    ("the parents end", "the parents go on"),
);

/// Reads the parent of each of `num_nodes` vertices, one of `num_parents`; O(n), 4 bytes a vertex.
///
/// ```
/// use viem_io::{Source, parents};
///
/// let source = Source::new("refined", "0\n1\n1\n".as_bytes())?;
/// assert_eq!(parents::read(source, 3, 2)?, [0, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_nodes: usize, num_parents: usize) -> Result<Vec<NodeId>, ReadError> {
    let take = |parent: u64| match NodeId::try_from(parent) {
        Ok(node) if (node as usize) < num_parents => Ok(node),
        _ => Err(LineFault::Line(format!(
            "there is no parent {parent}; the older partition has {}, from 0 on",
            counted(num_parents, "vertex", "vertices")
        ))),
    };
    lines::read(source, Some(num_nodes), &WORDS, take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_where_they_are() {
        let cases = [
            ("0\n2\n", 2, 1, "there is no parent 2; the older partition has 2 vertices"),
            (
                "0\n-1\n",
                2,
                1,
                "`-1` is not a parent; the line must hold one whole number from 0 on, a vertex",
            ),
            ("0\n\n1\n", 2, 1, "the line is empty; it must hold the parent of vertex 1"),
            ("0 1\n", 1, 3, "`1` is too much; a line holds the parent of one vertex"),
            ("0\n1\n", 3, 1, "the parents end after 2 of 3 vertices; give each vertex of the graph a line"),
            ("0\n1\n1\n1\n", 4, 1, "the parents go on after 3 vertices, which is all that the graph has"),
        ];
        lines::check_faults(|source| read(source, 3, 2), &cases);
    }
}
