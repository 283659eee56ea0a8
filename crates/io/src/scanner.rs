//! Numbers of a text, one at a time, with the line and column where each starts.
//!
//! The text passes through a buffer of fixed size, so lines, comments and runs of blanks may be of any
//! length. Only `Scanner::next_line` needs a line as a whole: for one that is longer the buffer grows, up to
//! `LONGEST_LINE`. The text between two blanks is no longer than that, either. Numbers are read eight digits at a
//! time: where the digits end is found with a few operations on a 64-bit word, and three multiplications turn the digits
//! before it into their value (Lemire's "parse eight digits", 2018). What is more than digits is read by the grammar of
//! [`number`](viem::base::number), which is slower.
//! Failed reads end the text; [`Scanner::failure`] has the reason.

use std::io::{self, Read};

use super::idle::{Idle, TooIdle};
use crate::ContentError;
use viem::base::memory::{self, OutOfMemory};
use viem::base::number::Spelling;
pub use viem::base::number::TextKind;

/// Bytes read at once: large enough to make system calls rare, small enough to stay in the cache.
const CAPACITY: usize = 1 << 18;
/// Bytes that a line and its end may have where it is given as a whole, so that a file without line ends does
/// not take all memory.
pub(super) const LONGEST_LINE: usize = 64 << 20;
/// Bytes that lie in the buffer when a token starts, unless the text ends: a blank, three words of
/// eight digits, and the byte after them.
const LOOKAHEAD: usize = 32;
/// Bytes of an offending text that are kept for the message.
pub const TEXT_LENGTH: usize = viem::base::text::MESSAGE_TEXT;

/// One piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// A whole number below 2^64, however it is spelled.
    Number(u64),
    /// Anything else between blanks; `Scanner::text` holds it.
    Text(TextKind),
    /// The end of a line; stays the next token until `Scanner::skip_line`.
    LineEnd,
    /// The end of the text.
    End,
}

/// The reason why a line was not given as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusedLine {
    /// It is longer than [`LONGEST_LINE`].
    TooLong,
    /// There is not enough memory for it.
    Memory(OutOfMemory),
}

/// Reads a text token by token.
pub struct Scanner<R> {
    reader: R,
    /// The buffered bytes, then at least [`LOOKAHEAD`] zeros.
    buffer: Vec<u8>,
    filled: usize,
    position: usize,
    is_exhausted: bool,
    failure: Option<io::Error>,
    idle: Idle,
    line: u64,
    /// The starts of the line and of the token, relative to the buffer; negative when that
    /// part of the text has left it.
    line_start: i64,
    token_start: i64,
    refused_line: Option<RefusedLine>,
    text: Vec<u8>,
    /// The separator that may be between tokens besides blanks; a blank if there is none.
    separator: u8,
}

impl Scanner<io::Empty> {
    /// Scans a text where it lies. [`Scanner::take_lines`] leaves room for what this puts behind it.
    pub(super) fn of_text(mut text: Vec<u8>) -> Self {
        let filled = text.len();
        text.resize(filled + LOOKAHEAD, 0);
        Self { buffer: text, filled, is_exhausted: true, ..Self::empty(io::empty()) }
    }

    /// The text it was made of.
    pub(super) fn into_text(mut self) -> Vec<u8> {
        self.buffer.truncate(self.filled);
        self.buffer
    }
}

impl<R: Read> Scanner<R> {
    /// A scanner at the start of what a reader yields.
    pub fn new(reader: R) -> Self {
        let mut scanner = Self { buffer: vec![0; CAPACITY + LOOKAHEAD], ..Self::empty(reader) };
        scanner.refill();
        scanner
    }

