//! Why a rank refuses a call.

use viem::base::error::{ErrorKind, HasKind};
use viem_c::error::Error;
use viem_ffi::{ArgumentError, MemoryError};

/// The error of one rank.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
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

impl HasKind for Refused {
    fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { kind: error.kind(), message: error.message() }
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
