//! One-to-one and many-to-one mappings of processes to PEs: the problem, its objective, and the algorithms.

pub mod annealing;
pub mod construct;
pub(crate) mod dense;
pub mod model;
pub mod objective;
mod permutation;
pub mod problem;
pub mod search;
pub mod solve;

pub(crate) use permutation::process_on_each;
pub use permutation::{Mapping, MappingError};
