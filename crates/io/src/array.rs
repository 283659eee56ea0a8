//! Arrays of NumPy (`.npy`, versions 1 to 3): a header, then numbers of one size.
//!
//! Entries are integers, truth values or floating-point numbers of at most 64 bits and any byte order, and whole numbers all the same.
//! (NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".)

use std::io::Read;

use super::scanner::Scanner;
use super::table::shortened;

/// The first bytes of such a file.
pub const MARK: &[u8] = b"\x93NUMPY";

/// Bytes that a header may have.
const LONGEST_HEADER: usize = 1 << 16;

/// A fault in an array.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are what messages show
pub enum ArrayFault {
    /// Something else than the expected text.
    Unexpected { text: String, expected: &'static str },
    /// The file ends too early.
    Missing { expected: &'static str },
}

/// The type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// The content of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    kind: Kind,
    /// Bytes of an entry.
    size: usize,
    is_big_endian: bool,
    /// True if the first index varies fastest.
    pub is_by_column: bool,
    /// The length of each dimension, outermost first.
    pub shape: Vec<u64>,
}

impl Header {
    /// The header of an array.
    pub fn read<R: Read>(scanner: &mut Scanner<R>) -> Result<Self, ArrayFault> {
        const MISSING: &str = "the header of a NumPy array";
        let unexpected = |text, expected| ArrayFault::Unexpected { text, expected };
        let start: [u8; 8] = bytes(scanner, MISSING)?;
        let length = match (&start[..6] == MARK, start[6]) {
            (true, 1) => usize::from(u16::from_le_bytes(bytes(scanner, MISSING)?)),
            (true, 2 | 3) => u32::from_le_bytes(bytes(scanner, MISSING)?) as usize,
            (true, version) => {
                let expected = "a version of NumPy arrays that is known here: 1, 2 or 3";
                return Err(unexpected(version.to_string(), expected));
            }
            (false, _) => {
                let expected = "\\x93NUMPY, with which a NumPy array starts";
                return Err(unexpected(shortened(&start[..6]), expected));
            }
        };
        if length > LONGEST_HEADER {
            return Err(unexpected(length.to_string(), "the length of a header, at most 65536"));
        }
        let mut text = vec![0; length];
        if !scanner.read_exact(&mut text) {
            return Err(ArrayFault::Missing { expected: MISSING });
        }
        let text = String::from_utf8_lossy(&text);
        described(&text).ok_or_else(|| {
            let expected = "the header of an array of whole or floating-point numbers of at most 64 bits";
            unexpected(shortened(text.trim().as_bytes()), expected)
        })
    }

    /// The next entry. What is no whole number from 0 is the error, with the text that it is.
    pub fn entry<R: Read>(&self, scanner: &mut Scanner<R>) -> Result<u64, ArrayFault> {
        let mut raw = [0; 8];
        if !scanner.read_exact(&mut raw[..self.size]) {
            return Err(ArrayFault::Missing { expected: "an entry of the array" });
        }
        self.value(raw)
    }

    /// The entry in some bytes.
    fn value(&self, mut raw: [u8; 8]) -> Result<u64, ArrayFault> {
        if self.is_big_endian {
            raw[..self.size].reverse();
        }
        value(self, raw).map_err(|text| ArrayFault::Unexpected { text, expected: "a whole number from 0" })
    }

    /// The bytes of the next entries, up to this many.
    pub fn entries<R: Read>(&self, scanner: &mut Scanner<R>, count: u64) -> Result<Vec<u8>, ArrayFault> {
        let mut raw = Vec::new();
        let mut entry = [0; 8];
        // Memory for the content, not for what the header promises.
        for _ in 0..count {
            if !scanner.read_exact(&mut entry[..self.size]) {
                return Err(ArrayFault::Missing { expected: "an entry of the array" });
            }
            raw.extend_from_slice(&entry[..self.size]);
        }
        Ok(raw)
    }

    /// An entry by its place among those bytes.
    pub fn entry_at(&self, raw: &[u8], place: usize) -> Result<u64, ArrayFault> {
        let mut entry = [0; 8];
        entry[..self.size].copy_from_slice(&raw[place * self.size..][..self.size]);
        self.value(entry)
    }

