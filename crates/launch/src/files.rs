//! The parts of a launch.

/// The files and the command line that launch a job.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// The files, in the order of [`LauncherKind::files`](crate::LauncherKind::files).
    pub files: Vec<LaunchFile>,
    /// The command line to paste into a shell, if this kind has one; `./app` stands for the program.
    pub line: Option<String>,
}

/// A file that a launcher reads or runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchFile {
    /// Lines that end with LF.
    pub content: String,
    /// True if it is executable.
    pub is_program: bool,
}

impl LaunchFile {
    pub(super) fn text(content: String) -> Self {
        Self { content, is_program: false }
    }
}
