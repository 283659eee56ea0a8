//! What the tests share: problems and costs by the definitions, checks from scratch, programs run as a user runs them.

#![allow(dead_code, unused_imports)] // each test program uses a part of it

mod check;
mod problems;
mod programs;
mod stop_after;

pub use check::*;
pub use problems::*;
pub use programs::*;
pub use stop_after::StopAfter;
