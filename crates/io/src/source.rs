//! Sources of bytes: a file or the standard input, packed with gzip or not, in any encoding that a text may have.
//!
//! Sources are read in pieces and never held as a whole. All readers get the same text, whatever program wrote it:
//!
//! | in the file | what is read |
//! |---|---|
//! | gzip, recognised by its content | the bytes that were packed; what they may expand to is bounded, so that no small file can fill the memory |
//! | a byte order mark of UTF-8 | what follows it |
//! | UTF-16 with its byte order mark | the same text in UTF-8; columns count the bytes of that |
//! | lines that end with CR, and no other | lines that end with LF |
//!
//! Lines that end with CR LF are left as they are: readers of lines and of tokens take both.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::{ContentError, ReadError};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The mark that some editors and spreadsheets write before a text in UTF-8, and before one in UTF-16 of either byte order.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const LITTLE_ENDIAN_MARK: &[u8] = b"\xff\xfe";
const BIG_ENDIAN_MARK: &[u8] = b"\xfe\xff";

/// Any packed file may expand to this many bytes, whatever its size.
const FREE_EXPANSION: u64 = 64 << 20;
/// A packed file that expands to more may expand to this many times its size. Graph files shrink to a
/// third or a tenth; gzip itself reaches 1032, on bytes that are all alike.
const GREATEST_EXPANSION: u64 = 100;

/// Bytes that a file may have which is small beside a graph, such as a list of hosts. It keeps files without an end,
/// such as `/dev/zero` or a pipe, from being read for ever.
const MOST_SMALL: u64 = 64 << 20;
/// Bytes that a file of something about each process, vertex or PE may have for each of them, if that is more.
const MOST_OF_EACH: u64 = 256;

/// A named stream of bytes, unpacked if it was packed; texts are in UTF-8, without a byte order mark.
pub struct Source<'a> {
    name: String,
    reader: Box<dyn Read + Send + 'a>,
    is_plain: bool,
    /// The file from which it was opened, unless that is the standard input.
    file: Option<File>,
}

impl<'a> Source<'a> {
    /// Bytes at the start of a source that can be looked at before it is read.
    pub const START: usize = 1 << 16;

    /// Opens a file, or the standard input if the path is `-`.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        if path.as_os_str() == "-" {
            return Self::new("standard input", io::stdin());
        }
        let name = path.display().to_string();
        match File::open(path) {
            Ok(file) => Ok(Self { file: file.try_clone().ok(), ..Self::new(name, file)? }),
            Err(source) => Err(ReadError::Unreadable { file: name, source }),
        }
    }

    /// A source of the bytes of any reader; `name` is its name in messages.
    pub fn new(name: impl Into<String>, mut reader: impl Read + Send + 'a) -> Result<Self, ReadError> {
        let name = name.into();
        let mut start = Vec::new();
        if let Err(source) = reader.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start) {
            return Err(ReadError::Unreadable { file: name, source });
        }
        let is_packed = start == GZIP_MAGIC;
        let whole = Cursor::new(start).chain(reader);
        let reader: Box<dyn Read + Send + 'a> = if is_packed {
            let decoder = MultiGzDecoder::new(Counted { reader: whole, count: 0 });
            Box::new(Unpacked { decoder, count: 0 })
        } else {
            Box::new(whole)
        };
        let mut source = Self { name, reader, is_plain: !is_packed, file: None };
        source.unify();
        Ok(source)
    }

    /// Makes plain UTF-8 of a text in another form.
    fn unify(&mut self) {
        let start = self.start();
        let is_big = start.starts_with(BIG_ENDIAN_MARK);
        if start.starts_with(BYTE_ORDER_MARK) {
            self.pass_over(BYTE_ORDER_MARK.len());
        } else if is_big || start.starts_with(LITTLE_ENDIAN_MARK) {
            self.pass_over(LITTLE_ENDIAN_MARK.len());
            self.wrap(|reader| Utf16 { reader, is_big, units: Vec::new(), text: Vec::new(), position: 0 });
        }
        if ends_lines_with_carriage_returns(&self.start()) {
            self.wrap(|reader| CarriageReturns { reader, follows_one: false });
        }
    }

    /// Leaves out the next `count` bytes, which have been peeked at.
    fn pass_over(&mut self, count: usize) {
        let passed = self.reader.by_ref().take(count as u64).read_to_end(&mut Vec::new());
        passed.expect("these bytes have been read before");
    }

    fn wrap<R: Read + Send + 'a>(&mut self, outer: impl FnOnce(Box<dyn Read + Send + 'a>) -> R) {
        let inner = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(outer(inner));
        self.is_plain = false;
    }

    /// The first bytes, at most `count` of them; they stay to be read. A read that fails fails again then.
    fn peek(&mut self, count: usize) -> Vec<u8> {
        let mut start = Vec::new();
        let failure = self.reader.by_ref().take(count as u64).read_to_end(&mut start).err();
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(start.clone()).chain(Failing(failure)).chain(rest));
        start
    }

    /// The same as a file that is small, or that has something about each of this many items: reading it fails where it is longer than
    /// any such file needs to be.
    pub(crate) fn bounded(mut self, items: usize) -> Self {
        let most = MOST_SMALL.max((items as u64).saturating_mul(MOST_OF_EACH));
        self.wrap(|reader| Bounded { reader, most, left: most });
        self
    }

    /// Returns the name of this source in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The reason why reading it failed before anything was read.
    pub fn error(&self, source: io::Error) -> ReadError {
        read_error(&self.name, source, 1, 1)
    }

    /// Returns whether what is read are the bytes that there are, except for a byte order mark; then parts of a file can be read by themselves.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Takes the file whose bytes these are, if they can be read at any place of it.
    pub(super) fn take_seekable(&mut self) -> Option<File> {
        let is_seekable = |file: &File| file.metadata().is_ok_and(|data| data.is_file());
        let file = self.file.take().filter(|_| self.is_plain && cfg!(any(unix, windows)));
        file.filter(is_seekable)
    }

    /// The first bytes, at most [`Self::START`] of them; they stay to be read. A read that fails fails again then.
    pub fn start(&mut self) -> Vec<u8> {
        self.peek(Self::START)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// Reads bytes at a place of a file, whatever else is read from it.
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
    #[cfg(not(any(unix, windows)))]
    return Err(io::ErrorKind::Unsupported.into());
}

