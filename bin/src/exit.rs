//! How a program ends: with one message on stderr and an exit code, as in BSD's `sysexits.h`, or by a signal.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;

use clap::Parser;

use crate::error::{Failure, Result};
use crate::given::Given;
use crate::{describe, hints, signals};
use viem::ground::error::ErrorKind;
use viem::ground::text::{printable, printable_lines};

/// What `--help` says about the codes below.
pub(crate) const CODES: &str = "Exit codes: 0 done, 2 wrong usage, 65 bad input data, 66 an input cannot be read, 70 internal error, \
     71 not enough memory or threads, 73 an output cannot be created, 74 an output cannot be written, 128+N ended by signal N";

/// The exit status of a program that ran to completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// All is done.
    Done,
    /// The input is not what it should be, and a message has said so.
    BadData,
    /// A signal asked for the end, and whoever sent it wants to see that.
    Signal(i32),
}

/// Parses a command line, whose first argument is the name of the program, runs the program with it, and maps the result to an exit code.
pub(crate) fn run<O: Parser>(
    command_line: Vec<OsString>,
    program: impl FnOnce(&O, &Given) -> Result<End>,
) -> u8 {
    let name = O::command().get_name().to_string();
    signals::respect_limits(i32::from(ErrorKind::NoResources.exit_code()));
    let command = || describe::with_options(O::command());
    let refuse = |error: clap::Error| {
        match hints::on_unknown_option(&error, &command()) {
            Some(message) => complain(&name, &message),
            // Help and version go to stdout and succeed, everything else to stderr and fails as wrong usage.
            None => print(&error),
        }
        error.exit_code() as u8
    };
    let arguments: Vec<String> =
        command_line.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let mut matches = match command().try_get_matches_from(command_line) {
        Ok(matches) => matches,
        Err(error) => return refuse(error),
    };
    if let Some(described) = describe::print(&matches, command()) {
        return end(&name, described.map(|()| End::Done).map_err(Failure::from));
    }
    let given = Given::new(&command(), matches.clone(), arguments.into_iter());
    match O::from_arg_matches_mut(&mut matches) {
        Ok(options) => end(&name, program(&options, &given)),
        Err(error) => refuse(error.format(&mut command())),
    }
}

/// Maps a result to an exit code, and reports a failure.
fn end(name: &str, result: Result<End>) -> u8 {
    match result {
        Ok(End::Done) => 0,
        Ok(End::BadData) => ErrorKind::BadData.exit_code(),
        Ok(End::Signal(signal)) => signals::end_by(signal),
        Err(failure) => {
            complain(name, &hints::message_of(&failure));
            failure.kind().exit_code()
        }
    }
}

/// Prints what clap says. Colours stay unless what was typed has other controls of the terminal in it.
fn print(error: &clap::Error) {
    let plain = error.to_string();
    let _ = match printable_lines(&plain) {
        Cow::Borrowed(_) => error.print(),
        Cow::Owned(shown) => write!(std::io::stderr(), "{shown}"),
    };
}

/// One message on stderr.
pub(crate) fn complain(program: &str, message: &dyn Display) {
    // With stderr gone nobody is left to read it.
    let _ = writeln!(std::io::stderr(), "{program}: {}", printable(&message.to_string()));
}
