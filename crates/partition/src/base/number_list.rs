//! Lists of PEs or of blocks such as `0-15,32,40-47`: numbers from 0 and ranges, with commas, blanks or line ends between them.
//!
//! What starts with `#` or `%` is a comment, up to the end of its line.

use std::fmt;

use super::text::{MESSAGE_TEXT, Place, place};

/// What the numbers of a list stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListOf {
    /// PEs of a machine.
    Pes,
    /// Blocks of a partition.
    Blocks,
}

impl fmt::Display for ListOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pes => "processing element",
            Self::Blocks => "block",
        })
    }
}

/// What is wrong with a list of numbers. They are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum ListFault {
    #[error("`{text}` is no {of} and no range; give numbers and ranges such as 0-15,32,40-47")]
    NotANumber { of: ListOf, text: String },
    #[error("there is no {of} {text}; they are numbered from 0 to {last}")]
    OutOfRange { of: ListOf, text: String, last: usize },
    #[error("the range {text} runs backwards; give {last}-{first}")]
    Backwards { text: String, first: u64, last: u64 },
    #[error("{of} {number} is listed before; each can be listed once")]
    ListedTwice { of: ListOf, number: u32 },
    #[error("no {of} is listed; give numbers and ranges such as 0-15,32,40-47")]
    Empty { of: ListOf },
}

/// Returns whether a text is a list and not the name of a file: nothing but digits, commas, minus signs and blanks, and a
/// digit first, or nothing at all.
pub fn is_list(text: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_whitespace() || b",-".contains(&byte);
    let text = text.trim();
    (text.is_empty() || text.starts_with(|first: char| first.is_ascii_digit())) && text.bytes().all(may_stand)
}

/// The numbers of a list, which are below `count`, each at most once and at least one; `of` is what messages call a number.
/// Fails with the first fault and where it starts.
///
/// Time and memory for the length of the text and of the list, and a bit for each number below `count`.
pub fn parse(text: &[u8], of: ListOf, count: usize) -> Result<Vec<u32>, (Place, ListFault)> {
    list(text, of, count).map_err(|(offset, fault)| (place(text, offset), fault))
}

fn is_separator(byte: &u8) -> bool {
    *byte == b',' || byte.is_ascii_whitespace()
}

/// The list, or the first fault and the offset where it starts.
fn list(text: &[u8], of: ListOf, count: usize) -> Result<Vec<u32>, (usize, ListFault)> {
    let (mut numbers, mut is_listed) = (Vec::new(), vec![0u64; count.div_ceil(64)]);
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
        let (first, last) = range(entry, of, count).map_err(|fault| (at, fault))?;
        for number in first..=last {
            let (word, bit) = (&mut is_listed[number as usize / 64], 1 << (number % 64));
            if *word & bit != 0 {
                return Err((at, ListFault::ListedTwice { of, number }));
            }
            *word |= bit;
            numbers.push(number);
        }
        at += entry.len();
    }
    if numbers.is_empty() { Err((text.len(), ListFault::Empty { of })) } else { Ok(numbers) }
}

/// The first and the last number of an entry `a` or `a-b`.
fn range(entry: &[u8], of: ListOf, count: usize) -> Result<(u32, u32), ListFault> {
    let shown = &entry[..entry.len().min(MESSAGE_TEXT)];
    let text = || String::from_utf8_lossy(shown).chars().flat_map(char::escape_default).collect::<String>();
    let mut ends = [0; 2];
    let mut parts = entry.splitn(2, |&byte| byte == b'-');
    let first = parts.next().unwrap_or_default();
    for (end, digits) in ends.iter_mut().zip([first, parts.next().unwrap_or(first)]) {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(ListFault::NotANumber { of, text: text() });
        }
        // Numbers beyond 64 bits are beyond every count too.
        let value =
            |value: u64, &digit: &u8| value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        *end = digits.iter().fold(0, value);
    }
    let [first, last] = ends;
    if first.max(last) >= count as u64 {
        return Err(ListFault::OutOfRange { of, text: text(), last: count.saturating_sub(1) });
    }
    if first > last {
        return Err(ListFault::Backwards { text: text(), first, last });
    }
    Ok((first as u32, last as u32))
}
