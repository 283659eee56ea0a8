//! The four programs: `main` is all that a binary calls.

pub mod evaluator;
pub mod generate_model;
pub mod graphchecker;
pub mod viem;
