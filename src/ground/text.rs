//! Texts in messages: how much of them is shown, and where in a file they are.

use std::fmt;

/// The greatest number of bytes of a text that a message shows.
pub(crate) const MESSAGE_TEXT: usize = 40;

/// A place in a text. Lines and columns are counted from 1, columns in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Place {
    pub line: u64,
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The place of the byte at an offset.
pub(crate) fn place(text: &[u8], offset: usize) -> Place {
    let before = &text[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let line = 1 + before[..line_start].iter().filter(|&&byte| byte == b'\n').count();
    Place { line: line as u64, column: (before.len() - line_start) as u64 + 1 }
}
