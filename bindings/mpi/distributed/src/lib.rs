//! Distributed graphs for C: the functions that the C part of `libviem_dist` calls.
//!
//! The C part, `distributed.c`, has the functions of `viem_dist.h` and all calls of MPI, so this is compiled once for any number of MPIs. Errors, machines,
//! settings and reports are those of `viem.h`, and all of `libviem` is linked in with them.
//!
//! - `comm`: the operations of MPI, as functions of C
//! - `arguments`: the arrays of a rank, checked and copied
//! - `environment`: settings and machines of stand-ins
//! - `refused`: the error of one rank
//!
//! A fault on one rank is returned on all.
#![allow(unsafe_code)] // a foreign interface

mod arguments;
mod comm;
mod environment;
mod refused;

use std::ffi::c_char;

use viem::solve::{Balance, LoadLimits};
use viem_c::error::{Error, Status, call_of_other};
use viem_c::machine::Machine;
use viem_c::mapping::{Loads, Migration, Report, VIEM_UNKNOWN};
use viem_c::partition::{block_count, migration_weight_of};
use viem_c::settings::{Settings, or_default};
use viem_distributed::alike;
use viem_distributed::comm::Comm;
use viem_distributed::error::{DistError, agree};
use viem_distributed::graph::DistGraph;
use viem_distributed::guard::guarded;
use viem_distributed::rounds::Rounds;
use viem_distributed::solve::{DistConfig, DistSolution, Given, Goal, Old, divide};
use viem_ffi::{put, text};

pub use arguments::{Arguments, Graph};
pub use comm::{Mpi, Operations};
pub use refused::Refused;

use arguments::Part;

/// Partitions, maps or remaps a distributed graph.
///
/// # Safety
///
/// The operations work; the arguments are what `viem_dist.h` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn distributed_divide(
    operations: &Operations,
    arguments: &Arguments,
    error: *mut *mut Error,
) -> Status {
    let work = || {
        // SAFETY: the caller's promise.
        let comm = Rounds::new(unsafe { Mpi::new(*operations) });
        // SAFETY: the caller's promise.
        let solution = guarded(&comm, |comm| unsafe { run(comm, arguments) })?;
        // SAFETY: the caller's promise; the array was checked, and its length is that of the part.
        unsafe { arguments.put_blocks(&solution.blocks) }?;
        if !arguments.report.is_null() {
            // SAFETY: the caller's promise.
            unsafe { put("report", arguments.report, report(&solution)) }?;
        }
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { call_of_other(error, work) }
}

/// Refuses a call before it can communicate.
///
/// # Safety
///
/// The message ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn distributed_refuse(message: *const c_char, error: *mut *mut Error) -> Status {
    // SAFETY: the caller's promise, for both.
    unsafe { call_of_other(error, || Err(Error::usage(text("message", message)?))) }
}

/// The input of a rank.
struct Job<'a> {
    goal: Goal<'a>,
    part: Part,
    weight: f64,
    config: DistConfig,
    limits: Vec<LoadLimits<'a>>,
}

impl<'a> Job<'a> {
    /// # Safety
    ///
    /// As for [`distributed_divide`].
    unsafe fn new(arguments: &Arguments, rank: usize, size: usize) -> Result<Self, Error> {
        // SAFETY: the caller's promise, for both handles.
        let settings: &'a Settings = or_default(unsafe { arguments.settings.as_ref() });
        let config = config(settings)?;
        // SAFETY: as above.
        let machine: Option<&'a Machine> = unsafe { arguments.machine.as_ref() };
        let goal = match machine {
            Some(machine) => Goal::Pes(machine.inner()),
            None if arguments.needs_machine != 0 => {
                return Err(Error::usage("the argument `machine` must not be null"));
            }
            None => Goal::Blocks(block_count(arguments.num_blocks)?),
        };
        if arguments.remaps != 0 {
            migration_weight_of(arguments.migration_weight)?;
        }
        // SAFETY: the caller's promise.
        let part = unsafe { arguments.part(rank, size) }?;
        let limits = settings.limits_by_weight(part.rows.num_weights)?;
        Ok(Self { goal, part, weight: arguments.migration_weight, config, limits })
    }
}

fn config(settings: &Settings) -> Result<DistConfig, Error> {
    if let Some(name) = settings.not_distributed() {
        return Err(Error::usage(format!("distributed graphs have no {name}; leave that setting as it is")));
    }
    let mut config = DistConfig::preset(settings.map_preset());
    config.seed = settings.seed();
    config.threads = settings.threads();
    let Balance { imbalance, least_load, .. } = settings.balance();
    (config.imbalance, config.least_load) = (imbalance, least_load);
    Ok(config)
}

/// # Safety
///
/// As for [`distributed_divide`].
unsafe fn run(comm: &impl Comm, arguments: &Arguments) -> Result<DistSolution, DistError> {
    // SAFETY: the caller's promise.
    let job = unsafe { Job::new(arguments, comm.rank(), comm.size()) };
    let job = agree(comm, job.map_err(Refused::from))?;
    // All other values that must be the same are compared before the graph is divided.
    let starts = job.part.starts.iter().map(|&start| start as u64);
    let remaps = u64::from(job.part.old.is_some());
    alike::check(comm, &[("function", remaps), ("`vtxdist`", alike::digest(starts))])?;
    let Job { goal, part, weight, config, limits } = job;
    let Part { rows, old, fixed, .. } = part;
    let weight = agree(comm, migration_weight_of(weight).map_err(Refused::from))?;
    let graph = DistGraph::new(comm, rows)?;
    let old = old.as_deref().map(|blocks| Old { blocks, weight });
    let given = Given::default().with_old(old).with_fixed(fixed.as_deref()).with_limits(&limits);
    divide(comm, &graph, goal, given, &config)
}

fn report(solution: &DistSolution) -> Report {
    let (known, loads) = (&solution.report, &solution.report.loads);
    Report {
        cut: known.cut,
        loads: Loads {
            least: loads.of_blocks.iter().copied().min().unwrap_or(0),
            greatest: loads.of_blocks.iter().copied().max().unwrap_or(0),
            bound: loads.bounds.iter().copied().max().unwrap_or(0),
            overload: loads.overload,
            below_half: loads.below_half as i64,
            below_least: loads.below_least as i64,
            shortfall: loads.shortfall,
            ..Loads::unknown()
        },
        migration: Migration { weight: known.migration.unwrap_or(VIEM_UNKNOWN), ..Migration::unknown() },
        seconds: known.coarsening + known.dividing + known.refining,
        ..Report::of_cost(known.cost.unwrap_or(known.cut))
    }
}
