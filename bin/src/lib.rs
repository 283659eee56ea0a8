//! The program `viem`, and the four programs of VieM in front of it: options, what is printed, how a run ends.
//!
//! | member | what it holds |
//! |---|---|
//! | `verbs` | what `viem` does: a file or folder for each verb, with its options |
//! | `forms` | command lines of VieM's programs, as verbs |
//! | `job` | what every verb does around its own work: plans results, publishes them |
//! | `options` | groups of options that verbs share |
//! | `machine` | the machine: its options, and what is printed about it |
//! | `capacities`, `limits` | the capacities of PEs or blocks, and the limits of their loads |
//! | `many_to_one`, `loads` | what verbs share about many-to-one mappings, and about loads |
//! | `neighbourhood` | how a mapping is improved by exchanges |
//! | `fixed` | processes, vertices and objects that must be in given places |
//! | `remap` | previous partitions and mappings |
//! | `workload` | workloads, and their simulation |
//! | `compare` | mappings side by side, and the picture of two of them |
//! | `launch`, `ranks` | the files and the line that launch a job; ranks of each node |
//! | `application`, `mesh` | graphs in any format; graphs of meshes |
//! | `audit` | `--verify` |
//! | `files` | reading inputs, writing results |
//! | `report` | reports: the library's, with a head that is the same for all runs |
//! | `summary` | what matters of a result, in aligned lines |
//! | `memory` | what a run has taken of memory |
//! | `console` | lines for people: where they go, and when not |
//! | `progress` | the line on a terminal |
//! | `signals` | ending a run early without losing its result |
//! | `error` | what can go wrong, and of which kind it is |
//! | `hints` | which option helps when something went wrong |
//! | `verb`, `end`, `exit` | what every verb is; how it ends; the exit code or signal, with a message |
//! | [`mod@reference`] | the options as data, and as the tables of the guide |
//! | `describe` | completions for shells, manual pages |
//! | `version` | the details that belong in a bug report |

mod application;
mod audit;
mod capacities;
mod compare;
mod console;
mod describe;
mod end;
mod error;
mod exit;
mod files;
mod fixed;
mod forms;
mod hints;
mod job;
mod launch;
mod limits;
mod loads;
mod machine;
mod many_to_one;
mod memory;
mod mesh;
mod neighbourhood;
mod options;
mod progress;
mod ranks;
pub mod reference;
mod remap;
mod report;
mod signals;
mod summary;
mod verb;
mod verbs;
mod version;
mod workload;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use forms::PROGRAMS;

/// The program by whose name the process was started, or `viem`. So a package needs one file with several names instead of four copies.
pub fn called() -> &'static str {
    let path = std::env::args_os().next().map(PathBuf::from);
    let name = path.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str);
    PROGRAMS.into_iter().find(|program| Some(*program) == name).unwrap_or("viem")
}

/// Runs one of the [`PROGRAMS`] with the arguments of the process.
pub fn main(program: &str) -> ExitCode {
    memory::return_freed_arrays();
    run(program, std::env::args_os().collect()).into()
}

/// Runs one of the [`PROGRAMS`] with a command line, whose first argument is its name; returns the exit code.
///
/// # Panics
///
/// If there is no such program.
pub fn run(program: &str, command_line: Vec<OsString>) -> u8 {
    signals::respect_limits();
    forms::run(program, command_line)
}
