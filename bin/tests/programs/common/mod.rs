//! Common code of the program tests: that of the library tests, and how programs are run.

mod folder;
#[path = "../../../../tests/common/mod.rs"]
mod library;
mod programs;
#[cfg(unix)]
pub mod signals;

pub use folder::*;
pub use library::*;
pub use programs::*;
