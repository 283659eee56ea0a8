//! Scotch itself, if it was loaded behind this library or `VIEM_SCOTCH` names it.
#![allow(unsafe_code)] // a foreign interface

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::LazyLock;

use viem_ffi::{Original, guarded};

use crate::Num;

/// None if there is none with numbers of the same width.
static LIBRARY: LazyLock<Option<Original>> = LazyLock::new(|| {
    let named = std::env::var("VIEM_SCOTCH").ok().and_then(|name| CString::new(name).ok());
    let library = named.and_then(|name| Original::open(&name)).unwrap_or_else(Original::behind);
    let size = library.find(&CString::new(suffixed!(SCOTCH_numSizeof)).ok()?)?;
    // SAFETY: the function of Scotch has no arguments and returns an integer.
    let size = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> c_int>(size) };
    let (found, own) = (size() as usize, size_of::<Num>());
    if found != own {
        let name = if found == 8 { "libviem_scotch64.so" } else { "libviem_scotch.so" };
        eprintln!("viem: integers of Scotch have {found} bytes, and those of this library {own}; use {name}");
    }
    (found == own).then_some(library)
});

/// A function of Scotch by its name, if it is there.
pub(crate) fn function(name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    LIBRARY.as_ref().and_then(|library| library.find(&name))
}

/// The function of Scotch itself with the name and type of one of this library, if it is there.
macro_rules! real {
    ($name:ident($($type:ty),* $(,)?) -> $result:ty) => {{
        type Function = unsafe extern "C" fn($($type),*) -> $result;
        static FUNCTION: std::sync::LazyLock<Option<Function>> = std::sync::LazyLock::new(|| {
            let found = $crate::real::function(suffixed!($name))?;
            // SAFETY: it is the function of that name, whose type Scotch documents.
            Some(unsafe { std::mem::transmute::<*mut std::ffi::c_void, Function>(found) })
        });
        *FUNCTION
    }};
}
pub(crate) use real;

thread_local! {
    /// Whether Scotch itself partitions in this thread: it calls its own functions by their names, which are those of this library.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether Scotch itself partitions in this thread.
pub(crate) fn is_inside() -> bool {
    IS_INSIDE.get()
}

/// Lets Scotch itself do something.
fn inside<R>(work: impl FnOnce() -> R) -> R {
    let before = IS_INSIDE.replace(true);
    let result = work();
    IS_INSIDE.set(before);
    result
}

/// A value that functions return when they fail.
pub(crate) trait Failed {
    const FAILED: Self;
}

impl Failed for () {
    const FAILED: Self = ();
}

impl Failed for i32 {
    const FAILED: Self = 1;
}

impl Failed for i64 {
    const FAILED: Self = -1;
}

impl<T> Failed for *mut T {
    const FAILED: Self = std::ptr::null_mut();
}

/// Does the work of a function of this name; if it fails, its message is printed as Scotch prints its errors.
pub(crate) fn own<R: Failed>(name: &str, work: impl FnOnce() -> Result<R, String>) -> R {
    guarded(work).unwrap_or_else(Err).unwrap_or_else(|message| {
        print(&format!("{name}: {message}"));
        R::FAILED
    })
}

/// Maps with viem, or with Scotch itself where viem cannot and while Scotch itself partitions.
pub(crate) fn served(
    name: &str,
    work: impl FnOnce() -> Result<(), String>,
    real: Option<&dyn Fn() -> c_int>,
) -> c_int {
    match real {
        None => own(name, || work().map(|()| 0)),
        Some(real) if is_inside() => real(),
        Some(real) => match guarded(work).unwrap_or_else(Err) {
            Ok(()) => 0,
            Err(_) => inside(real),
        },
    }
}

/// The message of functions that only Scotch itself has.
pub(crate) fn missing<R>() -> Result<R, String> {
    Err("only Scotch itself does this: load it behind this library, or name it by VIEM_SCOTCH".into())
}

/// Prints an error with the function that the program has for that, or that of this library.
fn print(message: &str) {
    type Print = unsafe extern "C" fn(*const c_char, ...);
    const FORMAT: &CStr = c"%s";
    let Ok(message) = CString::new(message) else { return };
    // SAFETY: names and texts end with zero bytes; a function of that name takes what `printf` takes.
    unsafe {
        let print = libc::dlsym(libc::RTLD_DEFAULT, c"SCOTCH_errorPrint".as_ptr());
        match print.is_null() {
            true => eprintln!("{}", message.to_string_lossy()),
            false => std::mem::transmute::<*mut c_void, Print>(print)(FORMAT.as_ptr(), message.as_ptr()),
        }
    }
}
