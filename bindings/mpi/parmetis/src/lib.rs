//! The functions of ParMETIS 4, which partition with viem: what the C part of `libviem_parmetis` calls.
//!
//! The C part, `parmetis.c`, has the functions of `parmetis.h` and, with `operations.c`, all calls of MPI. It is compiled for each MPI and each width of numbers;
//! this is compiled once, and gets the widths as arguments.
//!
//! | member | purpose |
//! |---|---|
//! | `arguments` | the arguments of C: arrays of either width, results |
//! | `input` | what a rank gives to a function that partitions, and what it gets |
//! | `partition` | the graph of all ranks, and its partition |
//!
//! A fault on one rank is returned on all, as `METIS_ERROR`; `viem_parmetis_error` has the message of the first such rank.
//!
//! *Departures from ParMETIS.* Ranks may have no vertices. Graphs are checked; edges that only one end lists are there for both, and those from a vertex to itself or
//! of weight 0 are left out. Bounds hold to the vertex, as do least loads, which are as far below a share as bounds are above it, or 5 %, but not below nine tenths. `tpwgts`
//! need not sum up to 1, may be null, and so may `ubvec` and `options`. Nothing is printed, whatever the debug level.
#![allow(unsafe_code)] // a foreign interface

mod arguments;
mod input;
mod partition;

use std::ffi::{c_char, c_int};

use viem_dist_c::{Mpi, Operations, Refused};
use viem_distributed::comm::Comm;
use viem_distributed::error::{DistError, agree};
use viem_distributed::rounds::Rounds;
use viem_distributed::{alike, coordinates, guard, mesh};
use viem_ffi::{keep_message, kept_message, text};

pub use arguments::Arguments;

use arguments::Function;
use input::{Input, common_nodes};

/// `METIS_OK`.
const OK: c_int = 1;
/// `METIS_ERROR`.
const ERROR: c_int = -4;

/// Keeps the message of a call, and returns its code.
fn code(result: Result<(), String>) -> c_int {
    let code = if result.is_ok() { OK } else { ERROR };
    keep_message(result.err().unwrap_or_default());
    code
}

/// The message of the last call of this thread; empty if it succeeded. Valid until its next call.
#[unsafe(no_mangle)]
pub extern "C" fn viem_parmetis_error() -> *const c_char {
    kept_message()
}

/// Refuses a call before it can communicate.
///
/// # Safety
///
/// The message ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parmetis_refuse(message: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let message = unsafe { text("message", message) };
    code(Err(message.unwrap_or_default().to_owned()))
}

/// Does what a function of ParMETIS does.
///
/// # Safety
///
/// The operations work; the arguments are what ParMETIS says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parmetis_call(operations: &Operations, arguments: &Arguments) -> c_int {
    let work = || {
        // SAFETY: the caller's promise, for both.
        let comm = Rounds::new(unsafe { Mpi::new(*operations) });
        // SAFETY: as above.
        guard::guarded(&comm, |comm| unsafe { run(comm, arguments) }).map_err(|error| error.to_string())
    };
    code(viem_ffi::guarded(work).unwrap_or_else(Err))
}

/// # Safety
///
/// As for [`parmetis_call`].
unsafe fn run(comm: &impl Comm, arguments: &Arguments) -> Result<(), DistError> {
    // SAFETY: the caller's promise, for all.
    match agree(comm, arguments.function())? {
        Function::PartGeom => unsafe { part_points(comm, arguments) },
        Function::MeshToDual => unsafe { make_dual(comm, arguments) },
        _ => unsafe { partition(comm, arguments) },
    }
}

/// # Safety
///
/// As for [`parmetis_call`].
unsafe fn partition(comm: &impl Comm, arguments: &Arguments) -> Result<(), DistError> {
    // SAFETY: the caller's promise.
    let input = agree(comm, unsafe { Input::new(arguments, comm.rank(), comm.size()) })?;
    let base = input.layout.base;
    let found = partition::partition(comm, input)?;
    // SAFETY: the caller's promise; the places were checked.
    agree(comm, unsafe {
        arguments.put_parts(&found.parts, base).and_then(|()| arguments.put_cut(found.cut))
    })
}

/// # Safety
///
/// As for [`parmetis_call`].
unsafe fn part_points(comm: &impl Comm, arguments: &Arguments) -> Result<(), DistError> {
    let given = || -> Result<_, Refused> {
        // SAFETY: the caller's promise, for all.
        unsafe {
            let layout = arguments.layout(comm.rank(), comm.size())?;
            let points = arguments.points(&layout)?;
            arguments.check_places(layout.count, false)?;
            Ok((layout, points))
        }
    };
    let (layout, (points, dimensions)) = agree(comm, given())?;
    alike::check(comm, &layout.shared())?;
    let parts = coordinates::bisect(comm, &points, dimensions, comm.size())?;
    // SAFETY: the caller's promise; the place was checked.
    agree(comm, unsafe { arguments.put_parts(&parts, 0) })
}

/// # Safety
///
/// As for [`parmetis_call`].
unsafe fn make_dual(comm: &impl Comm, arguments: &Arguments) -> Result<(), DistError> {
    let given = || -> Result<_, Refused> {
        // SAFETY: the caller's promise, for all.
        unsafe {
            arguments.clear_graph()?;
            let layout = arguments.layout(comm.rank(), comm.size())?;
            let lists = arguments.lists(&layout)?;
            Ok((layout, lists, common_nodes(arguments)?))
        }
    };
    let (layout, lists, common) = agree(comm, given())?;
    alike::check(comm, &layout.shared())?;
    alike::check(comm, &[("`ncommonnodes`", common as u64)])?;
    let rows = mesh::dual(comm, &partition::elements(lists), common)?;
    let offsets: Vec<i64> = rows.offsets.into_iter().map(|offset| offset as i64 + layout.base).collect();
    let targets: Vec<i64> = rows.targets.into_iter().map(|target| i64::from(target) + layout.base).collect();
    let arrays = arguments.allocated(&offsets).and_then(|xadj| Ok((xadj, arguments.allocated(&targets)?)));
    let (xadj, adjncy) = agree(comm, arrays)?;
    // SAFETY: the caller's promise; the places were checked.
    agree(comm, unsafe { arguments.put_graph(xadj, adjncy) })
}
