//! Tables: lines of fields, as people and programs write them.
//!
//! The first line that has several fields says what separates fields: semicolons, or else commas, or else runs of blanks
//! and tabulators. Between semicolons or commas a field may be empty, or in double quotes, inside of which separators are text.
//! A field that starts with `#` or `%` begins a comment, up to the end of its line.
//!
//! A square table of numbers may have a line of names or numbers over its columns, the like beside its rows, or the number of its
//! rows before it (`Layout`).

use std::collections::VecDeque;

use super::scanner::{LONGEST_LINE, RefusedLine, Scanner, TEXT_LENGTH};
use super::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::number;

/// A line that is taken apart field by field.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    line: &'a [u8],
    /// Its number, from 1.
    pub number: u64,
    position: usize,
    separator: Separator,
}

/// The separator of two fields.
#[derive(Clone, Copy)]
pub enum Separator {
    /// One or more such bytes, so no field is empty.
    Run(fn(u8) -> bool),
    /// One such byte, and perhaps blanks around it, so fields may be empty. Inside of double quotes it is text.
    Single(u8),
}

/// Some bytes of a line.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// The bytes.
    pub text: &'a [u8],
    /// The column, from 1.
    pub column: u64,
}

/// Returns whether a byte is a blank, which separates fields.
#[inline]
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c' | b'\r')
}

impl Separator {
    /// Returns the separator of a file whose first line this is. A semicolon takes precedence over a comma, as where semicolons separate
    /// columns, a comma may be the decimal point.
    pub fn of(first: &[u8]) -> Self {
        let is_there =
            |separator: &u8| unquoted_positions(first).any(|position| first[position] == *separator);
        let single = [b';', b','].into_iter().find(is_there);
        single.map_or(Self::Run(is_blank), Self::Single)
    }

    /// The same if the line is no comment and has several fields; a line of one may be a number of rows.
    fn shown_by(line: &[u8]) -> Option<Self> {
        let separator = Self::of(line);
        (fields_of(line, separator).len() > 1).then_some(separator)
    }

    /// The same of a text that starts so: of its first line that has several fields.
    pub(crate) fn of_start(start: &[u8]) -> Self {
        start.split(|&byte| byte == b'\n').find_map(Self::shown_by).unwrap_or(Self::Run(is_blank))
    }
}

impl<'a> Fields<'a> {
    /// Fields between runs of separators.
    pub fn new(number: u64, line: &'a [u8], is_separator: fn(u8) -> bool) -> Self {
        Self::separated(number, line, Separator::Run(is_separator))
    }

    /// Fields between separators of either kind.
    pub fn separated(number: u64, line: &'a [u8], separator: Separator) -> Self {
        Self { line, number, position: 0, separator }
    }

    #[inline]
    fn next_after_run(&mut self, is_separator: fn(u8) -> bool) -> Option<Field<'a>> {
        while self.position < self.line.len() && is_separator(self.line[self.position]) {
            self.position += 1;
        }
        let start = self.position;
        while self.position < self.line.len() && !is_separator(self.line[self.position]) {
            self.position += 1;
        }
        let text = &self.line[start..self.position];
        (!text.is_empty()).then_some(Field { text, column: start as u64 + 1 })
    }

    /// Returns the text before the next separator or the end of the line, without the blanks around it. The position
    /// is then behind that separator, and behind the end of the line after the last field.
    fn next_up_to(&mut self, separator: u8) -> Option<Field<'a>> {
        let rest = self.line.get(self.position..)?;
        let is_quoted = rest.trim_ascii_start().starts_with(b"\"");
        let end = if is_quoted {
            unquoted_positions(rest).find(|&position| rest[position] == separator)
        } else {
            rest.iter().position(|&byte| byte == separator)
        };
        let length = end.unwrap_or(rest.len());
        let text = rest[..length].trim_ascii_start();
        let column = (self.position + length - text.len()) as u64 + 1;
        self.position += length + 1;
        Some(Field { text: text.trim_ascii_end(), column })
    }

    /// The next field of a table, without quotes. A comment ends a line, and so does a separator that nothing follows.
    pub fn next_of_table(&mut self) -> Option<Field<'a>> {
        let Field { text, column } = self.next()?;
        let is_last = self.position > self.line.len();
        let ends = text.starts_with(b"#") || text.starts_with(b"%") || (text.is_empty() && is_last);
        if ends {
            self.position = self.line.len() + 1;
            return None;
        }
        Some(Field { text: unquoted(text), column })
    }

    /// The same line without its fields, to be kept: [`Fields::of`] takes it apart again.
    pub fn kept(&self) -> (u64, Vec<u8>) {
        (self.number, self.line.to_vec())
    }

    /// A line of the same table that was kept.
    pub fn of<'b>((number, line): &'b (u64, Vec<u8>), separator: Separator) -> Fields<'b> {
        Fields::separated(*number, line, separator)
    }

    /// The column behind the last byte of the line, from 1.
    pub fn end_column(&self) -> u64 {
        self.line.len() as u64 + 1
    }

    /// Returns the separator of its fields.
    pub fn separator(&self) -> Separator {
        self.separator
    }

    /// Returns the number of fields of a table that are left.
    pub fn count_of_table(mut self) -> usize {
        std::iter::from_fn(|| self.next_of_table()).count()
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        match self.separator {
            Separator::Run(is_separator) => self.next_after_run(is_separator),
            Separator::Single(separator) => self.next_up_to(separator),
        }
    }
}

