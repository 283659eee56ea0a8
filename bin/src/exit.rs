//! How a program ends: with one message on stderr and an exit code, as in BSD's `sysexits.h`, or by a signal.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::Write;

use clap::Command;

use crate::end::End;
use crate::error::{Failure, Result};
use crate::verb::{Form, Verb};
use crate::{describe, hints, signals};
use viem::base::error::ErrorKind;
use viem::base::text::{printable, printable_lines};

/// Parses the command line of a verb, whose first argument is its name, runs it, and maps the result to an exit code.
pub(crate) fn run<O: Verb>(command_line: Vec<OsString>, form: Form) -> u8 {
    let asks_for_all = command_line.iter().take_while(|given| *given != "--").any(|given| given == "--help");
    let listed = if asks_for_all { describe::with_all_options } else { describe::with_common_options };
    let named = || listed(describe::of_verb(O::command()));
    let name = format!("viem {}", O::command().get_name());
    let refuse = |error: clap::Error| refuse(&name, &error, &named());
    let mut matches = match named().try_get_matches_from(command_line) {
        Ok(matches) => matches,
        Err(error) => return refuse(error),
    };
    if let Some(described) = describe::print_manual(&matches, describe::of_verb(O::command())) {
        return end(&name, described.map(|()| End::Done).map_err(Failure::from));
    }
    match O::from_arg_matches_mut(&mut matches) {
        Ok(mut options) => {
            options.set_form(form);
            end(&name, options.run())
        }
        Err(error) => refuse(error.format(&mut named())),
    }
}

/// Says why a command line is refused, or prints help or version; returns the exit code.
pub(crate) fn refuse(name: &str, error: &clap::Error, command: &Command) -> u8 {
    match hints::on_unknown_argument(error, command).or_else(|| hints::on_no_number(error)) {
        Some(message) => complain(name, &message),
        // Help and version go to stdout and succeed, everything else to stderr and fails as wrong usage.
        None => print(error),
    }
    error.exit_code() as u8
}

/// Maps a result to an exit code, and reports a failure.
pub(crate) fn end(name: &str, result: Result<End>) -> u8 {
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
