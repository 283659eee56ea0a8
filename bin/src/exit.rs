//! How a program ends: with one message on stderr and an exit code, as in BSD's `sysexits.h`, or by a signal.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use super::generate_model::sum_traffic;
use crate::{describe, hints, signals};
use viem::ground::threads::ThreadsError;
use viem::io::metis::RepairError;
use viem::io::traffic::TrafficError;
use viem::io::{ReadError, WriteError};
use viem::launch::LaunchError;
use viem::machine::cluster::ClusterError;
use viem::machine::{self, SpecError};
use viem::machine::{HierarchyError, MachineError, StoredDistancesError};
use viem::mapping::construct::{AlongError, ConstructionError};
use viem::mapping::model::ModelError;
use viem::mapping::objective::ScoreError;
use viem::mapping::problem::ProblemError;
use viem::mapping::solve::{ConfigError, SolveError};
use viem::partition::{HomesError, RemapError};
use viem::qap::{QapError, QapSolveError};
use viem::workload::WorkloadError;
use viem::workload::estimate::EstimateError;
use viem::workload::map::TaskMapError;
use viem::workload::simulate::SimulationError;
use viem_verify::AuditError;

/// What `--help` says about the codes below.
pub(crate) const CODES: &str = "Exit codes: 0 done, 2 wrong usage, 65 bad input data, 66 an input cannot be read, 70 internal error, \
     71 not enough memory or threads, 73 an output cannot be created, 74 an output cannot be written, 128+N ended by signal N";

/// Wrong usage: an option or its value.
const USAGE: u8 = 2;
/// Bad input data.
const DATA: u8 = 65;
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

/// What [`verify`](viem_verify) found is not what the optimiser said.
#[derive(Debug, thiserror::Error)]
#[error("internal error, please report it: {0}")]
pub(crate) struct VerificationError(pub(crate) String);

/// How a program ends that has done what it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All is done.
    Done,
    /// The input is not what it should be, and the user has been told.
    BadData,
    /// A signal asked for the end, and whoever sent it wants to see that.
    Signal(i32),
}

/// Parses the command line, runs a program with it, and ends as the program says.
pub(crate) fn run<O: Parser>(program: impl FnOnce(&O) -> anyhow::Result<End>) -> ExitCode {
    let name = O::command().get_name().to_string();
    signals::respect_limits(i32::from(RESOURCE));
    let command = || describe::with_options(O::command());
    let refuse = |error: clap::Error| {
        match hints::on_unknown_option(&error, &command()) {
            Some(message) => complain(&name, &message),
            // Help and version go to stdout and succeed, everything else to stderr and fails with USAGE.
            None => drop(error.print()),
        }
        ExitCode::from(error.exit_code() as u8)
    };
    let mut matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return refuse(error),
    };
    if let Some(described) = describe::print(&matches, command()) {
        return end(&name, described.map(|()| End::Done).map_err(anyhow::Error::from));
    }
    match O::from_arg_matches_mut(&mut matches) {
        Ok(options) => end(&name, program(&options)),
        Err(error) => refuse(error.format(&mut command())),
    }
}

/// Ends as a program does that has come to this.
fn end(name: &str, result: anyhow::Result<End>) -> ExitCode {
    match result {
        Ok(End::Done) => ExitCode::SUCCESS,
        Ok(End::BadData) => ExitCode::from(DATA),
        Ok(End::Signal(signal)) => signals::end_by(signal),
        Err(error) => {
            complain(name, &format_args!("{error}"));
            ExitCode::from(code_of(&error))
        }
    }
}

/// One message on stderr.
pub(crate) fn complain(program: &str, message: &dyn Display) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "{program}: {message}");
}

fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<ReadError>() {
        return code_of_reading(error);
    }
    if let Some(error) = error.downcast_ref::<SpecError>() {
        return code_of_spec(error);
    }
    if let Some(error) = error.downcast_ref::<ScoreError>() {
        return match error {
            ScoreError::Machine(error) => code_of_machine(error),
            _ => DATA,
        };
    }
    if let Some(error) = error.downcast_ref::<MachineError>() {
        return code_of_machine(error);
    }
    if let Some(error) = error.downcast_ref::<WriteError>() {
        return match error {
            WriteError::CannotCreate { .. } => CANNOT_CREATE,
            WriteError::SamePlace { .. } | WriteError::OverwritesInput { .. } => USAGE,
            WriteError::WriteFailed { .. } | WriteError::Kept { .. } => IO,
        };
    }
    if let Some(error) = error.downcast_ref::<SolveError>() {
        return code_of_solving(error);
    }
    if let Some(error) = error.downcast_ref::<TaskMapError>() {
        return match error {
            TaskMapError::Solve(error) => code_of_solving(error),
            TaskMapError::Machine(error) => code_of_machine(error),
            TaskMapError::Config(_) => USAGE,
            TaskMapError::Estimate(error) => code_of_estimating(error),
            _ => DATA,
        };
    }
    if let Some(error) = error.downcast_ref::<EstimateError>() {
        return code_of_estimating(error);
    }
    if error.is::<SimulationError>() || error.is::<WorkloadError>() {
        return DATA;
    }
    if let Some(error) = error.downcast_ref::<QapSolveError>() {
        return match error {
            QapSolveError::Config(_) => USAGE,
            QapSolveError::Threads(_) => RESOURCE,
            QapSolveError::Problem(error) => code_of_problem(error),
            _ => DATA,
        };
    }
    if let Some(error) = error.downcast_ref::<QapError>() {
        return code_of_problem(error);
    }
    if error.is::<LaunchError>()
        || error.is::<UsageError>()
        || error.is::<HierarchyError>()
        || error.is::<ConfigError>()
    {
        return USAGE;
    }
    if let Some(error) = error.downcast_ref::<ModelError>() {
        return match error {
            ModelError::Targets(_) => USAGE,
            ModelError::NumBlocks { .. } => DATA,
            ModelError::Threads(_) => RESOURCE,
        };
    }
    if let Some(error) = error.downcast_ref::<RemapError>() {
        return code_of_remapping(error);
    }
    if let Some(error) = error.downcast_ref::<TrafficError>() {
        return if sum_traffic::is_usage(error) { USAGE } else { DATA };
    }
    if let Some(error) = error.downcast_ref::<AlongError>() {
        return if let AlongError::Machine(error) = error { code_of_machine(error) } else { DATA };
    }
    if error.is::<ProblemError>() || error.is::<HomesError>() {
        return DATA;
    }
    if error.is::<StoredDistancesError>() || error.is::<RepairError>() || error.is::<ThreadsError>() {
        return RESOURCE;
    }
    debug_assert!(error.is::<VerificationError>() || error.is::<AuditError>());
    SOFTWARE
}

fn code_of_problem(error: &QapError) -> u8 {
    if matches!(error, QapError::OutOfMemory(_)) { RESOURCE } else { DATA }
}

fn code_of_estimating(error: &EstimateError) -> u8 {
    if matches!(error, EstimateError::TooLarge { .. }) { RESOURCE } else { DATA }
}

fn code_of_solving(error: &SolveError) -> u8 {
    match error {
        SolveError::Config(_) | SolveError::Construction(ConstructionError::NotRegular { .. }) => USAGE,
        SolveError::Machine(error) => code_of_machine(error),
        SolveError::Threads(_) => RESOURCE,
        SolveError::Remap(error) => code_of_remapping(error),
        _ => DATA,
    }
}

fn code_of_remapping(error: &RemapError) -> u8 {
    if matches!(error, RemapError::Homes(_)) { DATA } else { USAGE }
}

fn code_of_reading(error: &ReadError) -> u8 {
    match error {
        ReadError::Unreadable { .. } => NO_INPUT,
        ReadError::Invalid { .. } => DATA,
        ReadError::OutOfMemory { .. } => RESOURCE,
    }
}

/// A machine that is written in full is an option, one in a file is data.
fn code_of_spec(error: &SpecError) -> u8 {
    match error {
        SpecError::Read(error) => code_of_reading(error),
        SpecError::UnknownFile { .. } | SpecError::LongComments { .. } => DATA,
        SpecError::Machine { spec, source } => match code_of_machine(source) {
            DATA if machine::file_of(spec).is_none() => USAGE,
            code => code,
        },
        SpecError::Cluster { source, .. } => match &**source {
            ClusterError::Lstopo { .. } | ClusterError::NoJob { .. } => NO_INPUT,
            ClusterError::Machine(error) => code_of_machine(error),
            ClusterError::TooManyNodes { .. } => RESOURCE,
            error if error.is_usage() => USAGE,
            _ => DATA,
        },
        _ => USAGE,
    }
}

fn code_of_machine(error: &MachineError) -> u8 {
    match error {
        MachineError::Stored(_) | MachineError::OutOfMemory { .. } | MachineError::TooLarge { .. } => {
            RESOURCE
        }
        _ => DATA,
    }
}
