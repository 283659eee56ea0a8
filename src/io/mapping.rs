//! Mapping files: line i holds the PE of process i, both counted from 0; one number a line.

use std::io::{self, Write};

use super::scanner::{Scanner, TextKind, Token};
use super::source::read_error;
use super::{ContentError, ReadError, Source};
use crate::types::PeId;

/// What is wrong with a mapping file. Lines are counted from 1, processes and PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum MappingFault {
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
///
/// ```
/// use viem::io::{Source, mapping};
///
/// assert_eq!(mapping::read(Source::new("swapped", "1\n0\n".as_bytes())?, 2)?, [1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_processes: usize) -> Result<Vec<PeId>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let result = read_lines(&mut scanner, num_processes);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    result.map_err(|fault| ReadError::Invalid {
        file: name,
        line: scanner.line(),
        column: scanner.column(),
        kind: ContentError::Mapping(fault),
    })
}

/// Reads up to the first fault, where the scanner then stands.
fn read_lines(scanner: &mut Scanner<Source<'_>>, expected: usize) -> Result<Vec<PeId>, MappingFault> {
    let last = expected.saturating_sub(1);
    let mut pe_of: Vec<PeId> = Vec::with_capacity(expected);
    // The line, from 1, of the process on each PE; 0 for a free PE.
    let mut taken_by = vec![0u64; expected];
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
