//! The module `viem._viem`: what the Python package of `viem` calls. `python/viem` has what users see; the chapter `docs/guide/python.md` is
//! for them.
//!
//! | member | what it holds |
//! |---|---|
//! | `numbers` | arrays of numpy as numbers, each entry checked |
//! | `graph`, `machine` | graphs and machines |
//! | `run` | settings; runs without the interpreter's lock, that signals can end |
//! | `map`, `partition`, `qap`, `workload` | what is computed |
//! | `files`, `report` | what is read and written, and drawn |
//! | `programs` | the four programs |
//! | `error` | errors as exceptions |

mod error;
mod files;
mod graph;
mod machine;
mod map;
mod numbers;
mod partition;
mod programs;
mod qap;
mod report;
mod run;
mod workload;

/// What the package calls.
#[pyo3::pymodule]
mod _viem {
    #[pymodule_export]
    use crate::files::{read_graph, read_mapping, read_traffic, write_graph, write_launch, write_mapping};
    #[pymodule_export]
    use crate::graph::Graph;
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::map::{evaluate, map, map_many_to_one, relieve, remap};
    #[pymodule_export]
    use crate::partition::{evaluate_partition, partition};
    #[pymodule_export]
    use crate::programs::run_program;
    #[pymodule_export]
    use crate::qap::{read_qap, solve_qap, write_qap};
    #[pymodule_export]
    use crate::report::{picture, traffic_by_distance};
    #[pymodule_export]
    use crate::workload::{Workload, simulate};
}
