//! Fields of lines, and numbers in them, for all readers.

use super::fault::{Stop, TrafficFault, expected};
use viem::base::number;
use viem_io::Source;
use viem_io::scanner::{Scanner, TextKind, Token};
use viem_io::table::{Field, Fields, shortened};

/// Expectations of readers on the fields of a line.
pub(super) trait FieldsExt<'a> {
    /// The next field, which must be there.
    fn field(&mut self, expected: &'static str) -> Result<Field<'a>, Stop>;

    /// The next field, which must be a whole number.
    fn number(&mut self, expected: &'static str) -> Result<u64, Stop>;

    /// The next field, which must be these bytes.
    fn word(&mut self, word: &'static str) -> Result<(), Stop>;

    /// There must be nothing more.
    fn end(&mut self) -> Result<(), Stop>;

    /// A field other than expected.
    fn unexpected(&self, field: Field<'_>, expected: &'static str) -> Stop;

    /// A fault of a field.
    fn stop(&self, field: Field<'_>, fault: TrafficFault) -> Stop;

    /// A fault where the line ends.
    fn stop_at_end(&self, fault: TrafficFault) -> Stop;

    /// A fault of the line as a whole.
    fn stop_line(&self, fault: TrafficFault) -> Stop;
}

impl<'a> FieldsExt<'a> for Fields<'a> {
    fn field(&mut self, expected: &'static str) -> Result<Field<'a>, Stop> {
        self.next().ok_or_else(|| self.stop_at_end(TrafficFault::Missing { expected }))
    }

    fn number(&mut self, expected: &'static str) -> Result<u64, Stop> {
        let field = self.field(expected)?;
        whole(field.text).ok_or_else(|| self.unexpected(field, expected))
    }

    fn word(&mut self, word: &'static str) -> Result<(), Stop> {
        let field = self.field(word)?;
        if field.text == word.as_bytes() { Ok(()) } else { Err(self.unexpected(field, word)) }
    }

    fn end(&mut self) -> Result<(), Stop> {
        match self.next() {
            Some(field) => Err(self.stop(field, TrafficFault::TooMuch { text: shortened(field.text) })),
            None => Ok(()),
        }
    }

    fn unexpected(&self, field: Field<'_>, expected: &'static str) -> Stop {
        let kind = number::whole(field.text).err().unwrap_or(TextKind::Word);
        self.stop(field, TrafficFault::not_a_number(shortened(field.text), kind, expected))
    }

    fn stop(&self, field: Field<'_>, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: field.column, fault }
    }

    fn stop_at_end(&self, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: self.end_column(), fault }
    }

    fn stop_line(&self, fault: TrafficFault) -> Stop {
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

/// Expectations of readers on the tokens of a text.
pub(super) trait ScannerExt {
    /// A fault of the last token.
    fn stop(&self, fault: TrafficFault) -> Stop;

    /// The next token, which must be a whole number.
    fn number(&mut self, expected: &'static str) -> Result<u64, Stop>;

    /// The next token, which must be a weight.
    fn weight(&mut self) -> Result<u64, Stop>;

    /// Returns whether the next token, which must be a number of any kind, is zero.
    fn is_zero(&mut self, expected: &'static str) -> Result<bool, Stop>;

    /// A token other than expected.
    fn unexpected(&self, token: Token, expected: &'static str) -> Stop;

    /// Skips the end of a line, which must be here.
    fn end_line(&mut self) -> Result<(), Stop>;

    /// The next token wherever its line is.
    fn next_of_any_line(&mut self) -> Token;
}

impl ScannerExt for Scanner<Source<'_>> {
    fn stop(&self, fault: TrafficFault) -> Stop {
        Stop { line: self.line(), column: self.column(), fault }
    }

    fn number(&mut self, expected: &'static str) -> Result<u64, Stop> {
        match self.next_token() {
            Token::Number(number) => Ok(number),
            token => Err(self.unexpected(token, expected)),
        }
    }

    fn weight(&mut self) -> Result<u64, Stop> {
        self.number(expected::WEIGHT)
    }

    fn is_zero(&mut self, expected: &'static str) -> Result<bool, Stop> {
        match self.next_token() {
            Token::Number(number) => Ok(number == 0),
            Token::Text(TextKind::Fractional | TextKind::Negative(_) | TextKind::TooLarge) => Ok(false),
            token => Err(self.unexpected(token, expected)),
        }
    }

    fn unexpected(&self, token: Token, expected: &'static str) -> Stop {
        self.stop(match token {
            Token::Number(number) => TrafficFault::Unexpected { text: number.to_string(), expected },
            Token::Text(kind) => TrafficFault::not_a_number(self.text(), kind, expected),
            Token::LineEnd | Token::End => TrafficFault::Missing { expected },
        })
    }

    fn end_line(&mut self) -> Result<(), Stop> {
        match self.next_token() {
            Token::LineEnd | Token::End => {}
            Token::Number(number) => {
                return Err(self.stop(TrafficFault::TooMuch { text: number.to_string() }));
            }
            Token::Text(_) => return Err(self.stop(TrafficFault::TooMuch { text: self.text() })),
        }
        self.skip_line();
        Ok(())
    }

    fn next_of_any_line(&mut self) -> Token {
        loop {
            match self.next_token() {
                Token::LineEnd => self.skip_line(),
                token => return token,
            }
        }
    }
}
