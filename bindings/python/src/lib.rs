//! The module `viem._viem`: the functions that the Python package of `viem` calls. `python/viem` has the interface for users; the chapter `docs/guide/python.md` is
//! for them.
//!
//! | member | contents |
//! |---|---|
//! | `numbers` | arrays of numpy as numbers, each entry checked |
//! | `graph`, `machine` | graphs and machines |
//! | `run` | settings; runs without the interpreter's lock, that signals can end |
//! | `map`, `partition`, `qap`, `workload` | what is computed |
//! | `files`, `report` | what is read and written, and drawn |
//! | `programs` | the four programs |
//! | `error` | errors as exceptions |
//!
//! # Design
//!
//! - *The extension is numbers and arrays* (`bindings/python/src`, the module `viem._viem`): graphs, machines, runs, files. What users see is
//!   Python with types (`bindings/python/python/viem`): labels, defaults, data frames, documentation. `_viem.pyi` is all that is typed twice, and
//!   stubtest compares it.
//! - *Arrays are read where they lie* (`numbers.rs`): a view of numpy's memory, each entry checked once, becomes an array of the graph. Zeros,
//!   the diagonal and repeated entries are removed in place, so a graph of scipy takes no more than itself. The interpreter's lock is held
//!   meanwhile, so no thread of Python changes the data that is read; a Python without that lock leaves that to the program, as numpy does. Each
//!   entry is read once, so what is checked is what is used.
//! - *A run has two sides* (`run.rs`): threads of a pool work without the interpreter's lock; the calling thread waits, and every 20 ms looks at
//!   signals and calls the progress function, which only it may do in Python. The pool is kept for the next run, as starting threads would be
//!   most of what a small call costs; a forked process makes its own.
//! - *Ctrl-C raises, unless the call asks for the best so far*: a script that is interrupted must not go on as if it had its result.
//! - *The programs are functions of the extension* (`programs.rs`) that end the process, so a wheel has one binary, and exit codes, streams and
//!   signals are those of the native programs. numpy is imported when something needs it, so they start in 50 ms.
//! - *A matrix that is not symmetric is refused* unless the caller says `directed=True`: whether J counts one direction or both must not depend
//!   on the data.

mod error;
mod files;
mod graph;
mod machine;
mod map;
mod mesh;
mod numbers;
mod partition;
mod programs;
mod qap;
mod report;
mod run;
mod workload;

/// The functions that the package calls.
#[pyo3::pymodule(gil_used = false)]
mod _viem {
    #[pymodule_export]
    use crate::files::{read_graph, read_mapping, read_traffic, write_graph, write_launch, write_mapping};
    #[pymodule_export]
    use crate::graph::Graph;
    #[pymodule_export]
    use crate::machine::Machine;
    #[pymodule_export]
    use crate::map::{evaluate, map, map_many_to_one, remap};
    #[pymodule_export]
    use crate::mesh::{read_mesh, write_decomposition};
    #[pymodule_export]
    use crate::partition::{evaluate_partition, partition};
    #[pymodule_export]
    use crate::programs::run_program;
    #[pymodule_export]
    use crate::qap::{check_qap, read_qap, solve_qap, write_qap};
    #[pymodule_export]
    use crate::report::{busiest, loads, picture, traffic_by_distance};
    #[pymodule_export]
    use crate::workload::{Workload, simulate};
}
