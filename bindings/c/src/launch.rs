//! Files of launchers.
#![allow(unsafe_code)] // a foreign interface

use std::ffi::{CString, c_char};
use std::path::Path;

use viem_ffi::{array, count, put, put_if_wanted, text, write_launch};
use viem_io::Source;
use viem_io::mapping::Room;
use viem_launch as launch;
use viem_launch::{LauncherKind, placement};

use crate::error::{Error, Status, call, create, given, terminated};
use crate::machine::Machine;
use crate::mapping::{Mapping, Report, VIEM_UNKNOWN};

/// The launcher with this name.
///
/// # Safety
///
/// `name` ends with a zero byte.
unsafe fn kind(name: *const c_char) -> Result<&'static LauncherKind, Error> {
    // SAFETY: the caller's promise.
    let name = unsafe { text("launcher", name) }?;
    launch::kind(name).ok_or_else(|| {
        let names: Vec<&str> = launch::KINDS.iter().map(|kind| kind.name).collect();
        Error::usage(format!("no launcher is called `{name}`; there are {}", names.join(", ")))
    })
}

/// The number of files that a launcher needs: how many names `viem_launch_write` takes.
///
/// - `launcher`: its name, such as `slurm`; that of no launcher is refused by a message with all names
/// - `num_files`: gets the number
///
/// # Safety
///
/// `launcher` ends with a zero byte; `num_files` leads to an integer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_launch_num_files(
    launcher: *const c_char,
    num_files: *mut i64,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's promise.
    call(error, || Ok(unsafe { put("num_files", num_files, kind(launcher)?.files.len() as i64) }?))
}

/// Writes the files that start a job as it was mapped; all of them, each whole, or none.
///
/// - `launcher`: as for `viem_launch_num_files`
/// - `num_files`, `paths`: the names of its files, in UTF-8
/// - `command`: gets the command line, in which `./app` stands for the program; null if the launcher has none. `viem_string_free` frees it. May
///   be null
///
/// # Safety
///
/// There are as many names, and all texts end with zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_launch_write(
    launcher: *const c_char,
    machine: Option<&Machine>,
    mapping: Option<&Mapping>,
    num_files: i64,
    paths: *const *const c_char,
    command: *mut *mut c_char,
    error: *mut *mut Error,
) -> Status {
    call(error, || {
        // SAFETY: the caller's promise.
        unsafe { put_if_wanted(command, std::ptr::null_mut()) };
        // SAFETY: the caller's promise.
        let kind = unsafe { kind(launcher) }?;
        let (machine, mapping) = (given("machine", machine)?, given("mapping", mapping)?);
        // SAFETY: the caller's promise.
        let paths = unsafe { array("paths", paths, count("num_files", num_files)?) }?;
        if paths.len() != kind.files.len() {
            let (expected, found) = (kind.files.len(), paths.len());
            return Err(Error::usage(format!(
                "{} has {expected} files, but {found} names are given",
                kind.name
            )));
        }
        // SAFETY: the caller's promise.
        let paths = paths.iter().map(|&path| Ok(unsafe { text("paths", path) }?.to_owned()));
        let paths = paths.collect::<Result<Vec<String>, Error>>()?;
        let placed = viem::Mapping::on(&machine.inner, mapping.inner.pes().to_vec())?;
        let launch = kind.launch(&machine.inner, &placed, &paths)?;
        write_launch(&launch, &paths)?;
        let line = launch.line.map_or(std::ptr::null_mut(), |line| terminated(line).into_raw());
        if command.is_null() {
            // SAFETY: it was made just now.
            unsafe { viem_string_free(line) };
            return Ok(());
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { put("command", command, line) }?)
    })
}

/// Reads where the ranks of a job are from the file of a launcher: a rankfile, a host file or list, a rank order, or a plain mapping; its content
/// shows which.
///
/// - `path`: the name of the file, in UTF-8
/// - `machine`: the machine whose PEs it means
/// - `num_ranks`: the number of ranks
/// - `mapping`: gets the PE of each rank as a mapping, which `viem_mapping_free` frees; null on failure
///
/// # Safety
///
/// `path` ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_launch_read(
    path: *const c_char,
    machine: Option<&Machine>,
    num_ranks: i64,
    mapping: *mut *mut Mapping,
    error: *mut *mut Error,
) -> Status {
    create(("mapping", mapping), error, || {
        // SAFETY: the caller's promise.
        let path = unsafe { text("path", path) }?;
        let (machine, num_ranks) = (&given("machine", machine)?.inner, count("num_ranks", num_ranks)?);
        let capacity = |pe| machine.capacity(pe);
        let room = Room::new(machine.num_pes(), &capacity);
        let placement = placement::read(Source::open(Path::new(path))?, num_ranks, machine, room, None)?;
        let placed = viem::Mapping::on(machine, placement.pes)?;
        Ok(Mapping::new(placed, machine.num_pes(), Report::of_cost(VIEM_UNKNOWN)))
    })
}

/// Frees a text that the library has made. Null is ignored.
///
/// # Safety
///
/// The text was made by the library and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn viem_string_free(string: *mut c_char) {
    if !string.is_null() {
        // SAFETY: `terminated` made it, and the caller gives it back.
        drop(unsafe { CString::from_raw(string) });
    }
}
