//! A check that memory suffices, before much of it is allocated.

use super::MachineError;
use crate::base::memory;

/// Bytes per PE that the parts of a machine take.
const PARTS_BYTES: usize = 36;

/// An empty list with capacity for a key per PE, if there is memory for that and for the parts of the machine.
pub(super) fn room_for_keys<K>(num_pes: usize) -> Result<Vec<K>, MachineError> {
    let bytes = num_pes as u128 * (size_of::<K>() + PARTS_BYTES) as u128;
    let available = memory::available();
    let refused = MachineError::TooLarge { num_pes, bytes, available };
    let mut keys = Vec::new();
    if bytes > u128::from(available) || keys.try_reserve_exact(num_pes).is_err() {
        return Err(refused);
    }
    Ok(keys)
}