    /// A scanner without a buffer, before it has read anything.
    fn empty(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            filled: 0,
            position: 0,
            is_exhausted: false,
            failure: None,
            idle: Idle::new(),
            line: 1,
            line_start: 0,
            token_start: 0,
            refused_line: None,
            text: Vec::new(),
            separator: b' ',
        }
    }

    /// The buffered bytes that are not scanned yet: in the beginning, the start of the text.
    pub fn at_hand(&self) -> &[u8] {
        &self.buffer[self.position..self.filled]
    }

    /// Returns whether nothing follows the buffered bytes.
    pub(super) fn has_all_at_hand(&self) -> bool {
        self.is_exhausted
    }

    /// Allows one such byte between two tokens. Two of them have an empty text between them.
    pub(super) fn separate_by(&mut self, separator: u8) {
        self.separator = separator;
    }

    /// Line of the next byte, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Column of the last token, from 1; the end of a line has one too.
    #[inline]
    pub fn column(&self) -> u64 {
        (self.token_start - self.line_start) as u64 + 1
    }

    /// The last token as it is written, if it was a number; shortened if it is long.
    pub(super) fn spelling(&self) -> String {
        let text = &self.buffer[self.token_start.max(0) as usize..self.position];
        let dots = if text.len() > TEXT_LENGTH { "..." } else { "" };
        String::from_utf8_lossy(&text[..text.len().min(TEXT_LENGTH)]).into_owned() + dots
    }

    /// The last text that was not a number, shortened if it is long.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).chars().flat_map(char::escape_default).collect()
    }

    /// The reason why the text ended early, if a read failed.
    pub fn failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// The reason why the text ended early, if its next line was refused. [`Scanner::line`] is that line.
    pub(super) fn refused_line(&self) -> Option<RefusedLine> {
        self.refused_line
    }

    /// Returns whether a line starts here; if not, the text has ended. Call it at the start of a line only.
    ///
    /// Comments, which are lines that start with `%`, are skipped.
    pub fn has_line(&mut self) -> bool {
        loop {
            if !self.has_bytes() {
                return false;
            }
            if self.buffer[self.position] != b'%' {
                return true;
            }
            self.skip_line();
        }
    }

    /// Fills a buffer with the next bytes, whatever they are; whether there are enough.
    pub(super) fn read_exact(&mut self, bytes: &mut [u8]) -> bool {
        self.take(bytes) == bytes.len()
    }

    /// Fills a buffer with the next bytes; how many there are, fewer if the text ends.
    fn take(&mut self, bytes: &mut [u8]) -> usize {
        let mut count = 0;
        loop {
            let piece = (bytes.len() - count).min(self.filled - self.position);
            bytes[count..count + piece].copy_from_slice(&self.buffer[self.position..self.position + piece]);
            self.position += piece;
            count += piece;
            let missing = bytes.len() - count;
            if missing == 0 || self.is_exhausted {
                return count;
            }
            // Little is read ahead, so that system calls are rare; much is read to where it belongs.
            if missing > self.capacity() / 2 {
                count += self.fill(&mut bytes[count..]);
            } else {
                self.refill();
            }
        }
    }

    /// All that is left, as one text. What does not fit into memory ends it; [`Scanner::early_end`] has the reason.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        while self.position < self.filled {
            let piece = &self.buffer[self.position..self.filled];
            if let Err(lack) = memory::reserve(&mut all, piece.len()) {
                self.give_up(lack);
                return Vec::new();
            }
            all.extend_from_slice(piece);
            self.position = self.filled;
            self.refill();
        }
        all
    }

    /// Ends the text here for want of memory.
    pub(super) fn give_up(&mut self, lack: OutOfMemory) {
        self.refuse(RefusedLine::Memory(lack));
    }

    /// Ends the text here.
    fn refuse(&mut self, reason: RefusedLine) {
        self.refused_line = Some(reason);
        self.position = self.filled;
        self.is_exhausted = true;
    }

    /// Puts whole lines into `block`, in place of what it holds: about `size` bytes, or up to about `most` where a line is longer. The last line
    /// may have no end if the text has none, which is then exhausted, or if it is longer than that. Call it at the start of a line only; that
    /// is that of the next byte.
    pub(super) fn take_lines(
        &mut self,
        size: usize,
        most: usize,
        block: &mut Vec<u8>,
    ) -> Result<(), OutOfMemory> {
        make_length(block, size)?;
        let (mut filled, mut searched) = (0, 0);
        let end = loop {
            filled += self.take(&mut block[filled..]);
            let end = block[searched..filled].iter().rposition(|&byte| byte == b'\n');
            if self.is_exhausted && self.at_hand().is_empty() {
                break filled;
            }
            if let Some(end) = end {
                break searched + end + 1;
            }
            // Without memory for more, the line is too long.
            if filled >= most || make_length(block, filled + size).is_err() {
                break filled;
            }
            searched = filled;
        };
        self.put_back(&block[end..filled])?;
        block.truncate(end);
        Ok(())
    }

    /// Takes back a block, to be scanned before what follows.
    pub(super) fn put_back(&mut self, block: &[u8]) -> Result<(), OutOfMemory> {
        let at_hand = self.at_hand().to_vec();
        self.hold(&[block, &at_hand])
    }

    /// Fills a buffer with the next bytes that are not buffered, and returns their number, which is less if the text ends.
    fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let mut count = 0;
        while count < buffer.len() && !self.is_exhausted {
            match self.reader.read(&mut buffer[count..]) {
                Ok(0) => self.is_exhausted = true,
                Ok(length) => {
                    self.idle.pass(&buffer[count..count + length]);
                    count += length;
                    self.check_idle();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error);
                    self.is_exhausted = true;
                }
            }
        }
        count
    }

    /// Ends a text of which too much is blank lines and comments.
    fn check_idle(&mut self) {
        if self.idle.is_exceeded() {
            self.failure = Some(io::Error::other(ContentError::new(TooIdle)));
            self.is_exhausted = true;
        }
    }

    /// Lets as many lines be blank, besides others, as each means something.
    pub(super) fn allow_blank_rows(&mut self, rows: usize) {
        self.idle.allow_rows(rows);
    }

    /// Replaces the buffered bytes by these. A line starts with them.
    fn hold(&mut self, texts: &[&[u8]]) -> Result<(), OutOfMemory> {
        let length: usize = texts.iter().map(|text| text.len()).sum();
        if length > self.capacity() {
            let more = length - self.capacity();
            memory::reserve(&mut self.buffer, more)?;
            self.buffer.resize(length + LOOKAHEAD, 0);
        }
        let mut end = 0;
        for text in texts {
            self.buffer[end..end + text.len()].copy_from_slice(text);
            end += text.len();
        }
        self.buffer[end..end + LOOKAHEAD].fill(0);
        (self.position, self.filled, self.line_start, self.token_start) = (0, end, 0, 0);
        Ok(())
    }

    /// Sets the position reported for the next byte and the last token, counted from 1.
    pub(super) fn stand_at(&mut self, line: u64, column: u64) {
        self.line = line;
        self.token_start = self.position as i64;
        self.line_start = self.token_start + 1 - column as i64;
    }

    /// Returns whether any byte is left.
    pub fn has_bytes(&mut self) -> bool {
        self.make_ready();
        self.token_start = self.position as i64;
        self.position < self.filled
    }

    /// Skips the rest of the line and its end.
    pub fn skip_line(&mut self) {
        loop {
            if let Some(newline) = self.newline(self.position) {
                self.position = newline + 1;
                self.line += 1;
                self.line_start = self.position as i64;
                self.token_start = self.line_start;
                return;
            }
            self.position = self.filled;
            self.make_ready();
            if self.position == self.filled {
                return;
            }
        }
    }

    /// The next line, without its end, and its number; `None` if the text has ended. Call it at the start of a
    /// line only. A line that cannot be held as a whole ends the text; [`Scanner::early_end`] has the reason.
    pub fn next_line(&mut self) -> Option<(u64, &[u8])> {
        if !self.has_bytes() {
            return None;
        }
        let newline = self.newline(self.position);
        let end = if newline.is_some() { newline } else { self.gather_line() }?;
        let (number, start) = (self.line, self.position);
        self.position = end;
        if end < self.filled {
            self.position += 1;
            self.line += 1;
        }
        self.line_start = self.position as i64;
        self.token_start = self.line_start;
        let line = &self.buffer[start..end];
        Some((number, line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Returns the end of the line of which only the start is in the buffer, which then holds all of it.
    #[cold]
    fn gather_line(&mut self) -> Option<usize> {
        while !self.is_exhausted {
            let searched = self.filled - self.position;
            if searched == self.capacity()
                && let Err(reason) = self.widen()
            {
                self.refuse(reason);
                return None;
            }
            self.refill();
            let newline = self.newline(self.position + searched);
            if newline.is_some() {
                return newline;
            }
        }
        Some(self.filled)
    }

    /// Returns the position of the first line end from here on, if it is in the buffer.
    fn newline(&self, from: usize) -> Option<usize> {
        let rest = &self.buffer[from..self.filled];
        rest.iter().position(|&byte| byte == b'\n').map(|length| from + length)
    }

    /// Skips blanks, and returns whether the line, or the text, ends after them.
    pub fn is_rest_blank(&mut self) -> bool {
        self.skip_blanks();
        self.position == self.filled || self.buffer[self.position] == b'\n'
    }

    /// The next token.
    #[inline(always)]
    pub fn next_token(&mut self) -> Token {
        self.make_ready();
        self.position += usize::from(self.buffer[self.position] == b' ');
        self.token_start = self.position as i64;
        let mut word = self.word();
        let mut digits = leading_digits(word);
        if digits == 0 {
            return self.next_after_blanks();
        }
        // After one word the value is below 10^8, after two below 10^16: neither can overflow.
        let mut value = number(word, digits);
        self.position += digits;
        for _ in 0..2 {
            if digits < 8 {
                break;
            }
            word = self.word();
            digits = leading_digits(word);
            if digits == 0 {
                break;
            }
            value = match value.checked_mul(POWERS_OF_TEN[digits]) {
                Some(shifted) if shifted <= u64::MAX - 99_999_999 => shifted + number(word, digits),
                _ => return self.next_text(),
            };
            self.position += digits;
        }
        match self.buffer[self.position] {
            b' ' | b'\n' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => Token::Number(value),
            _ if self.position == self.filled => Token::Number(value),
            _ => self.next_text(),
        }
    }

    /// Skips arcs as most files spell them, as long as they are buffered and `take` takes them: a number of one to eight
    /// digits, the first of which is not 0, and, if arcs have weights, another one for that, each with one blank or a line end behind it.
    /// `take` gets both, the weight 1 if there is none. Returns the column of the first arc, and whether the line ends behind the last one.
    /// What follows is for [`Scanner::next_token`].
    #[inline(always)]
    pub(super) fn plain_arcs<const WEIGHTED: bool>(
        &mut self,
        mut take: impl FnMut(u64, u64) -> bool,
    ) -> (u64, bool) {
        let buffer = &self.buffer[..self.filled];
        let mut place = self.position + usize::from(self.buffer[self.position] == b' ');
        let column = (place as i64 - self.line_start) as u64 + 1;
        // Both numbers and what follows them lie in the buffer.
        while let Some(text) = buffer.get(place..).and_then(|rest| rest.first_chunk::<LOOKAHEAD>()) {
            let Some((head, mut end)) = plain_number(text, 0) else { break };
            let mut weight = 1;
            if WEIGHTED {
                let Some((value, weight_end)) = plain_number(text, end + 1) else { break };
                if text[end] != b' ' {
                    break;
                }
                (weight, end) = (value, weight_end);
            }
            if !matches!(text[end], b' ' | b'\n') || !take(head, weight) {
                break;
            }
            place += end;
            self.position = place;
            if text[end] == b'\n' {
                break;
            }
            place += 1;
        }
        let ends_line = buffer.get(place) == Some(&b'\n');
        if ends_line {
            (self.position, self.token_start) = (place, place as i64);
        }
        (column, ends_line)
    }

    #[inline(always)]
    fn word(&self) -> u64 {
        word(&self.buffer, self.position)
    }

    /// A token that is no number right here or after one blank: more blanks, an end, or a text.
    fn next_after_blanks(&mut self) -> Token {
        self.skip_blanks();
        if self.is_separator(self.buffer[self.position]) {
            self.position += 1;
            self.skip_blanks();
        }
        match self.buffer[self.position] {
            b'\n' => Token::LineEnd,
            b'0'..=b'9' => self.next_token(),
            _ if self.position == self.filled => Token::End,
            _ => self.next_text(),
        }
    }

    /// Returns whether a byte separates tokens and is no blank.
    fn is_separator(&self, byte: u8) -> bool {
        byte == self.separator && byte != b' '
    }

    /// Skips blanks and the carriage returns of a line end, up to where the next token starts.
    #[inline(always)]
    fn skip_blanks(&mut self) {
        loop {
            self.make_ready();
            self.token_start = self.position as i64;
            match self.buffer[self.position] {
                b' ' | b'\t' | b'\x0b' | b'\x0c' => self.position += 1,
                b'\r' if matches!(self.buffer[self.position + 1], b'\n' | b'\r') => self.position += 1,
                b'\r' if self.position + 1 == self.filled => self.position += 1,
                _ => return,
            }
        }
    }

    /// A token that is not a short number: reads it byte by byte from its start.
    #[cold]
    fn next_text(&mut self) -> Token {
        self.position = self.token_start as usize;
        self.text.clear();
        let mut spelling = Spelling::new();
        let mut length = 0u64;
        loop {
            self.make_ready();
            let byte = self.buffer[self.position];
            let is_end = match byte {
                b' ' | b'\t' | b'\x0b' | b'\x0c' | b'\n' => true,
                b'\r' => length > 0,
                _ => self.position == self.filled || self.is_separator(byte),
            };
            if is_end {
                break;
            }
            if self.text.len() < TEXT_LENGTH {
                self.text.push(byte);
            } else if self.text.len() == TEXT_LENGTH {
                self.text.extend_from_slice(b"...");
            }
            spelling.push(byte);
            length += 1;
            self.position += 1;
            if length == LONGEST_LINE as u64 {
                self.refuse(RefusedLine::TooLong);
                return Token::Text(spelling.whole().err().unwrap_or(TextKind::Word));
            }
        }
        spelling.whole().map_or_else(Token::Text, Token::Number)
    }

    /// Sees to it that a whole short token lies in the buffer, unless the text ends.
    #[inline(always)]
    fn make_ready(&mut self) {
        if self.filled - self.position < LOOKAHEAD && !self.is_exhausted {
            self.refill();
        }
    }

    #[cold]
    fn refill(&mut self) {
        self.buffer.copy_within(self.position..self.filled, 0);
        self.filled -= self.position;
        self.line_start -= self.position as i64;
        self.token_start -= self.position as i64;
        self.position = 0;
        let (capacity, mut buffer) = (self.capacity(), std::mem::take(&mut self.buffer));
        self.filled += self.fill(&mut buffer[self.filled..capacity]);
        self.buffer = buffer;
        self.buffer[self.filled..self.filled + LOOKAHEAD].fill(0);
    }

    /// Bytes of the text that the buffer has room for.
    fn capacity(&self) -> usize {
        self.buffer.len() - LOOKAHEAD
    }

    /// Makes the buffer about twice as large.
    fn widen(&mut self) -> Result<(), RefusedLine> {
        const MOST: usize = LONGEST_LINE + LOOKAHEAD;
        if self.buffer.len() == MOST {
            return Err(RefusedLine::TooLong);
        }
        memory::grow(&mut self.buffer, MOST).map_err(RefusedLine::Memory)?;
        self.buffer.resize(self.buffer.capacity().min(MOST), 0);
        Ok(())
    }
}

/// Gives a text a length, with zeros where it becomes longer, and room for what a scanner puts behind it.
fn make_length(text: &mut Vec<u8>, length: usize) -> Result<(), OutOfMemory> {
    memory::reserve(text, (length + LOOKAHEAD).saturating_sub(text.len()))?;
    text.resize(length, 0);
    Ok(())
}

const POWERS_OF_TEN: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Eight bytes of a buffer as a number, the first one lowest.
#[inline(always)]
fn word(buffer: &[u8], place: usize) -> u64 {
    let bytes = &buffer[place..place + 8];
    u64::from_le_bytes(bytes.try_into().expect("the slice has eight bytes"))
}

/// The number at a place, of one to eight digits, the first of which is not 0, and where its digits end.
#[inline(always)]
fn plain_number(text: &[u8; LOOKAHEAD], place: usize) -> Option<(u64, usize)> {
    let word = word(text, place);
    // Digits have this bit, blanks and line ends have not. The next place waits for nothing else.
    let digits = (!word & 0x1010_1010_1010_1010).trailing_zeros() as usize / 8;
    let starts_right = (word as u8).wrapping_sub(b'1') < 9;
    let is_right = starts_right && differs_from_digits(word) << (64 - 8 * digits) == 0;
    is_right.then(|| (number(word, digits), place + digits))
}

/// Returns the number of leading digits of the eight characters in `word`, first in the lowest byte.
#[inline(always)]
fn leading_digits(word: u64) -> usize {
    differs_from_digits(word).trailing_zeros() as usize / 8
}

/// A word whose lowest byte that is not 0 is at the place of the first character that is not a digit.
#[inline(always)]
fn differs_from_digits(word: u64) -> u64 {
    // Both the high half of a digit and that of the digit plus 6 are 3. A carry out of a byte only
    // spoils bytes after one that is not a digit.
    let high = word & 0xf0f0_f0f0_f0f0_f0f0;
    let high_plus_six = (word.wrapping_add(0x0606_0606_0606_0606) & 0xf0f0_f0f0_f0f0_f0f0) >> 4;
    (high | high_plus_six) ^ 0x3333_3333_3333_3333
}

/// The number that the first `digits` (1 to 8) characters in `word` spell.
#[inline(always)]
fn number(word: u64, digits: usize) -> u64 {
    let aligned = word << (64 - 8 * digits);
    let pairs = (aligned & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(10 << 8 | 1) >> 8;
    let fours = (pairs & 0x00ff_00ff_00ff_00ff).wrapping_mul(100 << 16 | 1) >> 16;
    (fours & 0x0000_ffff_0000_ffff).wrapping_mul(10_000 << 32 | 1) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::base::rng::Rng;

    /// Gives its bytes in pieces of random length.
    struct Pieces<'a>(&'a [u8], Rng);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = (1 + self.1.below(40) as usize).min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn tokens(text: &[u8]) -> Vec<(Token, u64, u64)> {
        let mut scanner = Scanner::new(Pieces(text, Rng::new(text.len() as u64)));
        let mut tokens = Vec::new();
        loop {
            let line = scanner.line();
            let token = scanner.next_token();
            if token == Token::End {
                return tokens;
            }
            tokens.push((token, line, scanner.column()));
            if token == Token::LineEnd {
                scanner.skip_line();
            }
        }
    }

    #[test]
    fn numbers_of_every_length() {
        let mut rng = Rng::new(2);
        for _ in 0..2000 {
            let value = rng.next_u64() >> rng.below(64);
            let zeros = "0".repeat(if rng.below(4) == 0 { rng.below(70) as usize } else { 0 });
            let text = format!("{zeros}{value}");
            assert_eq!(tokens(text.as_bytes()), [(Token::Number(value), 1, 1)], "{text}");
        }
        for text in ["18446744073709551616", "99999999999999999999", "1000000000000000000000000000000000"] {
            assert_eq!(tokens(text.as_bytes()), [(Token::Text(TextKind::TooLarge), 1, 1)], "{text}");
        }
        assert_eq!(tokens(b"18446744073709551615")[0].0, Token::Number(u64::MAX));
    }

    #[test]
    fn texts_that_are_not_numbers_are_told_apart() {
        let kinds = [
            ("-1", TextKind::Negative(1)),
            ("-", TextKind::Word),
            ("1.5", TextKind::Fractional),
            ("-.5", TextKind::Fractional),
            ("1e-5", TextKind::Fractional),
            ("1,2", TextKind::Word),
            ("+1x", TextKind::Word),
            ("0x10", TextKind::Word),
            ("%", TextKind::Word),
            ("\u{fc}", TextKind::Word),
            ("1\0", TextKind::Nul),
            ("\r1", TextKind::CarriageReturn),
        ];
        for (text, kind) in kinds {
            for padding in ["", " ", "\t "] {
                let padded = format!("{padding}{text}{padding}");
                let column = padding.len() as u64 + 1;
                assert_eq!(tokens(padded.as_bytes()), [(Token::Text(kind), 1, column)], "{text}");
            }
        }
    }

    #[test]
    fn numbers_may_be_spelled_in_any_way() {
        for text in ["5.0", "+5", "5.", "0.5e1", "50D-1", "000005.000"] {
            for padding in ["", " "] {
                let padded = format!("{padding}{text}{padding}\n");
                let mut scanner = Scanner::new(padded.as_bytes());
                assert_eq!((scanner.next_token(), scanner.spelling()), (Token::Number(5), text.to_owned()));
                assert_eq!(scanner.next_token(), Token::LineEnd);
            }
        }
    }

    #[test]
    fn a_separator_may_stand_between_tokens() {
        use Token::{End, LineEnd, Number, Text};
        let mut scanner = Scanner::new(&b"1,2 , 3.0,x,\n,4,,12345678901\n5"[..]);
        scanner.separate_by(b',');
        let mut expect =
            |tokens: &[Token]| tokens.iter().for_each(|&token| assert_eq!(scanner.next_token(), token));
        expect(&[Number(1), Number(2), Number(3), Text(TextKind::Word), LineEnd]);
        scanner.skip_line();
        let mut expect =
            |tokens: &[Token]| tokens.iter().for_each(|&token| assert_eq!(scanner.next_token(), token));
        expect(&[Number(4), Text(TextKind::Word), Number(12_345_678_901), LineEnd]);
        scanner.skip_line();
        assert_eq!((scanner.next_token(), scanner.next_token()), (Number(5), End));
    }

    #[test]
    fn lines_and_columns() {
        use Token::{LineEnd, Number};
        let text = b"12 3\r\n\n  4\t56 \r\r\n7";
        let expected = [
            (Number(12), 1, 1),
            (Number(3), 1, 4),
            (LineEnd, 1, 6),
            (LineEnd, 2, 1),
            (Number(4), 3, 3),
            (Number(56), 3, 5),
            (LineEnd, 3, 10),
            (Number(7), 4, 1),
        ];
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn buffers_of_text_join_without_a_seam() {
        // Long enough to pass through the buffer several times, with a text across every seam.
        let mut text = Vec::new();
        let mut expected = Vec::new();
        let mut rng = Rng::new(9);
        let (mut line, mut column) = (1, 1);
        while text.len() < 3 * CAPACITY {
            match rng.below(200) {
                0 => {
                    text.push(b'\n');
                    expected.push((Token::LineEnd, line, column));
                    (line, column) = (line + 1, 1);
                }
                1 => {
                    let length = rng.below(3000) as usize + 1;
                    text.extend(std::iter::repeat_n(b'x', length));
                    text.push(b' ');
                    expected.push((Token::Text(TextKind::Word), line, column));
                    column += length as u64 + 1;
                }
                2 => {
                    let length = rng.below(3000) as usize;
                    text.extend(std::iter::repeat_n(b' ', length));
                    column += length as u64;
                }
                _ => {
                    let value = rng.next_u64() >> rng.below(64);
                    let digits = value.to_string();
                    text.extend_from_slice(digits.as_bytes());
                    text.push(b' ');
                    expected.push((Token::Number(value), line, column));
                    column += digits.len() as u64 + 1;
                }
            }
        }
        assert!(tokens(&text) == expected);
    }

    #[test]
    fn comments_and_lines_of_any_length() {
        let mut text = vec![b'%'; 2 * CAPACITY];
        text.extend_from_slice(b"\n%\n5\n%");
        let mut scanner = Scanner::new(&text[..]);
        assert!(scanner.has_line());
        assert_eq!(
            (scanner.line(), scanner.next_token(), scanner.next_token()),
            (3, Token::Number(5), Token::LineEnd)
        );
        scanner.skip_line();
        assert!(!scanner.has_line());
    }

    #[test]
    fn lines_of_any_length_are_given_whole_with_their_numbers() {
        for length in [CAPACITY - 5, CAPACITY - 1, CAPACITY, CAPACITY + 1, 3 * CAPACITY] {
            let long: Vec<u8> = (0..length).map(|place| b'a' + (place % 23) as u8).collect();
            let lines = [&b"one"[..], b"", b"two", &long, b"three", &long, &long[1..], b"last"];
            for end in [&b"\n"[..], b"\r\n"] {
                let text = lines.join(end);
                let mut scanner = Scanner::new(Pieces(&text, Rng::new(3)));
                for (number, line) in (1..).zip(lines) {
                    assert!(scanner.next_line() == Some((number, line)), "line {number}, {length} bytes");
                    assert_eq!(scanner.column(), 1);
                }
                assert_eq!(scanner.next_line(), None);
                assert_eq!(scanner.refused_line(), None);
            }
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut scanner = Scanner::new((&b"one\n"[..]).chain(io::repeat(b'x')));
        assert_eq!(scanner.next_line(), Some((1, &b"one"[..])));
        for _ in 0..2 {
            assert_eq!(scanner.next_line(), None);
            assert_eq!((scanner.line(), scanner.refused_line()), (2, Some(RefusedLine::TooLong)));
        }
        let longest = vec![b'x'; LONGEST_LINE - 1];
        let text = [&longest[..], b"\nlast"].concat();
        let mut scanner = Scanner::new(&text[..]);
        assert!(scanner.next_line() == Some((1, &longest[..])));
        assert_eq!(scanner.next_line(), Some((2, &b"last"[..])));
    }

    #[test]
    fn blanks_of_any_length_are_passed_over_to_the_next_token_or_the_end() {
        for blanks in [0, 1, LOOKAHEAD, 200, CAPACITY, 2 * CAPACITY] {
            let padding = " \t".repeat(blanks);
            for (rest, is_blank) in
                [("7", false), ("x\n", false), ("\r1\n", false), ("\r\r\n7", true), ("", true)]
            {
                let text = format!("{padding}{rest}");
                let mut scanner = Scanner::new(Pieces(text.as_bytes(), Rng::new(5)));
                assert_eq!(scanner.is_rest_blank(), is_blank, "{blanks} times two blanks, then {rest:?}");
            }
        }
    }

    #[test]
    fn a_place_can_be_asked_for_at_the_start_of_a_line() {
        let mut scanner = Scanner::new(&b"12 3\n"[..]);
        assert_eq!((scanner.line(), scanner.column()), (1, 1));
        scanner.next_token();
        scanner.skip_line();
        assert_eq!((scanner.line(), scanner.column()), (2, 1));
    }

    #[test]
    fn a_failed_read_ends_the_text_and_is_kept() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut scanner = Scanner::new((&b"1 2"[..]).chain(Broken));
        assert_eq!(
            (scanner.next_token(), scanner.next_token(), scanner.next_token()),
            (Token::Number(1), Token::Number(2), Token::End)
        );
        assert!(scanner.failure().is_some());
    }
}
