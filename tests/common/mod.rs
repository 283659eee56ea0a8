//! What the tests share: problems and costs by the definitions, checks from scratch, programs run as a user runs them.

#![allow(dead_code, unused_imports)] // each test program uses a part of it

use std::fs;
use std::path::{Path, PathBuf};

mod check;
mod flits;
mod machines;
mod mpi;
mod problems;
#[cfg(feature = "cli")]
mod programs;
#[cfg(all(unix, feature = "cli"))]
pub mod signals;
mod stop_after;

pub use check::*;
pub use flits::*;
pub use machines::*;
pub use mpi::*;
pub use problems::*;
#[cfg(feature = "cli")]
pub use programs::*;
pub use stop_after::StopAfter;

/// The names of what is in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file of `instances/`.
pub fn instance(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("instances").join(name)
}
