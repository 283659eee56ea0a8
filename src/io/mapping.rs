//! Mapping files: line i holds the PE of process i, both counted from 0; one number a line.

use std::io::{self, Write};

use super::foreign;
use super::scanner::{Scanner, TextKind, Token};
use super::source::read_error;
use super::{ContentError, ReadError, Source};
use crate::memory;
use crate::types::PeId;

/// What is wrong with a mapping file. Lines are counted from 1, processes and PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MappingFault {
    #[error("this looks like {looks_like}, not like a mapping, which has one number a line")]
    OtherFormat { looks_like: &'static str },
    #[error("`{text}` is not a PE; the line must hold one whole number from 0 to {last}")]
    NotAPe { text: String, last: usize },
    #[error("there is no PE {text}; the PEs are 0 to {last}")]
    PeOutOfRange { text: String, last: usize },
    #[error("PE {pe} is taken by line {earlier} already; a mapping gives each PE to one process")]
    PeTaken { pe: PeId, earlier: u64 },
    #[error("the line is empty; it must hold the PE of process {process}")]
    EmptyLine { process: usize },
    #[error("`{text}` is too much; a line holds the PE of one process")]
    SecondNumber { text: String },
    #[error("the mapping ends after {found} of {expected} processes; give each vertex of the graph a line")]
    TooFewLines { found: usize, expected: usize },
    #[error("the mapping goes on after {expected} processes, which is all that the graph has")]
    TooManyLines { expected: usize },
}

/// Reads the PE of each of `num_processes` processes; O(n), memory for `num_processes`.
///
/// What comes out is a permutation of `0..num_processes`; a file that holds none is refused at the first
/// offending line. Blank lines after the last process are accepted.
pub fn read(source: Source<'_>, num_processes: usize) -> Result<Vec<PeId>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let looks_like = foreign::recognise(scanner.at_hand(), scanner.has_all_at_hand());
    let out_of_memory = |source| ReadError::OutOfMemory { file: name.clone(), line: 1, source };
    let pe_of = memory::with_room(num_processes).map_err(out_of_memory)?;
    let taken_by = memory::filled(num_processes, 0).map_err(out_of_memory)?;
    let result = read_lines(&mut scanner, num_processes, pe_of, taken_by);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    result.map_err(|fault| {
        let (line, column, fault) = match looks_like.filter(|&kind| kind != foreign::MAPPING) {
            Some(looks_like) => (1, 1, MappingFault::OtherFormat { looks_like }),
            None => (scanner.line(), scanner.column(), fault),
        };
        ReadError::Invalid { file: name, line, column, kind: ContentError::Mapping(fault) }
    })
}

/// Reads up to the first fault, where the scanner then stands; `taken_by` is the line, from 1, of the process on each
/// PE, and 0 for a free PE.
fn read_lines(
    scanner: &mut Scanner<Source<'_>>,
    expected: usize,
    mut pe_of: Vec<PeId>,
    mut taken_by: Vec<u64>,
) -> Result<Vec<PeId>, MappingFault> {
    let last = expected.saturating_sub(1);
    while pe_of.len() < expected {
        let pe = match scanner.next() {
            Token::Number(pe) => pe,
            Token::Text(TextKind::TooLarge) => {
                return Err(MappingFault::PeOutOfRange { text: scanner.text(), last });
            }
            Token::Text(_) => return Err(MappingFault::NotAPe { text: scanner.text(), last }),
            Token::LineEnd => return Err(MappingFault::EmptyLine { process: pe_of.len() }),
            Token::End => return Err(MappingFault::TooFewLines { found: pe_of.len(), expected }),
        };
        match usize::try_from(pe).ok().and_then(|pe| taken_by.get_mut(pe)) {
            None => return Err(MappingFault::PeOutOfRange { text: pe.to_string(), last }),
            Some(&mut earlier) if earlier > 0 => {
                return Err(MappingFault::PeTaken { pe: pe as PeId, earlier });
            }
            Some(free) => *free = scanner.line(),
        }
        pe_of.push(pe as PeId);
        end_of_line(scanner, |text| MappingFault::SecondNumber { text })?;
    }
    while scanner.has_bytes() {
        end_of_line(scanner, |_| MappingFault::TooManyLines { expected })?;
    }
    Ok(pe_of)
}

fn end_of_line(
    scanner: &mut Scanner<Source<'_>>,
    fault: impl Fn(String) -> MappingFault,
) -> Result<(), MappingFault> {
    match scanner.next() {
        Token::LineEnd | Token::End => {}
        Token::Number(number) => return Err(fault(number.to_string())),
        Token::Text(_) => return Err(fault(scanner.text())),
    }
    scanner.skip_line();
    Ok(())
}

/// Writes the PE of each process; O(n).
pub fn write(out: &mut (impl Write + ?Sized), pe_of: &[PeId]) -> io::Result<()> {
    super::digits::write_lines(out, pe_of)
}
