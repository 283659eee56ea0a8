//! Mappings, partitions among them, and their reports.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::c_char;
use std::fmt::Display;
use std::path::Path;

use viem::base::types::{Cost, PeId};
use viem::{partition, solve};
use viem_ffi::{array, array_mut, check_memory, count, put, text, write};
use viem_io as io;
use viem_io::Source;

use crate::error::{Error, Status, call, create, free, given};

/// The value of entries of a report that are not known.
pub const VIEM_UNKNOWN: i64 = i64::MIN;

/// The place of each process or vertex: the PE of a machine, the block of a partition, or the place of a quadratic assignment problem.
/// It does not change, so any number of threads may use it at once.
pub struct Mapping {
    pub(crate) inner: viem::Mapping,
    /// PEs, blocks or places that there are.
    pub(crate) num_pes: usize,
    pub(crate) report: Report,
}

/// The loads of the PEs or blocks; VIEM_UNKNOWN where nothing is known.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loads {
    /// The smallest load of a PE or block.
    pub least: i64,
    /// The greatest load of a PE or block.
    pub greatest: i64,
    /// The greatest load that any PE or block may have.
    pub bound: i64,
    /// The sum of the excesses over the bounds, of PEs and of nodes: 0 if all bounds are met.
    pub overload: i64,
    /// The number of PEs or blocks with less than half of their share.
    pub below_half: i64,
    /// The number of PEs or blocks below the least load.
    pub below_least: i64,
    /// The sum of their deficits: 0 if all have the least load.
    pub shortfall: i64,
    /// The number of PEs or blocks without a vertex, besides those without capacity.
    pub empty: i64,
}

impl Loads {
    /// Loads of which nothing is known.
    pub fn unknown() -> Self {
        Self {
            least: VIEM_UNKNOWN,
            greatest: VIEM_UNKNOWN,
            bound: VIEM_UNKNOWN,
            overload: VIEM_UNKNOWN,
            below_half: VIEM_UNKNOWN,
            below_least: VIEM_UNKNOWN,
            shortfall: VIEM_UNKNOWN,
            empty: VIEM_UNKNOWN,
        }
    }
}

impl From<solve::Loads> for Loads {
    fn from(loads: solve::Loads) -> Self {
        Self {
            least: loads.least,
            greatest: loads.greatest,
            bound: loads.bound,
            overload: loads.total_overload(),
            below_half: loads.below_half as i64,
            below_least: loads.below_least as i64,
            shortfall: loads.shortfall,
            empty: loads.empty as i64,
        }
    }
}

/// The vertices that have moved; VIEM_UNKNOWN where nothing is known.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Migration {
    /// Their number.
    pub vertices: i64,
    /// Their weight.
    pub weight: i64,
}

impl Migration {
    /// A migration of which nothing is known.
    pub fn unknown() -> Self {
        Self { vertices: VIEM_UNKNOWN, weight: VIEM_UNKNOWN }
    }
}

impl From<partition::Migration> for Migration {
    fn from(migration: partition::Migration) -> Self {
        Self { vertices: migration.vertices as i64, weight: migration.weight }
    }
}

/// The report of a result, in the words of the report of the library; VIEM_UNKNOWN where nothing is known.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// J: the sum of weight times distance over all edges, each counted in both directions. Of a partition, the cut.
    pub cost: i64,
    /// J where process `i` is on the `i`-th PE.
    pub cost_of_identity: i64,
    /// J of the mapping that the run started from.
    pub cost_of_start: i64,
    /// A proven lower bound on J of a quadratic assignment problem.
    pub lower_bound: i64,
    /// The weight of the edges between vertices of different PEs or blocks, each counted once.
    pub cut: i64,
    /// The loads of the PEs or blocks.
    pub loads: Loads,
    /// The number of PEs or blocks whose vertices are not connected by edges between them.
    pub in_pieces: i64,
    /// The vertices that have moved.
    pub migration: Migration,
    /// Time of the run.
    pub seconds: f64,
    /// 1 if the progress function ended the run, or a time limit a run that would have ended by itself; else 0.
    pub stopped: i32,
    /// 1 if no result has a lower cost, else 0, which says nothing.
    pub optimal: i32,
}

