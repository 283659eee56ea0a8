//! What the environment and strategies of Scotch say, for stand-ins that are written in C.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use viem_c::machine::Machine;
use viem_c::settings::Settings;
use viem_ffi::{environment, strategy, text};

/// The settings of the environment, with the imbalance that the text of a strategy asks for; null if it is no strategy. `viem_settings_free` frees them.
///
/// # Safety
///
/// The text ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn distributed_settings(strategy: *const c_char) -> *mut Settings {
    // SAFETY: the caller's promise.
    let text = unsafe { text("strategy", strategy) };
    let imbalance = text.ok().and_then(strategy::imbalance);
    imbalance.map_or(null_mut(), |imbalance| Box::into_raw(Box::new(Settings::of_environment(imbalance))))
}

/// The machine that the environment names, if it has so many PEs; otherwise null, and a line on stderr says why on rank 0. `viem_machine_free` frees it.
#[unsafe(no_mangle)]
pub extern "C" fn distributed_machine(num_parts: i64, rank: c_int) -> *mut Machine {
    let Ok(num_parts) = usize::try_from(num_parts) else { return null_mut() };
    let machine = match rank {
        0 => environment::machine(num_parts),
        _ => environment::fitting(num_parts).ok().flatten(),
    };
    machine.map_or(null_mut(), |machine| Box::into_raw(Box::new(Machine::new(machine))))
}
