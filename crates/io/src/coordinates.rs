//! Files of coordinates: a point for each vertex of a graph, in its order.
//!
//! | kind | form |
//! |---|---|
//! | columns | a line for each vertex, with its two to four coordinates, perhaps after its number; there may be names over them |
//! | `.xyz` with a header | a line with the number of dimensions, one with the number of points, and for each the number of its vertex and its one to four coordinates |
//! | Matrix Market | `%%MatrixMarket matrix array real general`, a line with the numbers of rows and columns, and the numbers, column by column |
//!
//! The first line shows which kind a file is. Numbers are separated by blanks, tabulators and commas, or by semicolons if the first line
//! has one; empty lines and lines that start with `#` or `%` are skipped. A line may have 64 MiB.
//!
//! If the first of three or more columns counts the vertices, it may hold their numbers or a coordinate, which only the user knows
//! ([`Ids`]).

use super::fields::{Misplaced, Place};
use super::scanner::{LONGEST_LINE, RefusedLine, Scanner, TEXT_LENGTH};
use super::source::read_error;
use super::table::{Fields, is_blank, is_corner, shortened, unquoted};
use crate::{ContentError, ReadError, Source};
use viem::base::memory::{self, OutOfMemory};
use viem::base::number;
use viem::base::text::counted;
use viem::graph::{Coordinates, MOST_DIMENSIONS};

/// A fault in a file of coordinates. Vertices are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum CoordinatesFault {
    #[error("`{text}` is not a coordinate; coordinates are finite numbers such as -1.5e3")]
    NotANumber { text: String },
    #[error("expected {what}, found `{text}`")]
    NotACount { text: String, what: &'static str },
    #[error(
        "points have {found} coordinates; they must have 1 to {MOST_DIMENSIONS}, and 2 at least without a header"
    )]
    Dimension { found: u64 },
    #[error("the line holds {found} numbers; each line must hold {expected}")]
    Columns { found: usize, expected: usize },
    #[error(
        "the file has {points}, the graph {vertices}",
        points = counted(found, "point", "points"),
        vertices = counted(expected, "vertex", "vertices")
    )]
    Points { found: u64, expected: usize },
    #[error("this is the point of vertex {found}, but that of vertex {expected} should be here")]
    OtherVertex { found: String, expected: usize },
    #[error("the points end after {found} of {vertices}", vertices = counted(expected, "vertex", "vertices"))]
    TooFew { found: usize, expected: usize },
    #[error(
        "the points go on after {vertices}, which is all that the graph has",
        vertices = counted(expected, "vertex", "vertices")
    )]
    TooMany { expected: usize },
    #[error(
        "the first of {columns} columns counts the vertices: it holds their numbers, or it is a coordinate; say which"
    )]
    NumbersOrCoordinates { columns: usize },
    #[error(
        "`{text}` is not the number of a vertex; each of {first} to {last} should be in the first column once"
    )]
    NotAVertex { text: String, first: u64, last: u64 },
    #[error("`{text}` is no Matrix Market file of points; it must be `matrix array real general`")]
    Banner { text: String },
    #[error("the line is longer than {} MiB, which is the most that is read as one", LONGEST_LINE >> 20)]
    LineTooLong,
}

/// The meaning of the first column: the numbers of the vertices, from 0 or from 1 and in any order, where a file has no header that
/// says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ids {
    /// It does.
    Yes,
    /// It is a coordinate.
    No,
    /// It does if the first line names it so, or if it is the fifth; if it may, the file is refused.
    Unknown,
}

/// Vertices from which on a column that counts them is taken for their numbers: fewer points lie in a row by chance.
const FEWEST_IDS: usize = 3;

const MARK: &[u8] = b"%%MatrixMarket";

/// The reason why a file was not read to its end.
enum Stop {
    Fault(Misplaced<CoordinatesFault>),
    Memory(OutOfMemory),
}

type Outcome<T> = Result<T, Stop>;

/// Reads a point for each of `num_nodes` vertices; time and memory grow with the content.
///
/// ```
/// use viem_io::{Source, coordinates};
///
/// let points = coordinates::read(Source::new("points", "0 1\n2.5 -1e-3\n".as_bytes())?, 2)?;
/// assert_eq!(points.point(1), [2.5, -0.001]);
/// let with_header = Source::new("points.xyz", "2\n1\n0 0.5 1\n".as_bytes())?;
/// assert_eq!(coordinates::read(with_header, 1)?.point(0), [0.5, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(source: Source<'_>, num_nodes: usize) -> Result<Coordinates, ReadError> {
    read_with(source, num_nodes, Ids::Unknown)
}

