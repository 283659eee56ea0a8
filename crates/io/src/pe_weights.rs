//! Files of the weights of PEs, or of the speeds of parts: line i holds how much work PE i takes relative to the others; one whole
//! number a line.
//!
//! Blank lines after the last PE are accepted.

use super::lines::{self, line_fault};
use crate::{ContentError, ReadError, Source};
use viem::base::number;

/// The greatest weight of a PE.
pub const MOST: u32 = 1_000_000;

/// A fault in a file of weights of PEs. Lines are counted from 1, PEs from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum PeWeightFault {
    #[error("`{text}` is not a weight; the line must hold one whole number from 1 to {MOST}")]
    NotAWeight { text: String },
    #[error(
        "`{text}` is not a speed; speeds are whole numbers from 0 to {MOST}, in proportion to each other"
    )]
    NotASpeed { text: String },
    #[error("the line is empty; it must hold the weight of processing element {pe}")]
    EmptyLine { pe: usize },
    #[error("`{text}` is too much; a line holds the weight of one processing element")]
    SecondNumber { text: String },
    #[error("the weights end after {found} of {expected} processing elements; give each a line")]
    TooFewLines { found: usize, expected: usize },
    #[error("the weights go on after {expected} processing elements, which is all that the machine has")]
    TooManyLines { expected: usize },
}

line_fault!(PeWeightFault, NotAWeight, pe);

/// Reads the weight of each of `num_pes` PEs, from 1.
///
/// ```
/// use viem_io::{Source, pe_weights};
///
/// let source = Source::new("weights", "2\n1\n".as_bytes())?;
/// assert_eq!(pe_weights::read(source, 2)?, [2, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_pes: usize) -> Result<Vec<u32>, ReadError> {
    let take = |number: u64| match number {
        1.. if number <= u64::from(MOST) => Ok(number as u32),
        _ => Err(PeWeightFault::NotAWeight { text: number.to_string() }),
    };
    lines::read(source, Some(num_pes), take, ContentError::new)
}

/// Reads the speed of each part, from 0: as many parts as the file has lines. A part of speed 0 takes no work.
///
/// ```
/// use viem_io::{Source, pe_weights};
///
/// let source = Source::new("speeds", "2\n1\n0\n".as_bytes())?;
/// assert_eq!(pe_weights::read_speeds(source)?, [2, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_speeds(source: Source<'_>) -> Result<Vec<u32>, ReadError> {
    let take = |number: u64| speed(number).ok_or(PeWeightFault::NotASpeed { text: number.to_string() });
    let of_speeds = |fault| match fault {
        PeWeightFault::NotAWeight { text } => PeWeightFault::NotASpeed { text },
        other => other,
    };
    lines::read(source, None, take, |fault| ContentError::new(of_speeds(fault)))
}

/// The speeds of a list with commas between them, such as `1,2,4`.
pub fn speeds_of(list: &str) -> Result<Vec<u32>, PeWeightFault> {
    let each = |text: &str| {
        let number = number::whole(text.trim().as_bytes()).ok().and_then(speed);
        number.ok_or_else(|| PeWeightFault::NotASpeed { text: text.trim().to_owned() })
    };
    list.split(',').map(each).collect()
}

fn speed(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&speed| speed <= MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (u64, u64, PeWeightFault) {
        match read_speeds(Source::new("test", text.as_bytes()).unwrap()).unwrap_err() {
            ReadError::Invalid { line, column, kind, .. } => {
                (line, column, kind.fault::<PeWeightFault>().unwrap().clone())
            }
            error => panic!("{error}"),
        }
    }

    #[test]
    fn speeds_are_as_many_as_there_are_lines() {
        let read = |text: &str| read_speeds(Source::new("test", text.as_bytes()).unwrap()).unwrap();
        assert_eq!(read("3\n0\n1000000\n\n\n"), [3, 0, MOST]);
        assert_eq!(read(""), [0; 0]);
        let not_a_speed = |text: &str| PeWeightFault::NotASpeed { text: text.to_owned() };
        assert_eq!(fault("1\n1000001\n"), (2, 1, not_a_speed("1000001")));
        assert_eq!(fault("1\n-1\n"), (2, 1, not_a_speed("-1")));
        assert_eq!(fault("1 2\n").1, 3);
        assert_eq!(fault("1\n\n2\n"), (3, 1, PeWeightFault::EmptyLine { pe: 1 }));
        assert_eq!(speeds_of("1, 2,4"), Ok(vec![1, 2, 4]));
        for (list, text) in [("", ""), ("1,,2", ""), ("1,0.5", "0.5"), ("-1", "-1"), ("1,x", "x")] {
            assert_eq!(speeds_of(list), Err(not_a_speed(text)), "{list}");
        }
    }
}
