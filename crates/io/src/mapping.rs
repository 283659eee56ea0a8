//! Mapping files: line i holds the PE of process i, both counted from 0; one number a line.

use std::io::{self, Write};

use super::lines::end_of_line;
use super::reading::Reading;
use super::recognise;
use super::scanner::{Scanner, TextKind, Token};
use super::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::memory;
use viem::base::text::counted;
use viem::base::types::PeId;

/// A fault in a mapping file. Lines are counted from 1, processes and PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MappingFault {
    #[error("this looks like {}, not like a mapping, which has one number a line", Reading::listed(readings))]
    OtherFormat { readings: Vec<Reading> },
    #[error("`{text}` is not a PE; the line must hold one whole number from 0 to {last}")]
    NotAPe { text: String, last: usize },
    #[error("there is no PE {text}; the PEs are 0 to {last}")]
    PeOutOfRange { text: String, last: usize },
    #[error("PE {pe} is taken by line {earlier} already; a mapping gives each PE to one process")]
    PeTaken { pe: PeId, earlier: u64 },
    #[error(
        "PE {pe} is full: it has room for {processes}, and line {earlier} is the last of them",
        processes = counted(capacity, "process", "processes")
    )]
    PeFull { pe: PeId, capacity: u32, earlier: u64 },
    #[error("the line is empty; it must hold the PE of process {process}")]
    EmptyLine { process: usize },
    #[error("`{text}` is too much; a line holds the PE of one process")]
    SecondNumber { text: String },
    #[error(
        "the mapping ends after {found} of {processes}; give each vertex of the graph a line",
        processes = counted(expected, "process", "processes")
    )]
    TooFewLines { found: usize, expected: usize },
    #[error(
        "the mapping goes on after {processes}, which is all that the graph has",
        processes = counted(expected, "process", "processes")
    )]
    TooManyLines { expected: usize },
}

/// The PEs that processes can be on.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Room<'a> {
    /// The number of PEs.
    pub num_pes: usize,
    /// The number of processes that a PE has room for.
    pub capacity: &'a dyn Fn(PeId) -> u32,
}

impl<'a> Room<'a> {
    /// A number of PEs, and how many processes each of them has room for.
    pub fn new(num_pes: usize, capacity: &'a dyn Fn(PeId) -> u32) -> Self {
        Self { num_pes, capacity }
    }

    /// The room of this many PEs with one process each.
    pub fn plain(num_pes: usize) -> Self {
        Self { num_pes, capacity: &|_| 1 }
    }
}

/// Reads the PE of each of `num_processes` processes; O(n + PEs), 4 bytes a process and 12 a PE.
///
/// The result puts no more processes on a PE than it has room for; a file that does is refused at the first offending
/// line. Blank lines after the last process are accepted.
///
/// ```
/// use viem_io::{Source, mapping};
///
/// let source = Source::new("swapped", "1\n0\n".as_bytes())?;
/// assert_eq!(mapping::read(source, 2, mapping::Room::plain(2))?, [1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_processes: usize, room: Room<'_>) -> Result<Vec<PeId>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source.bounded(num_processes));
    let readings = recognise::readings(scanner.at_hand(), scanner.has_all_at_hand());
    let out_of_memory = |source| ReadError::OutOfMemory { file: name.clone(), line: 1, source };
    let pe_of = memory::with_room(num_processes).map_err(out_of_memory)?;
    let taken = Taken {
        room,
        count: memory::filled(room.num_pes, 0).map_err(out_of_memory)?,
        line: memory::filled(room.num_pes, 0).map_err(out_of_memory)?,
    };
    let result = read_lines(&mut scanner, num_processes, pe_of, taken);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    result.map_err(|fault| {
        let (line, column, fault) = if readings.is_empty() || readings.contains(&Reading::MAPPING) {
            (scanner.line(), scanner.column(), fault)
        } else {
            (1, 1, MappingFault::OtherFormat { readings })
        };
        ReadError::Invalid { file: name, line, column, kind: ContentError::new(fault) }
    })
}

/// The room that is left by the lines so far.
struct Taken<'a> {
    room: Room<'a>,
    /// The processes on each PE.
    count: Vec<u32>,
    /// The line, from 1, of the last of them.
    line: Vec<u64>,
}

impl Taken<'_> {
    /// Puts the process of a line on a PE.
    fn take(&mut self, pe: u64, line: u64) -> Result<PeId, MappingFault> {
        let last = self.room.num_pes.saturating_sub(1);
        let index = usize::try_from(pe).ok().filter(|&pe| pe < self.room.num_pes);
        let index = index.ok_or_else(|| MappingFault::PeOutOfRange { text: pe.to_string(), last })?;
        let pe = index as PeId;
        let (capacity, earlier) = ((self.room.capacity)(pe), self.line[index]);
        match self.count[index] {
            count if count < capacity => {}
            1 => return Err(MappingFault::PeTaken { pe, earlier }),
            _ => return Err(MappingFault::PeFull { pe, capacity, earlier }),
        }
        self.count[index] += 1;
        self.line[index] = line;
        Ok(pe)
    }
}

/// Reads up to the first fault, and leaves the scanner there.
fn read_lines(
    scanner: &mut Scanner<Source<'_>>,
    expected: usize,
    mut pe_of: Vec<PeId>,
    mut taken: Taken<'_>,
) -> Result<Vec<PeId>, MappingFault> {
    let last = taken.room.num_pes.saturating_sub(1);
    while pe_of.len() < expected {
        let pe = match scanner.next_token() {
            Token::Number(pe) => pe,
            Token::Text(TextKind::TooLarge) => {
                return Err(MappingFault::PeOutOfRange { text: scanner.text(), last });
            }
            Token::Text(_) => return Err(MappingFault::NotAPe { text: scanner.text(), last }),
            Token::LineEnd => return Err(MappingFault::EmptyLine { process: pe_of.len() }),
            Token::End => return Err(MappingFault::TooFewLines { found: pe_of.len(), expected }),
        };
        pe_of.push(taken.take(pe, scanner.line())?);
        end_of_line(scanner, |text| MappingFault::SecondNumber { text })?;
    }
    while scanner.has_bytes() {
        end_of_line(scanner, |_| MappingFault::TooManyLines { expected })?;
    }
    Ok(pe_of)
}

/// Writes the PE of each process; O(n).
pub fn write(out: &mut (impl Write + ?Sized), pe_of: &[PeId]) -> io::Result<()> {
    super::digits::write_lines(out, pe_of)
}
