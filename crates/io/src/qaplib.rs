//! Quadratic assignment problems in the format of QAPLIB: the number n, then two n x n matrices, separated by arbitrary
//! whitespace, commas or semicolons.
//!
//! The line of n may hold one or two numbers more, as in files named `.qap` (`n optimum best-known`), and there may be one number at
//! the end: a known J. What starts with `#` or `%` is a comment, up to the end of its line.
//!
//! Rows may be broken over lines at will. But if most lines, and at least n, are rows of n numbers, one that is not must still leave each of the others a row: where a
//! number is missing or one too many, the known J would make up for it, and another problem be read.
//!
//! R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB. Journal of Global Optimization 10, 1997.

use std::io::{self, Write};

use super::fields::{Fields, Misplaced, Place};
use super::reading::Reading;
use super::recognise::readings;
use super::scanner::Token;
use crate::{ReadError, Source};
use viem::base::number;

/// Two square matrices, and the values of J in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Qaplib {
    /// Number of rows of each.
    pub size: usize,
    /// The first matrix, row by row: its indices are objects.
    pub a: Vec<i64>,
    /// The second matrix, row by row: its indices are places.
    pub b: Vec<i64>,
    /// Values of J that the file names, in its order. They are not checked.
    pub claimed: Vec<i64>,
    /// The line of each of these.
    pub claim_lines: Vec<u64>,
    /// Likely mistakes.
    pub notes: Vec<QaplibNote>,
}

/// A likely mistake in such a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum QaplibNote {
    #[error(
        "line {line}: entry {entry} is the only one on the diagonal of the {matrix} matrix that is not 0; is a number missing or one too many?"
    )]
    OddDiagonal { matrix: &'static str, entry: i64, line: u64 },
    #[error(
        "line {line}: the number that stands alone here is taken for the last entry of the second matrix and not for a known J, because line \
         {before} holds only {found} of {size}"
    )]
    EntryApart { line: u64, before: u64, found: usize, size: usize },
}

/// A fault in such a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum QaplibFault {
    #[error(
        "this looks like {}, not like a quadratic assignment problem, which has n and two matrices",
        Reading::listed(readings)
    )]
    OtherFormat { readings: Vec<Reading> },
    #[error(
        "`{text}` is not an entry of a matrix, a whole number from {} to {}{}",
        i64::MIN,
        i64::MAX,
        number::scaling(text)
    )]
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
    #[error(
        "the line holds {found} numbers, so that lines of {size} behind it are no rows of the matrices; a number is missing here, or one too many"
    )]
    Uneven { size: usize, found: usize },
}

/// Rows at most.
const MOST_ROWS: u64 = 1 << 16;

/// Numbers before the matrices at most: n and two values of J.
const MOST_BEFORE: usize = 3;

/// Reads a problem; time and memory grow with the content.
///
/// ```
/// use viem_io::{Source, qaplib};
///
/// let problem = qaplib::read(Source::new("small", "2\n 0 3\n 3 0\n\n 0 5\n 5 0\n".as_bytes())?)?;
/// assert_eq!((problem.size, problem.a, problem.b), (2, vec![0, 3, 3, 0], vec![0, 5, 5, 0]));
/// # Ok::<(), viem_io::ReadError>(())
/// ```
pub fn read(mut source: Source<'_>) -> Result<Qaplib, ReadError> {
    let start = source.start();
    let mut fields = Fields::of_numbers(source);
    let result = problem(&mut fields).map_err(|found| explained(found, &start));
    fields.finish(result)
}

/// The fault of a file of numbers that is a graph, or else the fault that was found.
fn explained(found: Misplaced<QaplibFault>, start: &[u8]) -> Misplaced<QaplibFault> {
    let readings = readings(start, start.len() < Source::START);
    match readings[..] {
        [Reading::GRAPH] => {
            Misplaced { place: Place { line: 1, column: 1 }, fault: QaplibFault::OtherFormat { readings } }
        }
        _ => found,
    }
}

