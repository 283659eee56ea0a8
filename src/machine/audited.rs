//! Machines as an auditor sees them.

/// A machine that cannot be read again from what its user typed: parts of it were found on the system, or assumed.
/// [`Machine::audited`](super::Machine::audited) returns it.
pub trait Audited {
    /// Returns notes on the understanding of the machine, and on assumptions.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// A text from which an auditor can work out all distances in the simplest way.
    ///
    /// Its first line has the distances of the levels, innermost first; a line for each PE has its digits at these levels. If the
    /// groups of the outermost level have a distance for each pair, lines that begin with `between` have these, row by row.
    ///
    /// The outline of a part of a machine is that of the whole.
    fn outline(&self) -> String;
}

/// A note about a machine for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// One line.
    pub text: String,
    /// True if it points to a likely mistake.
    pub is_warning: bool,
}

impl Note {
    /// Makes a note for information.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_warning: false }
    }

    /// About a likely mistake.
    pub fn warning(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_warning: true }
    }
}
