//! Matrices: n rows of n whole numbers, separated by arbitrary whitespace, commas or semicolons.
//!
//! The number n may precede them, or there may be names over the columns and beside the rows, if each row is a line. Text from `#`
//! or `%` is a comment, up to the end of its line.

use super::fields::{FieldFault, Fields, Misplaced, Place};
use super::scanner::Token;
use super::table::{Layout, Table, shortened};
use crate::{ReadError, Source};
use viem::base::number::{self, NumberFault};
use viem::base::text::counted;
use viem::base::types::Distance;

/// A matrix of as many rows as columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// Number of rows.
    pub num_rows: usize,
    /// Row by row.
    pub entries: Vec<Distance>,
}

/// A fault in a matrix file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MatrixFault {
    #[error(transparent)]
    Field(#[from] FieldFault),
    #[error("the line ends a row of {found} numbers, but the first row has {expected}")]
    Uneven { found: usize, expected: usize },
    #[error(
        "the line names {columns}, but the first row has {numbers}",
        numbers = counted(columns, "number", "numbers"),
        columns = counted(names, "column", "columns")
    )]
    Names { names: usize, columns: usize },
    #[error("the file ends after {entries} numbers, which is not n times n for any n")]
    NotSquare { entries: usize },
}

/// Reads a matrix; time and memory grow with the content. It is not checked for symmetry.
pub fn read(source: Source<'_>) -> Result<Matrix, ReadError> {
    let mut fields = Fields::of_numbers(source);
    let layout = fields.layout();
    let result = if layout.has_header || layout.has_labels {
        labelled(&mut fields.table(), layout)
    } else {
        matrix(&mut fields)
    };
    fields.finish(result)
}

