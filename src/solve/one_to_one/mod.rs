//! One-to-one mappings: each process has a place of its own.
//!
//! | member | what it holds |
//! |---|---|
//! | `config` | the settings, and the presets as whole values of them |
//! | `effort` | how much a preset does on a problem of a size |
//! | `task` | a problem, its part of the machine and its places |
//! | `starts` | further initial mappings: a table of them |
//! | `run` | constructions, improvement and the final local search |

mod config;
mod effort;
mod run;
mod starts;
mod task;

pub use config::OneToOneConfig;
pub use effort::Constructions;
pub(super) use run::prefer_given;
pub(crate) use task::{Given, Task};
pub(super) use task::{check_size, identity};
