//! The four programs: their options, what they print, how they end.
//!
//! | member | what it holds |
//! |---|---|
//! | [`programs`] | the programs, a folder each: `options`, and a file for each thing that the program does |
//! | `options` | groups of options that programs share |
//! | `modes`, `given` | which option means something in which mode; what was given on the command line |
//! | `machine` | the machine: its options, and what is printed about it |
//! | `many_to_one` | what programs share about many-to-one mappings |
//! | `remap` | what programs share about older partitions and mappings that are resumed |
//! | `workload` | what programs share about workloads, and their simulation |
//! | `qap` | what programs share about quadratic assignment problems |
//! | `compare` | mappings side by side, and the picture of two of them |
//! | `launch` | the files and the line that launch a job |
//! | `files` | reading inputs, writing results |
//! | `report` | reports: the library's, with a head that is the same for all runs |
//! | `memory` | what a run has taken of memory |
//! | `console` | lines for people: where they go, and when not |
//! | `progress` | the line on a terminal |
//! | `signals` | ending a run early without losing its result |
//! | `error` | what can go wrong, and of which kind it is |
//! | `hints` | which option helps when something went wrong |
//! | `exit` | how a program ends: a message and an exit code, or a signal |
//! | `experts` | what the programs share about placements of experts |
//! | [`mod@reference`] | the options as data, and as the tables of the guide |
//! | `describe` | completions for shells, manual pages |

mod compare;
mod console;
mod describe;
mod error;
mod exit;
mod experts;
mod files;
mod fixed;
mod given;
mod hints;
mod launch;
mod loads;
mod machine;
mod many_to_one;
mod memory;
mod modes;
mod options;
pub mod programs;
mod progress;
mod qap;
mod ranks;
pub mod reference;
mod remap;
mod report;
mod signals;
mod workload;
