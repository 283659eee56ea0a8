//! Quadratic assignment problems in the format of QAPLIB: the number n, then two n x n matrices, separated by arbitrary
//! whitespace, commas or semicolons.
//!
//! The line of n may hold one or two numbers more, as in files named `.qap` (`n optimum best-known`), and one number may stand at
//! the end: a known J. What starts with `#` or `%` is a comment, up to the end of its line.
//!
//! R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB. Journal of Global Optimization 10, 1997.

use std::io::{self, Write};

use super::fields::{Fields, Misplaced};
use super::scanner::Token;
use crate::io::{ContentError, ReadError, Source};

/// Two square matrices, and what the file says of J.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Qaplib {
    /// Number of rows of each.
    pub size: usize,
    /// The first matrix, row by row: its indices are objects.
    pub a: Vec<i64>,
    /// The second matrix, row by row: its indices are places.
    pub b: Vec<i64>,
    /// Values of J that the file names, in its order. Nobody has checked them.
    pub claimed: Vec<i64>,
}

/// What is wrong with such a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum QaplibFault {
    #[error("`{text}` is not an entry of a matrix, a whole number from {} to {}", i64::MIN, i64::MAX)]
    NotAnEntry { text: String },
    #[error("expected n, the number of rows of both matrices, from 1 to {greatest}, found `{text}`")]
    NotASize { text: String, greatest: u64 },
    #[error("the file is empty; it should hold n and two matrices of n times n numbers")]
    Empty,
    #[error(
        "the file ends after {found} entries, but two matrices of {size} times {size} numbers have {expected}"
    )]
    TooFew { size: usize, found: usize, expected: usize },
    #[error("the file goes on after two matrices of {size} times {size} numbers")]
    TooMany { size: usize },
}

/// Rows at most.
const MOST_ROWS: u64 = 1 << 16;

/// Numbers before the matrices at most: n and two values of J.
const MOST_BEFORE: usize = 3;

/// Reads a problem; time and memory for what stands there.
///
/// ```
/// use viem::io::{Source, qaplib};
///
/// let problem = qaplib::read(Source::new("small", "2\n 0 3\n 3 0\n\n 0 5\n 5 0\n".as_bytes())?)?;
/// assert_eq!((problem.size, problem.a, problem.b), (2, vec![0, 3, 3, 0], vec![0, 5, 5, 0]));
/// # Ok::<(), viem::io::ReadError>(())
/// ```
pub fn read(source: Source<'_>) -> Result<Qaplib, ReadError> {
    let mut fields = Fields::of_numbers(source);
    let result = problem(&mut fields);
    fields.finish(result, ContentError::Qaplib)
}

/// Writes a problem: n, then the matrices, a row a line, each matrix after an empty line.
///
/// ```
/// use viem::io::qaplib;
///
/// let mut text = Vec::new();
/// qaplib::write(&mut text, 2, &[0, 3, 3, 0], &[0, 5, 5, 0])?;
/// assert_eq!(text, b"2\n\n0 3\n3 0\n\n0 5\n5 0\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write(out: &mut (impl Write + ?Sized), size: usize, a: &[i64], b: &[i64]) -> io::Result<()> {
    writeln!(out, "{size}")?;
    for matrix in [a, b] {
        writeln!(out)?;
        for row in matrix.chunks(size.max(1)) {
            let row: Vec<String> = row.iter().map(i64::to_string).collect();
            writeln!(out, "{}", row.join(" "))?;
        }
    }
    Ok(())
}

fn problem(fields: &mut Fields<'_>) -> Result<Qaplib, Misplaced<QaplibFault>> {
    let size = size(fields)?;
    let line = fields.place().line;
    let body = 2 * size * size;
    // All numbers after n; how many of them stand on its line.
    let (mut numbers, mut beside) = (Vec::new(), 0);
    loop {
        let token = fields.next();
        if token == Token::End {
            break;
        }
        if numbers.len() >= body + MOST_BEFORE {
            return Err(fields.fault(QaplibFault::TooMany { size }));
        }
        numbers.push(entry(fields, token)?);
        beside += usize::from(fields.place().line == line);
    }
    let Some(more) = numbers.len().checked_sub(body) else {
        return Err(fields.fault(QaplibFault::TooFew { size, found: numbers.len(), expected: body }));
    };
    // What is more than the matrices stands on the line of n, but for one number at the end.
    let before = if beside < MOST_BEFORE { beside.min(more) } else { 0 };
    if more > before + 1 {
        return Err(fields.fault(QaplibFault::TooMany { size }));
    }
    let after = numbers.split_off(before + body);
    let b = numbers.split_off(before + size * size);
    let a = numbers.split_off(before);
    numbers.extend(after);
    Ok(Qaplib { size, a, b, claimed: numbers })
}

