//! Lines for people and scripts: on stdout, on stderr when stdout carries a result, or nowhere.

use std::fmt::Arguments;
use std::io::Write;
use std::path::Path;

use crate::io::output;

/// Where the lines of a program go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Console {
    Stdout,
    Stderr,
    Quiet,
}

impl Console {
    /// The console of a program of which `results` may go to stdout (`-`).
    pub(crate) fn new(quiet: bool, results: &[Option<&Path>]) -> Self {
        let stdout_taken = results.iter().flatten().any(|path| is_standard_stream(path));
        match (quiet, stdout_taken) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Stderr,
            (false, false) => Self::Stdout,
        }
    }

    /// Writes one line. A reader that has gone away is no reason to give up the work behind it.
    pub(crate) fn line(self, text: Arguments<'_>) {
        let _ = match self {
            Self::Stdout => writeln!(std::io::stdout(), "{text}"),
            Self::Stderr => writeln!(std::io::stderr(), "{text}"),
            Self::Quiet => Ok(()),
        };
    }
}

/// Whether a path names stdin (of an input) or stdout (of an output).
pub(crate) fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || output::is_standard_output(path)
}
