//! METIS itself, where it is installed, for what viem does not do: several constraints, orders of the vertices, connected parts.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::LazyLock;

use viem_ffi::Original;

use crate::options::COUNT;
use crate::{Fault, Idx};

/// The library that the variable `VIEM_METIS` names, else the library of the system; none if there is none with numbers of the same width.
static LIBRARY: LazyLock<Option<Original>> = LazyLock::new(|| {
    let named = std::env::var("VIEM_METIS").ok().and_then(|name| CString::new(name).ok());
    let usual = [c"libmetis.so.5".to_owned(), c"libmetis.so".to_owned()];
    let names = named.map_or_else(|| usual.to_vec(), |name| vec![name]);
    names.iter().find_map(|name| Original::open(name).filter(has_same_width))
});

/// Returns whether the integers of a library are as wide as these: it fills an array of options, as long as that is there.
fn has_same_width(library: &Original) -> bool {
    let Some(set_default) = library.find(c"METIS_SetDefaultOptions") else { return false };
    let mut options = [0i32; 2 * COUNT];
    // SAFETY: the function of METIS takes an array of 40 integers, of 32 or 64 bits.
    let set_default =
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(*mut i32) -> c_int>(set_default) };
    set_default(options.as_mut_ptr());
    let filled = options.iter().rposition(|&option| option != 0).map_or(0, |last| last + 1);
    filled * size_of::<i32>() == COUNT * size_of::<Idx>()
}

/// A function of METIS by its name.
pub(crate) fn function(name: &CStr) -> Result<*mut c_void, Fault> {
    LIBRARY.as_ref().and_then(|library| library.find(name)).ok_or(Fault::Other)
}
