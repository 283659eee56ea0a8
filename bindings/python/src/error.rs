//! Errors as exceptions that say where the fault is.

use pyo3::prelude::*;
use viem::base::error::{ErrorKind, HasKind};
use viem::base::text::printable;
use viem_ffi::{Place, place};

/// The error of a call: it becomes an exception of `viem._errors`.
#[derive(Debug)]
pub(crate) struct Fault {
    kind: ErrorKind,
    message: String,
    place: Place,
}

impl Fault {
    /// An error of an argument or setting.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::Usage, message: message.into(), place: Place::default() }
    }

    /// An error of the data.
    pub fn data(message: impl Into<String>) -> Self {
        Self { kind: ErrorKind::BadData, message: message.into(), place: Place::default() }
    }

    /// An error of an entry of an array, counted from 0.
    pub fn entry(index: usize, message: impl Into<String>) -> Self {
        Self { place: Place::entry(index), ..Self::data(message) }
    }

    /// A mistake of the library.
    pub fn internal(message: &str) -> Self {
        let message = format!("this is a mistake of the library; please report it: {message}");
        Self { kind: ErrorKind::Internal, message, place: Place::default() }
    }

    /// The same error with a message that says what helps.
    pub fn with_hint(mut self, hint: &str) -> Self {
        self.message += hint;
        self
    }

    /// The name of its class.
    fn class(&self) -> &'static str {
        match self.kind {
            ErrorKind::Usage => "UsageError",
            ErrorKind::BadData => "DataError",
            ErrorKind::NoInput => "InputError",
            ErrorKind::CannotCreate | ErrorKind::CannotWrite => "OutputError",
            ErrorKind::NoResources => "ResourceError",
            ErrorKind::Internal => "InternalError",
        }
    }

    fn exception<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let known = |number: u64| Some(number).filter(|&number| number > 0);
        let Place { file, line, column, index } = &self.place;
        py.import("viem._errors")?.getattr(self.class())?.call1((
            &self.message,
            file,
            known(*line),
            known(*column),
            index,
        ))
    }
}

impl<E: HasKind + 'static> From<E> for Fault {
    fn from(error: E) -> Self {
        let message = printable(&error.to_string()).into_owned();
        Self { kind: error.kind(), message, place: place(&error) }
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        Python::attach(|py| fault.exception(py).map_or_else(|error| error, PyErr::from_value))
    }
}

/// Results of the library as those of Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Into<Fault>> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| error.into().into())
    }
}
