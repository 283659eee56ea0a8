//! Arguments of C. All checks that are possible are made; the memory behind a pointer is the caller's promise.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{CStr, c_char};
use std::fmt;

use viem::base::error::{ErrorKind, HasKind};

/// An argument that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The name of the argument in the declaration.
    pub argument: &'static str,
    /// The fault.
    pub fault: Fault,
}

/// Faults of pointers and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is null and must not be.
    Null,
    /// It does not lie where a value of its type may lie.
    Misaligned,
    /// It is a count below 0.
    Negative(i64),
    /// It is a count of more than any array has.
    TooMany(i64),
    /// It is a text that is not UTF-8 from this byte on, counted from 0.
    NotUtf8(usize),
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { argument, fault } = self;
        match fault {
            Fault::Null => write!(f, "the argument `{argument}` must not be null"),
            Fault::Misaligned => write!(f, "the argument `{argument}` is not aligned as its type requires"),
            Fault::Negative(count) => {
                write!(f, "the argument `{argument}` is {count}; it must not be negative")
            }
            Fault::TooMany(count) => write!(f, "the argument `{argument}` is {count}, which is too large"),
            Fault::NotUtf8(byte) => write!(f, "the argument `{argument}` is not UTF-8 from byte {byte} on"),
        }
    }
}

impl std::error::Error for ArgumentError {}

impl HasKind for ArgumentError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A count of C as one of Rust.
pub fn count(argument: &'static str, count: i64) -> Result<usize, ArgumentError> {
    let fault = if count < 0 { Fault::Negative(count) } else { Fault::TooMany(count) };
    usize::try_from(count).map_err(|_| ArgumentError { argument, fault })
}

/// The array at a pointer, which may be null if it has no entries.
///
/// # Safety
///
/// If it is not null, it leads to `len` values that do not change as long as the slice is used.
pub unsafe fn array<'a, T>(
    argument: &'static str,
    pointer: *const T,
    len: usize,
) -> Result<&'a [T], ArgumentError> {
    if len == 0 {
        return Ok(&[]);
    }
    check(argument, pointer, len)?;
    // SAFETY: it is aligned, not null and not too long; the values are the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// The array at a pointer, or none if it is null.
///
/// # Safety
///
/// As for [`array()`].
pub unsafe fn optional<'a, T>(
    argument: &'static str,
    pointer: *const T,
    len: usize,
) -> Result<Option<&'a [T]>, ArgumentError> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise is the same.
    unsafe { array(argument, pointer, len) }.map(Some)
}

/// The array at a pointer, to be written.
///
/// # Safety
///
/// If it is not null, it leads to `len` initialised values that are not in use elsewhere as long as the slice is used.
pub unsafe fn array_mut<'a, T>(
    argument: &'static str,
    pointer: *mut T,
    len: usize,
) -> Result<&'a mut [T], ArgumentError> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(argument, pointer, len)?;
    // SAFETY: it is aligned, not null and not too long; the values are the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, len) })
}

/// The text at a pointer.
///
/// # Safety
///
/// If it is not null, it leads to a text that ends with a zero byte and that does not change as long as it is used.
pub unsafe fn text<'a>(argument: &'static str, pointer: *const c_char) -> Result<&'a str, ArgumentError> {
    if pointer.is_null() {
        return Err(ArgumentError { argument, fault: Fault::Null });
    }
    // SAFETY: it is not null; the text is the caller's promise.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|error| ArgumentError { argument, fault: Fault::NotUtf8(error.valid_up_to()) })
}

/// Puts a value where a pointer leads. What was there before is neither read nor dropped.
///
/// # Safety
///
/// If it is not null, it leads to memory for a value, which is not in use elsewhere.
pub unsafe fn put<T>(argument: &'static str, pointer: *mut T, value: T) -> Result<(), ArgumentError> {
    check(argument, pointer, 1)?;
    // SAFETY: it is aligned and not null; the memory is the caller's promise.
    unsafe { pointer.write(value) };
    Ok(())
}

/// The same, where null means that the value is not needed.
///
/// # Safety
///
/// As for [`put`].
pub unsafe fn put_if_wanted<T>(pointer: *mut T, value: T) {
    // SAFETY: the caller's promise is the same.
    let _ = unsafe { put("", pointer, value) };
}

/// Fails unless an array of `len` values, at least 1, can be there.
fn check<T>(argument: &'static str, pointer: *const T, len: usize) -> Result<(), ArgumentError> {
    let fault = if pointer.is_null() {
        Fault::Null
    } else if !pointer.is_aligned() {
        Fault::Misaligned
    } else if len > isize::MAX as usize / size_of::<T>().max(1) {
        Fault::TooMany(i64::try_from(len).unwrap_or(i64::MAX))
    } else {
        return Ok(());
    };
    Err(ArgumentError { argument, fault })
}
