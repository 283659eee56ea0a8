//! From an error to one message on stderr and an exit code, as in BSD's `sysexits.h`.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use super::sum_traffic;
use crate::io::traffic::TrafficError;
use crate::io::{ReadError, WriteError};
use crate::model::ModelError;
use crate::problem::ProblemError;
use crate::solve::{ConfigError, SolveError};
use crate::topology::{HierarchyError, MachineError, StoredDistancesError};
use crate::verify::AuditError;

/// What `--help` says about the codes below.
pub(crate) const CODES: &str = "Exit codes: 0 done, 2 wrong usage, 65 bad input data, 66 an input cannot be read, 70 internal error, \
     71 not enough memory or threads, 73 an output cannot be created, 74 an output cannot be written, 128+N ended by signal N";

/// Wrong usage: an option or its value.
const USAGE: u8 = 2;
/// Bad input data.
pub(crate) const DATA: u8 = 65;
/// An input is missing or cannot be read.
const NO_INPUT: u8 = 66;
/// A mistake of ours.
const SOFTWARE: u8 = 70;
/// The system has not enough memory or threads.
const RESOURCE: u8 = 71;
/// An output cannot be created.
const CANNOT_CREATE: u8 = 73;
/// An output cannot be written.
const IO: u8 = 74;

/// A mistake in the command line that only shows once its values are put together.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// What [`verify`](crate::verify) found is not what the optimiser said.
#[derive(Debug, thiserror::Error)]
#[error("internal error, please report it: {0}")]
pub(crate) struct VerificationError(pub(crate) String);

/// Parses the command line and runs a program with it.
pub(crate) fn run<O: Parser>(program: impl FnOnce(&O) -> anyhow::Result<ExitCode>) -> ExitCode {
    let options = match O::try_parse() {
        Ok(options) => options,
        Err(error) => {
            // Help and version go to stdout and succeed, everything else to stderr and fails with USAGE.
            let _ = error.print();
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    match program(&options) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(O::command().get_name(), &format_args!("{error}"));
            ExitCode::from(code_of(&error))
        }
    }
}

/// One message on stderr.
pub(crate) fn complain(program: &str, message: &dyn Display) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{program}: {message}");
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<WriteError>().is_some_and(WriteError::is_broken_pipe)
}

fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<ReadError>() {
        return match error {
            ReadError::Unreadable { .. } => NO_INPUT,
            ReadError::Invalid { .. } => DATA,
        };
    }
    if let Some(error) = error.downcast_ref::<WriteError>() {
        return match error {
            WriteError::CannotCreate { .. } => CANNOT_CREATE,
            WriteError::WriteFailed { .. } => IO,
        };
    }
    if let Some(error) = error.downcast_ref::<SolveError>() {
        return match error {
            SolveError::Config(_) => USAGE,
            SolveError::Machine(MachineError::Stored(_) | MachineError::OutOfMemory { .. })
            | SolveError::Threads(_) => RESOURCE,
            _ => DATA,
        };
    }
    if error.is::<UsageError>() || error.is::<HierarchyError>() || error.is::<ConfigError>() {
        return USAGE;
    }
    if let Some(error) = error.downcast_ref::<ModelError>() {
        return match error {
            ModelError::Targets(_) => USAGE,
            ModelError::NumBlocks { .. } => DATA,
            ModelError::Threads(_) => RESOURCE,
        };
    }
    if let Some(error) = error.downcast_ref::<TrafficError>() {
        return if sum_traffic::is_usage(error) { USAGE } else { DATA };
    }
    if error.is::<ProblemError>() {
        return DATA;
    }
    if error.is::<StoredDistancesError>() {
        return RESOURCE;
    }
    debug_assert!(error.is::<VerificationError>() || error.is::<AuditError>());
    SOFTWARE
}
