//! Process mapping and sparse quadratic assignment.

pub mod construct;
pub mod graph;
pub mod io;
pub mod mapping;
pub mod model;
pub mod objective;
pub mod observer;
pub mod partition;
pub mod problem;
pub mod rng;
pub mod search;
pub mod solve;
pub mod topology;
pub mod types;
pub mod verify;