fn matrix(fields: &mut Fields<'_>) -> Result<Matrix, Misplaced<MatrixFault>> {
    let (mut entries, mut rows) = (Vec::new(), Rows::default());
    loop {
        let token = fields.token();
        if token == Token::End && !entries.is_empty() {
            break;
        }
        let entry = fields.number_of(token, ENTRY.0, 0, ENTRY.1)? as Distance;
        if !fields.push(&mut entries, entry) {
            break;
        }
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

/// The numbers of a table with names around them.
fn labelled(table: &mut Table<'_, '_>, layout: Layout) -> Result<Matrix, Misplaced<MatrixFault>> {
    let header = if layout.has_header { table.next_row() } else { None };
    let header = header.map(|row| (Place { line: row.number, column: 1 }, row.count_of_table()));
    let (mut entries, mut rows) = (Vec::new(), Rows::default());
    while let Some(mut row) = table.next_row() {
        if layout.has_labels {
            row.next_of_table();
            rows.begin(Place { line: row.number, column: 1 });
        }
        while let Some(field) = row.next_of_table() {
            let place = Place { line: row.number, column: field.column };
            let entry = distance(field.text).map_err(|fault| Misplaced { place, fault: fault.into() })?;
            entries.push(entry);
            rows.count(place);
        }
    }
    if let (Some((place, names)), Some(columns)) = (header, rows.of_first())
        && !layout.fits(names, columns)
    {
        return Err(Misplaced { place, fault: MatrixFault::Names { names, columns } });
    }
    let place = Place { line: table.next_line(), column: 1 };
    let not_square = Misplaced { place, fault: MatrixFault::NotSquare { entries: entries.len() } };
    match rows.uneven() {
        Some(fault) => Err(fault),
        None => square_root(entries.len()).map(|num_rows| Matrix { num_rows, entries }).ok_or(not_square),
    }
}

/// The name of an entry, and the greatest one.
const ENTRY: (&str, u64) = ("a distance", Distance::MAX as u64);

fn distance(text: &[u8]) -> Result<Distance, FieldFault> {
    let (what, greatest) = ENTRY;
    match number::whole(text) {
        Ok(number) if number <= greatest => Ok(number as Distance),
        Ok(number) => Err(FieldFault::OutOfRange { what, number, least: 0, greatest }),
        Err(kind) => {
            let (text, reason) = (shortened(text), NumberFault::from(kind));
            Err(FieldFault::NotANumber { what, text, reason, least: 0, greatest })
        }
    }
}

/// The number of which this is the square.
fn square_root(square: usize) -> Option<usize> {
    let root = square.isqrt();
    (root * root == square).then_some(root)
}

/// Counts the numbers of the lines, for messages.
#[derive(Default)]
struct Rows {
    /// The last number or name of a row, and how many numbers its line holds up to it.
    last: Option<Place>,
    found: usize,
    /// Numbers of the first line.
    expected: Option<usize>,
    fault: Option<Misplaced<MatrixFault>>,
}

impl Rows {
    /// A number or the name of a row is here.
    fn begin(&mut self, place: Place) {
        if self.last.is_some_and(|last| last.line != place.line) {
            self.end_row();
            self.found = 0;
        }
        self.last = Some(place);
    }

    fn count(&mut self, place: Place) {
        self.begin(place);
        self.found += 1;
    }

    fn end_row(&mut self) {
        let expected = *self.expected.get_or_insert(self.found);
        if let (Some(place), None, true) = (self.last, &self.fault, self.found != expected) {
            let fault = MatrixFault::Uneven { found: self.found, expected };
            self.fault = Some(Misplaced { place, fault });
        }
    }

    /// The numbers of the first row, if there is one.
    fn of_first(&self) -> Option<usize> {
        self.expected.or(self.last.map(|_| self.found))
    }

    /// The first line that is longer or shorter than the first.
    fn uneven(mut self) -> Option<Misplaced<MatrixFault>> {
        self.end_row();
        self.fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Matrix, String> {
        read(Source::new("test", text.as_bytes()).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_is_the_same_matrix_however_it_is_written() {
        let expected = Matrix { num_rows: 3, entries: vec![10, 12, 21, 12, 10, 21, 21, 21, 10] };
        for text in [
            "10 12 21\n12 10 21\n21 21 10\n",
            "3\n10 12 21\n12 10 21\n21 21 10\n",
            "3 10 12 21 12 10 21 21 21 10",
            "10.0 1.2e1 21.\r\n12 10 21\r\n21 21 1.0D+01\r\n",
            "10,12,21\n12,10,21\n21,21,10\n",
            "10; 12; 21;\n12; 10; 21;\n21; 21; 10;\n",
            "# distances\nnode 0 1 2\n0: 10 12 21\n1: 12 10 21\n2: 21 21 10\n",
            ",a,b,c\na,10,12,21\nb,12,10,21\nc,21,21,10\n",
            "a b c\n10 12 21\n12 10 21\n21 21 10\n",
            "a 10 12 21\nb 12 10 21\nc 21 21 10\n",
            ",0,1,2\n0,10,12,21\n1,12,10,21\n2,21,21,10\n",
        ] {
            assert_eq!(read_text(text), Ok(expected.clone()), "{text:?}");
        }
    }

    #[test]
    fn faults_are_told_where_they_are() {
        for (text, message) in [
            ("0 1\n1.5 0\n", "test, line 2, column 1: `1.5` is not a whole number"),
            ("a,b\n0,1\n1,x\n", "test, line 3, column 3: `x` is not a number"),
            (
                "a,b\n0,1\n1,0,5\n",
                "test, line 3, column 5: the line ends a row of 3 numbers, but the first row has 2",
            ),
            ("a,b\n0,1\n", "test, line 3, column 1: the file ends after 2 numbers"),
            (
                "# us\na,b,c\n0,1\n1,0\n",
                "test, line 2, column 1: the line names 3 columns, but the first row has 2 numbers",
            ),
            (
                "distances\na,0,7\nb,7,0\n",
                "test, line 1, column 1: the line names 1 column, but the first row has 2 numbers",
            ),
            (
                ",a,b\na,0,1\nb,1,0\nc\n",
                "test, line 4, column 1: the line ends a row of 0 numbers, but the first row has 2",
            ),
            ("0,1\n1,,0\n", "test, line 2, column 3: `` is not a number"),
            ("0;1,5\n1,5;0\n", "test, line 1, column 3: `1,5` is not a number"),
        ] {
            let error = read_text(text).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
