//! Texts in messages: how much of them is shown, and where in a file they are.

use std::borrow::Cow;
use std::fmt;

/// The greatest number of bytes of a text that a message shows.
pub const MESSAGE_TEXT: usize = 40;

/// A message as it can be shown on a terminal, on one line: characters that control it, that change the direction of writing or that are
/// invisible are escaped. They come from outside, in names of files and in what files hold.
///
/// ```
/// use viem::base::text::printable;
///
/// assert_eq!(printable("host `n\u{fc}rnberg`"), "host `n\u{fc}rnberg`");
/// assert_eq!(printable("host `\u{1b}[31mn1\n\u{202e}`"), "host `\\u{1b}[31mn1\\n\\u{202e}`");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// The same of a text that may have several lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_hidden(c))
}

/// A count and its noun: `1 edge`, `2 edges`.
///
/// ```
/// use viem::base::text::counted;
///
/// assert_eq!(counted(1, "edge", "edges"), "1 edge");
/// assert_eq!(counted(0, "edge", "edges"), "0 edges");
/// ```
pub fn counted(count: impl fmt::Display, one: &str, many: &str) -> String {
    let count = count.to_string();
    let noun = if count == "1" { one } else { many };
    format!("{count} {noun}")
}

fn escaped(text: &str, is_hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns whether a character controls a terminal or cannot be seen: controls, separators of lines, and those that Unicode lets programs leave out
/// where they do not know them (`Default_Ignorable_Code_Point`).
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

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
pub fn place(text: &[u8], offset: usize) -> Place {
    let before = &text[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let line = 1 + before[..line_start].iter().filter(|&&byte| byte == b'\n').count();
    Place { line: line as u64, column: (before.len() - line_start) as u64 + 1 }
}

/// Ascending numbers as `1, 3-5, 9`, and how many follow if there are many ranges.
pub fn ranges(numbers: &[u32]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    let runs: Vec<&[u32]> = numbers.chunk_by(|a, b| a + 1 == *b).collect();
    for (index, run) in runs.iter().take(SHOWN).enumerate() {
        text += if index > 0 { ", " } else { "" };
        text += &match run {
            [one] => one.to_string(),
            _ => format!("{}-{}", run[0], run[run.len() - 1]),
        };
    }
    if runs.len() > SHOWN {
        text += ", and others";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_short() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        let odd: Vec<u32> = (0..20).map(|i| 2 * i).collect();
        assert_eq!(ranges(&odd), "0, 2, 4, 6, 8, 10, 12, 14, and others");
    }
}