impl Report {
    /// Returns a report in which only a cost is known.
    pub fn of_cost(cost: Cost) -> Self {
        Self {
            cost,
            cost_of_identity: VIEM_UNKNOWN,
            cost_of_start: VIEM_UNKNOWN,
            lower_bound: VIEM_UNKNOWN,
            cut: VIEM_UNKNOWN,
            loads: Loads::unknown(),
            in_pieces: VIEM_UNKNOWN,
            migration: Migration::unknown(),
            seconds: 0.0,
            stopped: 0,
            optimal: 0,
        }
    }
}

impl From<&viem::Report> for Report {
    fn from(report: &viem::Report) -> Self {
        Self {
            cost_of_identity: report.cost_of_identity,
            cost_of_start: report.cost_of_start.unwrap_or(VIEM_UNKNOWN),
            cut: report.cut,
            loads: report.loads.map_or_else(Loads::unknown, Loads::from),
            in_pieces: report.in_pieces.map_or(VIEM_UNKNOWN, |count| count as i64),
            migration: report.migration.map_or_else(Migration::unknown, Migration::from),
            seconds: report.seconds.total,
            stopped: report.stopped.into(),
            ..Self::of_cost(report.cost)
        }
    }
}

impl Mapping {
    pub(crate) fn new(inner: viem::Mapping, num_pes: usize, report: Report) -> Self {
        Self { inner, num_pes, report }
    }

    /// A mapping of which nothing is known.
    fn unknown(pe_of: Vec<PeId>, num_pes: usize) -> Result<Self, Error> {
        Ok(Self::new(viem::Mapping::many(num_pes, pe_of)?, num_pes, Report::of_cost(VIEM_UNKNOWN)))
    }

    /// # Safety
    ///
    /// As for [`viem_mapping_new32`].
    unsafe fn from_c<I: Copy + Display + TryInto<PeId>>(
        num_pes: i64,
        num_processes: i64,
        pe_of: *const I,
    ) -> Result<Self, Error> {
        let num_pes = count("num_pes", num_pes)?;
        // SAFETY: the caller's promise.
        let pe_of = unsafe { array("pe_of", pe_of, count("num_processes", num_processes)?) }?;
        let pe = |(process, &pe): (usize, &I)| {
            pe.try_into().map_err(|_| {
                let message = format!("process {process} is on PE {pe}, but the PEs are 0..{num_pes}");
                Error::entry(Status::BadData, process, message)
            })
        };
        Self::unknown(pe_of.iter().enumerate().map(pe).collect::<Result<_, _>>()?, num_pes)
    }

    /// # Safety
    ///
    /// As for [`viem_mapping_copy32`].
    unsafe fn copy<I: TryFrom<PeId>>(&self, num_processes: i64, pe_of: *mut I) -> Result<(), Error> {
        let (found, expected) = (count("num_processes", num_processes)?, self.inner.num_processes());
        if found != expected {
            return Err(Error::usage(format!(
                "the array has {found} entries, the mapping {expected} processes"
            )));
        }
        let pes = self.inner.pes();
        // With the greatest PE, all of them fit.
        if let Some(&pe) = pes.iter().max().filter(|&&pe| I::try_from(pe).is_err()) {
            return Err(Error::usage(format!(
                "PE {pe} does not fit the entries of the array; use viem_mapping_copy64"
            )));
        }
        // SAFETY: the caller's promise.
        let pe_of = unsafe { array_mut("pe_of", pe_of, expected) }?;
        for (entry, &pe) in pe_of.iter_mut().zip(pes) {
            if let Ok(pe) = I::try_from(pe) {
                *entry = pe;
            }
        }
        Ok(())
    }
}

