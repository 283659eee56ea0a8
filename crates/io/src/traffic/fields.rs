//! Fields of lines, and numbers in them: what the readers share.

pub(super) use crate::table::{Field, Fields, Separator, is_blank, unquoted};

use crate::Source;
use crate::scanner::{Scanner, TextKind, Token};
use crate::table::shortened;
use crate::traffic::{Stop, TrafficFault, expected};
use viem::ground::number;

impl<'a> Fields<'a> {
    /// The next field, which must be there.
    pub(super) fn field(&mut self, expected: &'static str) -> Result<Field<'a>, Stop> {
        self.next().ok_or_else(|| self.stop_at_end(TrafficFault::Missing { expected }))
    }

    /// The next field, which must be a whole number.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<u64, Stop> {
        let field = self.field(expected)?;
        whole(field.text).ok_or_else(|| self.unexpected(field, expected))
    }

    /// The next field, which must be these bytes.
    pub(super) fn word(&mut self, word: &'static str) -> Result<(), Stop> {
        let field = self.field(word)?;
        if field.text == word.as_bytes() { Ok(()) } else { Err(self.unexpected(field, word)) }
    }

    /// There must be nothing more.
    pub(super) fn end(&mut self) -> Result<(), Stop> {
        match self.next() {
            Some(field) => Err(self.stop(field, TrafficFault::TooMuch { text: shortened(field.text) })),
            None => Ok(()),
        }
    }

    pub(super) fn unexpected(&self, field: Field<'_>, expected: &'static str) -> Stop {
        let kind = number::whole(field.text).err().unwrap_or(TextKind::Word);
        self.stop(field, TrafficFault::not_a_number(shortened(field.text), kind, expected))
    }

    pub(super) fn stop(&self, field: Field<'_>, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: field.column, fault }
    }

    /// A fault where the line ends.
    pub(super) fn stop_at_end(&self, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: self.line.len() as u64 + 1, fault }
    }

    /// A fault of the line as a whole.
    pub(super) fn stop_line(&self, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: 1, fault }
    }
}

/// The whole number below 2^64 that a text spells.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    number::whole(text).ok()
}

/// The number that a text spells: not negative, and `unit` times it below 2^63.
pub(super) fn decimal(text: &[u8], unit: u64) -> Option<f64> {
    let product = number::real(text).filter(|value| *value >= 0.0)? * unit as f64;
    (product < i64::MAX as f64).then_some(product)
}

impl Scanner<Source<'_>> {
    /// A fault of the last token.
    pub(super) fn stop(&self, fault: TrafficFault) -> Stop {
        Stop { line: self.line(), column: self.column(), fault }
    }

    /// The next token, which must be a whole number.
    pub(super) fn number(&mut self, expected: &'static str) -> Result<u64, Stop> {
        match self.next() {
            Token::Number(number) => Ok(number),
            token => Err(self.unexpected(token, expected)),
        }
    }

    /// The next token, which must be a weight.
    pub(super) fn weight(&mut self) -> Result<u64, Stop> {
        self.number(expected::WEIGHT)
    }

    /// Whether the next token, which must be a number of any kind, is zero.
    pub(super) fn is_zero(&mut self, expected: &'static str) -> Result<bool, Stop> {
        match self.next() {
            Token::Number(number) => Ok(number == 0),
            Token::Text(TextKind::Fractional | TextKind::Negative(_) | TextKind::TooLarge) => Ok(false),
            token => Err(self.unexpected(token, expected)),
        }
    }

    /// A token that is not what was expected.
    pub(super) fn unexpected(&self, token: Token, expected: &'static str) -> Stop {
        self.stop(match token {
            Token::Number(number) => TrafficFault::Unexpected { text: number.to_string(), expected },
            Token::Text(kind) => TrafficFault::not_a_number(self.text(), kind, expected),
            Token::LineEnd | Token::End => TrafficFault::Missing { expected },
        })
    }

    /// Passes over the end of a line, which must be here.
    pub(super) fn end_line(&mut self) -> Result<(), Stop> {
        match self.next() {
            Token::LineEnd | Token::End => {}
            Token::Number(number) => {
                return Err(self.stop(TrafficFault::TooMuch { text: number.to_string() }));
            }
            Token::Text(_) => return Err(self.stop(TrafficFault::TooMuch { text: self.text() })),
        }
        self.skip_line();
        Ok(())
    }

    /// The next token wherever its line is.
    pub(super) fn next_of_any_line(&mut self) -> Token {
        loop {
            match self.next() {
                Token::LineEnd => self.skip_line(),
                token => return token,
            }
        }
    }
}
