//! What a call must not do to a program of C: panic, or raise signals of floating-point exceptions.
#![allow(unsafe_code)] // functions of C

use std::any::Any;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

/// The result of `work`, or the message of its panic.
///
/// Nothing is printed. A library for C has a Rust runtime of its own, so no hook of the program is replaced. Floating-point exceptions do not trap
/// meanwhile, whatever the program has asked for.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| set_hook(Box::new(|_| {})));
    // What a call has changed when it panics is dropped with it: handles are only made of results.
    catch_unwind(AssertUnwindSafe(|| untrapped(work))).map_err(|payload| {
        let message = message(payload.as_ref());
        // Dropping the payload of a panic may panic again.
        std::mem::forget(payload);
        message
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

/// The result of `work`, during which no floating-point exception traps: Rust computes with infinities, and some programs of C end at the first.
/// Threads that are started meanwhile inherit that. The traps, flags and rounding of the program are restored, after a panic, too.
pub fn untrapped<T>(work: impl FnOnce() -> T) -> T {
    let _restored = Environment::held();
    work()
}

/// Room for the floating-point environment of C (`fenv_t`), which has at most 32 bytes on all platforms of Rust.
#[repr(C, align(16))]
struct Environment([u8; 64]);

unsafe extern "C" {
    fn feholdexcept(environment: *mut Environment) -> c_int;
    fn fesetround(rounding: c_int) -> c_int;
    fn fesetenv(environment: *const Environment) -> c_int;
}

impl Environment {
    /// The environment of the program, in whose place is that of Rust: nothing traps, and results are rounded to the nearest number.
    fn held() -> Self {
        let mut environment = Self([0; 64]);
        // SAFETY: there is room for it. `FE_TONEAREST` is 0 on all platforms.
        unsafe {
            feholdexcept(&mut environment);
            fesetround(0);
        }
        environment
    }
}

impl Drop for Environment {
    fn drop(&mut self) {
        // SAFETY: it was filled by `feholdexcept`.
        unsafe { fesetenv(self) };
    }
}