fn size(fields: &mut Fields<'_>) -> Result<usize, Misplaced<QaplibFault>> {
    match fields.next() {
        Token::Number(size) if (1..=MOST_ROWS).contains(&size) => Ok(size as usize),
        Token::Number(size) => {
            Err(fields.fault(QaplibFault::NotASize { text: size.to_string(), greatest: MOST_ROWS }))
        }
        Token::Text(_) => {
            Err(fields.fault(QaplibFault::NotASize { text: fields.text(), greatest: MOST_ROWS }))
        }
        Token::End | Token::LineEnd => Err(fields.fault(QaplibFault::Empty)),
    }
}

/// The entry that a field is.
fn entry(fields: &Fields<'_>, token: Token) -> Result<i64, Misplaced<QaplibFault>> {
    let entry = fields.signed(token);
    entry.ok_or_else(|| {
        let text = if let Token::Number(number) = token { number.to_string() } else { fields.text() };
        fields.fault(QaplibFault::NotAnEntry { text })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Qaplib, QaplibFault> {
        read(Source::new("test", text.as_bytes()).unwrap()).map_err(|error| match error {
            ReadError::Invalid { kind: ContentError::Qaplib(fault), .. } => fault,
            error => panic!("{error}"),
        })
    }

    #[test]
    fn blanks_line_ends_and_known_values_are_as_one_likes() {
        let (a, b) = (vec![0, 1, -2, 0], vec![5, 6, 7, 8]);
        for (text, claimed) in [
            ("2\n0 1\n-2 0\n5 6\n7 8\n", vec![]),
            ("2 0 1 -2 0 5 6 7 8", vec![]),
            ("\n\n 2\r\n\r\n0\t1 -2\n\n0 5 6 7\n8", vec![]),
            ("2 44\n0 1 -2 0\n5 6 7 8", vec![44]),
            ("2 44 43\n0 1 -2 0\n5 6 7 8", vec![44, 43]),
            ("2\n0 1 -2 0\n5 6 7 8\n\n44\n", vec![44]),
            ("# a comment\n2 44 % n and J\n0 1 -2 0 5 6 7 8 # end", vec![44]),
            ("2 0 1\n-2 0 5 6 7 8", vec![]),
            ("2.0\n0 1.0 -2e0 0\n5. 6 7 0.8D1", vec![]),
            ("2\n0, 1\n-2, 0\n5,6,\n7,8\n", vec![]),
            ("2;\n0;1\n-2;0\n5;6\n7;8\n", vec![]),
        ] {
            let expected = Qaplib { size: 2, a: a.clone(), b: b.clone(), claimed };
            assert_eq!(read_text(text), Ok(expected), "{text:?}");
        }
        assert_eq!(read_text("1 7 9").map(|one| (one.a, one.b)), Ok((vec![7], vec![9])));
        assert_eq!(read_text("1 63\n7\n9").map(|one| (one.a, one.claimed)), Ok((vec![7], vec![63])));
    }

    #[test]
    fn what_is_no_problem_is_refused() {
        let fault = |text: &str| read_text(text).unwrap_err();
        assert_eq!(fault(" \n"), QaplibFault::Empty);
        for text in ["0", "65537", "-1", "x", "2.5"] {
            assert!(matches!(fault(text), QaplibFault::NotASize { .. }), "{text}");
        }
        assert_eq!(fault("2\n1 2 3"), QaplibFault::TooFew { size: 2, found: 3, expected: 8 });
        assert_eq!(fault("2\n1 2 3 4 5 6 7 8 9 10"), QaplibFault::TooMany { size: 2 });
        assert_eq!(fault("1 1 1\n1 1 1 1"), QaplibFault::TooMany { size: 1 });
        for text in
            ["2\n1 x", "2\n1.5", "2\n9223372036854775808", "2\n-9223372036854775809", "2\n--1", "2\n1e-3"]
        {
            assert!(matches!(fault(text), QaplibFault::NotAnEntry { .. }), "{text}");
        }
        let least = read_text("1\n-9223372036854775808 1").unwrap();
        assert_eq!(least.a, [i64::MIN]);
    }
}
