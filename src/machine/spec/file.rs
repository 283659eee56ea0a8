//! Machines in files. The content of a file shows what kind it is.

use std::path::Path;

use crate::io::Source;
use crate::machine::Machine;
use crate::machine::spec::{SpecError, matrix, network, target};

/// Every kind of file. Where several fit equally, the first is taken.
pub const FILES: [FileKind; 3] = [target::FILE, network::FILE, matrix::FILE];

/// A kind of file that describes a machine.
#[derive(Debug)]
pub struct FileKind {
    /// What it is, for people.
    pub about: &'static str,
    /// How the names of such files end. Matters only if the content leaves a doubt.
    pub endings: &'static [&'static str],
    pub(super) resembles: fn(&Opening<'_>) -> Likeness,
    pub(super) read: fn(Source<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

/// How well a file fits a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Not at all.
    No,
    /// It could be one.
    Maybe,
    /// It cannot be anything else.
    Yes,
}

/// The fields of the first line of a file that is neither empty nor a comment; five at most.
#[derive(Debug)]
pub struct Opening<'a>(Vec<&'a str>);

const FIELDS: usize = 5;

impl<'a> Opening<'a> {
    /// The opening of a text, given its first bytes.
    pub fn new(start: &'a [u8]) -> Self {
        let is_comment = |field: &&str| field.starts_with(['#', '%']);
        let fields = |line: &'a [u8]| {
            let fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
            let fields = fields.map(|field| std::str::from_utf8(field).unwrap_or("?"));
            fields.take_while(|field| !is_comment(field)).take(FIELDS).collect::<Vec<_>>()
        };
        let mut lines = start.split(|&byte| byte == b'\n').map(fields);
        Self(lines.find(|fields| !fields.is_empty()).unwrap_or_default())
    }

    /// The first field, if it starts with a letter.
    pub fn word(&self) -> Option<&'a str> {
        self.0.first().copied().filter(|field| field.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    /// The first field, if it is a number, fractional or not.
    pub fn number(&self) -> Option<f64> {
        let is_number = |field: &&str| field.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        self.0.first().filter(|field| is_number(field)).and_then(|field| field.parse().ok())
    }

    /// The number of fields, 5 if there are more.
    pub fn num_fields(&self) -> usize {
        self.0.len()
    }
}

/// The machine in a file. The content determines the kind, or else the ending of `name` does.
pub fn read(mut source: Source<'_>, name: &Path) -> Result<Box<dyn Machine>, SpecError> {
    let start = source.start();
    let opening = Opening::new(&start);
    let ending = name.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let ending = ending.trim_end_matches(".gz");
    let claim = |kind: &&FileKind| {
        let ends_so = kind.endings.iter().any(|&own| ending.ends_with(own));
        match ((kind.resembles)(&opening), ends_so) {
            (Likeness::Yes, _) => 4,
            (Likeness::Maybe, true) => 3,
            (Likeness::Maybe, false) => 2,
            (Likeness::No, true) => 1,
            (Likeness::No, false) => 0,
        }
    };
    // `max_by_key` returns the last of equal claims; reversed, that is the first of the table.
    match FILES.iter().rev().max_by_key(claim).filter(|kind| claim(kind) > 0) {
        Some(kind) => (kind.read)(source),
        None if opening.num_fields() == 0 && start.len() == Source::START => {
            Err(SpecError::LongComments { file: source.name().to_owned() })
        }
        None => Err(SpecError::UnknownFile { file: source.name().to_owned() }),
    }
}
