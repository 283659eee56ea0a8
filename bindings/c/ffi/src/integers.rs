//! Arrays of C whose entries are of either width.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::c_void;

use crate::{ArgumentError, array};

/// An array of whole numbers of either width.
#[derive(Clone, Copy, Debug)]
pub enum Integers<'a> {
    /// Entries of 32 bits.
    Of32(&'a [i32]),
    /// Entries of 64 bits.
    Of64(&'a [i64]),
}

impl<'a> Integers<'a> {
    /// The array at a pointer, whose entries have 64 bits unless they are `short`.
    ///
    /// # Safety
    ///
    /// As for [`array()`].
    pub unsafe fn at_pointer(
        argument: &'static str,
        first: *const c_void,
        length: usize,
        is_short: bool,
    ) -> Result<Self, ArgumentError> {
        match is_short {
            // SAFETY: the caller's promise.
            true => Ok(Self::Of32(unsafe { array(argument, first.cast(), length) }?)),
            // SAFETY: as above.
            false => Ok(Self::Of64(unsafe { array(argument, first.cast(), length) }?)),
        }
    }

    /// The number of entries.
    pub fn len(self) -> usize {
        match self {
            Self::Of32(entries) => entries.len(),
            Self::Of64(entries) => entries.len(),
        }
    }

    /// Returns whether there is no entry.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// An entry.
    pub fn at(self, index: usize) -> i64 {
        match self {
            Self::Of32(entries) => entries[index].into(),
            Self::Of64(entries) => entries[index],
        }
    }

    /// Collects the results of `convert` for each entry and its index.
    pub fn each<T, E>(self, mut convert: impl FnMut(usize, i64) -> Result<T, E>) -> Result<Vec<T>, E> {
        match self {
            Self::Of32(entries) => {
                entries.iter().enumerate().map(|(index, &entry)| convert(index, entry.into())).collect()
            }
            Self::Of64(entries) => {
                entries.iter().enumerate().map(|(index, &entry)| convert(index, entry)).collect()
            }
        }
    }

    /// All entries.
    pub fn to_vec(self) -> Vec<i64> {
        match self {
            Self::Of32(entries) => entries.iter().map(|&entry| entry.into()).collect(),
            Self::Of64(entries) => entries.to_vec(),
        }
    }
}

/// The same for numbers with a point, as numbers of 64 bits.
///
/// # Safety
///
/// As for [`array()`].
pub unsafe fn reals(
    argument: &'static str,
    first: *const c_void,
    length: usize,
    is_short: bool,
) -> Result<Vec<f64>, ArgumentError> {
    match is_short {
        true => {
            // SAFETY: the caller's promise.
            let entries: &[f32] = unsafe { array(argument, first.cast(), length) }?;
            Ok(entries.iter().map(|&entry| entry.into()).collect())
        }
        // SAFETY: as above.
        false => Ok(unsafe { array(argument, first.cast(), length) }?.to_vec()),
    }
}
