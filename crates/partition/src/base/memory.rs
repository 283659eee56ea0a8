//! Memory that may not be there: how much is free, and arrays whose allocation can fail.
//!
//! Arrays as large as the input are allocated here, so that a process without enough memory ends with a message. (Where an
//! allocation fails elsewhere, Rust aborts.)

use crate::base::error::{ErrorKind, HasKind};

/// There is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is not enough memory for another {bytes} bytes")]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The size of the allocation that was refused.
    pub bytes: u128,
}

impl HasKind for OutOfMemory {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NoResources
    }
}

/// An array of `count` times the same value.
pub fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>, OutOfMemory> {
    let mut array = with_room(count)?;
    array.resize(count, value);
    Ok(array)
}

/// An array of `count` zeros, or of what else the default is, which takes memory only where it is written.
pub fn zeroed<T: Copy + Default>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    // Only an allocation that cannot fail gives zeros that nobody has written.
    drop(with_room::<T>(count)?);
    Ok(vec![T::default(); count])
}

/// An empty array with room for `count` values.
pub fn with_room<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut array = Vec::new();
    add_room(&mut array, count)?;
    Ok(array)
}

/// Makes room in a full array that grows while it is read: as much again as there is already, but no more than is promised.
/// So a promise alone takes no memory, and a kept promise wastes none.
pub fn grow<T>(array: &mut Vec<T>, promised: usize) -> Result<(), OutOfMemory> {
    /// This many values take hardly any memory.
    const FEW: usize = 1 << 10;
    let again = array.len().max(FEW);
    let missing = promised.saturating_sub(array.len());
    add_room(array, if missing > 0 { again.min(missing) } else { again })
}

/// Makes room for `count` more values in such an array; no more than needed, or than is promised, unless it doubles.
pub fn make_room<T>(array: &mut Vec<T>, count: usize, promised: usize) -> Result<(), OutOfMemory> {
    if array.capacity() - array.len() >= count {
        return Ok(());
    }
    let promised = promised.saturating_sub(array.len());
    let again = array.len().min(if promised > 0 { promised } else { usize::MAX });
    add_room(array, again.max(count))
}

/// Makes room for `count` more values in an array whose length nobody knows before; it doubles when it is full.
pub fn reserve<T>(array: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    let again = if array.capacity() - array.len() < count { count.max(array.capacity()) } else { 0 };
    refuse_what_is_not_there(again as u128 * size_of::<T>() as u128)?;
    let bytes = count as u128 * size_of::<T>() as u128;
    array.try_reserve(count).map_err(|_| OutOfMemory { bytes })
}

/// Systems may promise more memory than they have, and end the process that uses it. What is large is compared with what is there.
fn refuse_what_is_not_there(bytes: u128) -> Result<(), OutOfMemory> {
    /// Bytes that are not looked up.
    const LARGE: u128 = 1 << 30;
    if bytes >= LARGE && bytes > u128::from(available()) { Err(OutOfMemory { bytes }) } else { Ok(()) }
}

fn add_room<T>(array: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    let bytes = count as u128 * size_of::<T>() as u128;
    array.try_reserve_exact(count).map_err(|_| OutOfMemory { bytes })
}

/// Bytes that can be allocated without swapping and within the limit of the process (`ulimit -v`); no limit where the system
/// does not report one.
pub fn available() -> u64 {
    let free = number("/proc/meminfo", "MemAvailable:").map(|kib| kib.saturating_mul(1024));
    let limit = number("/proc/self/limits", "Max address space");
    let used = number("/proc/self/status", "VmSize:").map(|kib| kib.saturating_mul(1024));
    let left = limit.map(|limit| limit.saturating_sub(used.unwrap_or(0)));
    free.into_iter().chain(left).min().unwrap_or(u64::MAX)
}

/// The greatest number of bytes that the process has had in memory so far, if the system reports it.
pub fn peak() -> Option<u64> {
    number("/proc/self/status", "VmHWM:").map(|kib| kib.saturating_mul(1024))
}

/// The number in the line of a file that begins with this name; perhaps its unit follows.
fn number(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_grow_with_what_is_there_up_to_what_is_promised() {
        let mut array: Vec<u64> = Vec::new();
        for value in 0..10_000 {
            if array.len() == array.capacity() {
                grow(&mut array, 6_000).unwrap();
            }
            array.push(value);
            let promised = if value < 6_000 { 6_000 } else { usize::MAX };
            assert!(array.capacity() <= promised.min(1024.max(2 * array.len())), "{value}");
        }
    }

    #[test]
    fn what_cannot_be_had_is_an_error() {
        assert!(filled(usize::MAX / 16, 0u64).is_err());
        assert_eq!(filled(3, 7u8).unwrap(), [7, 7, 7]);
        assert!(available() > 0);
        if cfg!(target_os = "linux") {
            assert!(peak().unwrap() > 1 << 20);
        }
    }
}
