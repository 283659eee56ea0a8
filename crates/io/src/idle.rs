//! A bound on blank lines and comments that follow each other, so that a text without an end is refused.
//!
//! A comment is a line whose first character other than blanks is `%` or `#`, whatever a format makes of it: where it is none, it is refused
//! soon. A zero byte is neither in a blank line nor in a comment, so arrays of numbers are neither.

/// Bytes of blank lines and comments that may follow each other, in MiB.
pub(crate) const MOST_IDLE: u64 = 64;

/// Bytes that the blank line of a vertex without neighbours may have.
const MOST_OF_ROW: u64 = 8;

/// More blank lines and comments than are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is nothing but blank lines and comments for {MOST_IDLE} MiB, the most that is skipped; is it the right file, and does it end?"
)]
pub(super) struct TooIdle;

/// The position in a line after the last read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Blanks,
    Comment,
    Content,
}

/// Counts the bytes of blank lines and comments that were read last.
#[derive(Debug)]
pub(super) struct Idle {
    place: Place,
    length: u64,
    most: u64,
}

impl Idle {
    pub(super) fn new() -> Self {
        Self { place: Place::Blanks, length: 0, most: MOST_IDLE << 20 }
    }

    /// Allows as many blank lines more, each of which means something.
    pub(super) fn allow_rows(&mut self, rows: usize) {
        self.most = (MOST_IDLE << 20).saturating_add(MOST_OF_ROW.saturating_mul(rows as u64));
    }

    /// Returns whether there were too many.
    pub(super) fn is_exceeded(&self) -> bool {
        self.length > self.most
    }

    /// Counts what was read next, but blank lines between content and the last line of the same piece. O(bytes) for blank lines and comments, and less
    /// for others.
    pub(super) fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let length = match self.place {
                Place::Blanks => {
                    bytes.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count()
                }
                Place::Comment => bytes.iter().take_while(|byte| !b"\n\0".contains(byte)).count(),
                Place::Content => bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or(bytes.len()),
            };
            let is_content = self.place == Place::Content;
            self.length = if is_content { 0 } else { self.length + length as u64 };
            bytes = &bytes[length..];
            self.place = match (self.place, bytes.first()) {
                (place, None) => place,
                (Place::Comment | Place::Content, Some(b'\n')) => Place::Blanks,
                (Place::Blanks, Some(b'%' | b'#')) => Place::Comment,
                _ => Place::Content,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::rng::Rng;

    /// The bytes after the last content of a text that is read in pieces of random length, up to the longest.
    fn length(text: &str, longest: u32, seed: u64) -> u64 {
        let (mut idle, mut rng, mut rest) = (Idle::new(), Rng::new(seed), text.as_bytes());
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at((1 + rng.below(longest) as usize).min(rest.len()));
            idle.pass(piece);
            rest = behind;
        }
        idle.length
    }

    #[test]
    fn only_blank_lines_and_comments_count() {
        for (text, expected) in [
            ("", 0),
            ("\n\n \t\r\n", 6),
            ("% a comment\n# another\n  # a third", 33),
            ("1 2\n", 1),
            ("1 2", 0),
            ("\n\n1 2\n\n\n% x\n", 7),
            ("1 % no comment\n", 1),
            ("%\0\n", 1),
            ("%\0", 0),
        ] {
            assert_eq!(length(text, 1, 0), expected, "{text:?}");
            for seed in 0..20 {
                // Lines between content and the last line of the same piece are not counted.
                let found = length(text, 5, seed);
                assert!(found <= expected && expected < found + 5, "{text:?}: {found}");
            }
        }
    }

    #[test]
    fn rows_may_be_blank_as_often_as_there_are_rows() {
        let mut idle = Idle::new();
        idle.allow_rows(10 << 20);
        (0..140).for_each(|_| idle.pass(&[b'\n'; 1 << 20]));
        assert!(!idle.is_exceeded());
        (0..5).for_each(|_| idle.pass(&[b'\n'; 1 << 20]));
        assert!(idle.is_exceeded());
        idle.pass(b"1\n");
        assert!(!idle.is_exceeded());
    }
}
