//! One-to-one mappings: each process has a place of its own.
//!
//! | member | contents |
//! |---|---|
//! | `config` | the settings, and the presets as whole values of them |
//! | `effort` | the effort of a preset on a problem of a size |
//! | `task` | a problem, its part of the machine and its places |
//! | `starts` | further initial mappings: a table of them |
//! | `run` | constructions, improvement and the final local search |
//! | `within` | the same within bounds of the loads |

mod config;
mod effort;
mod run;
mod starts;
mod task;
mod within;

pub use config::OneToOneConfig;
pub use effort::Constructions;
pub(super) use run::prefer_given;
pub(crate) use task::{Given, Task};
pub(super) use task::{check_size, identity};
pub(super) use within::solve as solve_within;
