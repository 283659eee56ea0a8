//! The engine as its users call it: one folder or file for each of its modules.

#[path = "../common/mod.rs"]
mod common;

mod graph;
mod machine;
mod mapping;
mod partition;
mod qap;
mod settings;
mod solve;
