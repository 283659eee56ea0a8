#![doc = include_str!("../README.md")]

pub mod annealing;
pub mod cli;
pub mod construct;
pub mod graph;
pub mod io;
pub mod machine;
pub mod mapping;
pub mod model;
pub mod objective;
pub mod observer;
pub mod partition;
pub mod problem;
pub mod rng;
pub mod search;
pub mod settings;
pub mod solve;
pub mod threads;
pub mod topology;
pub mod traffic;
pub mod types;
pub mod verify;

/// Helpers of the tests, the same as those of `tests/`; they know the library from outside, by its name.
#[cfg(test)]
#[path = "../tests/common/problems.rs"]
mod testing;

#[cfg(test)]
extern crate self as viem;