/// The same of a file whose first column is known.
pub fn read_with(source: Source<'_>, num_nodes: usize, ids: Ids) -> Result<Coordinates, ReadError> {
    let name = source.name().to_owned();
    let mut rows = Rows {
        scanner: Scanner::new(source.bounded(num_nodes)),
        line: 1,
        numbers: Vec::new(),
        is_separator: None,
        names_ids: false,
    };
    let is_market =
        rows.scanner.at_hand().get(..MARK.len()).is_some_and(|mark| mark.eq_ignore_ascii_case(MARK));
    let result = if is_market { market(&mut rows, num_nodes) } else { points(&mut rows, num_nodes, ids) };
    if let Some(error) = rows.scanner.failure() {
        return Err(read_error(&name, error, rows.scanner.line(), rows.scanner.column()));
    }
    let result = rows.refused_line().and(result);
    let line = rows.line;
    result.map_err(|stop| match stop {
        Stop::Memory(source) => ReadError::OutOfMemory { file: name, line, source },
        Stop::Fault(Misplaced { place: Place { line, column }, fault }) => {
            ReadError::Invalid { file: name, line, column, kind: ContentError::new(fault) }
        }
    })
}

/// A number and the column that it starts in.
type Number = (u64, f64);

/// The numbers of a text, line by line.
struct Rows<'a> {
    scanner: Scanner<Source<'a>>,
    /// The last line.
    line: u64,
    numbers: Vec<Number>,
    /// The separator of numbers, once the first line has shown it.
    is_separator: Option<fn(u8) -> bool>,
    /// True if the first line names its first column as that of numbers of vertices.
    names_ids: bool,
}

impl Rows<'_> {
    /// The numbers of the next line that has any; none at the end.
    fn next(&mut self) -> Outcome<&[Number]> {
        self.numbers.clear();
        while self.numbers.is_empty() {
            let Some((line, text)) = self.scanner.next_line() else { break };
            self.line = line;
            if !has_content(text) {
                continue;
            }
            let is_first = self.is_separator.is_none();
            let is_separator = *self.is_separator.get_or_insert_with(|| separators_of(text));
            let fields = || Fields::new(line, text, is_separator);
            if is_first && let Some(first) = first_name(fields()) {
                self.names_ids = is_corner(first);
                continue;
            }
            numbers_of(fields(), &mut self.numbers)?;
        }
        Ok(&self.numbers)
    }

    /// Returns whether the text ended early because of its next line.
    fn refused_line(&mut self) -> Outcome<()> {
        let Some(reason) = self.scanner.refused_line() else { return Ok(()) };
        self.line = self.scanner.line();
        match reason {
            RefusedLine::TooLong => self.fault(1, CoordinatesFault::LineTooLong),
            RefusedLine::Memory(lack) => Err(Stop::Memory(lack)),
        }
    }

    /// A fault of the last line.
    fn fault<T>(&self, column: u64, fault: CoordinatesFault) -> Outcome<T> {
        Err(Stop::Fault(Misplaced { place: Place { line: self.line, column }, fault }))
    }

    /// A whole number that is alone in its line or beside others.
    fn count(&self, index: usize, what: &'static str) -> Outcome<u64> {
        let Some(&(column, number)) = self.numbers.get(index) else {
            return self.fault(1, CoordinatesFault::NotACount { text: String::new(), what });
        };
        if number >= 0.0 && number.fract() == 0.0 && number <= 2f64.powi(53) {
            return Ok(number as u64);
        }
        self.fault(column, CoordinatesFault::NotACount { text: number.to_string(), what })
    }
}

/// Returns whether a line is neither empty nor a comment.
fn has_content(line: &[u8]) -> bool {
    let first = line.iter().find(|&&byte| !is_blank(byte) && byte != b',');
    first.is_some_and(|byte| !b"#%".contains(byte))
}

/// Returns the separators of numbers in a file whose first line this is. Beside semicolons a comma may be the decimal point.
fn separators_of(first: &[u8]) -> fn(u8) -> bool {
    if first.contains(&b';') {
        |byte| is_blank(byte) || byte == b';'
    } else {
        |byte| is_blank(byte) || byte == b','
    }
}

