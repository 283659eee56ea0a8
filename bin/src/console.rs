//! Lines for people and scripts: on stdout, on stderr when stdout carries a result, or nowhere.

use std::fmt::Arguments;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::options::ReportOptions;
use crate::verb::Form;
use viem::base::text::printable_lines;
use viem_io::{Outputs, WriteError};

/// Where the lines of a program go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Console {
    lines: Lines,
    warns: bool,
    is_verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    Stdout,
    Stderr,
    Nowhere,
}

impl Console {
    /// An error if an output goes to a stream that is closed.
    pub(crate) fn check_open(outputs: &Outputs) -> Result<(), WriteError> {
        let closed = [
            (outputs.use_stdout(), &STDOUT_IS_CLOSED, "standard output"),
            (outputs.use_stderr(), &STDERR_IS_CLOSED, "standard error output"),
        ];
        for (is_used, is_closed, name) in closed {
            if is_used && is_closed.load(Ordering::Relaxed) {
                let source = io::Error::other("it is closed");
                return Err(WriteError::CannotCreate { file: name.to_string(), source });
            }
        }
        Ok(())
    }

    /// The console of a program with these outputs; fails if one of them goes to a stream that is closed.
    pub(crate) fn new(options: &ReportOptions, outputs: &Outputs) -> Result<Self, WriteError> {
        Self::check_open(outputs)?;
        let &ReportOptions { quiet, verbose, form, .. } = options;
        let lines = match (quiet, outputs.use_stdout(), outputs.use_stderr()) {
            (false, false, _) => Lines::Stdout,
            (false, true, false) => Lines::Stderr,
            _ => Lines::Nowhere,
        };
        let is_verbose = verbose || form == Form::VieM;
        Ok(Self { lines, warns: !quiet && !outputs.use_stderr(), is_verbose })
    }

    /// Writes a line about something that few want to know.
    pub(crate) fn detail(self, text: Arguments<'_>) {
        if self.is_verbose {
            self.line(text);
        }
    }

    /// Writes one line. A reader that has gone away is no reason to give up the work behind it; another failure is found by [`check_lines`].
    pub(crate) fn line(self, text: Arguments<'_>) {
        let written = match self.lines {
            Lines::Stdout => writeln!(io::stdout(), "{}", printable_lines(&text.to_string())),
            Lines::Stderr => writeln!(io::stderr(), "{}", printable_lines(&text.to_string())),
            Lines::Nowhere => Ok(()),
        };
        let is_lost = |error: io::Error| error.kind() != io::ErrorKind::BrokenPipe;
        if self.lines == Lines::Stdout && written.is_err_and(is_lost) {
            LINES_ARE_LOST.store(true, Ordering::Relaxed);
        }
    }

    /// Writes a warning to stderr, unless the program is to be quiet.
    pub(crate) fn warn(self, text: Arguments<'_>) {
        if self.warns {
            let _ = writeln!(io::stderr(), "warning: {}", printable_lines(&text.to_string()));
        }
    }

    /// Writes what a user may want to know to stderr, unless the program is to be quiet.
    pub(crate) fn note(self, text: Arguments<'_>) {
        if self.warns {
            let _ = writeln!(io::stderr(), "note: {}", printable_lines(&text.to_string()));
        }
    }
}

/// Whether a line could not be written, though its reader had not gone.
static LINES_ARE_LOST: AtomicBool = AtomicBool::new(false);

/// An error if a line could not be written to standard output, as where that is a full disk: for verbs whose result is lines.
pub(crate) fn check_lines() -> Result<(), WriteError> {
    let flushed = io::stdout().flush().is_ok() && !LINES_ARE_LOST.load(Ordering::Relaxed);
    let lost = || io::Error::other("lines are lost");
    if flushed {
        Ok(())
    } else {
        Err(WriteError::WriteFailed { file: "standard output".to_owned(), source: lost() })
    }
}

/// Whether a stream was closed when the program started. By the time `main` runs, the standard library has opened the
/// null device in its place, and a result written there would be lost without a word.
static STDOUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);
static STDERR_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, so it uses nothing of the standard library that needs the runtime.
#[cfg(unix)]
#[ctor::ctor(unsafe)]
fn look_for_closed_streams() {
    let is_closed = |stream| rustix::io::fcntl_getfd(stream).is_err();
    STDOUT_IS_CLOSED.store(is_closed(rustix::stdio::stdout()), Ordering::Relaxed);
    STDERR_IS_CLOSED.store(is_closed(rustix::stdio::stderr()), Ordering::Relaxed);
}
