//! Numbers as text, without the cost of the formatting machinery.

use std::io::{self, Write};

/// Bytes gathered before they are written.
const CAPACITY: usize = 1 << 16;

/// Gathers numbers and separators and writes them in large pieces.
pub(super) struct DigitWriter<'a, W: ?Sized> {
    out: &'a mut W,
    buffer: Vec<u8>,
}

impl<'a, W: Write + ?Sized> DigitWriter<'a, W> {
    pub(super) fn new(out: &'a mut W) -> Self {
        Self { out, buffer: Vec::with_capacity(CAPACITY + 64) }
    }

    /// Adds a number in decimal digits.
    pub(super) fn number(&mut self, mut value: u64) {
        let mut digits = [0u8; 20];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] = b'0' + (value % 10) as u8;
            value /= 10;
            if value == 0 {
                break;
            }
        }
        self.buffer.extend_from_slice(&digits[start..]);
    }

    /// Adds one character.
    pub(super) fn byte(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    /// Writes the gathered bytes if there are many.
    pub(super) fn relieve(&mut self) -> io::Result<()> {
        if self.buffer.len() >= CAPACITY { self.finish() } else { Ok(()) }
    }

    /// Writes the gathered bytes.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Writes one number a line.
pub(super) fn write_lines(out: &mut (impl Write + ?Sized), numbers: &[u32]) -> io::Result<()> {
    let mut digits = DigitWriter::new(out);
    for &number in numbers {
        digits.number(u64::from(number));
        digits.byte(b'\n');
        digits.relieve()?;
    }
    digits.finish()
}
