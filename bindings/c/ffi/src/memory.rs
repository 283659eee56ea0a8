//! Memory that a call will need, compared with what is free before it begins.
//!
//! Rust ends the process where the system refuses memory to a small allocation. So large calls ask first.

use std::fmt;

use viem::base::error::{ErrorKind, HasKind};
use viem::base::memory::available;

/// There is less memory than a call needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryError {
    /// Bytes that the call needs.
    pub needed: u128,
    /// Bytes that are free.
    pub free: u64,
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the call needs about {} bytes of memory, and {} are free", self.needed, self.free)
    }
}

impl std::error::Error for MemoryError {}

impl HasKind for MemoryError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NoResources
    }
}

/// Below this, the system is not asked for its free memory, which takes longer than small calls.
const LITTLE: u128 = 64 << 20;

/// The memory that any call takes in addition: stacks of threads, messages.
const BESIDES: u128 = 8 << 20;

/// Fails if `needed` bytes are not free, or cannot be allocated now.
pub fn check_memory(needed: u128) -> Result<(), MemoryError> {
    let is_free = needed < LITTLE || needed <= u128::from(available());
    if is_free && can_be_allocated(needed + BESIDES) {
        return Ok(());
    }
    Err(MemoryError { needed, free: available() })
}

/// Tries it. Memory that is not written to takes no time and no room, but counts for limits of the process.
///
/// The system is asked, and not the allocator: that may have room left for a thread that exists, and none for the next one.
#[cfg(unix)]
#[allow(unsafe_code)] // a mapping of memory
fn can_be_allocated(bytes: u128) -> bool {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    let Ok(length) = usize::try_from(bytes) else { return false };
    // SAFETY: a new mapping, at an address that the system chooses, and nothing refers to it.
    unsafe {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let address = mmap_anonymous(std::ptr::null_mut(), length, protection, MapFlags::PRIVATE);
        address.is_ok_and(|address| munmap(address, length).is_ok())
    }
}

#[cfg(not(unix))]
fn can_be_allocated(bytes: u128) -> bool {
    usize::try_from(bytes).is_ok_and(|length| Vec::<u8>::new().try_reserve_exact(length).is_ok())
}

/// The memory of a graph while it is built: its own arrays, and as much again for checks.
pub fn memory_of_graph(num_vertices: usize, num_arcs: usize) -> u128 {
    24 * num_vertices as u128 + 16 * num_arcs as u128
}

/// The memory of a run on a graph, without the graph: all levels, the partitions that are combined, queues.
pub fn memory_of_run(num_vertices: usize, num_arcs: usize) -> u128 {
    200 * num_vertices as u128 + 40 * num_arcs as u128
}
