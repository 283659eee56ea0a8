//! What every module stands on: numbers, random streams, threads, memory, settings, and watching a run.

pub(crate) mod budget;
pub mod error;
pub mod memory;
pub(crate) mod metropolis;
pub mod observer;
pub mod rng;
pub mod settings;
pub mod threads;
pub mod types;
