//! The library whose functions one of ours has: it does what viem does not do.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;

/// A library of the same functions, kept open.
pub struct Original(*mut c_void);

// SAFETY: it is only passed to `dlsym`, which any thread may call.
unsafe impl Send for Original {}
// SAFETY: as above.
unsafe impl Sync for Original {}

impl Original {
    /// Opens the library of a name or path, if there is one.
    pub fn open(name: &CStr) -> Option<Self> {
        // SAFETY: the name ends with a zero byte. Code that the library runs when it is loaded is the responsibility of its installer.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        (!handle.is_null()).then_some(Self(handle))
    }

    /// The libraries that the program has loaded after this one.
    pub fn behind() -> Self {
        Self(libc::RTLD_NEXT)
    }

    /// A function of the library, unless it is that of this one under its name.
    pub fn find(&self, name: &CStr) -> Option<*mut c_void> {
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
