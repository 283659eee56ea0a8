//! What the environment and strategies of Scotch say, for stand-ins that are written in C.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use viem_c::machine::Machine;
use viem_c::settings::Settings;
use viem_ffi::{environment, least_load, strategy, text};

/// The settings of the environment for a graph of this total weight, with the imbalance that the text of a strategy asks for; null if it is no strategy.
/// `viem_settings_free` frees them.
///
/// # Safety
///
/// The text ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn distributed_settings(
    strategy: *const c_char,
    total: i64,
    num_parts: i64,
) -> *mut Settings {
    // SAFETY: the caller's promise.
    let text = unsafe { text("strategy", strategy) };
    let Some(imbalance) = text.ok().and_then(strategy::imbalance) else { return null_mut() };
    let settings =
        Settings::of_environment(of_rounded_share(imbalance, total, num_parts), least_load(imbalance));
    Box::into_raw(Box::new(settings))
}

/// The excess over the share, rounded up, that is an excess over the share itself: the first is what bounds blocks, the second what Scotch means.
fn of_rounded_share(imbalance: f64, total: i64, num_parts: i64) -> f64 {
    let share = total as f64 / num_parts as f64;
    let (most, rounded) = (((1.0 + imbalance) * share).floor(), share.ceil());
    // The half keeps rounding from lowering the bound.
    if rounded > 0.0 { ((most + 0.5) / rounded - 1.0).clamp(0.0, imbalance) } else { imbalance }
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

#[cfg(test)]
mod tests {
    use super::of_rounded_share;

    #[test]
    fn bounds_are_those_of_the_share_itself() {
        for (total, num_parts) in [(22_499, 8), (22_499, 128), (90_000, 128), (7, 3), (100, 100), (3, 8)] {
            for imbalance in [0.0, 0.01, 0.03, 0.05, 0.5] {
                let share = total as f64 / num_parts as f64;
                let bound = ((1.0 + of_rounded_share(imbalance, total, num_parts)) * share.ceil()).floor();
                // Where no partition would be possible, it is the share rounded up.
                let most = ((1.0 + imbalance) * share).floor().max(share.ceil());
                assert_eq!(bound, most, "{total}, {num_parts}, {imbalance}");
            }
        }
        assert_eq!(of_rounded_share(0.01, 0, 4), 0.01);
    }
}
