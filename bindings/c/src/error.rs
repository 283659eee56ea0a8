//! How calls end: a status, and an error with a message and a place.
#![allow(unsafe_code)] // a foreign interface

use std::error::Error as StdError;
use std::ffi::{CString, c_char};

use viem::graph::GraphError;
use viem::ground::error::{ErrorKind, HasKind};
use viem::io::ReadError;
use viem::machine::{MachineError, SpecError};
use viem::mapping::MappingError;
use viem::mapping::objective::ScoreError;
use viem::mapping::solve::SolveError;
use viem::partition::{FixedError, HomesError, RemapError, TargetsError};
use viem::qap::QapSolveError;
use viem_ffi::{guarded, put, put_if_wanted};

/// How a call has ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what it should.
    Ok = 0,
    /// An argument or a setting is wrong or out of range.
    Usage = 1,
    /// A graph, matrix, mapping or file is not what it should be.
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

/// Why a call has failed. Each belongs to whoever asked for it and is freed by `viem_error_free`.
#[derive(Debug)]
pub struct Error {
    status: Status,
    message: CString,
    place: Place,
}

/// Where a fault is, as far as that is known.
#[derive(Debug, Default)]
struct Place {
    file: Option<CString>,
    line: u64,
    column: u64,
    index: Option<u64>,
}

impl Place {
    fn entry(index: impl TryInto<u64>) -> Self {
        Self { index: index.try_into().ok(), ..Self::default() }
    }
}

impl Error {
    /// An error of an argument or setting.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Status::Usage, message, Place::default())
    }

    /// An error of an entry of an array, counted from 0.
    pub(crate) fn entry(status: Status, index: usize, message: impl Into<String>) -> Self {
        Self::new(status, message, Place::entry(index))
    }

    /// An error without a place.
    pub(crate) fn plain(status: Status, message: impl Into<String>) -> Self {
        Self::new(status, message, Place::default())
    }

    fn new(status: Status, message: impl Into<String>, place: Place) -> Self {
        Self { status, message: terminated(message.into()), place }
    }
}

impl<E: HasKind + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        Self::new(error.kind().into(), error.to_string(), place(&error))
    }
}

/// A text as C has it; a byte 0 in a name from outside is left out.
pub(crate) fn terminated(text: String) -> CString {
    let bytes: Vec<u8> = text.into_bytes().into_iter().filter(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Where the fault is. Errors of runs are transparent, so those inside are looked up by their types.
fn place(error: &(dyn StdError + 'static)) -> Place {
    let in_one = [
        by(of_file),
        by(of_graph),
        by(of_mapping),
        by(of_fixed),
        by(of_targets),
        by(of_homes),
        by(of_machine),
    ];
    if let Some(place) = in_one.iter().find_map(|place| place(error)) {
        return place;
    }
    let inside = error.downcast_ref().and_then(inside_spec);
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_run));
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_qap));
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_score));
    let inside = inside.or_else(|| error.downcast_ref().and_then(inside_remap));
    inside.map(place).unwrap_or_default()
}

/// A place by the type of the error.
fn by<E: StdError + 'static>(place: fn(&E) -> Place) -> FindPlace {
    Box::new(move |error| error.downcast_ref().map(place))
}

/// Where the fault is, if the error is of one type.
type FindPlace = Box<dyn Fn(&(dyn StdError + 'static)) -> Option<Place>>;

fn of_file(error: &ReadError) -> Place {
    let in_file = |file: &String, line, column| Place {
        file: Some(terminated(file.clone())),
        line,
        column,
        index: None,
    };
    match error {
        ReadError::Invalid { file, line, column, .. } => in_file(file, *line, *column),
        ReadError::OutOfMemory { file, line, .. } => in_file(file, *line, 0),
        ReadError::Unreadable { file, .. } => in_file(file, 0, 0),
        _ => Place::default(),
    }
}

fn of_graph(error: &GraphError) -> Place {
    use GraphError::*;
    match error {
        EntryOutOfRange { index, .. } => Place::entry(*index),
        TargetOutOfRange { node, .. }
        | SelfLoop { node }
        | ParallelEdge { node, .. }
        | MissingBackwardEdge { node, .. }
        | UnequalWeights { node, .. }
        | EdgeWeightOutOfRange { node, .. }
        | NodeWeightOutOfRange { node, .. } => Place::entry(*node),
        _ => Place::default(),
    }
}

fn of_mapping(error: &MappingError) -> Place {
    use MappingError::*;
    match error {
        PeOutOfRange { process, .. } | PeTaken { process, .. } | PeFull { process, .. } => {
            Place::entry(*process)
        }
        _ => Place::default(),
    }
}

fn of_fixed(error: &FixedError) -> Place {
    use FixedError::*;
    match error {
        NoSuchBlock { vertex, .. } | NoCapacity { vertex, .. } => Place::entry(*vertex),
        PeTaken { process, .. } | PeFull { process, .. } | Contradicted { process, .. } => {
            Place::entry(*process)
        }
        _ => Place::default(),
    }
}

fn of_targets(error: &TargetsError) -> Place {
    match error {
        TargetsError::NegativeSize { block, .. } => Place::entry(*block),
        _ => Place::default(),
    }
}

fn of_homes(error: &HomesError) -> Place {
    match error {
        HomesError::NoSuchBlock { vertex, .. } => Place::entry(*vertex),
        _ => Place::default(),
    }
}

fn of_machine(error: &MachineError) -> Place {
    match error {
        MachineError::NegativeEntry { row, .. } | MachineError::Asymmetric { row, .. } => Place::entry(*row),
        MachineError::NotZero { pe, .. } | MachineError::NoCapacity { pe } => Place::entry(*pe),
        _ => Place::default(),
    }
}

fn inside_spec(error: &SpecError) -> Option<&(dyn StdError + 'static)> {
    match error {
        SpecError::Machine { source, .. } => Some(source.as_ref()),
        SpecError::Read(error) => Some(error),
        _ => None,
    }
}

fn inside_run(error: &SolveError) -> Option<&(dyn StdError + 'static)> {
    match error {
        SolveError::Machine(error) => Some(error),
        SolveError::Targets(error) => Some(error),
        SolveError::Remap(error) => Some(error),
        SolveError::Start(error) => Some(error),
        SolveError::Fixed(error) => Some(error),
        _ => None,
    }
}

fn inside_qap(error: &QapSolveError) -> Option<&(dyn StdError + 'static)> {
    match error {
        QapSolveError::Start(error) => Some(error),
        QapSolveError::Machine(error) => Some(error),
        QapSolveError::Fixed(error) => Some(error),
        _ => None,
    }
}

fn inside_score(error: &ScoreError) -> Option<&(dyn StdError + 'static)> {
    match error {
        ScoreError::Mapping(error) => Some(error),
        ScoreError::Machine(error) => Some(error),
        _ => None,
    }
}

fn inside_remap(error: &RemapError) -> Option<&(dyn StdError + 'static)> {
    match error {
        RemapError::Homes(error) => Some(error),
        _ => None,
    }
}

/// Does the work of a function: its error, a panic included, goes where `error` leads, and its status is returned.
pub(crate) fn call(error: *mut *mut Error, work: impl FnOnce() -> Result<(), Error>) -> Status {
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
    let file = error.and_then(|error| error.place.file.as_ref());
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
