//! Process mapping and sparse quadratic assignment.

pub mod cli;
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
pub mod threads;
pub mod topology;
pub mod traffic;
pub mod types;
pub mod verify;
