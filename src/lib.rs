//! Process mapping and sparse quadratic assignment.

pub mod graph;
pub mod io;
pub mod mapping;
pub mod objective;
pub mod partition;
pub mod problem;
pub mod rng;
pub mod topology;
pub mod types;
