//! Quadratic assignment problems.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::c_char;
use std::path::Path;

use viem::qap::{self, QapRequest, QapSolution};
use viem_ffi::{array, check_memory, count, put, text, write};
use viem_io::{Source, qap_solution, qaplib};

use crate::error::{Error, Status, call, create, free, given, note};
use crate::mapping::{Mapping, Report, VIEM_UNKNOWN};
use crate::settings::{Settings, or_default};

/// A quadratic assignment problem: two square matrices of one size, neither necessarily sparse or symmetric. It does not change, so any number
/// of threads may use it at once.
pub struct Qap {
    inner: qap::Qap,
}

/// Makes a problem from two matrices, which are copied: put `size` objects at as many places such that
/// `sum over i and j of a[i][j] * b[place of i][place of j]` is small.
///
/// - `size`: n, at most 65536
/// - `a`, `b`: n * n entries each, row by row
/// - `qap`: gets the problem, which `viem_qap_free` frees; null on failure
///
/// # Safety
///
/// The arrays have these lengths. They do not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_qap_new(
    size: i64,
    a: *const i64,
    b: *const i64,
    qap: *mut *mut Qap,
    error: *mut *mut Error,
) -> Status {
    create(("qap", qap), error, || {
        let size = count("size", size)?;
        let entries = size.checked_mul(size).filter(|_| size <= 1 << 16);
        let entries = entries.ok_or_else(|| {
            Error::usage(format!("a problem has at most 65536 objects, this one has {size}"))
        })?;
        check_memory(24 * entries as u128)?;
        // SAFETY: the caller's promise.
        let (a, b) = unsafe { (array("a", a, entries)?, array("b", b, entries)?) };
        Ok(Qap { inner: qap::Qap::from_matrices(size, a.to_vec(), b.to_vec())? })
    })
}

/// Reads a problem from a file of QAPLIB.
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_qap_read(
    path: *const c_char,
    qap: *mut *mut Qap,
    error: *mut *mut Error,
) -> Status {
    create(("qap", qap), error, || {
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        let file = qaplib::read(Source::open(Path::new(path))?)?;
        file.notes.iter().for_each(|likely| note(&format!("{path}, {likely}")));
        Ok(Qap { inner: qap::Qap::from_matrices(file.size, file.a, file.b)? })
    })
}

/// Writes a problem to a file of QAPLIB, whole or not at all.
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_qap_write(
    qap: Option<&Qap>,
    path: *const c_char,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let qap = &given("qap", qap)?.inner;
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        Ok(write(Path::new(path), &|out| qaplib::write(out, qap.size(), qap.a(), qap.b()))?)
    })
}

/// Number of objects, and of places; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_qap_size(qap: Option<&Qap>) -> i64 {
    qap.map_or(0, |qap| qap.inner.size() as i64)
}

/// Solves a problem. Small ones are solved to optimality, and `optimal` in the report says so.
///
/// - `start`: an assignment that the result must not be worse than; null for none
/// - `settings`: null for those of VIEM_PRESET_ECO; imbalance and least load mean nothing here
/// - `assignment`: gets the place of each object as a mapping, which `viem_mapping_free` frees; null on failure
///
/// # Safety
///
/// `assignment` leads to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_qap_solve(
    qap: Option<&Qap>,
    start: Option<&Mapping>,
    settings: Option<&Settings>,
    assignment: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("assignment", assignment), error, || {
        let (qap, settings) = (&given("qap", qap)?.inner, or_default(settings));
        check_memory(64 * qap.a().len() as u128)?;
        let (config, watcher) = (settings.qap(), settings.watcher());
        let solution =
            QapRequest::new(qap).start(start.map(|start| &start.inner)).observed(&watcher).solve(&config)?;
        let report = report(&solution);
        Ok(Mapping::new(solution.mapping, qap.size(), report))
    })
}

fn report(solution: &QapSolution) -> Report {
    Report {
        cost_of_identity: solution.cost_of_identity,
        cost_of_start: solution.cost_of_start.unwrap_or(VIEM_UNKNOWN),
        lower_bound: solution.lower_bound.unwrap_or(VIEM_UNKNOWN),
        seconds: solution.seconds,
        stopped: solution.stopped.into(),
        optimal: solution.is_optimal.into(),
        ..Report::of_cost(solution.cost)
    }
}

/// The cost of an assignment.
///
/// - `cost`: gets the sum
///
/// # Safety
///
/// `cost` leads to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_qap_cost(
    qap: Option<&Qap>,
    assignment: Option<&Mapping>,
    cost: *mut i64,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let (qap, assignment) = (&given("qap", qap)?.inner, permutation(qap, assignment)?);
        // SAFETY: the caller's promise.
        Ok(unsafe { put("cost", cost, qap.cost(assignment.pes())) }?)
    })
}

/// The assignment of all objects of a problem to places, each to one of its own.
fn permutation(qap: Option<&Qap>, assignment: Option<&Mapping>) -> Result<viem::Mapping, Error> {
    let (size, assignment) = (given("qap", qap)?.inner.size(), given("assignment", assignment)?);
    let found = assignment.inner.num_processes();
    if found != size {
        return Err(Error::plain(
            Status::BadData,
            format!("the assignment has {found} objects, the problem {size}"),
        ));
    }
    Ok(viem::Mapping::from_pes(assignment.inner.pes().to_vec())?)
}

/// Writes an assignment to a solution file of QAPLIB, whole or not at all.
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_qap_write_solution(
    qap: Option<&Qap>,
    assignment: Option<&Mapping>,
    path: *const c_char,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let assignment = permutation(qap, assignment)?;
        let cost = given("qap", qap)?.inner.cost(assignment.pes());
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        Ok(write(Path::new(path), &|out| qap_solution::write(out, assignment.pes(), cost))?)
    })
}

/// Frees a problem. Null is ignored.
///
/// # Safety
///
/// The problem is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_qap_free(qap: *mut Qap) {
    // SAFETY: the caller's promise is the same.
    unsafe { free(qap) };
}
