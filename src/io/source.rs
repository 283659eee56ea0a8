//! Where bytes come from: a file or the standard input, packed with gzip or not.
//!
//! Sources are read in pieces and never held as a whole. A file packed with gzip is recognised by its
//! content. What a packed file may expand to is bounded, so that no small file can fill the memory.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::io::{ContentError, ReadError};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Any packed file may expand to this many bytes, whatever its size.
const FREE_EXPANSION: u64 = 64 << 20;
/// A packed file that expands to more may expand to this many times its size. Graph files shrink to a
/// third or a tenth; gzip itself reaches 1032, on bytes that are all alike.
const GREATEST_EXPANSION: u64 = 100;

/// A named stream of bytes, unpacked if it was packed.
pub struct Source<'a> {
    name: String,
    reader: Box<dyn Read + 'a>,
}

impl<'a> Source<'a> {
    /// Bytes at the start of a source that can be looked at before it is read.
    pub(crate) const START: usize = 1 << 16;

    /// Opens a file, or the standard input if the path is `-`.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        if path.as_os_str() == "-" {
            return Self::new("standard input", io::stdin().lock());
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Self::new(name, file),
            Err(source) => Err(ReadError::Unreadable { file: name, source }),
        }
    }

    /// A source of the bytes of any reader; `name` stands in messages.
    pub fn new(name: impl Into<String>, mut reader: impl Read + 'a) -> Result<Self, ReadError> {
        let name = name.into();
        let mut start = Vec::new();
        if let Err(source) = reader.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start) {
            return Err(ReadError::Unreadable { file: name, source });
        }
        let is_packed = start == GZIP_MAGIC;
        let whole = Cursor::new(start).chain(reader);
        if !is_packed {
            return Ok(Self { name, reader: Box::new(whole) });
        }
        let decoder = MultiGzDecoder::new(Counted { reader: whole, count: 0 });
        Ok(Self { name, reader: Box::new(Unpacked { decoder, count: 0 }) })
    }

    /// The first bytes, at most `count` of them; they stay to be read. A read that fails fails again then.
    pub fn peek(&mut self, count: usize) -> Vec<u8> {
        let mut start = Vec::new();
        let failure = self.reader.by_ref().take(count as u64).read_to_end(&mut start).err();
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(start.clone()).chain(Failing(failure)).chain(rest));
        start
    }

    /// The same with blanks where commas and semicolons divide fields.
    pub(crate) fn with_blanks_for_separators(self) -> Self {
        Self { name: self.name, reader: Box::new(Separated(self.reader)) }
    }

    /// What messages call this source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes, up to 64 KiB, as [`peek`](Self::peek) does it.
    pub fn start(&mut self) -> Vec<u8> {
        self.peek(Self::START)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// The error of a read that failed where the text had reached this line and column.
pub(super) fn read_error(file: &str, source: io::Error, line: u64, column: u64) -> ReadError {
    let file = file.to_owned();
    match source.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            let kind = ContentError::Packed { reason: source.to_string() };
            ReadError::Invalid { file, line, column, kind }
        }
        _ => ReadError::Unreadable { file, source },
    }
}

/// A text with blanks for its separators.
struct Separated<R>(R);

impl<R: Read> Read for Separated<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(buffer)?;
        let separators = buffer[..count].iter_mut().filter(|byte| matches!(byte, b',' | b';'));
        separators.for_each(|byte| *byte = b' ');
        Ok(count)
    }
}

/// A read that fails once, or ends.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Counts the bytes that pass.
struct Counted<R> {
    reader: R,
    count: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.count += count as u64;
        Ok(count)
    }
}

/// Unpacks, and fails when far more comes out than has gone in.
struct Unpacked<R: Read> {
    decoder: MultiGzDecoder<Counted<R>>,
    count: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(buffer)?;
        self.count += count as u64;
        let packed = self.decoder.get_ref().count;
        if self.count > FREE_EXPANSION.max(packed.saturating_mul(GREATEST_EXPANSION)) {
            let reason = format!(
                "{packed} packed bytes expand to more than {GREATEST_EXPANSION} times as many; \
                 if that is meant, unpack the file first"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn pack(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        Source::new("test", bytes).unwrap().read_to_end(&mut all)?;
        Ok(all)
    }

    #[test]
    fn packed_and_plain_bytes_read_the_same() {
        for text in [&b""[..], b"1", b"2 1\n2\n1\n", &GZIP_MAGIC[..1]] {
            assert_eq!(read(text).unwrap(), text);
            assert_eq!(read(&pack(text)).unwrap(), text);
        }
        let members = [pack(b"2 1\n2"), pack(b"\n1\n")].concat();
        assert_eq!(read(&members).unwrap(), b"2 1\n2\n1\n");
    }

    #[test]
    fn what_was_peeked_at_is_read_again() {
        for bytes in [b"2 1\n2\n1\n".to_vec(), pack(b"2 1\n2\n1\n")] {
            for count in [0, 1, 5, 100] {
                let mut source = Source::new("test", &bytes[..]).unwrap();
                assert_eq!(source.peek(count), b"2 1\n2\n1\n"[..count.min(8)]);
                let mut all = String::new();
                source.read_to_string(&mut all).unwrap();
                assert_eq!(all, "2 1\n2\n1\n");
            }
        }
    }

    #[test]
    fn what_fails_while_it_is_peeked_at_fails_when_it_is_read() {
        let mut damaged = pack(b"2 1\n2\n1\n");
        damaged.truncate(damaged.len() - 4);
        let mut source = Source::new("test", &damaged[..]).unwrap();
        assert_eq!(source.peek(100), b"2 1\n2\n1\n");
        assert_eq!(source.peek(4), b"2 1\n");
        let mut all = Vec::new();
        assert_eq!(source.read_to_end(&mut all).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(all, b"2 1\n2\n1\n");
    }

    #[test]
    fn damaged_packing_is_an_error() {
        let whole = pack(b"2 1\n2\n1\n");
        for length in 2..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length} bytes of {}", whole.len());
        }
        let mut damaged = whole.clone();
        damaged[12] ^= 0x55;
        assert!(read(&damaged).is_err());
    }

    #[test]
    fn a_bomb_is_refused() {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        for _ in 0..=FREE_EXPANSION >> 16 {
            encoder.write_all(&[b'\n'; 1 << 16]).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        let mut unpacked = Source::new("bomb", &bomb[..]).unwrap();
        let error = io::copy(&mut unpacked, &mut io::sink()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
