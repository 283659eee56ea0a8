//! Fields of lines, and numbers in them: what the readers share.

use crate::io::Source;
use crate::io::scanner::{Scanner, TEXT_LENGTH, TextKind, Token};
use crate::io::traffic::{Stop, TrafficFault, expected};

/// A line that is taken apart field by field.
pub(super) struct Fields<'a> {
    line: &'a [u8],
    number: u64,
    position: usize,
    separator: Separator,
}

/// What stands between two fields.
#[derive(Clone, Copy)]
pub(super) enum Separator {
    /// One or more such bytes, so no field is empty.
    Run(fn(u8) -> bool),
    /// One such byte, and perhaps blanks around it, so fields may be empty. Inside of double quotes it is text.
    Single(u8),
}

/// Some bytes of a line.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) text: &'a [u8],
    /// From 1.
    column: u64,
}

/// Blanks separate fields.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

impl<'a> Fields<'a> {
    /// Fields between runs of separators.
    pub(super) fn new(number: u64, line: &'a [u8], is_separator: fn(u8) -> bool) -> Self {
        Self::separated(number, line, Separator::Run(is_separator))
    }

    /// Fields between separators of either kind.
    pub(super) fn separated(number: u64, line: &'a [u8], separator: Separator) -> Self {
        Self { line, number, position: 0, separator }
    }

    /// The next field, if there is one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Field<'a>> {
        match self.separator {
            Separator::Run(is_separator) => self.next_after_run(is_separator),
            Separator::Single(separator) => self.next_up_to(separator),
        }
    }

    fn next_after_run(&mut self, is_separator: fn(u8) -> bool) -> Option<Field<'a>> {
        while self.position < self.line.len() && is_separator(self.line[self.position]) {
            self.position += 1;
        }
        let start = self.position;
        while self.position < self.line.len() && !is_separator(self.line[self.position]) {
            self.position += 1;
        }
        let text = &self.line[start..self.position];
        (!text.is_empty()).then_some(Field { text, column: start as u64 + 1 })
    }

    /// What stands before the next separator or the end of the line, without the blanks around it. The position
    /// is then behind that separator, and behind the end of the line after the last field.
    fn next_up_to(&mut self, separator: u8) -> Option<Field<'a>> {
        let rest = self.line.get(self.position..)?;
        let is_quoted = rest.trim_ascii_start().starts_with(b"\"");
        let end = if is_quoted {
            unquoted_positions(rest).find(|&position| rest[position] == separator)
        } else {
            rest.iter().position(|&byte| byte == separator)
        };
        let length = end.unwrap_or(rest.len());
        let text = rest[..length].trim_ascii_start();
        let column = (self.position + length - text.len()) as u64 + 1;
        self.position += length + 1;
        Some(Field { text: text.trim_ascii_end(), column })
    }

    /// The next field, which must be there.
    pub(super) fn field(&mut self, expected: &'static str) -> Result<Field<'a>, Stop> {
        self.next().ok_or_else(|| Stop {
            line: self.number,
            column: self.line.len() as u64 + 1,
            fault: TrafficFault::Missing { expected },
        })
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
        self.stop(field, TrafficFault::Unexpected { text: shortened(field.text), expected })
    }

    pub(super) fn stop(&self, field: Field<'_>, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: field.column, fault }
    }

    /// A fault of the line as a whole.
    pub(super) fn stop_line(&self, fault: TrafficFault) -> Stop {
        Stop { line: self.number, column: 1, fault }
    }
}

/// Where the bytes of a text stand that are not inside of double quotes. Two quotes inside, which stand for one, end them and
/// begin them again.
pub(super) fn unquoted_positions(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut is_inside = false;
    (0..text.len()).filter(move |&position| {
        is_inside ^= text[position] == b'"';
        !is_inside
    })
}

/// A text for a message: no longer than those of the scanner, and printable.
fn shortened(text: &[u8]) -> String {
    let kept = &text[..text.len().min(TEXT_LENGTH)];
    let dots = if kept.len() < text.len() { "..." } else { "" };
    let printable: String = String::from_utf8_lossy(kept).chars().flat_map(char::escape_default).collect();
    printable + dots
}

/// The number that a text of nothing but digits spells, below 2^64.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let add = |value: u64, &byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(u64::from(digit)) }
    };
    if text.is_empty() { None } else { text.iter().try_fold(0, add) }
}

/// The number that a text spells in any notation: not negative, and `unit` times it below 2^63.
pub(super) fn decimal(text: &[u8], unit: u64) -> Option<f64> {
    let starts_as_number = text.first().is_some_and(|&byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = std::str::from_utf8(text).ok().filter(|_| starts_as_number)?.parse().ok()?;
    let product = value * unit as f64;
    (product < i64::MAX as f64).then_some(product)
}

/// A weight: a whole number, also one that is written with a fraction of nothing but zeros or an exponent.
pub(super) fn weight(text: &[u8]) -> Option<u64> {
    whole(text).or_else(|| {
        // Beyond 2^53 a floating-point number does not tell what was meant.
        decimal(text, 1)
            .filter(|value| value.fract() == 0.0 && *value <= (1u64 << 53) as f64)
            .map(|value| value as u64)
    })
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
        let token = self.next();
        self.as_weight(token)
    }

    /// The weight that a token is.
    pub(super) fn as_weight(&self, token: Token) -> Result<u64, Stop> {
        let weight = match token {
            Token::Number(number) => Some(number),
            Token::Text(TextKind::Fractional) => weight(self.text().as_bytes()),
            _ => None,
        };
        weight.ok_or_else(|| self.unexpected(token, expected::WEIGHT))
    }

    /// A token that is not what was expected.
    pub(super) fn unexpected(&self, token: Token, expected: &'static str) -> Stop {
        self.stop(match token {
            Token::Number(number) => TrafficFault::Unexpected { text: number.to_string(), expected },
            Token::Text(_) => TrafficFault::Unexpected { text: self.text(), expected },
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
