//! Common code of the benchmarks: options, models, peers' tables, figures.

#![allow(dead_code, unused_imports)] // each benchmark uses a part of it

#[path = "../../tests/common/check.rs"]
mod check;
mod figures;
mod map_run;
pub mod memory;
mod models;
mod options;
#[path = "../../tests/common/problems.rs"]
mod problems;
#[path = "../../tests/common/stop_after.rs"]
mod stop_after;

pub use check::*;
pub use figures::*;
pub use map_run::MapRun;
pub use models::*;
pub use options::{Options, changed, changes};
pub use problems::random_mapping;
pub use stop_after::StopAfter;

/// Ends the program with a message and the exit code of wrong usage.
pub fn fail(message: impl std::fmt::Display) -> ! {
    eprintln!("{message}");
    std::process::exit(2)
}
