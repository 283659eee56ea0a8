//! Files of one whole number a line. Blank lines after the last are accepted.

use super::scanner::{Scanner, Token};
use super::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::memory;

/// A fault in such a file, in the words of its kind. Lines are counted from 0.
pub(super) trait LineFault: Sized {
    fn not_a_number(text: String) -> Self;
    fn empty_line(line: usize) -> Self;
    fn second_number(text: String) -> Self;
    fn too_few(found: usize, expected: usize) -> Self;
    fn too_many(expected: usize) -> Self;
}

/// Implements [`LineFault`] for an enum with the variants `EmptyLine`, `SecondNumber`, `TooFewLines` and `TooManyLines`, given the
/// name of the variant for what is no number and what an empty line calls its own number.
macro_rules! line_fault {
    ($fault:ty, $not_a_number:ident, $number:ident) => {
        impl $crate::lines::LineFault for $fault {
            fn not_a_number(text: String) -> Self {
                Self::$not_a_number { text }
            }
            fn empty_line(line: usize) -> Self {
                Self::EmptyLine { $number: line }
            }
            fn second_number(text: String) -> Self {
                Self::SecondNumber { text }
            }
            fn too_few(found: usize, expected: usize) -> Self {
                Self::TooFewLines { found, expected }
            }
            fn too_many(expected: usize) -> Self {
                Self::TooManyLines { expected }
            }
        }
    };
}
pub(super) use line_fault;

/// Reads as many numbers as are expected, or as there are; `take` makes of each what it stands for.
pub(super) fn read<T, F: LineFault>(
    source: Source<'_>,
    expected: Option<usize>,
    mut take: impl FnMut(u64) -> Result<T, F>,
    kind: impl Fn(F) -> ContentError,
) -> Result<Vec<T>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source.bounded(expected.unwrap_or(0)));
    let out_of_memory = |source| ReadError::OutOfMemory { file: name.clone(), line: 1, source };
    let mut values = memory::with_room(expected.unwrap_or(0)).map_err(out_of_memory)?;
    let result = read_lines(&mut scanner, expected, &mut take, &mut values);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    let (line, column) = (scanner.line(), scanner.column());
    result.map(|()| values).map_err(|fault| ReadError::Invalid {
        file: name,
        line,
        column,
        kind: kind(fault),
    })
}

/// Reads up to the first fault, and leaves the scanner there.
fn read_lines<T, F: LineFault>(
    scanner: &mut Scanner<Source<'_>>,
    expected: Option<usize>,
    take: &mut impl FnMut(u64) -> Result<T, F>,
    values: &mut Vec<T>,
) -> Result<(), F> {
    while expected.is_none_or(|expected| values.len() < expected) {
        match (scanner.next_token(), expected) {
            (Token::Number(number), _) => values.push(take(number)?),
            (Token::Text(_), _) => return Err(F::not_a_number(scanner.text())),
            (Token::End, Some(expected)) => return Err(F::too_few(values.len(), expected)),
            (Token::LineEnd, Some(_)) => return Err(F::empty_line(values.len())),
            (Token::End | Token::LineEnd, None) => break,
        }
        end_of_line(scanner, F::second_number)?;
    }
    let found = values.len();
    while scanner.has_bytes() {
        end_of_line(scanner, |_| if expected.is_some() { F::too_many(found) } else { F::empty_line(found) })?;
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
