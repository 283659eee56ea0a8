//! Arrays as VTK puts them into XML: their length or the lengths of their packed blocks, and then their bytes, perhaps in base 64.

use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::binary::Form;
use viem::base::memory::{self, OutOfMemory};

/// What all arrays of a file have in common.
#[derive(Clone, Copy)]
pub(crate) struct Encoding {
    pub form: Form,
    /// Bytes of a length.
    pub header: usize,
    pub is_packed: bool,
}

/// The reason why an array was not read.
#[derive(Debug, PartialEq)]
pub(crate) enum Unread {
    Damaged(String),
    Memory(OutOfMemory),
}

impl From<OutOfMemory> for Unread {
    fn from(lack: OutOfMemory) -> Self {
        Self::Memory(lack)
    }
}

fn damaged(reason: impl ToString) -> Unread {
    Unread::Damaged(reason.to_string())
}

const CUT_OFF: &str = "they are cut off";
/// The most bytes that zlib unpacks from one.
const MOST_EXPANSION: usize = 1032;

impl Encoding {
    /// The bytes of the array that some data begin with, or why there are none.
    pub fn decode(&self, data: &[u8], is_base64: bool) -> Result<Vec<u8>, Unread> {
        let mut stripped = memory::with_room(if is_base64 { data.len() } else { 0 })?;
        let data = match is_base64 {
            true => {
                stripped.extend(data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()));
                &stripped
            }
            false => data,
        };
        let start = &mut Data { bytes: data, is_base64 };
        let found = if self.is_packed { self.unpack(start) } else { self.plain(start) };
        found?.ok_or_else(|| damaged(CUT_OFF))
    }

    fn length(&self, bytes: &[u8], index: usize) -> Option<usize> {
        let bytes = bytes.get(index * self.header..)?.get(..self.header)?;
        usize::try_from(self.form.unsigned(bytes)).ok()
    }

    /// An array that is not packed. Its length is in base 64 by itself or together with the array.
    fn plain(&self, data: &mut Data<'_>) -> Result<Option<Vec<u8>>, Unread> {
        let Some(start) = data.clone().take(self.header)? else { return Ok(None) };
        let Some(length) = self.length(&start, 0) else { return Ok(None) };
        if !data.is_base64 || data.is_padded_after(self.header) {
            data.take(self.header)?;
            return data.take(length);
        }
        let whole = data.take(length.saturating_add(self.header))?;
        Ok(whole.map(|mut whole| whole.split_off(self.header)))
    }

    /// An array in packed blocks: their number, the length of each, that of the last one, and the packed lengths.
    fn unpack(&self, data: &mut Data<'_>) -> Result<Option<Vec<u8>>, Unread> {
        let Some(start) = data.clone().take(self.header)? else { return Ok(None) };
        let Some(blocks) = self.length(&start, 0) else { return Ok(None) };
        let lengths = blocks.saturating_add(3).saturating_mul(self.header);
        let Some(lengths) = data.take(lengths)? else { return Ok(None) };
        let length = |index| self.length(&lengths, index).unwrap_or(usize::MAX);
        let (most, packed) = (length(1), (0..blocks).map(|block| length(3 + block)));
        let sum = packed.clone().fold(0, usize::saturating_add);
        let Some(bytes) = data.take(sum)? else { return Ok(None) };
        let (mut rest, mut unpacked) = (&bytes[..], Vec::new());
        for length in packed {
            let (block, behind) = rest.split_at(length);
            let before = unpacked.len();
            memory::reserve(
                &mut unpacked,
                most.min(length.saturating_mul(MOST_EXPANSION)).saturating_add(64),
            )?;
            let mut decoder = ZlibDecoder::new(block).take((most as u64).saturating_add(1));
            decoder.read_to_end(&mut unpacked).map_err(damaged)?;
            if unpacked.len() - before > most {
                return Err(damaged("a block is longer than its length"));
            }
            rest = behind;
        }
        Ok(Some(unpacked))
    }
}

/// The data that are left.
#[derive(Clone)]
struct Data<'a> {
    bytes: &'a [u8],
    is_base64: bool,
}

impl Data<'_> {
    /// The next bytes, decoded; none if there are too few.
    fn take(&mut self, count: usize) -> Result<Option<Vec<u8>>, Unread> {
        let length = if self.is_base64 { digits(count) } else { count };
        let Some((taken, rest)) = self.bytes.split_at_checked(length) else { return Ok(None) };
        self.bytes = rest;
        if !self.is_base64 {
            let mut bytes = memory::with_room(count)?;
            bytes.extend_from_slice(taken);
            return Ok(Some(bytes));
        }
        let mut decoded = memory::with_room(length)?;
        base64(taken, &mut decoded).ok_or_else(|| damaged("they are not in base 64"))?;
        let is_whole = decoded.len() >= count;
        decoded.truncate(count);
        Ok(is_whole.then_some(decoded))
    }

    /// Returns whether so many bytes are by themselves in base 64.
    fn is_padded_after(&self, count: usize) -> bool {
        self.bytes.get(digits(count).saturating_sub(1)) == Some(&b'=')
    }
}

/// The number of digits of so many bytes.
fn digits(count: usize) -> usize {
    count.div_ceil(3).saturating_mul(4)
}

/// Appends the bytes that a text in base 64 stands for.
fn base64(text: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    for group in text.chunks(4) {
        let kept = group.iter().take_while(|&&digit| digit != b'=').count();
        if group.len() < 4 || kept < 2 {
            return None;
        }
        let mut number = 0u32;
        for &digit in &group[..kept] {
            number = number << 6 | value(digit)?;
        }
        number <<= 6 * (4 - kept);
        bytes.extend_from_slice(&number.to_be_bytes()[1..kept]);
    }
    Some(())
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_decoded() {
        let base64 = |text: &[u8]| {
            let mut bytes = Vec::new();
            base64(text, &mut bytes).map(|()| bytes)
        };
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob")]
        {
            assert_eq!(base64(text.as_bytes()).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["Z", "Zg=", "Z===", "Zm9*", "Zm 9"] {
            assert_eq!(base64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_length_is_by_itself_or_not() {
        let encoding = Encoding { form: Form::LittleEndian, header: 4, is_packed: false };
        for text in ["AwAAAGZvbw==", "AwAAAA==Zm9v", "AwAA AGZv\nbw=="] {
            assert_eq!(encoding.decode(text.as_bytes(), true).as_deref(), Ok(&b"foo"[..]), "{text}");
        }
        assert_eq!(encoding.decode(b"\x03\0\0\0fooetc", false).as_deref(), Ok(&b"foo"[..]));
        assert_eq!(encoding.decode(b"\x03\0\0\0fo", false), Err(damaged(CUT_OFF)));
        assert_eq!(encoding.decode(b"BAAAAGZvbw==", true), Err(damaged(CUT_OFF)));
    }
}
