//! Files of parents: line i holds the vertex of an older graph that vertex i comes from, both counted from 0; one number a line.

use super::lines::{self, line_fault};
use crate::{ContentError, ReadError, Source};
use viem::base::types::NodeId;

/// A fault in a file of parents. Vertices are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ParentsFault {
    #[error(
        "`{text}` is not a parent; the line must hold one whole number from 0 on, a vertex of the older graph"
    )]
    NotAParent { text: String },
    #[error("there is no parent {parent}; the older partition has {num_parents} vertices, from 0 on")]
    NoSuchParent { parent: u64, num_parents: usize },
    #[error("the line is empty; it must hold the parent of vertex {node}")]
    EmptyLine { node: usize },
    #[error("`{text}` is too much; a line holds the parent of one vertex")]
    SecondNumber { text: String },
    #[error("the parents end after {found} of {expected} vertices; give each vertex of the graph a line")]
    TooFewLines { found: usize, expected: usize },
    #[error("the parents go on after {expected} vertices, which is all that the graph has")]
    TooManyLines { expected: usize },
}

line_fault!(ParentsFault, NotAParent, node);

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
        _ => Err(ParentsFault::NoSuchParent { parent, num_parents }),
    };
    lines::read(source, Some(num_nodes), take, ContentError::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_told_where_they_are() {
        let fault = |text: &str| match read(Source::new("test", text.as_bytes()).unwrap(), 3, 2).unwrap_err()
        {
            ReadError::Invalid { line, column, kind, .. } => {
                (line, column, kind.fault::<ParentsFault>().unwrap().clone())
            }
            error => panic!("{error}"),
        };
        assert_eq!(fault("0\n2\n"), (2, 1, ParentsFault::NoSuchParent { parent: 2, num_parents: 2 }));
        assert_eq!(fault("0\n-1\n"), (2, 1, ParentsFault::NotAParent { text: "-1".to_owned() }));
        assert_eq!(fault("0\n\n1\n"), (2, 1, ParentsFault::EmptyLine { node: 1 }));
        assert_eq!(fault("0 1\n"), (1, 3, ParentsFault::SecondNumber { text: "1".to_owned() }));
        assert_eq!(fault("0\n1\n"), (3, 1, ParentsFault::TooFewLines { found: 2, expected: 3 }));
        assert_eq!(fault("0\n1\n1\n1\n"), (4, 1, ParentsFault::TooManyLines { expected: 3 }));
    }
}
