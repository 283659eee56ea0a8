//! What every module stands on: numbers, random streams, threads, memory, settings, watching a run, and the kernel of local search.

pub mod budget;
pub mod collectives;
pub mod error;
pub mod exchange;
pub mod linear_assignment;
pub mod memory;
pub mod metropolis;
pub mod number;
pub mod number_list;
pub mod observer;
pub mod order;
pub mod rng;
pub mod settings;
pub mod span;
pub mod text;
pub mod threads;
pub mod types;
pub mod vector;
