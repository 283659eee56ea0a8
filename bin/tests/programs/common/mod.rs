//! What the tests of the programs share: what those of the library do, and how programs are run.

#[path = "../../../../tests/common/mod.rs"]
mod library;
mod programs;
#[cfg(unix)]
pub mod signals;

pub use library::*;
pub use programs::*;
