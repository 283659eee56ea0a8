//! The programs.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

use crate::error::Fault;

/// Runs a program with a command line, whose first argument is its name, and ends the process as the program does.
#[pyfunction]
pub(crate) fn run_program(py: Python<'_>, name: &str, command_line: Vec<OsString>) -> PyResult<()> {
    if !viem_cli::PROGRAMS.contains(&name) {
        return Err(Fault::usage(format!("no program is called `{name}`")).into());
    }
    py.detach(|| {
        let code = viem_cli::run(name, command_line);
        // Nobody else does that outside of a program of Rust. A reader that has gone is no reason to fail, as there.
        let _ = std::io::stdout().flush();
        std::process::exit(code.into())
    })
}
