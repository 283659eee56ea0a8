//! The array in an archive of NumPy (`.npz`): a zip archive whose members are stored or deflated.
//!
//! The list of members at the end of the archive says where each is. The array is unpacked as it is read, so its reader sees its header before
//! the memory for its entries is needed; what it may expand to is bounded as for all packed sources, and its checksum is compared.
//! (PKWARE, ".ZIP File Format Specification".)

use std::io::{self, Read};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::source::check_expansion;

/// The first bytes of such a file.
pub const MARK: &[u8] = b"PK\x03\x04";

/// A fault in an archive.
#[derive(Debug)]
#[allow(missing_docs)] // the fields are what messages show
pub enum ArchiveFault {
    /// It is none, or not one that is known here.
    Unreadable { reason: String },
    /// It has several arrays, with these names.
    SeveralArrays { names: String },
}

impl From<io::Error> for ArchiveFault {
    fn from(error: io::Error) -> Self {
        Self::Unreadable { reason: error.to_string() }
    }
}

/// Bytes of the record at the end, without the comment after it.
const END: usize = 22;

/// A member as the list has it.
struct Member<'a> {
    name: &'a [u8],
    method: u64,
    checksum: u64,
    packed: u64,
    /// The start of the entry.
    offset: u64,
}

/// The bytes of the one array in an archive. Reading fails where they are damaged or too many.
pub fn array(archive: &[u8]) -> Result<Unpacked<'_>, ArchiveFault> {
    let fault = |reason: &str| ArchiveFault::Unreadable { reason: reason.to_owned() };
    let members = members(archive).ok_or_else(|| fault("it has no list of its members"))?;
    let arrays: Vec<&Member<'_>> = members.iter().filter(|member| member.name.ends_with(b".npy")).collect();
    let [member] = arrays[..] else {
        if arrays.is_empty() {
            return Err(fault("it has no array"));
        }
        let names =
            arrays.iter().map(|member| String::from_utf8_lossy(member.name).escape_debug().to_string());
        return Err(ArchiveFault::SeveralArrays { names: names.take(8).collect::<Vec<_>>().join(", ") });
    };
    let packed = content(archive, member).ok_or_else(|| fault("its array is cut off"))?;
    let reader: Box<dyn Read> = match member.method {
        0 => Box::new(packed),
        8 => Box::new(DeflateDecoder::new(packed)),
        _ => return Err(fault("its array is neither stored nor deflated")),
    };
    Ok(Unpacked {
        reader,
        packed: packed.len() as u64,
        count: 0,
        checksum: member.checksum,
        found: Crc::new(),
    })
}

/// The bytes of a member as they are unpacked.
pub struct Unpacked<'a> {
    reader: Box<dyn Read + 'a>,
    packed: u64,
    count: u64,
    checksum: u64,
    found: Crc,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let invalid = |reason| io::Error::new(io::ErrorKind::InvalidData, reason);
        let count = self.reader.read(buffer).map_err(|_| invalid("its array cannot be unpacked"))?;
        self.found.update(&buffer[..count]);
        self.count += count as u64;
        check_expansion(self.packed, self.count)?;
        let is_at_end = count == 0 && !buffer.is_empty();
        if is_at_end && u64::from(self.found.sum()) != self.checksum {
            return Err(invalid("its array is damaged: the checksum is another one"));
        }
        Ok(count)
    }
}

/// The number of a few bytes at a place, the least one first.
fn number(archive: &[u8], at: u64, bytes: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = archive.get(at..)?.get(..bytes as usize)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn members(archive: &[u8]) -> Option<Vec<Member<'_>>> {
    let tail = archive.len().saturating_sub(END + usize::from(u16::MAX));
    let end = archive[tail..].windows(4).rposition(|bytes| bytes == b"PK\x05\x06")? + tail;
    let count = number(archive, end as u64 + 10, 2)?;
    let mut at = number(archive, end as u64 + 16, 4)?;
    let mut members = Vec::new();
    for _ in 0..count {
        if number(archive, at, 4)? != u64::from(u32::from_le_bytes(*b"PK\x01\x02")) {
            return None;
        }
        let length = number(archive, at + 28, 2)?;
        let start = usize::try_from(at + 46).ok()?;
        members.push(Member {
            name: archive.get(start..)?.get(..length as usize)?,
            method: number(archive, at + 10, 2)?,
            checksum: number(archive, at + 16, 4)?,
            packed: number(archive, at + 20, 4)?,
            offset: number(archive, at + 42, 4)?,
        });
        at += 46 + length + number(archive, at + 30, 2)? + number(archive, at + 32, 2)?;
    }
    Some(members)
}

/// The packed bytes of a member, behind its own name and fields.
fn content<'a>(archive: &'a [u8], member: &Member<'_>) -> Option<&'a [u8]> {
    let skipped = 30 + number(archive, member.offset + 26, 2)? + number(archive, member.offset + 28, 2)?;
    let start = usize::try_from(member.offset + skipped).ok()?;
    archive.get(start..)?.get(..usize::try_from(member.packed).ok()?)
}