/// Iterates over the positions of the bytes of a text that are not inside of double quotes. Two quotes inside, which stand for one, end them and
/// begin them again.
pub(crate) fn unquoted_positions(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut is_inside = false;
    (0..text.len()).filter(move |&position| {
        is_inside ^= text[position] == b'"';
        !is_inside
    })
}

/// A field without the double quotes around it.
pub fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// The number that a name such as `rank3` ends in.
pub fn number_at_end(name: &[u8]) -> Option<u64> {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    number::whole(&name[name.len() - digits..]).ok()
}

/// A text for a message: no longer than those of the scanner, and printable.
pub fn shortened(text: &[u8]) -> String {
    let kept = &text[..text.len().min(TEXT_LENGTH)];
    let dots = if kept.len() < text.len() { "..." } else { "" };
    let printable: String = String::from_utf8_lossy(kept).chars().flat_map(char::escape_default).collect();
    printable + dots
}

/// A text as a table, line by line.
pub struct Table<'s, 'a> {
    scanner: &'s mut Scanner<Source<'a>>,
    separator: Option<Separator>,
    /// Lines that were looked at and are still to be given.
    ahead: VecDeque<(u64, Vec<u8>)>,
    current: (u64, Vec<u8>),
}

impl<'s, 'a> Table<'s, 'a> {
    /// The fields of the lines that a scanner yields.
    pub fn new(scanner: &'s mut Scanner<Source<'a>>) -> Self {
        Self { scanner, separator: None, ahead: VecDeque::new(), current: (1, Vec::new()) }
    }

    /// The next line that has a field. Lines of nothing but separators have none.
    pub fn next_row(&mut self) -> Option<Fields<'_>> {
        match self.ahead.pop_front() {
            Some(line) => self.current = line,
            None => self.fetch()?,
        }
        let separator = self.separator.unwrap_or(Separator::Run(is_blank));
        Some(Fields::separated(self.current.0, &self.current.1, separator))
    }

    /// Makes the next line that has a field the current one.
    fn fetch(&mut self) -> Option<()> {
        loop {
            let (number, line) = self.scanner.next_line()?;
            let separator = self.separator.unwrap_or_else(|| Separator::of(line));
            let mut fields = Fields::separated(number, line, separator);
            let is_empty = match separator {
                Separator::Run(_) => fields.next_of_table().is_none(),
                Separator::Single(separator) => {
                    let start = line.trim_ascii_start();
                    start.starts_with(b"#")
                        || start.starts_with(b"%")
                        || start.iter().all(|&byte| byte == separator || is_blank(byte))
                }
            };
            if !is_empty {
                self.separator = self.separator.or_else(|| Separator::shown_by(line));
                self.current.0 = number;
                self.current.1.clear();
                self.current.1.extend_from_slice(line);
                return Some(());
            }
        }
    }

    /// The line that comes after the last one read.
    pub fn next_line(&self) -> u64 {
        self.scanner.line()
    }

    /// Returns the layout of the numbers of a square table. Call it before any row is read.
    pub fn layout(&mut self) -> Layout {
        while self.ahead.len() < Layout::LINES && self.fetch().is_some() {
            self.ahead.push_back(std::mem::take(&mut self.current));
        }
        let separator = self.separator.unwrap_or(Separator::Run(is_blank));
        let rows: Vec<Vec<&[u8]>> = self.ahead.iter().map(|(_, line)| fields_of(line, separator)).collect();
        Layout::of(&rows)
    }
}