/// Fills a buffer with one read after another, each of which is told how many bytes there are already; returns how many there are at the end.
pub(super) fn fill(
    buffer: &mut [u8],
    mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut count = 0;
    while count < buffer.len() {
        match read(&mut buffer[count..], count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// A file that is longer than any of its kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the file is longer than {most} MiB, the most that is read of such a file; is it the right one, and does it end?"
)]
#[allow(missing_docs)] // the message is the documentation of the field
pub struct FileTooLong {
    pub most: u64,
}

/// A file that starts like a packed one, and is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file starts like a gzip file but cannot be unpacked: {reason}")]
#[allow(missing_docs)] // the message is the documentation of the field
pub struct PackedFault {
    pub reason: String,
}

/// The error of a read that failed where the text had reached this line and column.
pub(crate) fn read_error(file: &str, source: io::Error, line: u64, column: u64) -> ReadError {
    let file = file.to_owned();
    if let Some(kind) = source.get_ref().and_then(|inner| inner.downcast_ref::<ContentError>()) {
        return ReadError::Invalid { file, line, column, kind: kind.clone() };
    }
    match source.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
            let kind = ContentError::new(PackedFault { reason: source.to_string() });
            ReadError::Invalid { file, line, column, kind }
        }
        _ => ReadError::Unreadable { file, source },
    }
}

/// A read that fails once, or ends.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Fails when more is read than a file may have.
struct Bounded<R> {
    reader: R,
    most: u64,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more shows that there is more.
        let room = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.reader.read(&mut buffer[..room])?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::FileTooLarge,
                ContentError::new(FileTooLong { most: self.most >> 20 }),
            )
        })?;
        Ok(count)
    }
}

/// Returns whether the start of a file shows a text whose lines end with CR. A CR at its very end may belong to a CR LF.
fn ends_lines_with_carriage_returns(start: &[u8]) -> bool {
    let sure = if start.len() < Source::START { start } else { &start[..start.len() - 1] };
    sure.contains(&b'\r') && !start.contains(&b'\n') && !start.contains(&0)
}

/// Makes LF of each CR, and of each CR LF.
struct CarriageReturns<R> {
    reader: R,
    /// True if the last byte read was a CR.
    follows_one: bool,
}

impl<R: Read> Read for CarriageReturns<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.reader.read(buffer)?;
            let mut kept = 0;
            for place in 0..count {
                let byte = buffer[place];
                let ends_pair = std::mem::replace(&mut self.follows_one, byte == b'\r') && byte == b'\n';
                if !ends_pair {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            if kept > 0 || count == 0 {
                return Ok(kept);
            }
        }
    }
}

/// Makes UTF-8 of UTF-16.
struct Utf16<R> {
    reader: R,
    is_big: bool,
    /// Bytes that are not converted yet: half a character at most, between two reads.
    units: Vec<u8>,
    /// Text that is, from `position` on, not read yet.
    text: Vec<u8>,
    position: usize,
}

