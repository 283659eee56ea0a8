//! Common code of the tests: problems and costs by definition, checks from scratch, and programs run as a
//! user runs them.

#![allow(dead_code, unused_imports)] // each test program uses a part of it

mod check;
mod estimate;
mod files;
mod flits;
mod machines;
mod mpi;
mod problems;
mod stop_after;

pub use check::*;
pub use estimate::*;
pub use files::*;
pub use flits::*;
pub use machines::*;
pub use mpi::*;
pub use problems::*;
pub use stop_after::StopAfter;
