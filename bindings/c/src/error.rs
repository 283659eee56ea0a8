//! Results of calls: a status, and an error with a message and a place; or notes.
#![allow(unsafe_code)] // a foreign interface

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use viem::base::error::{ErrorKind, HasKind};
use viem::base::text::printable;
use viem_ffi::{Place, guarded, place, put, put_if_wanted};

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The call succeeded.
    Ok = 0,
    /// An argument or a setting is wrong or out of range.
    Usage = 1,
    /// A graph, matrix, mapping or file is faulty.
    BadData = 2,
    /// A file is missing or cannot be read.
    NoInput = 3,
    /// A file cannot be created.
    CannotCreate = 4,
    /// A file was created and cannot be written.
    CannotWrite = 5,
    /// There is not enough memory, or no thread can be started.
    NoResources = 6,
    /// A mistake of the library. Nothing was changed; other calls work.
    Internal = 7,
}

impl From<ErrorKind> for Status {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::BadData => Self::BadData,
            ErrorKind::NoInput => Self::NoInput,
            ErrorKind::CannotCreate => Self::CannotCreate,
            ErrorKind::CannotWrite => Self::CannotWrite,
            ErrorKind::NoResources => Self::NoResources,
            ErrorKind::Internal => Self::Internal,
        }
    }
}

/// The error of a call that has failed. Each belongs to the caller and is freed by `viem_error_free`.
#[derive(Debug)]
pub struct Error {
    status: Status,
    message: CString,
    file: Option<CString>,
    place: Place,
}

impl Error {
    /// An error of an argument or setting.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message, Place::default())
    }

    /// An error of an entry of an array, counted from 0.
    pub fn entry(status: Status, index: usize, message: impl Into<String>) -> Self {
        Self::new(status, message, Place::entry(index))
    }

    /// An error without a place.
    pub fn plain(status: Status, message: impl Into<String>) -> Self {
        Self::new(status, message, Place::default())
    }

    /// Returns its kind.
    pub fn kind(&self) -> ErrorKind {
        match self.status {
            Status::Usage => ErrorKind::Usage,
            Status::BadData => ErrorKind::BadData,
            Status::NoInput => ErrorKind::NoInput,
            Status::CannotCreate => ErrorKind::CannotCreate,
            Status::CannotWrite => ErrorKind::CannotWrite,
            Status::NoResources => ErrorKind::NoResources,
            Status::Ok | Status::Internal => ErrorKind::Internal,
        }
    }

    /// Returns a description in one line.
    pub fn message(&self) -> String {
        self.message.to_string_lossy().into_owned()
    }

    fn new(status: Status, message: impl Into<String>, place: Place) -> Self {
        let file = place.file.clone().map(terminated);
        Self { status, message: terminated(printable(&message.into()).into_owned()), file, place }
    }
}

impl<E: HasKind + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self::new(error.kind().into(), error.to_string(), place(&error))
    }
}

thread_local! {
    /// The notes of the last call of this thread, a line each.
    static NOTES: RefCell<CString> = RefCell::default();
}

/// Notes something that the user of the running call should know.
pub fn note(text: &str) {
    NOTES.with_borrow_mut(|notes| {
        let mut lines = std::mem::take(notes).into_bytes();
        if !lines.is_empty() {
            lines.push(b'\n');
        }
        lines.extend(terminated(printable(text).into_owned()).into_bytes());
        *notes = CString::new(lines).unwrap_or_default();
    });
}

/// Returns the notes of the last function of this thread that returns a status: a line of UTF-8 for each note, without a line end
/// behind the last one; empty if there is nothing. Notes are not errors: they report omissions and assumptions, such as traffic without
/// a place, or a least load that is rounded down to 0. Valid until the next such function of this thread; it is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn viem_notes() -> *const c_char {
    NOTES.with_borrow(|notes| notes.as_ptr())
}

