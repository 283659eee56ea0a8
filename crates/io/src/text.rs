//! Whole texts, which are small against a graph.

use std::error::Error;
use std::io::Read as _;

use crate::source::read_error;
use crate::{ContentError, ReadError, Source};
use viem::base::text::{Place, place};

/// A text as it is read, and its name.
pub struct Text {
    name: String,
    text: String,
}

impl Text {
    /// The whole of a source; bytes that are no UTF-8 become replacement characters.
    pub fn read(source: Source<'_>) -> Result<Self, ReadError> {
        let mut source = source.bounded(0);
        let mut bytes = Vec::new();
        let read = source.read_to_end(&mut bytes);
        read.map_err(|error| read_error(source.name(), error, 1, 1))?;
        let text = String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into());
        Ok(Self { name: source.name().to_owned(), text })
    }

    /// Returns its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Each of some things with its place; their offsets ascend.
    pub fn placed<T>(&self, things: Vec<T>, offset: impl Fn(&T) -> usize) -> Vec<(T, Place)> {
        let (mut line, mut start, mut at) = (1, 0, 0);
        let mut placed = Vec::with_capacity(things.len());
        for thing in things {
            let next = offset(&thing).max(at);
            for (index, _) in self.text[at..next].match_indices('\n') {
                (line, start) = (line + 1, at + index + 1);
            }
            at = next;
            placed.push((thing, Place { line, column: (at - start) as u64 + 1 }));
        }
        placed
    }

    /// Returns the result of a parser for the text. A fault has the offset of its byte.
    pub fn parse<T, F: Error + Send + Sync + 'static>(
        &self,
        parser: impl FnOnce(&str) -> Result<T, (usize, F)>,
    ) -> Result<T, ReadError> {
        parser(&self.text).map_err(|(offset, fault)| {
            let Place { line, column } = place(self.text.as_bytes(), offset);
            let kind = ContentError::new(fault);
            ReadError::Invalid { file: self.name.clone(), line, column, kind }
        })
    }
}
