//! Lists of PEs such as `0-15,32,40-47`: numbers from 0 and ranges, with commas, blanks or line ends between them.
//!
//! What starts with `#` or `%` is a comment, up to the end of its line.

use std::io::Read as _;
use std::path::Path;

use super::scanner::TEXT_LENGTH;
use super::source::read_error;
use super::{ContentError, ReadError, Source};
use crate::types::PeId;

/// What is wrong with a list of PEs. PEs are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum PeListFault {
    #[error("`{text}` is no processing element and no range; give numbers and ranges such as 0-15,32,40-47")]
    NotAPe { text: String },
    #[error("there is no processing element {text}; the machine has 0 to {last}")]
    PeOutOfRange { text: String, last: usize },
    #[error("the range {text} runs backwards; give {last}-{first}")]
    Backwards { text: String, first: u64, last: u64 },
    #[error("processing element {pe} is listed before; each can be listed once")]
    PeListedTwice { pe: PeId },
    #[error("no processing elements are listed; give numbers and ranges such as 0-15,32,40-47")]
    Empty,
}

/// Whether a text is a list and not the name of a file: nothing but digits, commas, minus signs and blanks, and a
/// digit first, or nothing at all.
pub fn is_list(text: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_whitespace() || b",-".contains(&byte);
    let text = text.trim();
    (text.is_empty() || text.starts_with(|first: char| first.is_ascii_digit())) && text.bytes().all(may_stand)
}

/// Opens a list, or the file that has this name; `name` is what messages call the list.
pub fn open<'a>(text: &'a str, name: &str) -> Result<Source<'a>, ReadError> {
    if is_list(text) {
        return Source::new(name, text.as_bytes());
    }
    let what = "a list of numbers and ranges such as 0-15,32,40-47";
    Source::open(Path::new(text)).map_err(|error| error.or_else_is(what))
}

/// Reads a list of PEs of a machine that has `num_pes`, each at most once and at least one.
///
/// Time and memory for the length of the text and of the list, and a bit a PE of the machine.
pub fn read(mut source: Source<'_>, num_pes: usize) -> Result<Vec<PeId>, ReadError> {
    let mut text = Vec::new();
    let read = source.read_to_end(&mut text);
    let (line, column) = place(&text, text.len());
    read.map_err(|error| read_error(source.name(), error, line, column))?;
    list(&text, num_pes).map_err(|(offset, fault)| {
        let (line, column) = place(&text, offset);
        ReadError::Invalid { file: source.name().to_owned(), line, column, kind: ContentError::PeList(fault) }
    })
}

/// Line and column of a byte.
fn place(text: &[u8], offset: usize) -> (u64, u64) {
    let before = &text[..offset];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let line = 1 + before[..line_start].iter().filter(|&&byte| byte == b'\n').count();
    (line as u64, (offset - line_start) as u64 + 1)
}

fn is_separator(byte: &u8) -> bool {
    *byte == b',' || byte.is_ascii_whitespace()
}

/// The list, or the first fault and where it starts.
fn list(text: &[u8], num_pes: usize) -> Result<Vec<PeId>, (usize, PeListFault)> {
    let (mut pes, mut is_listed) = (Vec::new(), vec![0u64; num_pes.div_ceil(64)]);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if is_separator(&rest[0]) {
            at += 1;
            continue;
        }
        if matches!(rest[0], b'#' | b'%') {
            at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            continue;
        }
        let entry = &rest[..rest.iter().position(is_separator).unwrap_or(rest.len())];
        let (first, last) = range(entry, num_pes).map_err(|fault| (at, fault))?;
        for pe in first..=last {
            let (word, bit) = (&mut is_listed[pe as usize / 64], 1 << (pe % 64));
            if *word & bit != 0 {
                return Err((at, PeListFault::PeListedTwice { pe }));
            }
            *word |= bit;
            pes.push(pe);
        }
        at += entry.len();
    }
    if pes.is_empty() { Err((text.len(), PeListFault::Empty)) } else { Ok(pes) }
}

/// The first and the last PE of an entry `a` or `a-b`.
fn range(entry: &[u8], num_pes: usize) -> Result<(PeId, PeId), PeListFault> {
    let shown = &entry[..entry.len().min(TEXT_LENGTH)];
    let text = || String::from_utf8_lossy(shown).chars().flat_map(char::escape_default).collect::<String>();
    let mut ends = [0; 2];
    let mut parts = entry.splitn(2, |&byte| byte == b'-');
    let first = parts.next().unwrap_or_default();
    for (end, digits) in ends.iter_mut().zip([first, parts.next().unwrap_or(first)]) {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(PeListFault::NotAPe { text: text() });
        }
        // Numbers beyond 64 bits are beyond every machine too.
        let value =
            |value: u64, &digit: &u8| value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        *end = digits.iter().fold(0, value);
    }
    let [first, last] = ends;
    if first.max(last) >= num_pes as u64 {
        return Err(PeListFault::PeOutOfRange { text: text(), last: num_pes.saturating_sub(1) });
    }
    if first > last {
        return Err(PeListFault::Backwards { text: text(), first, last });
    }
    Ok((first as PeId, last as PeId))
}
