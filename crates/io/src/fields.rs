//! The fields of a text: the words between blanks, on any lines.
//!
//! A field that starts with `#` or `%` is a comment, up to the end of its line.

use std::error::Error;

use super::scanner::{RefusedLine, Scanner, Token};
use super::table::{Layout, Separator, Table};
use crate::{ContentError, ReadError, Source};
use viem::base::memory;
use viem::base::number::{self, NumberFault};

/// The reason why a field is not the number that should be there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum FieldFault {
    #[error(
        "`{text}` {reason}; {what} is a whole number from {least} to {greatest}{}",
        number::scaling(text)
    )]
    NotANumber { what: &'static str, text: String, reason: NumberFault, least: u64, greatest: u64 },
    #[error("expected {what}, found `{number}`; it is a whole number from {least} to {greatest}")]
    OutOfRange { what: &'static str, number: u64, least: u64, greatest: u64 },
    #[error("the file ends where {what} should be")]
    Missing { what: &'static str },
}

/// A line and a column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its line, from 1.
    pub line: u64,
    /// Its column, from 1, in bytes.
    pub column: u64,
}

/// A fault of a kind of file and where it is.
#[derive(Debug)]
pub struct Misplaced<F> {
    /// The place of the fault.
    pub place: Place,
    /// The fault.
    pub fault: F,
}

/// A text, field by field.
pub struct Fields<'a> {
    name: String,
    scanner: Scanner<Source<'a>>,
}

impl<'a> Fields<'a> {
    /// The fields of a source.
    pub fn new(source: Source<'a>) -> Self {
        Self { name: source.name().to_owned(), scanner: Scanner::new(source) }
    }

    /// The fields of a text of numbers, which commas or semicolons may separate if they do so in its first line.
    pub(crate) fn of_numbers(source: Source<'a>) -> Self {
        let mut fields = Self::new(source);
        if let Separator::Single(separator) = Separator::of_start(fields.scanner.at_hand()) {
            fields.scanner.separate_by(separator);
        }
        fields
    }

    /// Returns the layout of the table that begins here.
    pub(super) fn layout(&self) -> Layout {
        Layout::of_start(self.scanner.at_hand(), self.scanner.has_all_at_hand())
    }

    /// The lines that are not read yet, as a table.
    pub(super) fn table(&mut self) -> Table<'_, 'a> {
        Table::new(&mut self.scanner)
    }

    /// The next field: a number, a text, or the end.
    pub fn token(&mut self) -> Token {
        loop {
            match self.scanner.next_token() {
                Token::LineEnd => self.scanner.skip_line(),
                Token::Text(_) if self.scanner.text().starts_with(['#', '%']) => self.scanner.skip_line(),
                token => return token,
            }
        }
    }

    /// The next field, which must be a number in a range; `what` is its name in messages.
    pub fn number<F: From<FieldFault>>(
        &mut self,
        what: &'static str,
        least: u64,
        greatest: u64,
    ) -> Result<u64, Misplaced<F>> {
        let token = self.token();
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

    /// The whole number, of either sign, that a field is.
    pub(super) fn signed(&self, token: Token) -> Option<i64> {
        match token {
            Token::Number(number) => number::signed(Ok(number)),
            Token::Text(kind) => number::signed(Err(kind)),
            Token::End | Token::LineEnd => None,
        }
    }

    /// The last field, if it was not a number, shortened if it is long.
    pub fn text(&self) -> String {
        self.scanner.text()
    }

    /// Returns the start of the last field.
    pub fn place(&self) -> Place {
        Place { line: self.scanner.line(), column: self.scanner.column() }
    }

    /// A fault of the last field.
    pub fn fault<F>(&self, fault: F) -> Misplaced<F> {
        Misplaced { place: self.place(), fault }
    }

    /// Appends the bytes that were read, and returns whether there is memory for them. If not, the text ends here, and [`Fields::finish`] says why.
    pub(crate) fn push<T>(&mut self, values: &mut Vec<T>, value: T) -> bool {
        match memory::reserve(values, 1) {
            Ok(()) => values.push(value),
            Err(lack) => self.scanner.give_up(lack),
        }
        !self.scanner.refused_line().is_some_and(|reason| matches!(reason, RefusedLine::Memory(_)))
    }

    /// Returns the result, or why there is none: a failed read takes precedence over the fault that it seemed to be.
    pub fn finish<T, F: Error + Send + Sync + 'static>(
        mut self,
        result: Result<T, Misplaced<F>>,
    ) -> Result<T, ReadError> {
        if let Some(error) = self.scanner.early_end(&self.name) {
            return Err(error);
        }
        result.map_err(|Misplaced { place: Place { line, column }, fault }| ReadError::Invalid {
            file: self.name,
            line,
            column,
            kind: ContentError::new(fault),
        })
    }
}
