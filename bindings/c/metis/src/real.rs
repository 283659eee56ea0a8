//! METIS itself, where it is installed, for what viem does not do: several constraints, orders of the vertices, connected parts.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::LazyLock;

use crate::options::COUNT;
use crate::{Fault, Idx};

/// The library, kept open; none if there is none with numbers of the same width.
static LIBRARY: LazyLock<Option<Library>> = LazyLock::new(Library::open);

struct Library(*mut c_void);

// SAFETY: it is only passed to `dlsym`, which any thread may call.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Opens the library that the variable `VIEM_METIS` names, else the library of the system.
    fn open() -> Option<Self> {
        let named = std::env::var("VIEM_METIS").ok().and_then(|name| CString::new(name).ok());
        let usual = [c"libmetis.so.5".to_owned(), c"libmetis.so".to_owned()];
        named.map_or_else(|| usual.to_vec(), |name| vec![name]).iter().find_map(|name| Self::load(name))
    }

    fn load(name: &CStr) -> Option<Self> {
        // SAFETY: the name ends with a zero byte. Code that the library runs when it is loaded is the responsibility of its installer.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        (!handle.is_null()).then_some(Self(handle)).filter(Self::has_same_width)
    }

    /// Returns whether its integers are as wide as these: it fills an array of options, as long as that is there.
    fn has_same_width(&self) -> bool {
        let Some(set_default) = self.find(c"METIS_SetDefaultOptions") else { return false };
        let mut options = [0i32; 2 * COUNT];
        // SAFETY: the function of METIS takes an array of 40 integers, of 32 or 64 bits.
        let set_default =
            unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(*mut i32) -> c_int>(set_default) };
        set_default(options.as_mut_ptr());
        let filled = options.iter().rposition(|&option| option != 0).map_or(0, |last| last + 1);
        filled * size_of::<i32>() == COUNT * size_of::<Idx>()
    }

    /// A function of the library, unless it is that of this one under its name.
    fn find(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the library is open, and the name ends with a zero byte.
        let found = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!found.is_null() && !is_own(found)).then_some(found)
    }
}

/// Returns whether a function is in the file that this one is in.
fn is_own(function: *const c_void) -> bool {
    let file = |function: *const c_void| {
        let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the address is that of a function, and there is room for the answer, for which zeros will do.
        let info = unsafe {
            libc::dladdr(function, info.as_mut_ptr());
            info.assume_init()
        };
        info.dli_fbase
    };
    file(function) == file(is_own as *const c_void)
}

/// A function of METIS by its name.
pub(crate) fn function(name: &CStr) -> Result<*mut c_void, Fault> {
    LIBRARY.as_ref().and_then(|library| library.find(name)).ok_or(Fault::Other)
}
