//! Files of fixed processes or vertices: where each must be, or -1 where it is free.
//!
//! Either line i holds the PE of process i, or each line holds a process and its PE, and processes without a line are
//! free. The first line decides: one number or two. Numbers are counted from 0 and separated by blanks, commas or
//! semicolons. Lines that start with `#` or `%` are comments, and the columns of pairs may have names.

use super::mapping::Room;
use super::scanner::{RefusedLine, Scanner};
use super::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::text::{MESSAGE_TEXT, counted};
use viem::base::types::{BlockId, NodeId};
use viem::base::{memory, number};
use viem::partition::FixedVertices;

/// The words of messages for fixed items and their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FixedKind {
    /// Processes on PEs.
    Processes,
    /// Vertices on PEs.
    Vertices,
    /// Vertices in parts.
    Parts,
    /// Objects at places.
    Objects,
}

impl FixedKind {
    /// Returns the word for a fixed item.
    fn item(self) -> &'static str {
        match self {
            Self::Processes => "process",
            Self::Vertices | Self::Parts => "vertex",
            Self::Objects => "object",
        }
    }

    /// Returns the word for its place.
    fn place(self) -> &'static str {
        match self {
            Self::Processes | Self::Vertices => "PE",
            Self::Parts => "part",
            Self::Objects => "place",
        }
    }
}

/// A fault in a file of fixed processes. Lines are counted from 1, processes and PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum FixedFault {
    #[error("`{text}` is not a {place}; it must be a whole number from 0 to {last}, or -1 for a free {item}")]
    NotAPlace { text: String, item: &'static str, place: &'static str, last: usize },
    #[error("`{text}` is not a {item}; it must be a whole number from 0 to {last}")]
    NotAnItem { text: String, item: &'static str, last: usize },
    #[error("there is no {what} {number}; they are 0 to {last}")]
    OutOfRange { what: &'static str, number: u64, last: usize },
    #[error("{place} {number} is taken by line {earlier} already; it has room for one {item}")]
    Taken { item: &'static str, place: &'static str, number: BlockId, earlier: u64 },
    #[error("{place} {number} is full: it has room for {capacity}, and line {earlier} is the last of them")]
    Full { place: &'static str, number: BlockId, capacity: u32, earlier: u64 },
    #[error("{place} {number} has no room")]
    NoRoom { place: &'static str, number: BlockId },
    #[error("{item} {number} is listed twice; line {earlier} has it already")]
    Twice { item: &'static str, number: NodeId, earlier: u64 },
    #[error("the line is empty; it must hold the {place} of {item} {number}, or -1")]
    EmptyLine { item: &'static str, place: &'static str, number: usize },
    #[error("a line has {expected} here, as the first one has, not {found}")]
    Fields { found: usize, expected: &'static str },
    #[error("a line holds a {place}, or a {item} and its {place}; `{text}` is too much")]
    TooManyFields { item: &'static str, place: &'static str, text: String },
    #[error(
        "the file ends after {found} of {lines}; give each {item} a line, or lines of a {item} and its {place}",
        lines = counted(expected, "line", "lines")
    )]
    TooFewLines { item: &'static str, place: &'static str, found: usize, expected: usize },
    #[error("there are more than {lines}, but no {item} is left", lines = counted(expected, "line", "lines"))]
    TooManyLines { item: &'static str, expected: usize },
    #[error("the line is longer than {most} bytes")]
    LongLine { most: usize },
}

/// Reads which of `num_items` processes or vertices are fixed, and where; O(n + PEs).
///
/// The result puts no more on a PE than it has room for; a file that does is refused at the first offending line.
///
/// ```
/// use viem_io::fixed::{self, FixedKind};
/// use viem_io::Source;
/// use viem_io::mapping::Room;
///
/// let read = |text: &'static str| fixed::read(Source::new("fixed", text.as_bytes())?, 4, Room::plain(4), FixedKind::Processes);
/// let fixed = read("-1\n3\n-1\n-1\n")?;
/// assert_eq!((fixed.of(0), fixed.of(1)), (None, Some(3)));
/// // The same as a pair.
/// assert_eq!(read("1 3\n")?, fixed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(
    source: Source<'_>,
    num_items: usize,
    room: Room<'_>,
    kind: FixedKind,
) -> Result<FixedVertices, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source.bounded(num_items));
    let out_of_memory = |source| ReadError::OutOfMemory { file: name.clone(), line: 1, source };
    let mut reading = Reading {
        kind,
        room,
        num_items,
        fixed: FixedVertices::none(num_items, room.num_pes),
        taken: memory::filled(room.num_pes, (0, 0)).map_err(out_of_memory)?,
        line_of: Vec::new(),
        format: None,
        next: 0,
    };
    let result = reading.lines(&mut scanner);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    let invalid = |(line, column, fault)| ReadError::Invalid {
        file: name,
        line,
        column,
        kind: ContentError::new(fault),
    };
    result.map_err(invalid)?;
    Ok(reading.fixed)
}

/// The content of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// The place of the next item.
    List,
    /// An item and its place.
    Pairs,
}

