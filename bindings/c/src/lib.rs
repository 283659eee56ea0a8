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
//!
//! # Design
//!
//! - *A module of `bindings/c/src` is a part of the header.* cbindgen makes `bindings/c/include/viem.h` of the source, with its documentation,
//!   and the module for Fortran is made of the header; tests fail when either differs.
//! - *Handles are boxed values, and arguments that are handles are `Option<&T>`*, which is a pointer that may be null. So only pointers to
//!   arrays, texts and results need unsafe code, all of it through `bindings/c/ffi/src/arguments.rs`, which checks null, alignment and length.
//! - *Every function ends in `call` or `create`* (`bindings/c/src/error.rs`): there a panic becomes an error, errors of the library become a
//!   status, a message and a place, and the result is written, or null.
//! - *Offsets are checked before the arrays are looked at* that are as long as the last of them says.
//! - *Memory is asked for before large calls.* Rust aborts where a small allocation fails, so a call that needs more than is free is refused.
//! - *Distances from a function are `OwnDistances`*, which clamps what the function returns: no value of it breaks a proof.
//! - *The libraries for METIS and KaHIP export their functions and nothing else*, so they are packages of their own. What METIS alone does is
//!   passed on to it (`bindings/c/metis/src/real.rs`), if its integers are as wide, and if it is not this library under its name.
//! - *Bounds of METIS are not rounded up*, so they are computed there and passed on (`Targets::with_bounds`). Its volume is lowered by
//!   annealing of the boundary, since partitions of small cut have straight boundaries and those of small volume do not.
//! - *Tests are of what is installed*: `bindings/c/tests` runs `make install` and compiles against the result, also under sanitizers. It
//!   depends on no package of ours, so `cargo test` compiles the library for C once, optimised.

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
pub const VIEM_VERSION_MAJOR: c_int = 2;
/// The version of this header.
pub const VIEM_VERSION_MINOR: c_int = 0;
/// The version of this header.
pub const VIEM_VERSION_PATCH: c_int = 0;

/// The version of the library that is linked, such as `2.0.0`.
#[allow(unsafe_code)] // a foreign interface
#[unsafe(no_mangle)]
pub extern "C" fn viem_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}
