//! A square matrix of numbers, one row a line: row i, column j is what rank i sends to rank j. TreeMatch
//! reads and writes such files (`.mat`), monitoring tools make them.

use crate::io::Source;
use crate::io::scanner::{Scanner, Token};
use crate::io::traffic::{ALL_TRAFFIC, Format, Inlet, Stop, TrafficFault};

pub(super) const FORMAT: Format = Format {
    name: "matrix",
    title: "a matrix of numbers",
    classes: ALL_TRAFFIC,
    tells_recorders: false,
    guesses_first_rank: false,
    recognise,
    read,
};

/// Numbers that the first line of a METIS graph has at most.
const LONGEST_METIS_HEADER: usize = 4;

/// Two lines of as many numbers, too many for a METIS graph.
fn recognise(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').map(|line| {
        let is_number = |field: &&[u8]| super::fields::weight(field).is_some();
        let fields = || line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty());
        fields().all(|field| is_number(&field)).then(|| fields().count())
    });
    let (first, second) = (lines.next().flatten(), lines.next());
    match (first, second) {
        (Some(first), Some(second)) => first > LONGEST_METIS_HEADER && second == Some(first),
        _ => false,
    }
}

fn read(scanner: &mut Scanner<Source<'_>>, inlet: &mut Inlet<'_>) -> Result<(), Stop> {
    let mut columns = None;
    let mut row = 0;
    while scanner.has_bytes() && columns.is_none_or(|columns| row < columns) {
        let mut column = 0;
        loop {
            let token = scanner.next();
            if matches!(token, Token::LineEnd | Token::End) {
                break;
            }
            if columns.is_some_and(|columns| column == columns) {
                let text = TrafficFault::TooMuch { text: format!("number {} of the line", column + 1) };
                return Err(scanner.stop(text));
            }
            let weight = scanner.as_weight(token)?;
            if weight > 0 {
                inlet.add(0, row, column, weight, 0).map_err(|fault| scanner.stop(fault))?;
            }
            column += 1;
        }
        if column > 0 {
            let expected = *columns.get_or_insert(column);
            if column != expected {
                let (found, expected) = (column as usize, expected as usize);
                return Err(scanner.stop(TrafficFault::OtherColumns { found, expected }));
            }
            row += 1;
        }
        scanner.skip_line();
    }
    if columns.is_none_or(|columns| row < columns) {
        return Err(scanner.stop(TrafficFault::Missing { expected: "a row of the matrix" }));
    }
    while scanner.has_bytes() {
        scanner.end_line()?;
    }
    inlet.state_ranks(row).map_err(|fault| scanner.stop(fault))
}
