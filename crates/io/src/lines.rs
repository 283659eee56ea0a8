//! Files of one whole number a line. Blank lines after the last are accepted.

use std::fmt::Display;

use super::scanner::{Scanner, Token};
use super::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::memory;
use viem::base::text::counted;

/// What messages call the content of such a file.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// A value, such as `parent`.
    pub value: &'static str,
    /// What each line must hold, as a clause.
    pub must: &'static str,
    /// What has a value: one, and many.
    pub items: (&'static str, &'static str),
    /// The file and a verb of the right number: `the parents end`, `the parents go on`.
    pub ends: (&'static str, &'static str),
    /// What each line is for, and what limits their number.
    pub of: (&'static str, &'static str),
}

impl Words {
    /// The words of a file with a value for each vertex of a graph.
    pub const fn of_vertices(
        value: &'static str,
        must: &'static str,
        ends: (&'static str, &'static str),
    ) -> Self {
        let of = ("each vertex of the graph", "graph");
        Self { value, must, items: ("vertex", "vertices"), ends, of }
    }

    /// A text that is no value.
    pub fn not_a_value(&self, text: impl Display) -> LineFault {
        let Self { value, must, .. } = self;
        LineFault::Line(format!("`{text}` is not a {value}; {must}"))
    }

    fn empty_line(&self, number: usize) -> LineFault {
        let Self { value, items: (item, _), .. } = self;
        LineFault::Line(format!("the line is empty; it must hold the {value} of {item} {number}"))
    }

    fn second_number(&self, text: &str) -> LineFault {
        let Self { value, items: (item, _), .. } = self;
        LineFault::Line(format!("`{text}` is too much; a line holds the {value} of one {item}"))
    }

    fn too_few(&self, found: usize, expected: usize) -> LineFault {
        let Self { items: (one, many), ends: (ends, _), of: (each, _), .. } = self;
        let items = counted(expected, one, many);
        LineFault::Count(format!("{ends} after {found} of {items}; give {each} a line"))
    }

    fn too_many(&self, expected: usize) -> LineFault {
        let Self { items: (one, many), ends: (_, go_on), of: (_, whole), .. } = self;
        let items = counted(expected, one, many);
        LineFault::Count(format!("{go_on} after {items}, which is all that the {whole} has"))
    }
}

/// A fault in such a file, as a message. Callers only distinguish whether the number of lines is wrong, as in a file for a larger or smaller graph
/// or machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// A line does not hold the expected value.
    #[error("{0}")]
    Line(String),
    /// There are fewer or more lines than expected.
    #[error("{0}")]
    Count(String),
}

/// Reads as many numbers as are expected, or as there are; `take` makes of each what it stands for.
pub(super) fn read<T>(
    source: Source<'_>,
    expected: Option<usize>,
    words: &Words,
    mut take: impl FnMut(u64) -> Result<T, LineFault>,
) -> Result<Vec<T>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source.bounded(expected.unwrap_or(0)));
    let out_of_memory = |source| ReadError::OutOfMemory { file: name.clone(), line: 1, source };
    let mut values = memory::with_room(expected.unwrap_or(0)).map_err(out_of_memory)?;
    let result = read_lines(&mut scanner, expected, words, &mut take, &mut values);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    let (line, column) = (scanner.line(), scanner.column());
    result.map(|()| values).map_err(|fault| ReadError::Invalid {
        file: name,
        line,
        column,
        kind: ContentError::new(fault),
    })
}

/// Reads up to the first fault, and leaves the scanner there.
fn read_lines<T>(
    scanner: &mut Scanner<Source<'_>>,
    expected: Option<usize>,
    words: &Words,
    take: &mut impl FnMut(u64) -> Result<T, LineFault>,
    values: &mut Vec<T>,
) -> Result<(), LineFault> {
    while expected.is_none_or(|expected| values.len() < expected) {
        match (scanner.next_token(), expected) {
            (Token::Number(number), _) => values.push(take(number)?),
            (Token::Text(_), _) => return Err(words.not_a_value(scanner.text())),
            (Token::End, Some(expected)) => return Err(words.too_few(values.len(), expected)),
            (Token::LineEnd, Some(_)) => return Err(words.empty_line(values.len())),
            (Token::End | Token::LineEnd, None) => break,
        }
        end_of_line(scanner, |text| words.second_number(&text))?;
    }
    let found = values.len();
    let goes_on = || if expected.is_some() { words.too_many(found) } else { words.empty_line(found) };
    while scanner.has_bytes() {
        end_of_line(scanner, |_| goes_on())?;
    }
    Ok(())
}

/// Goes on to the next line; a rest of this one is a fault.
pub(super) fn end_of_line<F>(
    scanner: &mut Scanner<Source<'_>>,
    fault: impl Fn(String) -> F,
) -> Result<(), F> {
    match scanner.next_token() {
        Token::LineEnd | Token::End => {}
        Token::Number(number) => return Err(fault(number.to_string())),
        Token::Text(_) => return Err(fault(scanner.text())),
    }
    scanner.skip_line();
    Ok(())
}

/// Checks line, column and a part of the message of each fault.
#[cfg(test)]
pub(super) fn check_faults<T: std::fmt::Debug>(
    read: impl Fn(Source<'_>) -> Result<T, ReadError>,
    cases: &[(&str, u64, u64, &str)],
) {
    for &(text, expected_line, expected_column, part) in cases {
        match read(Source::new("test", text.as_bytes()).unwrap()).unwrap_err() {
            ReadError::Invalid { line, column, kind, .. } => {
                assert_eq!((line, column), (expected_line, expected_column), "{text:?}");
                assert!(kind.to_string().contains(part), "{text:?}: {kind}");
            }
            error => panic!("{error}"),
        }
    }
}
