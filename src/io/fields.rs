//! The fields of a text: what stands between blanks, on whatever lines.
//!
//! A field that starts with `#` or `%` is a comment, up to the end of its line.

use super::metis::NumberFault;
use super::scanner::{Scanner, Token};
use super::source::read_error;
use super::{ContentError, ReadError, Source};

/// Why a field is not the number that should stand there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum FieldFault {
    #[error("`{text}` {reason}; {what} is a whole number from {least} to {greatest}")]
    NotANumber { what: &'static str, text: String, reason: NumberFault, least: u64, greatest: u64 },
    #[error("`{number}` stands where {what} should be, a whole number from {least} to {greatest}")]
    OutOfRange { what: &'static str, number: u64, least: u64, greatest: u64 },
    #[error("the file ends where {what} should stand")]
    Missing { what: &'static str },
}

/// Where something stands, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u64,
    pub(super) column: u64,
}

/// A fault of a kind of file and where it is.
#[derive(Debug)]
pub(super) struct Misplaced<F> {
    pub(super) place: Place,
    pub(super) fault: F,
}

/// A text, field by field.
pub(super) struct Fields<'a> {
    name: String,
    scanner: Scanner<Source<'a>>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(source: Source<'a>) -> Self {
        Self { name: source.name().to_owned(), scanner: Scanner::new(source) }
    }

    /// The next field: a number, a text, or the end.
    pub(super) fn next(&mut self) -> Token {
        loop {
            match self.scanner.next() {
                Token::LineEnd => self.scanner.skip_line(),
                Token::Text(_) if self.scanner.text().starts_with(['#', '%']) => self.scanner.skip_line(),
                token => return token,
            }
        }
    }

    /// The next field, which must be a number in a range; `what` says what it is.
    pub(super) fn number<F: From<FieldFault>>(
        &mut self,
        what: &'static str,
        least: u64,
        greatest: u64,
    ) -> Result<u64, Misplaced<F>> {
        let token = self.next();
        self.number_of(token, what, least, greatest)
    }

    /// The number that a field is.
    pub(super) fn number_of<F: From<FieldFault>>(
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
    pub(super) fn text(&self) -> String {
        self.scanner.text()
    }

    /// Where the last field starts.
    pub(super) fn place(&self) -> Place {
        Place { line: self.scanner.line(), column: self.scanner.column() }
    }

    /// A fault of the last field.
    pub(super) fn fault<F>(&self, fault: F) -> Misplaced<F> {
        Misplaced { place: self.place(), fault }
    }

    /// What was read, or why nothing was: a failed read comes before what it looked like.
    pub(super) fn finish<T, F>(
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
