//! Why a rank refuses a call.

use std::fmt;

use viem::base::error::{ErrorKind, HasKind};
use viem_ffi::{ArgumentError, MemoryError};

/// The message of a rank that refuses a call.
#[derive(Debug)]
pub(crate) struct Refused {
    kind: ErrorKind,
    message: String,
}

impl Refused {
    /// A wrong argument.
    pub fn because(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Usage, message: message.into() }
    }

    /// The same that is an entry of an array, counted from 0.
    pub fn entry(array: &str, index: usize, value: i64, what: &str) -> Self {
        Self::because(format!("entry {index} of `{array}` is {value}; {what}"))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refused {}

impl HasKind for Refused {
    fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<ArgumentError> for Refused {
    fn from(error: ArgumentError) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}

impl From<MemoryError> for Refused {
    fn from(error: MemoryError) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}
