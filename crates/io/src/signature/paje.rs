//! Lines of `pj_dump`, and names of columns of links.

use crate::table::{Separator, fields_of};

/// The first fields of the lines of `pj_dump`.
pub const KINDS: [&str; 5] = ["container", "state", "event", "variable", "link"];

/// The containers of sender and receiver, and the size, each by its column.
pub type Places = (usize, usize, Option<usize>);

/// Names of columns, in lower case.
const START: &[&str] = &["startcontainer", "start_container", "sourcecontainer"];
const END: &[&str] = &["endcontainer", "end_container", "destcontainer"];
const SIZE: &[&str] = &["size", "bytes", "nbytes", "msgsize", "messagesize", "message_size", "volume"];

/// The columns that a line names, from 0, if it does.
pub fn named_columns(line: &[u8]) -> Option<Places> {
    let names = fields_of(line, Separator::of(line));
    let place = |known: &[&str]| {
        let is_known = |name: &&[u8]| known.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
        names.iter().position(is_known)
    };
    Some((place(START)?, place(END)?, place(SIZE)))
}

/// Returns whether a line is one of these kinds.
pub fn is_of(line: &[u8], kinds: &[&str]) -> bool {
    let first = fields_of(line, Separator::Single(b',')).first().copied().unwrap_or_default();
    kinds.iter().any(|kind| kind.as_bytes().eq_ignore_ascii_case(first))
}

/// Returns whether the first line is one of `pj_dump`, or names columns of links.
pub(super) fn is_certain(start: &[u8]) -> bool {
    let first = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    first.is_some_and(|line| {
        named_columns(line).is_some()
            || is_of(line, &KINDS) && fields_of(line, Separator::Single(b',')).len() > 5
    })
}
