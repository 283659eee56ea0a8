//! Graphs that are too large for one machine: partitioned, and mapped to the PEs of a machine, by many ranks together.
//!
//! | member | what it does |
//! |---|---|
//! | [`solve`] | one call: a distributed graph and a goal become blocks and a report |
//! | [`comm`] | what ranks say to each other: a trait with the few collective operations there are, and what is built from them |
//! | [`threads`] | ranks that are threads of one process |
//! | [`rounds`] | long messages over operations with counts of 32 bits, as those of MPI |
//! | [`guard`] | a panic on one rank as an error on all |
//! | [`alike`] | what all ranks must give alike |
//! | [`error`] | errors that all ranks return alike |
//! | [`graph`] | distributed graphs: their layout, and ghosts |
//! | [`read`] | graph files, of which each rank reads its part |
//! | [`generate`] | grids, for tests and measurements |
//! | [`gather`] | distributed graphs on each rank as a whole, and back |
//! | [`cluster`] | clusters by label propagation |
//! | [`contract`] | the graph of clusters |
//! | [`objective`] | what is minimised: the cut, J, and migration |
//! | [`band`] | the surroundings of borders |
//! | [`refine`] | better partitions within the same bounds |

pub mod alike;
pub mod band;
pub mod cluster;
pub mod comm;
pub mod contract;
pub mod error;
pub mod gather;
pub mod generate;
pub mod graph;
pub mod guard;
pub mod objective;
pub mod read;
pub mod refine;
pub mod rounds;
pub mod solve;
#[cfg(test)]
mod testing;
pub mod threads;