/// The fields of a line of a table.
pub(crate) fn fields_of(line: &[u8], separator: Separator) -> Vec<&[u8]> {
    let mut fields = Fields::separated(0, line, separator);
    std::iter::from_fn(|| fields.next_of_table()).map(|field| field.text).collect()
}

/// The text around the numbers of a square table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The first line names the columns.
    pub has_header: bool,
    /// The first field of each further line names the row.
    pub has_labels: bool,
    /// The first line holds the number of rows, and nothing else.
    pub has_count: bool,
}

impl Layout {
    /// Returns whether a first line of this many names fits rows of this many numbers. The names of the rows may have a header.
    pub fn fits(self, names: usize, columns: usize) -> bool {
        names == columns || self.has_labels && names == columns + 1
    }

    /// Lines that decide what it is.
    pub(crate) const LINES: usize = 5;

    /// The layout of a table in a text that starts so; `is_whole`: nothing follows.
    pub(crate) fn of_start(start: &[u8], is_whole: bool) -> Self {
        let separator = Separator::of_start(start);
        let mut lines: Vec<&[u8]> = start.split(|&byte| byte == b'\n').collect();
        if !is_whole {
            // The last one may be cut.
            lines.pop();
        }
        let rows = lines.into_iter().map(|line| fields_of(line, separator));
        let rows: Vec<Vec<&[u8]>> = rows.filter(|row| !row.is_empty()).take(Self::LINES).collect();
        Self::of(&rows)
    }

    /// The layout of a table that begins with these lines; fewer than five are all there are.
    pub fn of(rows: &[Vec<&[u8]>]) -> Self {
        let [first, rest @ ..] = rows else { return Self::default() };
        let Some(second) = rest.first() else {
            return Self { has_labels: first.len() > 1 && is_name(first[0]), ..Self::default() };
        };
        if first.len() == 1 && second.len() > 1 && is_number(first[0]) {
            let has_labels = is_name(second[0]);
            return Self { has_count: true, has_labels, has_header: false };
        }
        let has_header = Self::names_columns(first, second, rows.len());
        let row = if has_header { second } else { first };
        let counts_rows = has_header
            && (second.len() == first.len() + 1
                || is_corner(first[0]) && counts(second[0])
                || is_name(first[0]) && first.len() > 1 && first[1..].iter().all(|name| is_number(name)));
        Self { has_header, has_labels: row.len() > 1 && (is_name(row[0]) || counts_rows), has_count: false }
    }

    fn names_columns(first: &[&[u8]], second: &[&[u8]], lines: usize) -> bool {
        let numbers = first.get(1..).unwrap_or_default();
        let count_up = |names: &[&[u8]]| {
            let value = |name: &&[u8]| number::whole(name).ok();
            let start = names.first().and_then(value);
            start.is_some_and(|start| {
                start <= 1 && (start..).zip(names).all(|(id, name)| value(name) == Some(id))
            })
        };
        if !numbers.iter().all(|name| is_number(name)) || numbers.is_empty() {
            return first.iter().all(|name| is_name(name));
        }
        if !is_name(first[0]) {
            return first.len() > 1
                && second.len() == first.len() + 1
                && second[0] == first[0]
                && count_up(first);
        }
        // The numbers may be those of the columns, or the first row, which then has a name. Where they are few, the number of
        // lines decides.
        let is_row_named = second.len() == first.len() && is_name(second[0]);
        first[0].is_empty()
            || !is_row_named
            || count_up(numbers) && (numbers.len() >= Self::LINES || lines != numbers.len())
    }
}

fn is_number(text: &[u8]) -> bool {
    number::real(text).is_some()
}

/// Returns whether a text may name a row or a column. What only starts as a number does is a faulty number.
fn is_name(text: &[u8]) -> bool {
    text.is_empty()
        || text.ends_with(b":")
        || !is_number(text) && text.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 128)
}