/// Writes a problem: n, then the matrices, a row a line, each matrix after an empty line.
///
/// ```
/// use viem_io::qaplib;
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
    let body = 2 * size * size;
    let mut lines = Lines { size, lines: vec![(fields.place().line, 0)] };
    // All numbers after n.
    let mut numbers = Vec::new();
    loop {
        let token = fields.token();
        if token == Token::End {
            break;
        }
        if numbers.len() >= body + MOST_BEFORE {
            return Err(lines.uneven(0).unwrap_or_else(|| fields.fault(QaplibFault::TooMany { size })));
        }
        numbers.push(entry(fields, token)?);
        lines.count(fields.place().line);
    }
    let beside = lines.lines[0].1;
    let Some(more) = numbers.len().checked_sub(body) else {
        let fault = QaplibFault::TooFew { size, found: numbers.len(), expected: body };
        return Err(lines.uneven(0).unwrap_or_else(|| fields.fault(fault)));
    };
    // Numbers besides the matrices are on the line of n, but for one number at the end.
    let before = if beside < MOST_BEFORE { beside.min(more) } else { 0 };
    if let Some(fault) = lines.uneven(before) {
        return Err(fault);
    }
    if more > before + 1 {
        return Err(fields.fault(QaplibFault::TooMany { size }));
    }
    let claims = (0..before).chain(before + body..numbers.len());
    let claim_lines = claims.map(|claim| lines.line_of(claim)).collect();
    let mut notes: Vec<QaplibNote> =
        lines.entry_apart(before).filter(|_| more == before).into_iter().collect();
    let after = numbers.split_off(before + body);
    let b = numbers.split_off(before + size * size);
    let a = numbers.split_off(before);
    numbers.extend(after);
    for (matrix, entries, start) in [("first", &a, before), ("second", &b, before + size * size)] {
        notes.extend(odd_diagonal(size, entries).map(|place| QaplibNote::OddDiagonal {
            matrix,
            entry: entries[place],
            line: lines.line_of(start + place),
        }));
    }
    Ok(Qaplib { size, a, b, claimed: numbers, claim_lines, notes })
}

/// Returns the place of the only entry on the diagonal that is not 0, of several.
fn odd_diagonal(size: usize, entries: &[i64]) -> Option<usize> {
    let mut others = (0..size).map(|row| row * (size + 1)).filter(|&place| entries[place] != 0);
    let first = others.next()?;
    (size > 2 && others.next().is_none()).then_some(first)
}

/// The lines of a file that hold numbers, beginning with that of n, and how many each holds after n.
struct Lines {
    size: usize,
    lines: Vec<(u64, usize)>,
}

impl Lines {
    /// A number is on this line.
    fn count(&mut self, line: u64) {
        match self.lines.last_mut() {
            Some((last, count)) if *last == line => *count += 1,
            _ => self.lines.push((line, 1)),
        }
    }

    /// The line of a number, counted from 0 after n.
    fn line_of(&self, number: usize) -> u64 {
        let mut end = 0;
        let mut lines = self.lines.iter().skip_while(|&&(_, count)| {
            end += count;
            end <= number
        });
        lines.next().map_or(0, |&(line, _)| line)
    }

    /// Lines behind that of n, if there are only `before` numbers beside n, and most lines and at least n of them are rows.
    fn rows(&self, before: usize) -> Option<&[(u64, usize)]> {
        let (first, rows) = self.lines.split_first()?;
        let full = rows.iter().filter(|&&(_, count)| count == self.size).count();
        let are_rows = self.size > 1 && full >= self.size && 2 * full >= rows.len();
        (are_rows && first.1 <= before.max(MOST_BEFORE - 1)).then_some(rows)
    }

    /// The first line that is no row, if it leaves one of n numbers that is none either.
    fn uneven(&self, before: usize) -> Option<Misplaced<QaplibFault>> {
        let (mut start, mut first_odd) = (0, None);
        for &(line, count) in self.rows(before)? {
            if count == self.size && start % self.size != 0 {
                let (line, found) = first_odd?;
                let fault = QaplibFault::Uneven { size: self.size, found };
                return Some(Misplaced { place: Place { line, column: 1 }, fault });
            }
            if count != self.size {
                first_odd = first_odd.or(Some((line, count)));
            }
            start += count;
        }
        None
    }

    /// Returns whether all lines are rows but for the last two, the latter of which has one number.
    fn entry_apart(&self, before: usize) -> Option<QaplibNote> {
        let [rows @ .., (short, found), (line, 1)] = self.rows(before)? else { return None };
        let is_apart =
            found + 1 == self.size && *found > 0 && rows.iter().all(|&(_, count)| count == self.size);
        (is_apart && self.size > 2).then_some(QaplibNote::EntryApart {
            line: *line,
            before: *short,
            found: *found,
            size: self.size,
        })
    }
}

