//! `viem`: maps the processes of a model to the PEs of a machine.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options, and which means something in which mode |
//! | `one_to_one` | mappings that give each process a place of its own |
//! | `many_to_one` | mappings that put many vertices on a PE |
//! | `workload` | mappings of workloads |
//! | `qap` | quadratic assignment problems |
//! | `experts` | placements of experts |
//! | `keep` | groups of processes that must share a node |
//! | `goal` | GOAL schedules whose ranks are named as mapped |
//! | `job` | what they share: what is read, and where the results go |
//! | `first_mapping` | how the first mapping is made |
//! | `neighbourhood` | how a mapping is improved by exchanges |

mod experts;
mod first_mapping;
pub(crate) mod goal;
mod job;
mod keep;
mod many_to_one;
mod neighbourhood;
mod one_to_one;
pub(crate) mod options;
mod qap;
mod workload;

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Instant;

use crate::error::{Result, UsageError};
use crate::exit::{self, End};
use crate::files;
use crate::given::Given;
use crate::modes::Mode;
use job::{Inputs, Job, Places};
use options::{Options, TABLE};
use viem::PreparedMachine;
use viem::ground::threads;
use viem::machine::Machine;
use viem_io::{Outputs, Source};

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    run(std::env::args_os().collect()).into()
}

/// Runs the program with a command line, whose first argument is its name; returns the exit code.
pub fn run(command_line: Vec<OsString>) -> u8 {
    exit::run(command_line, map)
}

fn map(options: &Options, given: &Given) -> Result<End> {
    if let Some(experts) = options.experts.experts {
        TABLE.refuse(Mode::Experts, given)?;
        return experts::place(options, experts, given);
    }
    if crate::qap::is_problem(&options.file, options.input_format, &options.machine) {
        TABLE.refuse(Mode::Qap, given)?;
        return qap::map(options, given);
    }
    let started = Instant::now();
    let inputs = Inputs::of(options);
    files::probe_inputs(&inputs.all)?;
    let mut outputs = Outputs::new();
    let places = Places::plan(options, &inputs, &mut outputs)?;
    let console = given.console(options.report.quiet, places.outputs)?;
    let threads = crate::options::threads(options.threads)?;
    let machine = threads::run(threads, || options.machine.build(console))??;
    let machine = options.sharing.weigh(machine)?;
    let machine = machine.as_ref();
    let config = options.config(machine, places.is_file())?;
    options.sharing.balance()?;
    let prepared = &PreparedMachine::new(machine);
    let job = Job { options, started, machine, prepared, config, places, console };
    let mut source = Source::open(&options.file)?;
    if crate::workload::is_workload(&mut source) {
        TABLE.refuse(Mode::Workload, given)?;
        return workload::map(job, source);
    }
    let (graph, is_many_to_one) = options.sharing.read(source, machine, threads, console)?;
    let mode = match (is_many_to_one, options.remap.is_given()) {
        (false, _) => Mode::OneToOne,
        (true, false) => Mode::ManyToOne,
        (true, true) => Mode::Remapping,
    };
    if let Some(shortage) = shortage(graph.num_nodes(), machine) {
        if given.has("launch") {
            return Err(UsageError(format!(
                "--launch is for one-to-one mappings and workloads, but {shortage}"
            ))
            .into());
        }
        // Other machines have fewer PEs than there are vertices because their users want it so.
        if machine.located().is_some_and(|located| located.slurm_job().is_some()) {
            console.note(format_args!("{shortage}"));
        }
    }
    TABLE.refuse(mode, given)?;
    options.first.check()?;
    if is_many_to_one { many_to_one::map(job, &graph) } else { one_to_one::map(job, &graph) }
}

/// What to do if a machine has not enough room for so many processes, each on a PE of its own.
fn shortage(processes: usize, machine: &dyn Machine) -> Option<String> {
    let room = machine.room();
    if processes as u64 <= room {
        return None;
    }
    let job = machine.located().and_then(|located| located.slurm_job());
    let (from, remedy) = match job.and_then(|job| job.ranks_from.as_deref()) {
        Some(from) => (
            format!(" in the Slurm job ({from})"),
            format!("ask Slurm for {processes} tasks, or give ranks= (slurm:ranks=4 for 4 on each node)"),
        ),
        None => (
            String::new(),
            "take a machine with a processing element for each process, or make a model by generate_model --machine and map that"
                .to_owned(),
        ),
    };
    Some(format!("the model has {processes} processes, and there is room for {room}{from}: {remedy}"))
}