impl<R: Read> Utf16<R> {
    /// Converts the next piece; nothing is left to read at the end of the file.
    fn refill(&mut self) -> io::Result<()> {
        (self.position, self.text) = (0, Vec::new());
        let is_last = self.reader.by_ref().take(1 << 13).read_to_end(&mut self.units)? == 0;
        let unit = |pair: &[u8]| {
            let pair = [pair[0], pair[1]];
            if self.is_big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        };
        let mut units: Vec<u16> = self.units.chunks_exact(2).map(unit).collect();
        // The second half of a character may come with the next piece.
        if !is_last && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            units.pop();
        }
        let rest = self.units.split_off(2 * units.len());
        self.units = if is_last { Vec::new() } else { rest.clone() };
        let mut text: String =
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        if is_last && !rest.is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
        self.text = text.into_bytes();
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.text.len() {
            self.refill()?;
        }
        let count = (&self.text[self.position..]).read(buffer)?;
        self.position += count;
        Ok(count)
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
        check_expansion(self.decoder.get_ref().count, self.count)?;
        Ok(count)
    }
}

/// Fails when far more comes out of packed bytes than has gone in.
pub(super) fn check_expansion(packed: u64, unpacked: u64) -> io::Result<()> {
    if unpacked <= FREE_EXPANSION.max(packed.saturating_mul(GREATEST_EXPANSION)) {
        return Ok(());
    }
    let reason = format!(
        "{packed} packed bytes expand to more than {GREATEST_EXPANSION} times as many; \
         if that is meant, unpack the file first"
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, reason))
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

    fn utf16(text: &str, is_big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn a_text_is_the_same_in_any_encoding() {
        let long = format!("{}\u{1f980}\n", "2 1\u{fc}\u{1f980}\n".repeat(20_000));
        for text in ["", "2", "2 1\n2\n1\n", "2 1\r\n2\r\n1", &long] {
            let marked = [BYTE_ORDER_MARK, text.as_bytes()].concat();
            for bytes in [marked, utf16(text, false), utf16(text, true)] {
                assert!(read(&bytes).unwrap() == text.as_bytes(), "{text:.20}");
                assert!(read(&pack(&bytes)).unwrap() == text.as_bytes(), "{text:.20}");
            }
        }
        // Half a character, and half of one of two halves.
        assert_eq!(read(b"\xff\xfea\0b").unwrap(), "a\u{fffd}".as_bytes());
        assert_eq!(read(b"\xff\xfe\x3e\xd8").unwrap(), "\u{fffd}".as_bytes());
        // A mark is one at the start only.
        assert_eq!(read("1\u{feff}".as_bytes()).unwrap(), "1\u{feff}".as_bytes());
    }

    #[test]
    fn lines_may_end_with_carriage_returns() {
        for (text, expected) in [
            ("2 1\r2\r1\r", "2 1\n2\n1\n"),
            ("2 1\r\r1", "2 1\n\n1"),
            ("\r", "\n"),
            // Where a line ends with LF, a CR within one is a fault.
            ("2 1\r2\n1\n", "2 1\r2\n1\n"),
            ("2 1\r\n", "2 1\r\n"),
            ("\0\r", "\0\r"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), expected.as_bytes(), "{text:?}");
        }
        let long = "12345 6789\r".repeat(20_000);
        assert!(read(long.as_bytes()).unwrap() == long.replace('\r', "\n").as_bytes());
        assert!(read(&pack(&utf16(&long, true))).unwrap() == long.replace('\r', "\n").as_bytes());
        let late = format!("{long}\r\n7\r");
        assert!(read(late.as_bytes()).unwrap().ends_with(b"\n\n7\n"));
        // One line ends with CR LF just at the seam.
        let seam = format!("{}\r\n1", "7".repeat(Source::START - 1));
        assert!(read(seam.as_bytes()).unwrap() == seam.as_bytes());
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
    fn a_file_without_an_end_is_refused() {
        let endless = |items| {
            let mut source = Source::new("endless", io::repeat(b'1')).unwrap().bounded(items);
            let read = io::copy(&mut source, &mut io::sink());
            read_error("endless", read.unwrap_err(), 1, 1).to_string()
        };
        assert!(endless(0).contains("the file is longer than 64 MiB"), "{}", endless(0));
        assert!(endless(1 << 20).contains("longer than 256 MiB"));
        let whole = vec![b'1'; MOST_SMALL as usize];
        let mut read = Vec::new();
        Source::new("whole", &whole[..]).unwrap().bounded(9).read_to_end(&mut read).unwrap();
        assert!(read == whole);
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