/// The first of the names of the columns, if the line has several fields and none is a number.
fn first_name<'a>(fields: Fields<'a>) -> Option<&'a [u8]> {
    let names: Vec<&[u8]> = fields.map(|field| unquoted(field.text)).collect();
    let is_name = |name: &&[u8]| {
        number::real(name).is_none() && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
    };
    (names.len() > 1 && names.iter().all(is_name)).then(|| names[0])
}

/// Adds the numbers of a line, up to the first that is none.
fn numbers_of(mut fields: Fields<'_>, numbers: &mut Vec<Number>) -> Outcome<()> {
    while let Some(field) = fields.next() {
        let Some(number) = number::real(field.text) else {
            let place = Place { line: fields.number, column: field.column };
            let fault = CoordinatesFault::NotANumber { text: shortened(field.text) };
            return Err(Stop::Fault(Misplaced { place, fault }));
        };
        if numbers.len() == numbers.capacity() {
            memory::grow(numbers, usize::MAX).map_err(Stop::Memory)?;
        }
        numbers.push((field.column, number));
    }
    Ok(())
}

/// Points in lines, with a header or without.
fn points(rows: &mut Rows<'_>, num_nodes: usize, ids: Ids) -> Outcome<Coordinates> {
    let columns = rows.next()?.len();
    let has_header = columns == 1 && !rows.names_ids;
    if !has_header {
        return columns_of_points(rows, columns, num_nodes, ids);
    }
    let dimension = rows.count(0, "the number of dimensions")?;
    if !(1..=MOST_DIMENSIONS as u64).contains(&dimension) {
        return rows.fault(1, CoordinatesFault::Dimension { found: dimension });
    }
    rows.next()?;
    let found = rows.count(0, "the number of points")?;
    if found != num_nodes as u64 {
        return rows.fault(1, CoordinatesFault::Points { found, expected: num_nodes });
    }
    rows.next()?;
    let first = rows.numbers.first().map_or(0.0, |&(_, id)| if id == 1.0 { 1.0 } else { 0.0 });
    let dimension = dimension as usize;
    let check = |rows: &Rows<'_>, node: usize| {
        let (column, id) = rows.numbers[0];
        if id == first + node as f64 {
            return Ok(());
        }
        let fault = CoordinatesFault::OtherVertex { found: id.to_string(), expected: node + first as usize };
        rows.fault(column, fault)
    };
    let numbers = table(rows, dimension + 1, num_nodes, check)?;
    let values = numbers.chunks_exact(dimension + 1).flat_map(|row| &row[1..]).copied().collect();
    finish(rows, dimension, values, num_nodes)
}

