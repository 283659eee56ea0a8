//! Numbers at random, messages, memory and versions.
#![allow(unsafe_code, non_snake_case, clippy::too_many_arguments)] // a foreign interface

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use libc::FILE;
use viem_ffi::put_if_wanted;

use super::functions;
use crate::Num;
use crate::real::{missing, real};

/// The seed of the program; mappings depend on it, and on nothing that was called before.
static SEED: AtomicU64 = AtomicU64::new(0);

/// The position in the stream of numbers at random.
static POSITION: AtomicU64 = AtomicU64::new(0);

/// The seed of mappings.
pub(crate) fn seed() -> u64 {
    SEED.load(Ordering::Relaxed)
}

/// Sets the seed of numbers at random and of mappings.
///
/// # Safety
///
/// None.
#[unsafe(export_name = suffixed!(SCOTCH_randomSeed))]
pub unsafe extern "C" fn SCOTCH_randomSeed(seed: Num) {
    SEED.store(seed as u64, Ordering::Relaxed);
    POSITION.store(0, Ordering::Relaxed);
    if let Some(real) = real!(SCOTCH_randomSeed(Num) -> ()) {
        // SAFETY: it takes any number.
        unsafe { real(seed) };
    }
}

functions! {
    /// Begins the stream of numbers at random again.
    SCOTCH_randomReset() -> () { POSITION.store(0, Ordering::Relaxed); Ok(()) }
    /// Distinguishes the streams of several processes.
    SCOTCH_randomProc(_process: c_int) -> () { Ok(()) }
    /// A number at random from 0 to a bound, without it.
    SCOTCH_randomVal(bound: Num) -> Num {
        // The generator splitmix64.
        let state = seed().wrapping_add(POSITION.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Ok(((mixed ^ (mixed >> 31)) % (bound as u64).max(1)) as Num)
    }
    /// Reads the state of the stream.
    SCOTCH_randomLoad(_file: *mut FILE) -> c_int { missing() }
    /// Writes the state of the stream.
    SCOTCH_randomSave(_file: *mut FILE) -> c_int { missing() }
    /// Frees what Scotch has allocated.
    SCOTCH_memFree(memory: *mut c_void) -> () {
        // SAFETY: the caller's promise: structures of this library come from `calloc`.
        unsafe { libc::free(memory) };
        Ok(())
    }
    /// The memory in use, which is not counted.
    SCOTCH_memCur() -> Num { Ok(0) }
    /// The greatest memory that was in use, which is not counted.
    SCOTCH_memMax() -> Num { Ok(0) }
    /// The bytes of an integer.
    SCOTCH_numSizeof() -> c_int { Ok(size_of::<Num>() as c_int) }
    /// The version whose functions these are.
    SCOTCH_version(version: *mut c_int, release: *mut c_int, patch: *mut c_int) -> () {
        // SAFETY: the caller's promise.
        unsafe {
            put_if_wanted(version, 7);
            put_if_wanted(release, 0);
            put_if_wanted(patch, 3);
        }
        Ok(())
    }
    /// Sets the name that messages begin with.
    SCOTCH_errorProg(name: *const c_char) -> () {
        // SAFETY: the caller's promise.
        let name = CString::new(unsafe { viem_ffi::text("name", name) }.map_err(crate::text)?).map_err(crate::text)?;
        *PROGRAM.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
        Ok(())
    }
}

static PROGRAM: Mutex<Option<CString>> = Mutex::new(None);

/// A function that prints as `printf` does.
type Print = unsafe extern "C" fn(*const c_char, ...);

/// Declares functions with a format and values for it. They are as many as there are registers for them: more are on the stack, and such a format is printed as it is.
macro_rules! printing {
    ($($(#[$doc:meta])* $name:ident $kind:literal)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The format ends with a zero byte, and there are values for it.
        #[unsafe(export_name = suffixed!($name))]
        pub unsafe extern "C" fn $name(
            format: *const c_char,
            a: usize,
            b: usize,
            c: usize,
            d: usize,
            e: usize,
            s: f64,
            t: f64,
            u: f64,
            v: f64,
            w: f64,
            x: f64,
            y: f64,
            z: f64,
        ) {
            // SAFETY: this and what follows: the caller's promise. Registers that have no value for the format are not read by `printf`.
            if format.is_null() {
                return;
            }
            let text = unsafe { CStr::from_ptr(format) };
            let format = if has_registers(text) { text } else { c"%s" };
            let a = if has_registers(text) { a } else { text.as_ptr() as usize };
            let print = crate::real::function(suffixed!($name));
            match print {
                Some(print) => unsafe {
                    let print = std::mem::transmute::<*mut c_void, Print>(print);
                    print(format.as_ptr(), a, b, c, d, e, s, t, u, v, w, x, y, z);
                },
                None => unsafe {
                    let mut message = [0 as c_char; 1024];
                    libc::snprintf(message.as_mut_ptr(), message.len(), format.as_ptr(), a, b, c, d, e, s, t, u, v, w, x, y, z);
                    let program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default();
                    let colon = if program.is_empty() { "" } else { ": " };
                    let (program, message) = (program.to_string_lossy(), CStr::from_ptr(message.as_ptr()).to_string_lossy());
                    eprintln!("{program}{colon}{}{message}", $kind);
                },
            }
        }
    )*};
}

/// Returns whether the values of a format are in registers: at most five of them are not in memory on any processor.
fn has_registers(format: &CStr) -> bool {
    let bytes = format.to_bytes();
    let signs = bytes.iter().filter(|&&byte| byte == b'%' || byte == b'*').count();
    signs <= 5
}

printing! {
    /// Prints an error.
    SCOTCH_errorPrint "ERROR: "
    /// Prints a warning.
    SCOTCH_errorPrintW "WARNING: "
}
