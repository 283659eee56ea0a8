//! The C interface of `viem`: what `viem.h` declares. The chapter `docs/guide/c.md` is for its users.
//!
//! Each module is a part of the header, from which cbindgen makes it: the documentation of the functions is that of C. What all functions
//! share:
//!
//! - `error`: a status, and an error that says where the fault is; [`error::call`] and [`error::create`] end every function.
//! - `viem_ffi`: arguments are checked before they are used, and panics come back as errors.
//! - Handles are boxed values of Rust. C sees pointers to opaque types; a null pointer is `None`.
//!
//! Only arguments that are pointers to arrays, texts or results need unsafe code.

pub mod error;
pub mod graph;
pub mod launch;
pub mod machine;
pub mod map;
pub mod mapping;
pub mod partition;
mod progress;
pub mod qap;
pub mod settings;

use std::ffi::{c_char, c_int};

/// Several threads may use a handle at once.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<error::Error>();
    is_shared::<graph::Graph>();
    is_shared::<machine::Machine>();
    is_shared::<mapping::Mapping>();
    is_shared::<qap::Qap>();
    is_shared::<settings::Settings>();
};

/// The version of this header.
pub const VIEM_VERSION_MAJOR: c_int = 3;
/// The version of this header.
pub const VIEM_VERSION_MINOR: c_int = 0;
/// The version of this header.
pub const VIEM_VERSION_PATCH: c_int = 0;

/// The version of the library that is linked, such as `3.0.0`.
#[allow(unsafe_code)] // a foreign interface
#[unsafe(no_mangle)]
pub extern "C" fn viem_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
