//! How a run ends that came to its end, and what that means as an exit code.

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
