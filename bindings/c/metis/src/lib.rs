//! The functions of METIS 5 (5.1, as Debian builds it), which partition with viem.
//!
//! | member | purpose |
//! |---|---|
//! | `exports` | the functions that programs call |
//! | `fortran` | the same under the names of Fortran |
//! | `options` | the array of options |
//! | `task` | a graph, the blocks that are asked for, and its partition |
//! | `several` | the same where vertices have several weights |
//! | `mesh` | dual and nodal graphs of meshes, and parts of nodes from those of elements |
//! | `real` | METIS itself, for what viem does not do |
//!
//! *Departures from METIS.* Graphs are checked; of a graph that is not symmetric, the union of both directions is partitioned. Bounds hold to the
//! vertex, as do least loads, which are as far below a share as bounds are above it, or 5 %, but not below nine tenths. No part is empty if there are enough vertices (with fewer than parts, which METIS accepts too, all but as many parts stay empty), and weights that are all 0 count as 1. Nothing is printed whatever the debug level. The variables `VIEM_PRESET` (`fast`,
//! `eco`, `strong`) and `VIEM_THREADS` choose the effort. Of the options, those that choose METIS's own algorithms mean nothing.
#![allow(clippy::useless_conversion, clippy::unnecessary_cast)] // `Idx` has one of two widths

mod exports;
mod fortran;
mod mesh;
mod options;
mod real;
mod several;
mod task;

use std::ffi::c_int;

use viem_ffi::{ArgumentError, LooseError, MemoryError, guarded};

/// `idx_t` of METIS.
#[cfg(feature = "idx64")]
pub type Idx = i64;
/// `idx_t` of METIS.
#[cfg(not(feature = "idx64"))]
pub type Idx = i32;

/// `METIS_OK`.
const OK: c_int = 1;

/// The reason why a function fails, as METIS numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// `METIS_ERROR_INPUT`: an argument is wrong.
    Input = -2,
    /// `METIS_ERROR_MEMORY`: there is not enough memory.
    Memory = -3,
    /// `METIS_ERROR`: anything else.
    Other = -4,
}

impl From<ArgumentError> for Fault {
    fn from(_: ArgumentError) -> Self {
        Self::Input
    }
}

impl From<MemoryError> for Fault {
    fn from(_: MemoryError) -> Self {
        Self::Memory
    }
}

impl From<LooseError> for Fault {
    fn from(error: LooseError) -> Self {
        match error {
            LooseError::Graph(_) => Self::Input,
            LooseError::Memory(_) => Self::Memory,
        }
    }
}

/// Does the work of a function; its code as METIS returns it.
fn call(work: impl FnOnce() -> Result<c_int, Fault>) -> c_int {
    guarded(work).unwrap_or(Err(Fault::Other)).unwrap_or_else(|fault| fault as c_int)
}
