//! Files with lists of PEs or of blocks: what [`viem::base::number_list`] describes.

use std::io::Read as _;
use std::path::Path;

use super::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::number_list::{self, ListOf, is_list};
use viem::base::text::{Place, place};

/// Opens a list, or the file that has this name; `name` is what messages call the list.
pub fn open<'a>(text: &'a str, name: &str) -> Result<Source<'a>, ReadError> {
    if is_list(text) {
        return Source::new(name, text.as_bytes());
    }
    let what = "a list of numbers and ranges such as 0-15,32,40-47";
    Source::open(Path::new(text)).map_err(|error| error.or_else_is(what))
}

/// Reads a list of numbers below `count`, each at most once and at least one; `of` is what messages call a number.
///
/// Time and memory for the length of the text and of the list, and a bit for each number below `count`.
pub fn read(source: Source<'_>, of: ListOf, count: usize) -> Result<Vec<u32>, ReadError> {
    let mut source = source.bounded(count);
    let mut text = Vec::new();
    let read = source.read_to_end(&mut text);
    let Place { line, column } = place(&text, text.len());
    read.map_err(|error| read_error(source.name(), error, line, column))?;
    number_list::parse(&text, of, count).map_err(|(Place { line, column }, fault)| ReadError::Invalid {
        file: source.name().to_owned(),
        line,
        column,
        kind: ContentError::new(fault),
    })
}
