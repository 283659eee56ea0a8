//! Assignments: solution files of QAPLIB, and plain mappings.
//!
//! A solution file (`.sln`) holds n, the J that it claims, and n numbers from 1: the place of each object, or the object on each place.
//! Only J shows which of the two a file holds, so a reader of plain data cannot know. A plain mapping holds n numbers from 0, the place of each object.

use std::io::{self, Write};
use viem::base::text::counted;

use super::fields::{Fields, Misplaced};
use super::scanner::Token;
use crate::{ReadError, Source};

/// A permutation from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QapSolutionFile {
    /// Numbers from 0, each once.
    pub order: Vec<u32>,
    /// The J that a solution file claims; a plain mapping claims none.
    pub claimed: Option<i64>,
}

/// A fault in such a file. Objects and places are counted as in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum QapSolutionFault {
    #[error("`{text}` is not a whole number")]
    NotANumber { text: String },
    #[error(
        "the file holds {numbers}; an assignment of {objects} has {expected} (a mapping, from 0), or {} \
         (a solution file: n, J, then numbers from 1)",
        expected + 2, numbers = counted(found, "number", "numbers"), objects = counted(expected, "object", "objects")
    )]
    Count { found: usize, expected: usize },
    #[error("the solution file is for n = {found}, the problem has n = {expected}")]
    Size { found: i64, expected: usize },
    #[error("{number} is none of the numbers {first} to {last}")]
    OutOfRange { number: i64, first: i64, last: i64 },
    #[error("{number} occurs twice; each place takes one object")]
    Twice { number: i64 },
}

/// Reads an assignment of this many objects.
pub fn read(source: Source<'_>, size: usize) -> Result<QapSolutionFile, ReadError> {
    let mut fields = Fields::of_numbers(source.bounded(size));
    let result = solution(&mut fields, size);
    fields.finish(result)
}

fn solution(fields: &mut Fields<'_>, size: usize) -> Result<QapSolutionFile, Misplaced<QapSolutionFault>> {
    let (mut numbers, mut places, mut count) = (Vec::new(), Vec::new(), 0usize);
    loop {
        let token = fields.token();
        if token == Token::End {
            break;
        }
        if numbers.len() < size + 3 {
            numbers.push(number(fields, token)?);
            places.push(fields.place());
        }
        count += 1;
    }
    let (first, claimed) = match count.checked_sub(size) {
        Some(0) => (0, None),
        Some(2) => (1, Some(numbers[1])),
        _ => return Err(fields.fault(QapSolutionFault::Count { found: count, expected: size })),
    };
    let head = count - size;
    if head > 0 && numbers[0] != size as i64 {
        let fault = QapSolutionFault::Size { found: numbers[0], expected: size };
        return Err(Misplaced { place: places[0], fault });
    }
    let last = first + size as i64 - 1;
    let mut is_taken = vec![false; size];
    let mut order = Vec::with_capacity(size);
    for (&number, &place) in numbers[head..].iter().zip(&places[head..]) {
        if !(first..=last).contains(&number) {
            return Err(Misplaced { place, fault: QapSolutionFault::OutOfRange { number, first, last } });
        }
        let index = (number - first) as usize;
        if std::mem::replace(&mut is_taken[index], true) {
            return Err(Misplaced { place, fault: QapSolutionFault::Twice { number } });
        }
        order.push(index as u32);
    }
    Ok(QapSolutionFile { order, claimed })
}

fn number(fields: &Fields<'_>, token: Token) -> Result<i64, Misplaced<QapSolutionFault>> {
    let number = fields.signed(token);
    let text = || if let Token::Number(number) = token { number.to_string() } else { fields.text() };
    number.ok_or_else(|| fields.fault(QapSolutionFault::NotANumber { text: text() }))
}

/// Writes a solution file: the place of each object, from 1.
pub fn write(out: &mut (impl Write + ?Sized), place_of: &[u32], cost: i64) -> io::Result<()> {
    writeln!(out, "{} {cost}", place_of.len())?;
    let places: Vec<String> = place_of.iter().map(|&place| (u64::from(place) + 1).to_string()).collect();
    writeln!(out, "{}", places.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str, size: usize) -> Result<QapSolutionFile, QapSolutionFault> {
        read(Source::new("test", text.as_bytes()).unwrap(), size).map_err(|error| match error {
            ReadError::Invalid { kind, .. } => kind.fault::<QapSolutionFault>().unwrap().clone(),
            error => panic!("{error}"),
        })
    }

    #[test]
    fn solutions_and_mappings_are_told_apart_by_their_length() {
        let order = vec![2, 0, 1];
        let solution = QapSolutionFile { order: order.clone(), claimed: Some(-7) };
        assert_eq!(read_text("3 -7\n3 1 2\n", 3), Ok(solution));
        assert_eq!(read_text("2\n0\n1\n", 3), Ok(QapSolutionFile { order: order.clone(), claimed: None }));
        let mut written = Vec::new();
        write(&mut written, &order, 12).unwrap();
        assert_eq!(written, b"3 12\n3 1 2\n");
    }

    #[test]
    fn what_is_no_assignment_is_refused() {
        let fault = |text: &str| read_text(text, 3).unwrap_err();
        for (text, found) in [("", 0), ("0 1", 2), ("3 1 2 3", 4), ("3 9 1 2 3 4", 6)] {
            assert_eq!(fault(text), QapSolutionFault::Count { found, expected: 3 });
        }
        assert_eq!(fault("4 9 1 2 3"), QapSolutionFault::Size { found: 4, expected: 3 });
        assert_eq!(fault("3 9 0 1 2"), QapSolutionFault::OutOfRange { number: 0, first: 1, last: 3 });
        assert_eq!(fault("1 2 3"), QapSolutionFault::OutOfRange { number: 3, first: 0, last: 2 });
        assert_eq!(fault("0 -1 2"), QapSolutionFault::OutOfRange { number: -1, first: 0, last: 2 });
        assert_eq!(fault("0 1 1"), QapSolutionFault::Twice { number: 1 });
        assert_eq!(fault("0 x 1"), QapSolutionFault::NotANumber { text: "x".into() });
        assert!(matches!(fault("0 1.5 1"), QapSolutionFault::NotANumber { .. }));
        assert!(matches!(fault("0 18446744073709551615 1"), QapSolutionFault::NotANumber { .. }));
    }
}
