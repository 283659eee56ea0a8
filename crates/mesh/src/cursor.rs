//! The bytes of a file, in which texts and binary sections may alternate.

use std::io::Read;
use std::ops::Range;

use crate::fault::{MeshFault, Stop};
use viem::base::memory;
use viem::base::number;
use viem::base::text::place;
use viem_io::table::shortened;
use viem_io::{ContentError, ReadError, Source};

pub(crate) type Outcome<T> = Result<T, Stop>;

/// A position in the bytes of a file.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The text between two blanks.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a> {
    pub text: &'a [u8],
    pub offset: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// A cursor at another place of the same bytes.
    pub fn at(&self, offset: usize) -> Self {
        Self { bytes: self.bytes, at: offset.min(self.bytes.len()) }
    }

    /// A cursor at the start of a range, which ends with it.
    pub fn within(&self, range: Range<usize>) -> Self {
        Self { bytes: &self.bytes[..range.end.min(self.bytes.len())], at: range.start.min(self.bytes.len()) }
    }

    pub fn offset(&self) -> usize {
        self.at
    }

    /// All bytes from here on.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Goes on by this many bytes, or to the end.
    pub fn pass(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.bytes.len());
    }

    /// Skips blanks and ends of lines.
    pub fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|byte| byte.is_ascii_whitespace());
        self.at += blanks.count();
    }

    /// The bytes up to the end of the line, which is skipped; none at the end of the file.
    pub fn line(&mut self) -> Option<Word<'a>> {
        let (rest, offset) = (self.rest(), self.at);
        if rest.is_empty() {
            return None;
        }
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.pass(length + 1);
        Some(Word { text: rest[..length].trim_ascii_end(), offset })
    }

    /// The next word, up to a blank or one of the `stops`; empty at the end and before a stop.
    pub fn word_before(&mut self, stops: &[u8]) -> Word<'a> {
        self.skip_blanks();
        let (rest, offset) = (self.rest(), self.at);
        let is_inside = |byte: &&u8| !byte.is_ascii_whitespace() && !stops.contains(byte);
        let length = rest.iter().take_while(is_inside).count();
        self.at += length;
        Word { text: &rest[..length], offset }
    }

    /// The next word.
    pub fn word(&mut self) -> Word<'a> {
        self.word_before(&[])
    }

    /// The next word as a number from `least` to `greatest`.
    pub fn whole(&mut self, what: &'static str, least: u64, greatest: u64) -> Outcome<u64> {
        self.word().whole(what, least, greatest)
    }

    /// The next word as a number of things, of which each takes at least a byte of what is left.
    pub fn count(&mut self, what: &'static str) -> Outcome<usize> {
        let word = self.word();
        let count = word.whole(what, 0, u64::from(u32::MAX))? as usize;
        self.check_count(count, what, word.offset)
    }

    /// Refuses a number of things for which there are too few bytes.
    pub fn check_count(&self, count: usize, what: &'static str, offset: usize) -> Outcome<usize> {
        if count > self.rest().len() {
            return Err(Stop::text(offset, MeshFault::CutOff { what, count: count as u64 }));
        }
        Ok(count)
    }

    /// The next word as a coordinate.
    pub fn real(&mut self) -> Outcome<f64> {
        let word = self.word();
        number::real(word.text).ok_or_else(|| word.unexpected("a coordinate"))
    }

    /// Passes over a word, which must be this one.
    pub fn expect(&mut self, expected: &'static str) -> Outcome<()> {
        let word = self.word();
        if word.text == expected.as_bytes() { Ok(()) } else { Err(word.unexpected(expected)) }
    }

    /// The next bytes, as many as given.
    pub fn take(&mut self, count: usize, what: &'static str) -> Outcome<&'a [u8]> {
        let bytes = self
            .rest()
            .get(..count)
            .ok_or_else(|| Stop::binary(self.bytes.len(), MeshFault::Ends { expected: what.to_owned() }))?;
        self.at += count;
        Ok(bytes)
    }

    /// The offset behind the next occurrence of some bytes at the start of a line.
    pub fn behind_line(&self, start: &[u8]) -> Option<usize> {
        let rest = self.rest();
        if rest.starts_with(start) {
            return Some(self.at + start.len());
        }
        let mut from = 0;
        while let Some(end) = rest[from..].iter().position(|&byte| byte == b'\n') {
            from += end + 1;
            if rest[from..].starts_with(start) {
                return Some(self.at + from + start.len());
            }
        }
        None
    }
}

impl Word<'_> {
    /// The fault that something else than this should be here.
    pub fn unexpected(&self, expected: impl Into<String>) -> Stop {
        let expected = expected.into();
        let fault = match self.text.is_empty() {
            true => MeshFault::Ends { expected },
            false => MeshFault::Unexpected { expected, found: shortened(self.text) },
        };
        Stop::text(self.offset, fault)
    }

    /// The number from `least` to `greatest` that it is.
    pub fn whole(&self, what: &'static str, least: u64, greatest: u64) -> Outcome<u64> {
        match number::whole(self.text) {
            Ok(number) if (least..=greatest).contains(&number) => Ok(number),
            Ok(number) => {
                Err(Stop::text(self.offset, MeshFault::OutOfRange { what, number, least, greatest }))
            }
            Err(_) => Err(self.unexpected(what)),
        }
    }
}

/// Appends a value, or says that there is no memory for it.
pub(crate) fn push<T>(values: &mut Vec<T>, value: T) -> Outcome<()> {
    if values.len() == values.capacity() {
        memory::reserve(values, 1)?;
    }
    values.push(value);
    Ok(())
}

/// Appends values, or says that there is no memory for them.
pub(crate) fn append<T: Copy>(values: &mut Vec<T>, more: &[T]) -> Outcome<()> {
    memory::reserve(values, more.len())?;
    values.extend_from_slice(more);
    Ok(())
}

/// All bytes of a source, and what a parser makes of them.
pub(crate) fn parse<T>(
    mut source: Source<'_>,
    parser: impl FnOnce(&mut Cursor<'_>) -> Outcome<T>,
) -> Result<T, ReadError> {
    let mut bytes = Vec::new();
    read_all(&mut source, &mut bytes)?;
    let name = source.name().to_owned();
    parser(&mut Cursor::new(&bytes)).map_err(|stop| stop.of_file(name, &bytes))
}

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

fn read_all(source: &mut Source<'_>, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
    loop {
        let out_of_memory = |lack| Stop::from(lack).of_file(source.name().to_owned(), &[]);
        memory::reserve(bytes, PIECE).map_err(out_of_memory)?;
        let read = source.by_ref().take(PIECE as u64).read_to_end(bytes);
        match read {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(source.error(error)),
        }
    }
}

impl Stop {
    /// The error of reading the file of these bytes.
    pub fn of_file(self, file: String, bytes: &[u8]) -> ReadError {
        match self {
            Self::Memory(source) => ReadError::OutOfMemory { file, line: 1, source },
            Self::Text { offset, fault } => {
                let place = place(bytes, offset);
                ReadError::Invalid {
                    file,
                    line: place.line,
                    column: place.column,
                    kind: ContentError::new(fault),
                }
            }
            Self::Binary { offset, fault } => {
                ReadError::InvalidBytes { file, offset: offset as u64, kind: ContentError::new(fault) }
            }
        }
    }
}
