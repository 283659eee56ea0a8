//! How much memory there is, asked before much of it is taken.

use super::MachineError;

/// Bytes that a PE takes in the division of a machine into parts.
const PARTS_BYTES: usize = 36;

/// Bytes of memory that new allocations can have without swapping; no limit where the system does
/// not tell.
pub(super) fn available() -> u64 {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.map_or(u64::MAX, |kib| kib.saturating_mul(1024))
}

/// An empty list with room for a key of type `K` for each PE, if there is memory for that and for the parts of the
/// machine.
pub(super) fn room_for_keys<K>(num_pes: usize) -> Result<Vec<K>, MachineError> {
    let bytes = num_pes as u128 * (size_of::<K>() + PARTS_BYTES) as u128;
    let available = available();
    let refused = MachineError::TooLarge { num_pes, bytes, available };
    let mut keys = Vec::new();
    if bytes > u128::from(available) || keys.try_reserve_exact(num_pes).is_err() {
        return Err(refused);
    }
    Ok(keys)
}