/// Makes a mapping from the PE (or block) of each process (or vertex), which are copied. Any number of processes may be on a PE.
///
/// - `num_pes`: the number of PEs
/// - `num_processes`: the length of `pe_of`
/// - `pe_of`: entries from 0 to `num_pes - 1`
/// - `mapping`: gets the mapping, which `viem_mapping_free` frees; null on failure
///
/// # Safety
///
/// The array has this length. It does not change during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_new32(
    num_pes: i64,
    num_processes: i64,
    pe_of: *const i32,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's promise is the same.
    create(("mapping", mapping), error, || unsafe { Mapping::from_c(num_pes, num_processes, pe_of) })
}

/// The same for entries of 64 bits.
///
/// # Safety
///
/// As for `viem_mapping_new32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_new64(
    num_pes: i64,
    num_processes: i64,
    pe_of: *const i64,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's promise is the same.
    create(("mapping", mapping), error, || unsafe { Mapping::from_c(num_pes, num_processes, pe_of) })
}

/// Reads a mapping or a partition: a file with one number a line, the PE or block of each process or vertex.
///
/// - `path`: the name of the file, in UTF-8
/// - `num_pes`: the number of PEs or blocks, at least 1
/// - `num_processes`: the number of lines
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_read(
    path: *const c_char,
    num_pes: i64,
    num_processes: i64,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("mapping", mapping), error, || {
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        let (num_pes, num_processes) = (count("num_pes", num_pes)?, count("num_processes", num_processes)?);
        check_memory(12 * num_pes as u128 + 4 * num_processes as u128)?;
        let room = io::mapping::Room::new(num_pes, &|_| u32::MAX);
        Mapping::unknown(io::mapping::read(Source::open(Path::new(path))?, num_processes, room)?, num_pes)
    })
}

/// Writes the PE or block of each process or vertex to a file, one a line; whole or not at all.
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_write(
    mapping: Option<&Mapping>,
    path: *const c_char,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        let mapping = given("mapping", mapping)?;
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        Ok(write(Path::new(path), &|out| io::mapping::write(out, mapping.inner.pes()))?)
    })
}

/// Number of processes or vertices; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_mapping_num_processes(mapping: Option<&Mapping>) -> i64 {
    mapping.map_or(0, |mapping| mapping.inner.num_processes() as i64)
}

/// Number of PEs, blocks or places that there are, used or not; 0 for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_mapping_num_pes(mapping: Option<&Mapping>) -> i64 {
    mapping.map_or(0, |mapping| mapping.num_pes as i64)
}

/// The PE, block or place of each process, without a copy. Valid until the mapping is freed; null for null.
#[unsafe(no_mangle)]
pub extern "C" fn viem_mapping_pes(mapping: Option<&Mapping>) -> *const u32 {
    mapping.map_or(std::ptr::null(), |mapping| mapping.inner.pes().as_ptr())
}

/// Copies the PE, block or place of each process.
///
/// - `num_processes`: the length of `pe_of`, that of the mapping
///
/// # Safety
///
/// The array has this length. It is not in use elsewhere during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_copy32(
    mapping: Option<&Mapping>,
    num_processes: i64,
    pe_of: *mut i32,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's promise is the same.
    call(error, || unsafe { given("mapping", mapping)?.copy(num_processes, pe_of) })
}

/// The same for entries of 64 bits.
///
/// # Safety
///
/// As for `viem_mapping_copy32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_copy64(
    mapping: Option<&Mapping>,
    num_processes: i64,
    pe_of: *mut i64,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's promise is the same.
    call(error, || unsafe { given("mapping", mapping)?.copy(num_processes, pe_of) })
}

/// The report of the run that made a mapping. Of one that was given or read, nothing is known.
///
/// # Safety
///
/// `report` leads to memory for a report.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_report(
    mapping: Option<&Mapping>,
    report: *mut Report,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's promise is the same.
    call(error, || Ok(unsafe { put("report", report, given("mapping", mapping)?.report) }?))
}

/// Frees a mapping. Null is ignored.
///
/// # Safety
///
/// The mapping is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_mapping_free(mapping: *mut Mapping) {
    // SAFETY: the caller's promise is the same.
    unsafe { free(mapping) };
}
