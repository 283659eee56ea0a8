//! Suites over all kinds of files. Knowledge of a single kind is in its own file, as a [`Sample`].

#[path = "../../../../tests/common/files.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod files;
mod kinds;
#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;

use std::collections::BTreeMap;

pub(crate) use kinds::{event, kineto};

/// An example of a kind of file.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// A file of few ranks, or [`BINARY`](Self::BINARY).
    pub(crate) text: &'static str,
    /// The line of it from which on whole numbers may have fractions and exponents; none if numbers are parts of words of the format.
    pub(crate) numbers_from: Option<usize>,
    /// True if commas, semicolons or tabulators may separate its numbers.
    pub(crate) has_separators: bool,
    /// Writes files with these flows between n ranks, if the kind has all bytes.
    pub(crate) write: Option<Write>,
    /// True if these files count messages, too.
    pub(crate) has_messages: bool,
}

impl Sample {
    /// Stands for files that are no text.
    pub(crate) const BINARY: &str = "binary";

    /// No file and nothing special: a format gives the text.
    pub(crate) const NONE: Self =
        Self { text: "", numbers_from: None, has_separators: false, write: None, has_messages: false };
}

/// Files with these flows between this many ranks.
type Write = fn(u32, &Flows) -> Vec<Vec<u8>>;

/// A map from sender and receiver to bytes and messages.
pub(crate) type Flows = BTreeMap<(u32, u32), (u64, u64)>;

/// The sender, the receiver, bytes and messages of each flow.
pub(crate) fn lines(flows: &Flows) -> impl Iterator<Item = (u32, u32, u64, u64)> {
    flows.iter().map(|(&(from, to), &(bytes, messages))| (from, to, bytes, messages))
}
