//! The functions of Scotch 7, which partition and map with viem.
//!
//! | member | purpose |
//! |---|---|
//! | `exports` | the functions that programs call |
//! | `fortran` | the same under the names of Fortran |
//! | `task` | a graph, its target, and its mapping |
//! | `arch` | target architectures as machines |
//! | `graph` | graphs: arrays of the program |
//! | `files` | graphs and tables in files of C |
//! | `objects` | what structures of the program stand for |
//! | `read` | graphs, architectures and strategies, by the functions of Scotch itself if it is there |
//! | `real` | Scotch itself, for what viem does not do |
//!
//! Where Scotch itself was loaded behind this library, its structures are its own: it builds and checks graphs, and makes architectures and strategies; they are
//! read by its functions. Where it was not, this library has its own, which are remembered by the addresses of the program's structures.
//!
//! *Departures from Scotch.* Bounds hold to the vertex, as do least loads, which are as far below a share as bounds are above it, or 5 %, but not below nine tenths. No part is
//! empty if there are enough vertices. The same call has the same result, whatever was called before, until `SCOTCH_randomSeed` sets another seed. Of a strategy, the imbalance
//! means something. The variables `VIEM_PRESET` (`fast`, `eco`, `strong`) and `VIEM_THREADS` choose the effort.
#![allow(clippy::useless_conversion, clippy::unnecessary_cast)] // `Num` has one of two widths

/// The name of a function with the suffix that Scotch may be built with.
macro_rules! suffixed {
    ($name:ident) => {
        concat!(stringify!($name), env!("VIEM_SCOTCH_SUFFIX"))
    };
}

mod arch;
mod exports;
mod files;
mod fortran;
mod graph;
mod objects;
mod read;
mod real;
mod task;

/// `SCOTCH_Num`.
#[cfg(feature = "num64")]
pub type Num = i64;
/// `SCOTCH_Num`.
#[cfg(not(feature = "num64"))]
pub type Num = i32;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
