//! The four programs: their options, what they print, how they end.
//!
//! | member | what it holds |
//! |---|---|
//! | [`viem`], [`evaluator`], [`generate_model`], [`graphchecker`] | one program each: `main` is all a binary calls |
//! | `options` | groups of options that programs share |
//! | `machine` | the machine: its options, and what is told of it |
//! | `direct` | what programs share about mappings of many vertices a PE |
//! | `divide` | the part of `generate_model` that divides graphs |
//! | `map_directly`, `model_onto` | the parts of `viem` and `generate_model` that make such mappings |
//! | `compare` | mappings side by side, and the picture of two of them |
//! | `launch` | the files and the line that launch a job |
//! | `console` | lines for people: where they go, and when not |
//! | `programs` | programs in time: mapped, estimated, simulated |
//! | `qap` | the parts of `viem` and `evaluator` for quadratic assignment problems |
//! | `progress` | the line on a terminal |
//! | `remap` | what programs share about older partitions and mappings that are resumed |
//! | `signals` | ending a run early without losing its result |
//! | `speeds` | how much work each part takes |
//! | `sum_traffic` | the part of `generate_model` that sums recorded traffic |
//! | `files` | reading inputs, writing results |
//! | `first_mapping` | how `viem` makes the first mapping |
//! | `neighbourhood` | how `viem` improves a mapping by exchanges |
//! | `describe` | completions for shells, manual pages |
//! | `exit` | how a program ends: a message and an exit code, or a signal |
//! | `hints` | what to say of an option that does not exist |

mod audit;
mod compare;
mod console;
mod describe;
mod direct;
mod divide;
pub mod evaluator;
mod exit;
mod files;
mod first_mapping;
pub mod generate_model;
pub mod graphchecker;
mod hints;
mod launch;
mod machine;
mod map_directly;
mod model_onto;
mod neighbourhood;
mod options;
mod programs;
mod progress;
mod qap;
mod remap;
mod signals;
mod speeds;
mod sum_traffic;
pub mod viem;
