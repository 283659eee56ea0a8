//! The four programs.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;
use viem_cli::programs;

use crate::error::Fault;

/// Runs a program with a command line, whose first argument is its name, and ends the process as the program does.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, name: &str, command_line: Vec<OsString>) -> PyResult<()> {
    let program = match name {
        "viem" => programs::viem::run,
        "evaluator" => programs::evaluator::run,
        "generate_model" => programs::generate_model::run,
        "graphchecker" => programs::graphchecker::run,
        _ => return Err(Fault::usage(format!("no program is called `{name}`")).into()),
    };
    py.detach(|| {
        let code = program(command_line);
        // Outside of a Rust program this is not done by the runtime. A reader that has gone is no reason to fail, as there.
        let _ = std::io::stdout().flush();
        std::process::exit(code.into())
    })
}
