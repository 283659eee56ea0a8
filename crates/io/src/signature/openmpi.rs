//! Lines of Open MPI's monitoring component.

use crate::table::{Fields, is_blank};
use viem::base::number;

/// Classes of traffic between two ranks.
pub const CLASSES: [&str; 5] = ["E", "I", "S", "R", "C"];

/// A line of a profile.
pub enum Line {
    /// Traffic of a rank.
    Flow {
        /// Its place in [`CLASSES`].
        class: usize,
        /// The rank whose line it is.
        me: u64,
        /// The rank at the other end.
        peer: u64,
        /// Bytes that were sent.
        bytes: u64,
        /// Messages that they were sent in.
        messages: u64,
        /// The number of entries of the histogram; 0 without one.
        histogram: usize,
    },
    /// A heading, or collectives by communicator.
    Other,
    /// None of a profile, or none that is whole.
    Torn,
}

/// Returns whether any line is whole.
pub(super) fn is_certain(start: &[u8]) -> bool {
    start.split(|&byte| byte == b'\n').any(|line| !matches!(Line::of(line), Line::Torn))
}

impl Line {
    /// Returns the kind of the line; with a tag before it if `mpirun --tag-output` put one there.
    pub fn of(line: &[u8]) -> Self {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = match line.iter().position(|&byte| byte == b'>') {
            Some(end) if line[0] == b'[' && line.get(end + 1) == Some(&b':') => &line[end + 2..],
            _ => line,
        };
        match line.split(|&byte| byte == b'\t').next() {
            Some(b"# POINT TO POINT" | b"# OSC" | b"# COLLECTIVES") => Some(Self::Other),
            Some(b"D") => communicator(line),
            Some(b"O2A" | b"A2O" | b"A2A") => flow(line, false),
            Some(name) if CLASSES.iter().any(|class| class.as_bytes() == name) => flow(line, true),
            _ => None,
        }
        .unwrap_or(Self::Torn)
    }
}

/// `CLASS me [peer] BYTES bytes MESSAGES msgs sent [histogram]`
fn flow(line: &[u8], has_peer: bool) -> Option<Line> {
    let mut fields = Fields::new(0, line, is_blank);
    let class = fields.next()?.text;
    let number = |fields: &mut Fields<'_>| number::whole(fields.next()?.text).ok();
    let word = |fields: &mut Fields<'_>, word: &str| (fields.next()?.text == word.as_bytes()).then_some(());
    let me = number(&mut fields)?;
    let peer = if has_peer { number(&mut fields)? } else { me };
    let bytes = number(&mut fields)?;
    word(&mut fields, "bytes")?;
    let messages = number(&mut fields)?;
    word(&mut fields, "msgs")?;
    word(&mut fields, "sent")?;
    let histogram = fields.next().map_or(Some(0), |field| list_length(field.text))?;
    if fields.next().is_some() {
        return None;
    }
    let class = CLASSES.iter().position(|known| known.as_bytes() == class);
    Some(match class {
        Some(class) => Line::Flow { class, me, peer, bytes, messages, histogram },
        None => Line::Other,
    })
}

/// `D name procs: rank,rank,…`
fn communicator(line: &[u8]) -> Option<Line> {
    let list = line.rsplit(|&byte| byte == b'\t').next()?.strip_prefix(b"procs: ")?;
    list_length(list).map(|_| Line::Other)
}

/// Returns the number of entries of a list with commas between them.
fn list_length(list: &[u8]) -> Option<usize> {
    let mut length = 1;
    let mut previous = b',';
    for &byte in list {
        match byte {
            b'0'..=b'9' => {}
            b',' if previous != b',' => length += 1,
            _ => return None,
        }
        previous = byte;
    }
    (previous != b',').then_some(length)
}
