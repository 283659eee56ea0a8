//! The properties of a kind of file with a machine in it.

use crate::spec::error::SpecError;
use viem::machine::Machine;
use viem_io::{Reading, Source, readings};

/// A kind of file that describes a machine.
#[derive(Debug)]
pub struct FileKind {
    /// A description, for people.
    pub about: &'static str,
    /// The endings of the names of such files. They matter only if the content leaves a doubt.
    pub endings: &'static [&'static str],
    pub(super) resembles: fn(&FilePrefix<'_>) -> Match,
    pub(super) read: fn(Source<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

/// The quality of the match between a file and a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Match {
    /// No match.
    No,
    /// It could be one.
    Maybe,
    /// It cannot be anything else.
    Yes,
}

/// The fields of the first line of a file that is neither empty nor a comment, five at most, and all that is known of the rest.
#[derive(Debug)]
pub struct FilePrefix<'a> {
    fields: Vec<&'a str>,
    start: &'a [u8],
}

const FIELDS: usize = 5;

/// The fields of a line, which blanks, commas and semicolons divide, up to a comment.
fn fields(line: &[u8]) -> impl Iterator<Item = &str> {
    let divides = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';');
    let fields = line.split(divides).filter(|field| !field.is_empty());
    let fields = fields.map(|field| std::str::from_utf8(field).unwrap_or("?"));
    fields.take_while(|field| !field.starts_with(['#', '%']))
}

impl<'a> FilePrefix<'a> {
    /// The opening of a text, given its first bytes.
    pub fn new(start: &'a [u8]) -> Self {
        let mut lines = start.split(|&byte| byte == b'\n').map(|line| fields(line).take(FIELDS).collect());
        let fields = lines.find(|fields: &Vec<&str>| !fields.is_empty()).unwrap_or_default();
        Self { fields, start }
    }

    /// The first bytes of the file.
    pub fn start(&self) -> &'a [u8] {
        self.start
    }

    /// Returns whether these are as many lines as fields in each, with one number on the diagonal, and no graph: the first number of a graph is that of
    /// the lines that follow.
    pub fn is_square_table(&self) -> bool {
        let is_comment = |line: &&[u8]| {
            !line.trim_ascii_start().starts_with(b"#") && !line.trim_ascii_start().starts_with(b"%")
        };
        let lines = self.start.trim_ascii().split(|&byte| byte == b'\n').filter(is_comment).take(FIELDS + 1);
        let rows: Vec<Vec<&str>> = lines.map(|line| fields(line).take(FIELDS + 1).collect()).collect();
        let is_row = |(index, row): (usize, &Vec<&str>)| row.len() == rows.len() && row[index] == rows[0][0];
        let is_square = rows.iter().enumerate().all(is_row);
        is_square && self.number().is_some_and(|first| first + 1.0 != rows.len() as f64)
    }

    /// Returns whether these are a square table of numbers with names over its columns or beside its rows.
    pub fn is_named_table(&self) -> bool {
        self.number().is_none() && self.readings().contains(&Reading::MATRIX)
    }

    /// The first field, if it starts with a letter.
    pub fn word(&self) -> Option<&'a str> {
        self.fields.first().copied().filter(|field| field.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    /// Returns whether the first line is a word of letters and digits, and then nothing but numbers.
    pub fn is_word_with_numbers(&self) -> bool {
        let is_number = |field: &&str| field.parse::<f64>().is_ok();
        self.word().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            && self.fields[1..].iter().all(is_number)
    }

    /// Returns whether the start of the file looks like any kind of file that is known.
    pub fn is_known(&self) -> bool {
        !self.readings().is_empty()
    }

    fn readings(&self) -> Vec<Reading> {
        readings(self.start, self.start.len() < Source::START)
    }

    /// The first field, if it is a number, fractional or not.
    pub fn number(&self) -> Option<f64> {
        let is_number = |field: &&str| field.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        self.fields.first().filter(|field| is_number(field)).and_then(|field| field.parse().ok())
    }

    /// The number of fields, 5 if there are more.
    pub fn num_fields(&self) -> usize {
        self.fields.len()
    }
}
