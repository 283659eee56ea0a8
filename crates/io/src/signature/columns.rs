//! Names of the columns of edge lists, by which a table with a line of names is one.

use crate::table::{Separator, fields_of};

/// Names of columns, in lower case.
pub const NAMES: [&[&str]; 4] = [
    &["source", "src", "from", "sender", "rank"],
    &["target", "dst", "dest", "destination", "to", "receiver", "peer"],
    &["weight", "bytes", "nbytes", "volume", "size", "value"],
    &["messages", "msgs", "nmsgs", "count", "transfers"],
];

/// The column of weights in [`NAMES`].
pub const WEIGHT: usize = 2;
/// The column of numbers of messages in [`NAMES`].
pub const MESSAGES: usize = 3;

/// Returns whether a first line names source and target.
pub(super) fn is_certain(start: &[u8]) -> bool {
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| is_content(line));
    let Some(first) = lines.next() else { return false };
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    let names = fields_of(first, Separator::of(first));
    let columns = meanings(&names);
    columns.contains(&Some(0)) && columns.contains(&Some(1))
}

/// Returns whether a line is neither empty nor a comment.
pub fn is_content(line: &[u8]) -> bool {
    let is_separator = |byte: &u8| matches!(byte, b',' | b';' | b' ' | b'\t' | b'\r');
    !matches!(line.first(), Some(b'#' | b'%')) && !line.iter().all(is_separator)
}

/// The column that each name stands for. A name with a word more counts where no other one stands for its column.
pub fn meanings(names: &[&[u8]]) -> Vec<Option<usize>> {
    let mut meanings: Vec<Option<usize>> = names.iter().map(|name| meaning(name)).collect();
    let plain = meanings.clone();
    for (found, name) in meanings.iter_mut().zip(names).filter(|(found, _)| found.is_none()) {
        *found = longer_meaning(name).filter(|column| !plain.contains(&Some(*column)));
    }
    meanings
}

/// The column that is called so.
pub fn meaning(name: &[u8]) -> Option<usize> {
    NAMES.iter().position(|names| names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name)))
}

/// The column that is called so with a word more: `src_rank`, `Rank From`, `num_bytes`, `total-messages`.
fn longer_meaning(name: &[u8]) -> Option<usize> {
    const WORDS: [&[u8]; 7] = [b"rank", b"id", b"process", b"num", b"total", b"number", b"of"];
    let words = name.split(|byte| b"_-. ".contains(byte)).filter(|word| !word.is_empty());
    let is_more = |word: &&[u8]| WORDS.iter().any(|more| more.eq_ignore_ascii_case(word));
    let mut rest = words.filter(|word| !is_more(word));
    let only = rest.next()?;
    if rest.next().is_some() { None } else { meaning(only) }
}