/// The content read so far.
struct Reading<'a> {
    kind: FixedKind,
    room: Room<'a>,
    num_items: usize,
    fixed: FixedVertices,
    /// The number of items fixed at each place, and the line of the last of them.
    taken: Vec<(u32, u64)>,
    /// The line of each item, from 1, in a file of pairs.
    line_of: Vec<u64>,
    format: Option<Format>,
    /// The item of the next line in a list.
    next: usize,
}

/// A fault, with its line and column.
type Misplaced = (u64, u64, FixedFault);

impl Reading<'_> {
    fn lines(&mut self, scanner: &mut Scanner<Source<'_>>) -> Result<(), Misplaced> {
        // The first empty line, which is a fault if others follow.
        let mut empty = None;
        let mut last = 1;
        while let Some((line, bytes)) = scanner.next_line() {
            last = line + 1;
            let fields = fields(bytes);
            match fields.first() {
                None => empty = empty.or(Some(line)),
                Some((_, text)) if text.starts_with(['#', '%']) => {}
                Some(_) if self.format.is_none() && are_names(&fields) => self.format = Some(Format::Pairs),
                Some(_) => self.line(line, &fields, empty)?,
            }
        }
        if scanner.refused_line() == Some(RefusedLine::TooLong) {
            let most = super::scanner::LONGEST_LINE;
            return Err((last, 1, FixedFault::LongLine { most }));
        }
        let (found, expected) = (self.next, self.num_items);
        if self.format != Some(Format::Pairs) && found < expected {
            let (item, place) = (self.kind.item(), self.kind.place());
            return Err((last, 1, FixedFault::TooFewLines { item, place, found, expected }));
        }
        Ok(())
    }

    fn line(&mut self, line: u64, fields: &[(u64, String)], empty: Option<u64>) -> Result<(), Misplaced> {
        let (item, place) = (self.kind.item(), self.kind.place());
        if let Some((column, text)) = fields.get(2) {
            return Err((line, *column, FixedFault::TooManyFields { item, place, text: text.clone() }));
        }
        let own = if fields.len() == 1 { Format::List } else { Format::Pairs };
        let format = *self.format.get_or_insert(own);
        if format != own {
            let expected = if format == Format::List { "one number" } else { "two numbers" };
            let (column, _) = fields[fields.len() - 1];
            return Err((line, column, FixedFault::Fields { found: fields.len(), expected }));
        }
        let number = match format {
            Format::List => self.next_item(line, empty)?,
            Format::Pairs => self.item(line, &fields[0])?,
        };
        self.fix(number, line, &fields[fields.len() - 1])
    }

    /// The item of a line of a list.
    fn next_item(&mut self, line: u64, empty: Option<u64>) -> Result<NodeId, Misplaced> {
        let (item, place, number) = (self.kind.item(), self.kind.place(), self.next);
        if number == self.num_items {
            return Err((line, 1, FixedFault::TooManyLines { item, expected: number }));
        }
        if let Some(empty) = empty {
            return Err((empty, 1, FixedFault::EmptyLine { item, place, number }));
        }
        self.next += 1;
        Ok(number as NodeId)
    }

    /// The item that a pair names, which has no line yet.
    fn item(&mut self, line: u64, (column, text): &(u64, String)) -> Result<NodeId, Misplaced> {
        let (item, last) = (self.kind.item(), self.num_items.saturating_sub(1));
        let fault = |fault| (line, *column, fault);
        let number = number::whole(text.as_bytes())
            .map_err(|_| fault(FixedFault::NotAnItem { text: text.clone(), item, last }))?;
        if number >= self.num_items as u64 {
            return Err(fault(FixedFault::OutOfRange { what: item, number, last }));
        }
        if self.line_of.is_empty() {
            self.line_of = vec![0; self.num_items];
        }
        let earlier = std::mem::replace(&mut self.line_of[number as usize], line);
        let number = number as NodeId;
        if earlier > 0 { Err(fault(FixedFault::Twice { item, number, earlier })) } else { Ok(number) }
    }

    /// Fixes an item to the place that a field names, if that has room.
    fn fix(&mut self, number: NodeId, line: u64, (column, text): &(u64, String)) -> Result<(), Misplaced> {
        if number::signed(number::whole(text.as_bytes())) == Some(-1) {
            return Ok(());
        }
        let (item, place) = (self.kind.item(), self.kind.place());
        let last = self.room.num_pes.saturating_sub(1);
        let fault = |fault| (line, *column, fault);
        let target = number::whole(text.as_bytes())
            .map_err(|_| fault(FixedFault::NotAPlace { text: text.clone(), item, place, last }))?;
        if target >= self.room.num_pes as u64 {
            return Err(fault(FixedFault::OutOfRange { what: place, number: target, last }));
        }
        let target = target as BlockId;
        let (capacity, taken) = ((self.room.capacity)(target), &mut self.taken[target as usize]);
        let (count, earlier) = *taken;
        match capacity {
            0 => return Err(fault(FixedFault::NoRoom { place, number: target })),
            1 if count == 1 => return Err(fault(FixedFault::Taken { item, place, number: target, earlier })),
            capacity if count >= capacity => {
                return Err(fault(FixedFault::Full { place, number: target, capacity, earlier }));
            }
            _ => *taken = (count + 1, line),
        }
        self.fixed.fix(number, target).expect("both exist, and each comes once");
        Ok(())
    }
}

