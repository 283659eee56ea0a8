//! Graphs and their partitions: the lower half of the engine `viem`, which re-exports all of it under the same names.
//!
//! | module | what it is |
//! |---|---|
//! | [`partition`] | the multilevel partitioner, other ways to divide a graph, remapping |
//! | [`graph`] | graphs in compressed sparse rows and what is derived from them |
//! | [`base`] | numbers, random streams, threads, memory, settings, errors, observers; linear assignment; the kernel of local search |
//!
//! A package of its own, so that a change of the mapper does not compile the partitioner again.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("viem needs addresses of 64 bits");

pub mod base;
pub mod graph;
pub mod partition;

/// Helpers of the tests, the same as those of `tests/`; they know the library from outside, by its name.
#[cfg(test)]
#[path = "../../../tests/common/graphs.rs"]
mod testing;

#[cfg(test)]
extern crate self as viem;
