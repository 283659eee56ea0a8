//! The programs as a user runs them, and the documents that describe them.

mod common;

mod clusters;
mod documents;
mod evaluator;
mod experts;
mod fixed;
mod formats;
mod forms;
mod generate_model;
mod graphchecker;
#[cfg(unix)]
mod hostile;
#[cfg(target_os = "linux")]
mod limits;
mod loads;
mod machines;
mod many_to_one;
mod map;
mod meshes;
mod outputs;
mod partition;
mod qap;
mod recorder;
mod references;
mod remap;
#[cfg(unix)]
mod signals;
mod sources;
mod traffic;
mod verbs;
mod weights;
mod workloads;
