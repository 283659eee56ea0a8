//! What kind of failure an error is, so that whoever ends a run can tell a wrong setting from a bad file or from missing memory
//! without a list of all error types.
//!
//! Each error says its kind where it is declared, variant by variant and without a wildcard: a new variant does not compile
//! until its kind is chosen.

/// The kinds of failure. It is exhaustive on purpose: whoever maps kinds to exit codes has to map all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A setting, or a value given by hand, is wrong or out of range.
    Usage,
    /// The input was read and is not what it should be.
    BadData,
    /// An input is missing or cannot be read.
    NoInput,
    /// An output cannot be created.
    CannotCreate,
    /// An output was created and cannot be written.
    CannotWrite,
    /// The system has not enough memory or threads.
    NoResources,
    /// A mistake of the library or of a program.
    Internal,
}

impl ErrorKind {
    /// The exit code of programs that fail so, as in BSD's `sysexits.h`; 2 for wrong usage, as of most programs.
    ///
    /// ```
    /// assert_eq!(viem::base::error::ErrorKind::NoInput.exit_code(), 66);
    /// ```
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::BadData => 65,
            Self::NoInput => 66,
            Self::Internal => 70,
            Self::NoResources => 71,
            Self::CannotCreate => 73,
            Self::CannotWrite => 74,
        }
    }
}

/// An error that says what kind of failure it is.
///
/// ```
/// use viem::base::error::{ErrorKind, HasKind};
/// use viem::machine;
///
/// let error = machine::build("mesh:8y8", None).err().expect("a mesh is written with x");
/// assert_eq!(error.kind(), ErrorKind::Usage);
/// ```
pub trait HasKind: std::error::Error {
    /// What kind of failure this is.
    fn kind(&self) -> ErrorKind;
}
