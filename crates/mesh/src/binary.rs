//! Numbers that are text in some files and binary in others of the same kind.

use crate::cursor::{Cursor, Outcome};
use crate::fault::{MeshFault, Stop};

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    LittleEndian,
    BigEndian,
}

impl Form {
    pub fn is_binary(self) -> bool {
        self != Self::Text
    }

    /// The number that some bytes are, if they are unsigned.
    pub fn unsigned(self, bytes: &[u8]) -> u64 {
        let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        match self {
            Self::BigEndian => bytes.iter().fold(0, add),
            Self::LittleEndian | Self::Text => bytes.iter().rev().fold(0, add),
        }
    }

    /// The floating-point number that four or eight bytes are.
    pub fn float(self, bytes: &[u8]) -> f64 {
        let bits = self.unsigned(bytes);
        if bytes.len() == 4 { f32::from_bits(bits as u32).into() } else { f64::from_bits(bits) }
    }
}

/// Numbers of one form, one after the other.
pub(crate) struct Numbers<'c, 'a> {
    pub cursor: &'c mut Cursor<'a>,
    pub form: Form,
}

impl Numbers<'_, '_> {
    /// The next whole number, which has `bytes` of them in a binary file.
    pub fn whole(&mut self, what: &'static str, bytes: usize, least: u64, greatest: u64) -> Outcome<u64> {
        if self.form == Form::Text {
            return self.cursor.whole(what, least, greatest);
        }
        let offset = self.cursor.offset();
        let number = self.form.unsigned(self.cursor.take(bytes, what)?);
        if (least..=greatest).contains(&number) {
            return Ok(number);
        }
        Err(Stop::binary(offset, MeshFault::OutOfRange { what, number, least, greatest }))
    }

    /// The next whole number as a number of things, of which each takes at least `size` bytes in a binary file, and one in a text.
    pub fn count(&mut self, what: &'static str, bytes: usize, size: usize) -> Outcome<usize> {
        self.find();
        let offset = self.cursor.offset();
        let count = self.whole(what, bytes, 0, u64::from(u32::MAX))?;
        let size = if self.form == Form::Text { 1 } else { size as u64 };
        if count.saturating_mul(size) > self.cursor.rest().len() as u64 {
            return Err(Stop::new(self.form.is_binary(), offset, MeshFault::CutOff { what, count }));
        }
        Ok(count as usize)
    }

    /// The next coordinate, which has `bytes` of them in a binary file.
    pub fn real(&mut self, bytes: usize) -> Outcome<f64> {
        if self.form == Form::Text {
            return self.cursor.real();
        }
        let offset = self.cursor.offset();
        let number = self.form.float(self.cursor.take(bytes, "a coordinate")?);
        if number.is_finite() { Ok(number) } else { Err(Stop::binary(offset, MeshFault::NotFinite)) }
    }

    /// Goes to the start of the next number, the place of a fault of it.
    pub fn find(&mut self) {
        if self.form == Form::Text {
            self.cursor.skip_blanks();
        }
    }

    /// Three coordinates.
    pub fn point(&mut self, bytes: usize) -> Outcome<[f64; 3]> {
        Ok([self.real(bytes)?, self.real(bytes)?, self.real(bytes)?])
    }

    /// Passes over numbers.
    pub fn skip(&mut self, count: usize, bytes: usize, what: &'static str) -> Outcome<()> {
        match self.form {
            Form::Text => {
                for _ in 0..count {
                    let word = self.cursor.word();
                    if word.text.is_empty() {
                        return Err(word.unexpected(what));
                    }
                }
            }
            _ => {
                self.cursor.take(count.saturating_mul(bytes), what)?;
            }
        }
        Ok(())
    }
}
