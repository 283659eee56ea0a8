//! Machines in files: of which kind a file is, by its content.

use std::path::Path;

use crate::io::Source;
use crate::machine::Machine;
use crate::machine::spec::{SpecError, matrix, network, target};

/// Every kind of file, that which is taken in doubt first.
pub const FILES: [FileKind; 3] = [target::FILE, network::FILE, matrix::FILE];

/// A kind of file that machines are in.
#[derive(Debug)]
pub struct FileKind {
    /// What it is, for people.
    pub about: &'static str,
    /// How the names of such files end; asked only where the content leaves a doubt.
    pub endings: &'static [&'static str],
    pub(super) resembles: fn(&Opening<'_>) -> Likeness,
    pub(super) read: fn(Source<'_>) -> Result<Box<dyn Machine>, SpecError>,
}

/// How much a file looks like one of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Not at all.
    No,
    /// It could be one.
    Maybe,
    /// It can be nothing else.
    Yes,
}

/// The fields of the first line of a file that is neither empty nor a comment; five at most.
#[derive(Debug)]
pub struct Opening<'a>(Vec<&'a str>);

const FIELDS: usize = 5;

impl<'a> Opening<'a> {
    /// The opening of a text that starts like this.
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

    /// The number that stands first, fractional or not.
    pub fn number(&self) -> Option<f64> {
        let is_number = |field: &&str| field.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
        self.0.first().filter(|field| is_number(field)).and_then(|field| field.parse().ok())
    }

    /// How many fields there are, five for five or more.
    pub fn num_fields(&self) -> usize {
        self.0.len()
    }
}

/// The machine in a file of this name, which is of the kind that its content shows, or else of the kind that ends like its name.
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
    // The last of equal claims counts, which is the first of the table.
    match FILES.iter().rev().max_by_key(claim).filter(|kind| claim(kind) > 0) {
        Some(kind) => (kind.read)(source),
        None if opening.num_fields() == 0 && start.len() == Source::START => {
            Err(SpecError::LongComments { file: source.name().to_owned() })
        }
        None => Err(SpecError::UnknownFile { file: source.name().to_owned() }),
    }
}