    /// The shape in words.
    pub fn shape_in_words(&self) -> String {
        self.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
    }
}

fn bytes<R: Read, const N: usize>(
    scanner: &mut Scanner<R>,
    expected: &'static str,
) -> Result<[u8; N], ArrayFault> {
    let mut bytes = [0; N];
    if scanner.read_exact(&mut bytes) { Ok(bytes) } else { Err(ArrayFault::Missing { expected }) }
}

/// The whole number in some bytes, the least one first, or the value that it is instead.
fn value(header: &Header, raw: [u8; 8]) -> Result<u64, String> {
    let bits = u64::from_le_bytes(raw);
    let unused = 64 - 8 * header.size as u32;
    match header.kind {
        Kind::Unsigned => Ok(bits),
        Kind::Signed => {
            let number = (bits << unused) as i64 >> unused;
            u64::try_from(number).map_err(|_| number.to_string())
        }
        Kind::Float => {
            let number = match header.size {
                2 => half(bits as u16),
                4 => f64::from(f32::from_bits(bits as u32)),
                _ => f64::from_bits(bits),
            };
            let is_whole = number >= 0.0 && number.fract() == 0.0 && number < 2f64.powi(64);
            // The shortest text of a number of 32 bits is not that of the same number of 64 bits.
            let text = || if header.size < 8 { (number as f32).to_string() } else { number.to_string() };
            if is_whole { Ok(number as u64) } else { Err(text()) }
        }
    }
}

/// A number of 16 bits: a sign, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }`
fn described(text: &str) -> Option<Header> {
    let after = |key: &str| {
        let (_, rest) =
            text.split_once(&format!("'{key}'")).or_else(|| text.split_once(&format!("\"{key}\"")))?;
        Some(rest.trim_start().strip_prefix(':')?.trim_start())
    };
    let description = after("descr")?.strip_prefix(['\'', '"'])?;
    let description = &description[..description.find(['\'', '"'])?];
    let mut letters = description.chars();
    let first = letters.next()?;
    let (order, kind) = if "<>|=".contains(first) { (first, letters.next()?) } else { ('=', first) };
    let size: usize = if kind == '?' { 1 } else { letters.as_str().parse().ok()? };
    let kind = match kind {
        'i' if matches!(size, 1 | 2 | 4 | 8) => Kind::Signed,
        'u' if matches!(size, 1 | 2 | 4 | 8) => Kind::Unsigned,
        'b' | '?' if size == 1 => Kind::Unsigned,
        'f' if matches!(size, 2 | 4 | 8) => Kind::Float,
        _ => return None,
    };
    let is_by_column = after("fortran_order")?.starts_with("True");
    let (shape, _) = after("shape")?.strip_prefix('(')?.split_once(')')?;
    let lengths = shape.split(',').map(str::trim).filter(|length| !length.is_empty());
    let shape: Option<Vec<u64>> = lengths.map(|length| length.trim_end_matches('L').parse().ok()).collect();
    Some(Header { kind, size, is_big_endian: order == '>', is_by_column, shape: shape? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_numpy_writes_them() {
        let header = |descr: &str, order: &str, shape: &str| {
            described(&format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}   \n"))
        };
        let of = |kind, size, is_big_endian, is_by_column, shape: &[u64]| {
            Some(Header { kind, size, is_big_endian, is_by_column, shape: shape.to_vec() })
        };
        assert_eq!(header("'<f8'", "False", "(3, 4)"), of(Kind::Float, 8, false, false, &[3, 4]));
        assert_eq!(header("'>i4'", "True", "(9,)"), of(Kind::Signed, 4, true, true, &[9]));
        assert_eq!(header("'|u1'", "False", "()"), of(Kind::Unsigned, 1, false, false, &[]));
        assert_eq!(header("'|b1'", "False", "(2L, 2L)"), of(Kind::Unsigned, 1, false, false, &[2, 2]));
        for descr in ["'<c16'", "'<f16'", "[('a', '<f8')]", "'<U3'", "'|O'", "'<i3'", "''", "8"] {
            assert_eq!(header(descr, "False", "(2, 2)"), None, "{descr}");
        }
    }

    #[test]
    fn numbers_of_every_size_have_their_value() {
        let of =
            |kind, size| Header { kind, size, is_big_endian: false, is_by_column: false, shape: Vec::new() };
        let value = |kind, size, bits: u64| value(&of(kind, size), bits.to_le_bytes());
        assert_eq!(value(Kind::Signed, 1, 0x7f), Ok(127));
        assert_eq!(value(Kind::Signed, 1, 0xff), Err("-1".to_owned()));
        assert_eq!(value(Kind::Signed, 8, u64::MAX), Err("-1".to_owned()));
        assert_eq!(value(Kind::Unsigned, 8, u64::MAX), Ok(u64::MAX));
        assert_eq!(value(Kind::Float, 8, 3f64.to_bits()), Ok(3));
        assert_eq!(value(Kind::Float, 8, 2.5f64.to_bits()), Err("2.5".to_owned()));
        assert_eq!(value(Kind::Float, 8, f64::NAN.to_bits()), Err("NaN".to_owned()));
        assert_eq!(value(Kind::Float, 8, 2f64.powi(64).to_bits()), Err(2f64.powi(64).to_string()));
        assert_eq!(value(Kind::Float, 4, u64::from(5f32.to_bits())), Ok(5));
        // 1, 2048, the least number, infinity
        let halves = [0x3c00, 0x6800, 0x0001, 0x7c00, 0xc000].map(half);
        assert_eq!(halves, [1.0, 2048.0, 2f64.powi(-24), f64::INFINITY, -2.0]);
    }
}
