//! The four programs: their options, what they print, how they end.
//!
//! | member | what it holds |
//! |---|---|
//! | [`viem`], [`evaluator`], [`generate_model`], [`graphchecker`] | one program each: `main` is all a binary calls |
//! | `workload` | workloads: mapped, scored, simulated, generated |
//! | `qap` | the parts of `viem` and `evaluator` for quadratic assignment problems |
//! | `direct` | what programs share about mappings of many vertices a PE |
//! | `remap` | what programs share about older partitions and mappings that are resumed |
//! | `options` | groups of options that programs share |
//! | `machine` | the machine: its options, and what is told of it |
//! | `compare` | mappings side by side, and the picture of two of them |
//! | `launch` | the files and the line that launch a job |
//! | `files` | reading inputs, writing results |
//! | `console` | lines for people: where they go, and when not |
//! | `progress` | the line on a terminal |
//! | `signals` | ending a run early without losing its result |
//! | `exit` | how a program ends: a message and an exit code, or a signal |
//! | `describe` | completions for shells, manual pages |
//! | `hints` | what to say of an option that does not exist |

mod compare;
mod console;
mod describe;
mod direct;
pub mod evaluator;
mod exit;
mod files;
pub mod generate_model;
pub mod graphchecker;
mod hints;
mod launch;
mod machine;
mod options;
mod progress;
mod qap;
mod remap;
mod signals;
pub mod viem;
mod workload;