/// Returns whether these are names of two columns.
fn are_names(fields: &[(u64, String)]) -> bool {
    let is_name = |(_, text): &(u64, String)| {
        text.trim_start_matches('"').starts_with(|first: char| first.is_ascii_alphabetic())
    };
    fields.len() == 2 && fields.iter().all(is_name)
}

/// Splits a line at separators, with the columns from 1; at most three fields, each shortened if it is long.
fn fields(line: &[u8]) -> Vec<(u64, String)> {
    let is_separator = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';' | b'\x0b');
    let mut fields = Vec::new();
    let mut at = 0;
    while at < line.len() && fields.len() < 3 {
        let length = line[at..].iter().position(is_separator).unwrap_or(line.len() - at);
        if length > 0 {
            // A text that is cut off is no number, whatever it begins with.
            let (shown, rest) = line[at..at + length].split_at(length.min(MESSAGE_TEXT));
            let mut text = String::from_utf8_lossy(shown).into_owned();
            text.push_str(if rest.is_empty() { "" } else { "..." });
            fields.push((at as u64 + 1, text));
        }
        at += length + 1;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, capacity: u32) -> Result<FixedVertices, (u64, u64, FixedFault)> {
        let capacity = |pe: BlockId| if pe == 3 { 0 } else { capacity };
        let room = Room::new(4, &capacity);
        match read(Source::new("test", text.as_bytes()).unwrap(), 3, room, FixedKind::Processes) {
            Ok(fixed) => Ok(fixed),
            Err(ReadError::Invalid { line, column, kind, .. }) => {
                Err((line, column, kind.fault::<FixedFault>().unwrap().clone()))
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn lists_and_pairs_are_told_apart_by_the_first_line() {
        let expected = FixedVertices::new(&[Some(2), None, Some(0)], 4).unwrap();
        for text in [
            "2\n-1\n0\n",
            "2\r\n-1\r\n0",
            "\u{feff}2\n -1 \n0\n\n\n",
            "# PE\n2\n-1\n% two\n0\n",
            "0 2\n2 0\n",
            "2\t0\n\n0,2\n",
            "2;0\n0 ; 2\n1 -1\n",
        ] {
            assert_eq!(of(text, 1), Ok(expected.clone()), "{text:?}");
        }
        assert_eq!(of("0 1\n1 1\n", 2).unwrap().count(), 2);
        assert_eq!(of("-1\n-1\n-1\n", 1), Ok(FixedVertices::none(3, 4)));
    }

    #[test]
    fn faults_are_told_where_they_are() {
        let (item, place) = ("process", "PE");
        let not_a_place = |text: &str| FixedFault::NotAPlace { text: text.to_owned(), item, place, last: 3 };
        let cases = [
            ("2\n-1\n", (3, 1, FixedFault::TooFewLines { item, place, found: 2, expected: 3 })),
            ("", (1, 1, FixedFault::TooFewLines { item, place, found: 0, expected: 3 })),
            ("2\n-1\n-1\n0\n", (4, 1, FixedFault::TooManyLines { item, expected: 3 })),
            ("2\n\n-1\n0\n", (2, 1, FixedFault::EmptyLine { item, place, number: 1 })),
            ("2\n x\n", (2, 2, not_a_place("x"))),
            ("2\n-2\n", (2, 1, not_a_place("-2"))),
            ("2\n1.5\n", (2, 1, not_a_place("1.5"))),
            ("2\n4\n", (2, 1, FixedFault::OutOfRange { what: place, number: 4, last: 3 })),
            ("0 3\n", (1, 3, FixedFault::NoRoom { place, number: 3 })),
            ("2\n-1\n2\n", (3, 1, FixedFault::Taken { item, place, number: 2, earlier: 1 })),
            ("0 2\n3 1\n", (2, 1, FixedFault::OutOfRange { what: item, number: 3, last: 2 })),
            ("0 2\n0 2\n", (2, 1, FixedFault::Twice { item, number: 0, earlier: 1 })),
            ("0 2\nx 1\n", (2, 1, FixedFault::NotAnItem { text: "x".to_owned(), item, last: 2 })),
            ("0 2\n1\n", (2, 1, FixedFault::Fields { found: 1, expected: "two numbers" })),
            ("0\n1 2\n", (2, 3, FixedFault::Fields { found: 2, expected: "one number" })),
            ("0 1 2\n", (1, 5, FixedFault::TooManyFields { item, place, text: "2".to_owned() })),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text, 1), Err(expected), "{text:?}");
        }
        let long = "0".repeat(2 * MESSAGE_TEXT);
        assert!(matches!(of(&format!("{long}1\n"), 1), Err((1, 1, FixedFault::NotAPlace { .. }))));
        let full = FixedFault::Full { place, number: 1, capacity: 2, earlier: 2 };
        assert_eq!(of("1\n1\n1\n", 2), Err((3, 1, full)));
    }
}
