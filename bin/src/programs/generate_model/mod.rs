//! `generate_model`: partitions an application graph and writes the quotient graph as a model, sums recorded
//! traffic into one, or computes that of a training job.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options, and which means something in which mode |
//! | `partition`, `speeds` | dividing a graph, and how much work each part takes |
//! | `many_to_one` | mapping a graph onto a machine |
//! | `application` | the graph that is divided or mapped, in any format |
//! | `traffic` | summing recorded traffic |
//! | `order` | workloads of the recorded order of messages, and of schedules |
//! | `workload` | generating workloads, and their communication graphs |
//! | `training` | the communication graphs and workloads of training jobs |
//! | `destination` | where the results go |
//! | `audit` | `--verify` |

mod application;
mod audit;
mod destination;
mod many_to_one;
pub(crate) mod options;
mod order;
mod partition;
mod speeds;
mod traffic;
mod training;
mod workload;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::error::{Result, UsageError};
use crate::exit::{self, End};
use crate::files;
use crate::given::Given;
use crate::modes::Mode;
use crate::workload::is_workload;
use destination::{Destination, Inputs};
use options::{Options, TABLE};
use partition::Parts;
use viem_io::{ContentError, ReadError, Reading, Source, readings};
use viem_traffic::{Format, TrafficFault, is_goal, is_order};

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    run(std::env::args_os().collect()).into()
}

/// Runs the program with a command line, whose first argument is its name; returns the exit code.
pub fn run(command_line: Vec<OsString>) -> u8 {
    exit::run(command_line, make)
}

fn make(options: &Options, given: &Given) -> Result<End> {
    check_sources(options)?;
    let machine = options.onto.machine();
    let inputs = Inputs::of(options, machine.as_ref());
    files::probe_inputs(&inputs.all)?;
    let to = Destination::plan(options, &inputs, given)?;
    let parts = Parts::of(options)?;
    if let Some(pattern) = &options.generator.generate {
        TABLE.refuse(Mode::Generator, given)?;
        return workload::generate(options, pattern, &to);
    }
    if options.training.parallel.is_some() {
        TABLE.refuse(Mode::Training, given)?;
        return match options.order.workload {
            true => training::workload(options, &to),
            false => training::model(&options.training, &to),
        };
    }
    let mut first = Source::open(&options.files[0])?;
    let mode = mode(options, &mut first)?;
    TABLE.refuse(mode, given)?;
    match mode {
        Mode::Workload => return workload::model(options, first, &to),
        Mode::Traffic => return traffic::sum(options, first, &to),
        Mode::Order => return order::workload(options, first, &to),
        _ => to.check_audit(&inputs)?,
    }
    let threads = crate::options::threads(options.threads)?;
    match machine {
        Some(machine) => many_to_one::Job { options, machine, threads, to: &to }.run(first),
        None => partition::Job { options, parts, threads, to: &to }.run(first),
    }
}

/// An error if more than one thing is to be made a model of.
fn check_sources(options: &Options) -> Result<(), UsageError> {
    let is_generated = options.generator.generate.is_some();
    let message = match (is_generated, options.training.parallel.is_some(), options.files.is_empty()) {
        (true, true, _) => "--generate and --parallel make a model each; leave one of them out",
        (true, _, false) => "--generate makes a workload and reads nothing; leave it or the files out",
        (_, true, false) => "--parallel makes a model and reads no graph; leave it or the files out",
        _ => return Ok(()),
    };
    Err(UsageError(message.to_owned()))
}

/// What is to be done with files, the first of which is open already.
fn mode(options: &Options, first: &mut Source<'_>) -> Result<Mode> {
    if is_workload(first) {
        return Ok(Mode::Workload);
    }
    let start = first.start();
    if is_order(&start) || options.order.workload && is_goal(&start) {
        return Ok(Mode::Order);
    }
    let is_divided = options.onto.is_given() || options.partition.is_given() || options.remap.is_given();
    let format = match options.traffic.from {
        Some(format) => Some(format),
        None => recognise(first, is_divided)?,
    };
    Ok(match format {
        Some(format) if !is_divided || !format.is_graph() => Mode::Traffic,
        _ => mode_of_graph(options),
    })
}

/// The only kind of recorded traffic that a file may be; an error if it may be several. A METIS graph is none, and where a graph is to
/// be divided, neither are lines of two to four numbers, which are a faulty one.
fn recognise(file: &mut Source<'_>, is_divided: bool) -> Result<Option<Format>> {
    let start = file.start();
    let readings = readings(&start, start.len() < Source::START);
    if readings.len() > 1 && readings.iter().any(|reading| reading.traffic_kind().is_some()) {
        let kind = ContentError::new(TrafficFault::Ambiguous { readings });
        return Err(ReadError::Invalid { file: file.name().to_owned(), line: 1, column: 1, kind }.into());
    }
    let Some(&reading) = readings.first() else { return Ok(None) };
    let format = Format::of_reading(reading);
    let is_faulty = |format: &Format| is_divided && reading == Reading::EDGES && !format.is_certain(&start);
    Ok(format.filter(|format| !is_faulty(format)))
}

/// What is to be done with an application graph.
fn mode_of_graph(options: &Options) -> Mode {
    let is_resumed = options.remap.is_given();
    if options.onto.is_given() {
        if is_resumed { Mode::Remapping } else { Mode::ManyToOne }
    } else if options.partition.index.is_some() {
        Mode::Index
    } else if is_resumed {
        Mode::Repartition
    } else {
        Mode::Partition
    }
}