/// A text as C has it; a byte 0 in a name from outside is left out.
pub(crate) fn terminated(text: String) -> CString {
    let bytes: Vec<u8> = text.into_bytes().into_iter().filter(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Does the work of a function: its error, a panic included, goes where `error` leads, and its status is returned.
pub(crate) fn call(error: *mut *mut Error, work: impl FnOnce() -> Result<(), Error>) -> Status {
    NOTES.with_borrow_mut(|notes| *notes = CString::default());
    let result = guarded(work).unwrap_or_else(|message| {
        Err(Error::plain(
            Status::Internal,
            format!("this is a mistake of the library; please report it: {message}"),
        ))
    });
    let (status, report) = match result {
        Ok(()) => (Status::Ok, std::ptr::null_mut()),
        Err(fault) => (fault.status, Box::into_raw(Box::new(fault))),
    };
    if error.is_null() || !error.is_aligned() {
        // SAFETY: it is the box of this call, or null, which `viem_error_free` ignores.
        unsafe { viem_error_free(report) };
    } else {
        // SAFETY: the caller promises that it leads to a pointer of its own, unless it is null.
        unsafe { put_if_wanted(error, report) };
    }
    status
}

/// The same for libraries that are built on this one.
///
/// # Safety
///
/// `error` is null, or leads to a pointer that is not in use elsewhere.
pub unsafe fn call_of_other(error: *mut *mut Error, work: impl FnOnce() -> Result<(), Error>) -> Status {
    call(error, work)
}

/// The same for a function that makes a handle, which goes where `handle` leads; null if there is none.
pub(crate) fn create<T>(
    (argument, handle): (&'static str, *mut *mut T),
    error: *mut *mut Error,
    work: impl FnOnce() -> Result<T, Error>,
) -> Status {
    call(error, || {
        // SAFETY: the caller promises that it leads to a pointer of its own, unless it is null.
        unsafe { put(argument, handle, std::ptr::null_mut()) }?;
        let made = Box::into_raw(Box::new(work()?));
        // SAFETY: as above.
        Ok(unsafe { put(argument, handle, made) }?)
    })
}

/// A handle that must be given.
pub(crate) fn given<'a, T>(argument: &'static str, handle: Option<&'a T>) -> Result<&'a T, Error> {
    handle.ok_or_else(|| Error::usage(format!("the argument `{argument}` must not be null")))
}

/// Frees a handle; null is ignored.
///
/// # Safety
///
/// It was made by [`create`] or [`call`] and is not used again.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: it is a box that the caller gives back.
        let handle = unsafe { Box::from_raw(handle) };
        let _ = guarded(|| drop(handle));
    }
}

/// The status of an error; VIEM_STATUS_OK for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_error_status(error: Option<&Error>) -> Status {
    error.map_or(Status::Ok, |error| error.status)
}

/// The message of an error, one line of UTF-8, valid until the error is freed; empty for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_error_message(error: Option<&Error>) -> *const c_char {
    error.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// The file that an error is in, valid until the error is freed; null if it is in none.
#[unsafe(no_mangle)]
pub extern "C" fn viem_error_file(error: Option<&Error>) -> *const c_char {
    let file = error.and_then(|error| error.file.as_ref());
    file.map_or(std::ptr::null(), |file| file.as_ptr())
}

/// The line of the file, counted from 1; 0 if it is not known.
#[unsafe(no_mangle)]
pub extern "C" fn viem_error_line(error: Option<&Error>) -> i64 {
    error.map_or(0, |error| error.place.line.try_into().unwrap_or(i64::MAX))
}

/// The column in that line, counted from 1 in bytes; 0 if it is not known.
#[unsafe(no_mangle)]
pub extern "C" fn viem_error_column(error: Option<&Error>) -> i64 {
    error.map_or(0, |error| error.place.column.try_into().unwrap_or(i64::MAX))
}

/// The entry that is wrong, counted from 0: of the array that the message names, else the vertex, process, PE or block. -1 if no single
/// entry is wrong.
#[unsafe(no_mangle)]
pub extern "C" fn viem_error_index(error: Option<&Error>) -> i64 {
    let index = error.and_then(|error| error.place.index);
    index.and_then(|index| index.try_into().ok()).unwrap_or(-1)
}

/// Frees an error. Null is ignored.
///
/// # Safety
///
/// The error is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_error_free(error: *mut Error) {
    // SAFETY: the caller's promise is the same.
    unsafe { free(error) };
}
