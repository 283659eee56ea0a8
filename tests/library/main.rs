//! The library as its users call it: one folder or file for each of its modules.

#[path = "../common/mod.rs"]
mod common;

mod contention;
mod graph;
mod io;
mod launch;
mod machine;
mod mapping;
mod partition;
mod placement;
mod qap;
mod settings;
mod workload;
