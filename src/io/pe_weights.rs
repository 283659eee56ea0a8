//! Files of the weights of PEs: line i holds how much work PE i takes relative to the others, from 1; one number a line.
//!
//! Blank lines after the last PE are accepted.

use super::scanner::{Scanner, Token};
use super::source::read_error;
use super::{ContentError, ReadError, Source};
use crate::memory;

/// The greatest weight of a PE.
pub const MOST: u32 = 1_000_000;

/// What is wrong with a file of weights of PEs. Lines are counted from 1, PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum PeWeightFault {
    #[error("`{text}` is not a weight; the line must hold one whole number from 1 to {MOST}")]
    NotAWeight { text: String },
    #[error("the line is empty; it must hold the weight of processing element {pe}")]
    EmptyLine { pe: usize },
    #[error("`{text}` is too much; a line holds the weight of one processing element")]
    SecondNumber { text: String },
    #[error("the weights end after {found} of {expected} processing elements; give each a line")]
    TooFewLines { found: usize, expected: usize },
    #[error("the weights go on after {expected} processing elements, which is all that the machine has")]
    TooManyLines { expected: usize },
}

/// Reads the weight of each of `num_pes` PEs.
///
/// ```
/// use viem::io::{Source, pe_weights};
///
/// let source = Source::new("speeds", "2\n1\n".as_bytes())?;
/// assert_eq!(pe_weights::read(source, 2)?, [2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_pes: usize) -> Result<Vec<u32>, ReadError> {
    let name = source.name().to_owned();
    let mut scanner = Scanner::new(source);
    let out_of_memory = |source| ReadError::OutOfMemory { file: name.clone(), line: 1, source };
    let weights = memory::with_room(num_pes).map_err(out_of_memory)?;
    let result = read_lines(&mut scanner, num_pes, weights);
    if let Some(error) = scanner.failure() {
        return Err(read_error(&name, error, scanner.line(), scanner.column()));
    }
    result.map_err(|fault| {
        let (line, column, kind) = (scanner.line(), scanner.column(), ContentError::PeWeights(fault));
        ReadError::Invalid { file: name, line, column, kind }
    })
}

/// Reads up to the first fault, where the scanner then stands.
fn read_lines(
    scanner: &mut Scanner<Source<'_>>,
    expected: usize,
    mut weights: Vec<u32>,
) -> Result<Vec<u32>, PeWeightFault> {
    while weights.len() < expected {
        let weight = match scanner.next() {
            Token::Number(weight @ 1..) if weight <= u64::from(MOST) => weight as u32,
            Token::Number(other) => return Err(PeWeightFault::NotAWeight { text: other.to_string() }),
            Token::Text(_) => {
                return Err(PeWeightFault::NotAWeight { text: scanner.text() });
            }
            Token::LineEnd => return Err(PeWeightFault::EmptyLine { pe: weights.len() }),
            Token::End => return Err(PeWeightFault::TooFewLines { found: weights.len(), expected }),
        };
        weights.push(weight);
        end_of_line(scanner, |text| PeWeightFault::SecondNumber { text })?;
    }
    while scanner.has_bytes() {
        end_of_line(scanner, |_| PeWeightFault::TooManyLines { expected })?;
    }
    Ok(weights)
}

fn end_of_line(
    scanner: &mut Scanner<Source<'_>>,
    fault: impl Fn(String) -> PeWeightFault,
) -> Result<(), PeWeightFault> {
    match scanner.next() {
        Token::LineEnd | Token::End => {}
        Token::Number(number) => return Err(fault(number.to_string())),
        Token::Text(_) => return Err(fault(scanner.text())),
    }
    scanner.skip_line();
    Ok(())
}