fn size(fields: &mut Fields<'_>) -> Result<usize, Misplaced<QaplibFault>> {
    match fields.token() {
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
            ReadError::Invalid { kind, .. } => kind.fault::<QaplibFault>().unwrap().clone(),
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
            let read = read_text(text).unwrap();
            let found = (read.size, &read.a, &read.b, read.claimed);
            assert_eq!(found, (2, &a, &b, claimed), "{text:?}");
            assert!(read.notes.is_empty(), "{text:?}");
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
        let readings = vec![Reading::GRAPH];
        assert_eq!(fault("% a path\n3 2\n2\n1 3\n2\n"), QaplibFault::OtherFormat { readings });
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

    /// The first matrix, the second one, and a known J, such that a number may be left out or put in anywhere.
    const ROWS: [&str; 7] = ["0 5 2", "5 0 3", "2 3 0", "0 15 8", "15 0 13", "8 13 0", "218"];

    #[test]
    fn a_number_too_many_or_too_few_is_found_wherever_it_is() {
        for (line, place) in (0..6).flat_map(|line| (0..4).map(move |place| (line, place))) {
            for has_known in [false, true] {
                let edited = |edit: &dyn Fn(&mut Vec<&str>)| {
                    let mut rows = ROWS[..6 + usize::from(has_known)].to_vec();
                    let mut numbers: Vec<&str> = rows[line].split(' ').collect();
                    edit(&mut numbers);
                    let row = numbers.join(" ");
                    rows[line] = &row;
                    read_text(&format!("3\n{}\n", rows.join("\n")))
                };
                let more = edited(&|row| row.insert(place, "7"));
                let less = edited(&|row| {
                    row.remove(place.min(2));
                });
                for (what, read, found) in [("more", more, 4), ("less", less, 2)] {
                    // Only in the last row can nothing behind it show what is amiss; what was taken for J then shows it.
                    let is_seen = match &read {
                        Err(QaplibFault::Uneven { found: there, .. }) => line < 5 && *there == found,
                        Err(QaplibFault::TooFew { .. }) => what == "less" && !has_known,
                        Err(_) => what == "more" && has_known,
                        Ok(read) if what == "less" => !read.notes.is_empty(),
                        Ok(read) => line == 5 && read.claimed.len() == 1,
                    };
                    assert!(is_seen, "{what} in line {line}, place {place}, {has_known}: {read:?}");
                }
            }
        }
    }

    #[test]
    fn rows_may_be_broken_over_lines() {
        let numbers: Vec<String> = (0..33).map(|number| (number % 5).to_string()).collect();
        for width in 1..34 {
            for count in [32, 33] {
                let lines: Vec<String> = numbers[..count].chunks(width).map(|line| line.join(" ")).collect();
                let read = read_text(&format!("4\n{}\n", lines.join("\n"))).unwrap();
                assert_eq!((read.claimed.len(), read.claim_lines.len()), (count - 32, count - 32));
                assert!(
                    !read.notes.iter().any(|note| matches!(note, QaplibNote::EntryApart { .. })),
                    "{width}"
                );
            }
            // The line of n may hold some of them, too.
            let lines: Vec<String> = [&["4".to_owned()], &numbers[..32]]
                .concat()
                .chunks(width)
                .map(|line| line.join(" "))
                .collect();
            assert!(read_text(&lines.join("\n")).unwrap().claimed.is_empty(), "{width}");
        }
        let one_broken = "3\n0 5\n2\n5 0 3\n2 3 0\n0 15 8\n15 0 13\n8 13 0\n";
        assert_eq!(read_text(one_broken).map(|read| read.notes), Ok(vec![]));
        let together = "3\n0 5 2 5 0 3\n2 3 0\n0 15 8\n15 0 13\n8 13 0 218\n";
        assert_eq!(read_text(together).map(|read| (read.notes, read.claimed)), Ok((vec![], vec![218])));
    }

    #[test]
    fn an_odd_diagonal_is_noted_with_its_line() {
        let note = |text: &str| read_text(text).unwrap().notes;
        let odd = |matrix, entry, line| vec![QaplibNote::OddDiagonal { matrix, entry, line }];
        assert_eq!(note("3\n0 1 1\n1 7 1\n1 1 0\n\n0 1 1\n1 0 1\n1 1 0\n"), odd("first", 7, 3));
        assert_eq!(note("3 5\n0 1 1 1 0 1 1 1 0\n0 1 1 1 0 1\n1 1 -2\n"), odd("second", -2, 4));
        assert!(note("3\n1 1 1\n1 7 1\n1 1 0\n\n0 1 1\n1 0 1\n1 1 0\n").is_empty());
        let read = read_text("3 9 8\n0 1 1 1 0 1 1 1 0\n0 1 1 1 0 1 1 1 0\n\n7\n").unwrap();
        assert_eq!((read.claimed, read.claim_lines), (vec![9, 8, 7], vec![1, 1, 5]));
    }
}