/// The numbers of this many lines, row by row, the first of which has been read already.
fn table(
    rows: &mut Rows<'_>,
    columns: usize,
    num_nodes: usize,
    check: impl Fn(&Rows<'_>, usize) -> Outcome<()>,
) -> Outcome<Vec<f64>> {
    let mut numbers = memory::with_room(columns * num_nodes).map_err(Stop::Memory)?;
    for node in 0..num_nodes {
        let found = rows.numbers.len();
        if found == 0 {
            return rows.fault(1, CoordinatesFault::TooFew { found: node, expected: num_nodes });
        }
        if found != columns {
            return rows.fault(1, CoordinatesFault::Columns { found, expected: columns });
        }
        check(rows, node)?;
        numbers.extend(rows.numbers.iter().map(|&(_, value)| value));
        rows.next()?;
    }
    Ok(numbers)
}

/// Points in lines without a header, with the numbers of the vertices or without.
fn columns_of_points(
    rows: &mut Rows<'_>,
    columns: usize,
    num_nodes: usize,
    ids: Ids,
) -> Outcome<Coordinates> {
    let line = rows.line;
    let ids = if rows.names_ids && ids == Ids::Unknown { Ids::Yes } else { ids };
    let most = MOST_DIMENSIONS + usize::from(ids != Ids::No);
    if columns > most {
        return rows.fault(1, CoordinatesFault::Dimension { found: columns as u64 });
    }
    // A file without points may be that of a graph without vertices.
    let columns = columns.max(1);
    let numbers = table(rows, columns, num_nodes, |_, _| Ok(()))?;
    if let Some(&(column, _)) = rows.numbers.first() {
        return rows.fault(column, CoordinatesFault::TooMany { expected: num_nodes });
    }
    let places = vertices(&numbers, columns, num_nodes);
    let at_start = |fault| Err(Stop::Fault(Misplaced { place: Place { line, column: 1 }, fault }));
    let (has_ids, is_certain) = match ids {
        Ids::Yes => (true, true),
        Ids::No => (false, true),
        Ids::Unknown if columns > MOST_DIMENSIONS => (true, true),
        Ids::Unknown => (false, columns < 3 || num_nodes < FEWEST_IDS || places.is_err()),
    };
    match places {
        _ if !is_certain => at_start(CoordinatesFault::NumbersOrCoordinates { columns }),
        _ if !has_ids => {
            Ok(Coordinates::new(columns, numbers).expect("dimensions and numbers have been checked"))
        }
        _ if columns == 1 => at_start(CoordinatesFault::Dimension { found: 0 }),
        Err(fault) => at_start(fault),
        Ok(places) => {
            let dimension = columns - 1;
            let mut values = memory::filled(dimension * num_nodes, 0.0).map_err(Stop::Memory)?;
            for (row, place) in numbers.chunks_exact(columns).zip(places) {
                values[place * dimension..][..dimension].copy_from_slice(&row[1..]);
            }
            Ok(Coordinates::new(dimension, values).expect("dimensions and numbers have been checked"))
        }
    }
}

/// The vertices that the first column numbers, each once, from 0 or from 1.
fn vertices(numbers: &[f64], columns: usize, num_nodes: usize) -> Result<Vec<usize>, CoordinatesFault> {
    let ids = || numbers.iter().step_by(columns).copied();
    let first = if ids().any(|id| id == 0.0) { 0 } else { 1 };
    let mut is_taken = vec![false; num_nodes];
    let mut place = |id: f64| {
        let place = (id.fract() == 0.0 && id >= first as f64).then(|| id as usize - first)?;
        let is_free = is_taken.get_mut(place).is_some_and(|is_taken| !std::mem::replace(is_taken, true));
        is_free.then_some(place)
    };
    let fault = |id: f64| {
        let (first, last) = (first as u64, (first + num_nodes) as u64 - 1);
        CoordinatesFault::NotAVertex { text: id.to_string(), first, last }
    };
    ids().map(|id| place(id).ok_or_else(|| fault(id))).collect()
}

/// An array of Matrix Market: rows are vertices.
fn market(rows: &mut Rows<'_>, num_nodes: usize) -> Outcome<Coordinates> {
    if let Some((_, banner)) = rows.scanner.next_line() {
        let text =
            String::from_utf8_lossy(&banner[MARK.len()..banner.len().min(2 * TEXT_LENGTH)]).to_lowercase();
        let words: Vec<&str> = text.split_whitespace().collect();
        if !matches!(words[..], ["matrix", "array", "real" | "integer" | "double", "general"]) {
            let text = text.trim().chars().flat_map(char::escape_default).collect();
            return rows.fault(1, CoordinatesFault::Banner { text });
        }
    }
    if rows.next()?.len() != 2 {
        return rows.fault(1, CoordinatesFault::Columns { found: rows.numbers.len(), expected: 2 });
    }
    let found = rows.count(0, "the number of rows")?;
    let dimension = rows.count(1, "the number of columns")?;
    if found != num_nodes as u64 {
        return rows.fault(1, CoordinatesFault::Points { found, expected: num_nodes });
    }
    if !(1..=MOST_DIMENSIONS as u64).contains(&dimension) {
        return rows.fault(1, CoordinatesFault::Dimension { found: dimension });
    }
    let dimension = dimension as usize;
    let mut by_column = memory::with_room(dimension * num_nodes).map_err(Stop::Memory)?;
    while by_column.len() < dimension * num_nodes {
        let room = dimension * num_nodes - by_column.len();
        match rows.next()?.len() {
            0 => {
                let found = by_column.len() / dimension;
                return rows.fault(1, CoordinatesFault::TooFew { found, expected: num_nodes });
            }
            found if found > room => {
                return rows.fault(rows.numbers[room].0, CoordinatesFault::TooMany { expected: num_nodes });
            }
            _ => by_column.extend(rows.numbers.iter().map(|&(_, value)| value)),
        }
    }
    rows.next()?;
    let value = |place: usize| by_column[place % dimension * num_nodes + place / dimension];
    let values = (0..by_column.len()).map(value).collect();
    finish(rows, dimension, values, num_nodes)
}

/// The points, unless something follows them.
fn finish(rows: &Rows<'_>, dimension: usize, values: Vec<f64>, num_nodes: usize) -> Outcome<Coordinates> {
    if let Some(&(column, _)) = rows.numbers.first() {
        return rows.fault(column, CoordinatesFault::TooMany { expected: num_nodes });
    }
    Ok(Coordinates::new(dimension, values).expect("dimensions and numbers have been checked"))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn read_text(text: &str, num_nodes: usize) -> Result<Coordinates, (u64, u64, CoordinatesFault)> {
        read(Source::new("test", text.as_bytes()).unwrap(), num_nodes).map_err(|error| match error {
            ReadError::Invalid { line, column, kind, .. } => {
                (line, column, kind.fault::<CoordinatesFault>().unwrap().clone())
            }
            error => panic!("{error}"),
        })
    }

    #[test]
    fn all_kinds_hold_the_same_points() {
        let points = Coordinates::new(2, vec![0.0, 0.5, -1e3, 2.0, 3.0, -4.0]).unwrap();
        for text in [
            "0 .5\n-1e3 2\n3 -4\n",
            "# x, y\n\n0,0.5\r\n  -1000.0 ,2\n\n3\t-4e0\n\n",
            "2\n3\n0 0 0.5\n1 -1e3 2\n2 3 -4\n",
            "2\n3\n1 0 0.5\n2 -1e3 2\n3 3 -4",
            "%%MatrixMarket matrix array real general\n% points\n3 2\n0\n-1e3\n3\n0.5\n2\n-4\n",
            "%%matrixmarket MATRIX Array integer general\n3 2\n0 -1000 3\n0.5 2 -4\n",
        ] {
            assert_eq!(read_text(text, 3), Ok(points.clone()), "{text:?}");
        }
        for dimension in 2..=4 {
            let text = ["1 2 3 4"; 5].map(|row| &row[..2 * dimension - 1]).join("\n");
            assert_eq!(read_text(&text, 5).unwrap().dimension(), dimension);
        }
        assert_eq!(read_text("1\n2\n0 7\n1 8\n", 2), Ok(Coordinates::new(1, vec![7.0, 8.0]).unwrap()));
        assert_eq!(read_text("", 0).unwrap().len(), 0);
        assert_eq!(read_text("3\n0\n", 0).unwrap().len(), 0);
    }

    fn read_ids(text: &str, num_nodes: usize, ids: Ids) -> Result<Vec<f64>, String> {
        let points = read_with(Source::new("test", text.as_bytes()).unwrap(), num_nodes, ids);
        let points = points.map_err(|error| error.to_string())?;
        Ok((0..num_nodes as u32).flat_map(|node| points.point(node).to_vec()).collect())
    }

    #[test]
    fn numbers_of_vertices_beside_points_are_asked_for() {
        let plane = Ok(vec![5.0, 0.5, 6.0, 1.5, 7.0, 2.5]);
        for text in [
            "1 5 0.5\n2 6 1.5\n3 7 2.5\n",
            "0 5 0.5\n1 6 1.5\n2 7 2.5\n",
            "1,5,0.5\n2,6,1.5\n3,7,2.5\n",
            "3;7;2.5\n1;5;0.5D0\n2;6;1.5\n",
        ] {
            let error = read_ids(text, 3, Ids::Unknown).unwrap_err();
            let expected = "test, line 1, column 1: the first of 3 columns counts the vertices: it holds their numbers, or";
            assert!(error.starts_with(expected), "{error}");
            assert_eq!(read_ids(text, 3, Ids::Yes), plane, "{text:?}");
            assert_eq!(read_ids(text, 3, Ids::No).map(|values| values.len()), Ok(9), "{text:?}");
        }
        // What says which is taken at its word.
        for text in
            ["id,x,y\n1,5,0.5\n2,6,1.5\n3,7,2.5\n", "\"node\" \"x\" \"y\"\n0 5 .5\n1 6 1.5\n2 7 2.5\n"]
        {
            assert_eq!(read_ids(text, 3, Ids::Unknown), plane, "{text:?}");
        }
        assert_eq!(read_ids("x,y\n5,0.5\n6,1.5\n7,2.5\n", 3, Ids::Unknown), plane);
        let five = "1 1 2 3 4\n2 5 6 7 8\n3 0 0 0 0\n";
        assert_eq!(read_ids(five, 3, Ids::Unknown).map(|values| values.len()), Ok(12));
        // Other columns do not count vertices, nor do two columns, which are points of a curve.
        assert_eq!(
            read_ids("1 5 0.5\n2 6 1.5\n4 7 2.5\n", 3, Ids::Unknown).map(|values| values.len()),
            Ok(9)
        );
        assert_eq!(read_ids("1 5\n2 6\n3 7\n", 3, Ids::Unknown), Ok(vec![1.0, 5.0, 2.0, 6.0, 3.0, 7.0]));
        let error = read_ids("1 5 0.5\n2 6 1.5\n2 7 2.5\n", 3, Ids::Yes).unwrap_err();
        assert!(error.contains("`2` is not the number of a vertex; each of 1 to 3"), "{error}");
    }

    #[test]
    fn long_lines_are_read_to_their_end() {
        let num_nodes = 40_000;
        let numbers: Vec<String> = (0..2 * num_nodes).map(|number| number.to_string()).collect();
        let text =
            format!("%%MatrixMarket matrix array real general\n{num_nodes} 2\n{}\n", numbers.join(" "));
        let points = read_text(&text, num_nodes).unwrap();
        assert_eq!(points.point(39_999), [39_999.0, 79_999.0]);
        // A number across the seam of the buffer, and one far behind it.
        let blanks = |count| " ".repeat(count);
        let text = format!("0 1\n{}1234567 5\n{}8 9", blanks(262_135), blanks(600_000));
        let points = read_text(&text, 3).unwrap();
        assert_eq!([1, 2].map(|node| points.point(node)), [[1_234_567.0, 5.0], [8.0, 9.0]]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let source = Source::new("test", (&b"0 1\n"[..]).chain(std::io::repeat(b'1'))).unwrap();
        // This many vertices could have a longer file.
        let error = read(source, 1 << 20).unwrap_err().to_string();
        assert_eq!(
            error,
            "test, line 2, column 1: the line is longer than 64 MiB, which is the most that is read as one"
        );
    }

    #[test]
    fn faults_are_told_where_they_are() {
        use CoordinatesFault::*;
        let not_a_number = |text: &str| NotANumber { text: text.to_owned() };
        let market = "%%MatrixMarket matrix array real general\n";
        for (text, line, column, fault) in [
            ("0 1\n2  x\n", 2, 4, not_a_number("x")),
            ("0 nan\n", 1, 3, not_a_number("nan")),
            ("0 1\n1 1e999\n", 2, 3, not_a_number("1e999")),
            ("0 1\n2\n", 2, 1, Columns { found: 1, expected: 2 }),
            ("0 1\n", 1, 1, TooFew { found: 1, expected: 2 }),
            ("", 1, 1, TooFew { found: 0, expected: 2 }),
            ("0 1\n0 2\n 0 3\n", 3, 2, TooMany { expected: 2 }),
            ("1 2 3 4 5 6\n", 1, 1, Dimension { found: 6 }),
            ("7\n2\n", 1, 1, Dimension { found: 7 }),
            ("2\n3\n", 2, 1, Points { found: 3, expected: 2 }),
            ("2\n2\n0 1 1\n2 1 1\n", 4, 1, OtherVertex { found: "2".to_owned(), expected: 1 }),
            ("2.5\n2\n", 1, 1, NotACount { text: "2.5".to_owned(), what: "the number of dimensions" }),
            (&format!("{market}3 2\n"), 2, 1, Points { found: 3, expected: 2 }),
            (&format!("{market}2 2\n1\n2\n3\n"), 5, 1, TooFew { found: 1, expected: 2 }),
            (&format!("{market}2 1\n1\n2\n3\n"), 5, 1, TooMany { expected: 2 }),
            (&format!("{market}2 1\n1 2 3\n"), 3, 5, TooMany { expected: 2 }),
            (
                "%%MatrixMarket matrix coordinate real general\n",
                1,
                1,
                Banner { text: "matrix coordinate real general".to_owned() },
            ),
        ] {
            assert_eq!(read_text(text, 2), Err((line, column, fault)), "{text:?}");
        }
    }
}
