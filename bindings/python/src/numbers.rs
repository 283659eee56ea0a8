//! Arrays of numpy as numbers of the library: borrowed where they lie, every entry checked.

use numpy::{Element, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::error::Fault;

/// A number of numpy, which may be a whole one.
pub(crate) trait Number: Copy + Element + std::fmt::Display {
    /// The whole number that it is, if it fits 64 bits.
    fn whole(self) -> Option<i64>;
}

macro_rules! integers {
    ($($integer:ty),*) => { $(impl Number for $integer {
        fn whole(self) -> Option<i64> {
            self.try_into().ok()
        }
    })* };
}
integers!(i32, i64, u32, u64);

macro_rules! floats {
    ($($float:ty),*) => { $(impl Number for $float {
        fn whole(self) -> Option<i64> {
            let whole = self as i64;
            // 2^63 as a float would come back as the greatest integer, which is another number.
            (whole as Self == self && whole != i64::MAX).then_some(whole)
        }
    })* };
}
floats!(f32, f64);

/// A borrowed array of one of the types of numbers; `visit!` works on whichever it is.
pub(crate) enum Numbers<'py> {
    I32(PyReadonlyArrayDyn<'py, i32>),
    I64(PyReadonlyArrayDyn<'py, i64>),
    U32(PyReadonlyArrayDyn<'py, u32>),
    U64(PyReadonlyArrayDyn<'py, u64>),
    F32(PyReadonlyArrayDyn<'py, f32>),
    F64(PyReadonlyArrayDyn<'py, f64>),
}

/// Calls an expression with the array inside.
macro_rules! visit {
    ($numbers:expr, |$array:ident| $work:expr) => {
        match $numbers {
            Numbers::I32($array) => $work,
            Numbers::I64($array) => $work,
            Numbers::U32($array) => $work,
            Numbers::U64($array) => $work,
            Numbers::F32($array) => $work,
            Numbers::F64($array) => $work,
        }
    };
}
pub(crate) use visit;

fn borrowed<'py, T: Element>(array: &Bound<'py, PyAny>) -> Option<PyReadonlyArrayDyn<'py, T>> {
    array.cast::<PyArrayDyn<T>>().ok()?.try_readonly().ok()
}

impl<'py> Numbers<'py> {
    /// The array, if it is one of numbers of 32 or 64 bits.
    pub fn of(name: &str, array: &Bound<'py, PyAny>) -> Result<Self, Fault> {
        let known = borrowed(array).map(Self::I64);
        let known = known.or_else(|| borrowed(array).map(Self::I32));
        let known = known.or_else(|| borrowed(array).map(Self::F64));
        let known = known.or_else(|| borrowed(array).map(Self::F32));
        let known = known.or_else(|| borrowed(array).map(Self::U32));
        let known = known.or_else(|| borrowed(array).map(Self::U64));
        known.ok_or_else(|| {
            Fault::usage(format!("`{name}` must be an array of numbers, aligned and in native byte order"))
        })
    }

    pub fn len(&self) -> usize {
        visit!(self, |array| array.len())
    }

    /// Rows and columns of a matrix.
    pub fn shape(&self) -> Vec<usize> {
        visit!(self, |array| array.shape().to_vec())
    }

    /// All entries, row by row, as numbers from `least` to `greatest`.
    pub fn collect<T: TryFrom<i64>>(&self, name: &str) -> Result<Vec<T>, Fault> {
        visit!(self, |array| collect(name, array))
    }
}

fn collect<N: Number, T: TryFrom<i64>>(
    name: &str,
    array: &PyReadonlyArrayDyn<'_, N>,
) -> Result<Vec<T>, Fault> {
    let view = array.as_array();
    // A slice is walked through several times as fast as an array of any layout.
    match view.as_slice() {
        Some(slice) => converted(name, slice.iter().copied()),
        None => converted(name, view.iter().copied()),
    }
}

fn converted<N: Number, T: TryFrom<i64>>(
    name: &str,
    numbers: impl ExactSizeIterator<Item = N>,
) -> Result<Vec<T>, Fault> {
    let mut entries = Vec::new();
    viem::base::memory::reserve(&mut entries, numbers.len())?;
    for (index, number) in numbers.enumerate() {
        let whole = number.whole().ok_or_else(|| not_whole(name, index, number))?;
        entries.push(T::try_from(whole).map_err(|_| out_of_range(name, index, whole))?);
    }
    Ok(entries)
}

pub(crate) fn not_whole(name: &str, index: usize, number: impl std::fmt::Display) -> Fault {
    Fault::entry(
        index,
        format!("entry {index} of `{name}` is {number}, which is not a whole number of 64 bits"),
    )
}

fn out_of_range(name: &str, index: usize, number: i64) -> Fault {
    Fault::entry(index, format!("entry {index} of `{name}` is {number}, which is out of range"))
}
