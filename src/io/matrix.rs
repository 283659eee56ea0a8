//! Matrices: n rows of n whole numbers, with blanks and line ends between them as one likes; or with commas or semicolons.
//!
//! The number n may stand before them. What starts with `#` or `%` is a comment, up to the end of its line.

use super::fields::{FieldFault, Fields, Misplaced, Place};
use super::scanner::Token;
use crate::ground::types::Distance;
use crate::io::{ContentError, ReadError, Source};

/// A matrix of as many rows as columns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matrix {
    /// Number of rows.
    pub num_rows: usize,
    /// Row by row.
    pub entries: Vec<Distance>,
}

/// What is wrong with a matrix file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MatrixFault {
    #[error(transparent)]
    Field(#[from] FieldFault),
    #[error("the line ends a row of {found} numbers, but the first row has {expected}")]
    Uneven { found: usize, expected: usize },
    #[error("the file ends after {entries} numbers, which is not n times n for any n")]
    NotSquare { entries: usize },
}

/// Reads a matrix; time and memory for what stands there. Whether it is symmetric is not asked.
pub fn read(source: Source<'_>) -> Result<Matrix, ReadError> {
    let mut fields = Fields::new(source.with_blanks_for_separators());
    let result = matrix(&mut fields);
    fields.finish(result, ContentError::Matrix)
}

fn matrix(fields: &mut Fields<'_>) -> Result<Matrix, Misplaced<MatrixFault>> {
    let (mut entries, mut rows) = (Vec::new(), Rows::default());
    loop {
        let token = fields.next();
        if token == Token::End && !entries.is_empty() {
            break;
        }
        entries.push(fields.number_of(token, "a distance", 0, Distance::MAX as u64)? as Distance);
        rows.count(fields.place());
    }
    // A number of rows before the rows makes one number more than a square.
    if square_root(entries.len() - 1).is_some_and(|rows| rows > 0 && entries[0] as u64 == rows as u64) {
        entries.remove(0);
    }
    let not_square = fields.fault(MatrixFault::NotSquare { entries: entries.len() });
    match square_root(entries.len()) {
        Some(num_rows) => Ok(Matrix { num_rows, entries }),
        None => Err(rows.uneven().unwrap_or(not_square)),
    }
}

/// The number of which this is the square.
fn square_root(square: usize) -> Option<usize> {
    let root = square.isqrt();
    (root * root == square).then_some(root)
}

/// How many numbers the lines hold, for messages.
#[derive(Default)]
struct Rows {
    /// The last number, and how many its line holds up to it.
    last: Option<Place>,
    found: usize,
    /// Numbers of the first line.
    expected: Option<usize>,
    fault: Option<Misplaced<MatrixFault>>,
}

impl Rows {
    fn count(&mut self, place: Place) {
        if self.last.is_some_and(|last| last.line != place.line) {
            self.end_row();
            self.found = 0;
        }
        self.found += 1;
        self.last = Some(place);
    }

    fn end_row(&mut self) {
        let expected = *self.expected.get_or_insert(self.found);
        if let (Some(place), None, true) = (self.last, &self.fault, self.found != expected) {
            let fault = MatrixFault::Uneven { found: self.found, expected };
            self.fault = Some(Misplaced { place, fault });
        }
    }

    /// The first line that is longer or shorter than the first.
    fn uneven(mut self) -> Option<Misplaced<MatrixFault>> {
        self.end_row();
        self.fault
    }
}