/// A line that is longer than any that is read as one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the line is longer than {most} MiB, which is the most that is read as one")]
struct LineTooLong {
    most: usize,
}

/// Returns whether a row may be the first by its number.
fn counts(label: &[u8]) -> bool {
    matches!(number::whole(label), Ok(0 | 1))
}

/// Returns whether a text may be the header over the names of rows.
pub(crate) fn is_corner(name: &[u8]) -> bool {
    const NAMES: [&str; 10] = ["", "rank", "ranks", "id", "index", "node", "process", "pe", "from", "source"];
    NAMES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}

impl Scanner<Source<'_>> {
    /// The reason why the text ended early, if it did: a read failed, or a line could not be held.
    pub fn early_end(&mut self, file: &str) -> Option<ReadError> {
        if let Some(error) = self.failure() {
            return Some(read_error(file, error, self.line(), self.column()));
        }
        let (file, line) = (file.to_owned(), self.line());
        self.refused_line().map(|reason| match reason {
            RefusedLine::TooLong => ReadError::Invalid {
                file,
                line,
                column: 1,
                kind: ContentError::new(LineTooLong { most: LONGEST_LINE >> 20 }),
            },
            RefusedLine::Memory(source) => ReadError::OutOfMemory { file, line, source },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        let mut scanner = Scanner::new(Source::new("test", text.as_bytes()).unwrap());
        Table::new(&mut scanner).layout()
    }

    fn rows(text: &str) -> Vec<Vec<String>> {
        let mut scanner = Scanner::new(Source::new("test", text.as_bytes()).unwrap());
        let mut table = Table::new(&mut scanner);
        let mut rows = Vec::new();
        while let Some(mut row) = table.next_row() {
            let fields = std::iter::from_fn(|| row.next_of_table());
            rows.push(fields.map(|field| String::from_utf8_lossy(field.text).into_owned()).collect());
        }
        rows
    }

    #[test]
    fn separators_are_told_by_the_first_line() {
        let expected = vec![vec!["0", "15", "2.5"], vec!["1e3", "0", "x"]];
        for text in [
            "0 15 2.5\n1e3 0 x\n",
            "  0\t15   2.5 \r\n\n1e3 0 x # end",
            "0,15,2.5\n1e3,0,x",
            "# head, with; both\n% 1\n0, 15 ,2.5,\n,,\n1e3,\"0\",x\n",
            "0;15;2.5;\n1e3;0;x",
        ] {
            assert_eq!(rows(text), expected, "{text:?}");
        }
        assert_eq!(rows("0;1,5\n"), [["0", "1,5"]]);
        assert_eq!(rows("\"a, b\",,1\n"), [["a, b", "", "1"]]);
    }

    #[test]
    fn names_and_numbers_around_a_square_are_found() {
        let of = |has_header, has_labels, has_count| Layout { has_header, has_labels, has_count };
        for (text, expected) in [
            ("", of(false, false, false)),
            ("0 1\n1 0\n", of(false, false, false)),
            ("5\n", of(false, false, false)),
            ("2\n0 1\n1 0\n", of(false, false, true)),
            ("a b\n0 1\n1 0\n", of(true, false, false)),
            ("a b\na 0 1\nb 1 0\n", of(true, true, false)),
            ("a 0 1\nb 1 0\n", of(false, true, false)),
            ("0 1\n0 0 1\n1 1 0\n", of(true, true, false)),
            (",0,1\n0,0,1\n1,1,0\n", of(true, true, false)),
            (",a,b\n0,0,1\n1,1,0\n", of(true, true, false)),
            ("rank,a,b\n0,0,1\n1,1,0\n", of(true, true, false)),
            ("rank 0 1\n0 0 1\n1 1 0\n", of(true, true, false)),
            ("rank 0 1\nr0 0 1\nr1 1 0\n", of(true, true, false)),
            ("r0 0 1 2\nr1 1 0 2\nr2 1 2 0\n", of(false, true, false)),
            ("x 0 1 2 3 4 5\na 9 9 9 9 9 9\n", of(true, true, false)),
            ("a,b,c\n0,1,2\n", of(true, false, false)),
        ] {
            assert_eq!(layout(text), expected, "{text:?}");
        }
    }
}
