//! `evaluator`: scores a mapping.
//!
//! | member | what it holds |
//! |---|---|
//! | `options` | the options, and which means something in which mode |
//! | `graph` | mappings of graphs |
//! | `workload` | mappings of workloads |
//! | `qap` | assignments of quadratic assignment problems |
//! | `experts` | placements of experts |
//! | `job` | what they share: what is read, and where the results go |

mod experts;
mod graph;
mod job;
pub(crate) mod options;
mod qap;
mod workload;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use crate::compare::Other;
use crate::error::Result;
use crate::exit::{self, End};
use crate::files;
use crate::given::Given;
use crate::modes::Mode;
use job::Job;
use options::{Options, TABLE};
use viem_io::{Outputs, Source};

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    run(std::env::args_os().collect()).into()
}

/// Runs the program with a command line, whose first argument is its name; returns the exit code.
pub fn run(command_line: Vec<OsString>) -> u8 {
    exit::run(command_line, score)
}

fn score(options: &Options, given: &Given) -> Result<End> {
    if let Some(experts) = options.experts.experts {
        TABLE.refuse(Mode::Experts, given)?;
        return experts::score(options, experts, given);
    }
    if crate::qap::is_problem(&options.file, options.input_format, &options.machine) {
        TABLE.refuse(Mode::Qap, given)?;
        return qap::score(options, given);
    }
    let files = [options.file.as_path()].into_iter().chain(files::files_of_mapping(&options.input_mapping));
    let weights = options.sharing.pe_weights.as_deref();
    let others = options.compare.iter().filter_map(Other::file).chain(weights);
    let inputs: Vec<&Path> = files.chain(options.machine.files()).chain(others).collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let trace = options.simulation.add_to(&mut outputs, &inputs)?;
    let picture = options.picture.add_to(&mut outputs, &inputs)?;
    let console = given.console(options.report.quiet, &outputs)?;
    options.sharing.balance()?;
    let machine = options.sharing.weigh(options.machine.build(console)?)?;
    let job = Job { options, given, outputs: &outputs, json, trace, picture, console };
    let mut source = Source::open(&options.file)?;
    if crate::workload::is_workload(&mut source) {
        TABLE.refuse(Mode::Workload, given)?;
        workload::score(&job, source, machine.as_ref())
    } else {
        job.graph(source, machine.as_ref())
    }
}
