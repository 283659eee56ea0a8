//! The fields of a text: what stands between blanks, on whatever lines.
//!
//! A field that starts with `#` or `%` is a comment, up to the end of its line.

use super::metis::NumberFault;
use super::scanner::{Scanner, Token};
use super::source::read_error;
use crate::io::{ContentError, ReadError, Source};

/// Why a field is not the number that should stand there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum FieldFault {
    #[error("`{text}` {reason}; {what} is a whole number from {least} to {greatest}")]
    NotANumber { what: &'static str, text: String, reason: NumberFault, least: u64, greatest: u64 },
    #[error("expected {what}, found `{number}`; it is a whole number from {least} to {greatest}")]
    OutOfRange { what: &'static str, number: u64, least: u64, greatest: u64 },
    #[error("the file ends where {what} should stand")]
    Missing { what: &'static str },
}

/// Where something stands, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// A fault of a kind of file and where it is.
#[derive(Debug)]
pub(crate) struct Misplaced<F> {
    pub(crate) place: Place,
    pub(crate) fault: F,
}

/// A text, field by field.
pub(crate) struct Fields<'a> {
    name: String,
    scanner: Scanner<Source<'a>>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(source: Source<'a>) -> Self {
        Self { name: source.name().to_owned(), scanner: Scanner::new(source) }
    }

    /// The next field: a number, a text, or the end.
    pub(crate) fn next(&mut self) -> Token {
        loop {
            match self.scanner.next() {
                Token::LineEnd => self.scanner.skip_line(),
                Token::Text(_) if self.scanner.text().starts_with(['#', '%']) => self.scanner.skip_line(),
                token => return token,
            }
        }
    }

    /// The next field, which must be a number in a range; `what` says what it is.
    pub(crate) fn number<F: From<FieldFault>>(
        &mut self,
        what: &'static str,
        least: u64,
        greatest: u64,
    ) -> Result<u64, Misplaced<F>> {
        let token = self.next();
        self.number_of(token, what, least, greatest)
    }

    /// The number that a field is.
    pub(crate) fn number_of<F: From<FieldFault>>(
        &self,
        token: Token,
        what: &'static str,
        least: u64,
        greatest: u64,
    ) -> Result<u64, Misplaced<F>> {
        let fault = match token {
            Token::Number(number) if (least..=greatest).contains(&number) => return Ok(number),
            Token::Number(number) => FieldFault::OutOfRange { what, number, least, greatest },
            Token::Text(kind) => {
                let (text, reason) = (self.scanner.text(), kind.into());
                FieldFault::NotANumber { what, text, reason, least, greatest }
            }
            Token::End | Token::LineEnd => FieldFault::Missing { what },
        };
        Err(self.fault(fault.into()))
    }

    /// The last field, if it was not a number, shortened if it is long.
    pub(crate) fn text(&self) -> String {
        self.scanner.text()
    }

    /// Where the last field starts.
    pub(crate) fn place(&self) -> Place {
        Place { line: self.scanner.line(), column: self.scanner.column() }
    }

    /// A fault of the last field.
    pub(crate) fn fault<F>(&self, fault: F) -> Misplaced<F> {
        Misplaced { place: self.place(), fault }
    }

    /// What was read, or why nothing was: a failed read comes before what it looked like.
    pub(crate) fn finish<T, F>(
        mut self,
        result: Result<T, Misplaced<F>>,
        kind: impl Fn(F) -> ContentError,
    ) -> Result<T, ReadError> {
        if let Some(error) = self.scanner.failure() {
            return Err(read_error(&self.name, error, self.scanner.line(), self.scanner.column()));
        }
        result.map_err(|Misplaced { place: Place { line, column }, fault }| ReadError::Invalid {
            file: self.name,
            line,
            column,
            kind: kind(fault),
        })
    }
}
