//! What the verbs share about workloads: how their instructions run, and how they are simulated.

mod costs;
mod simulation;

pub(crate) use costs::{CostOptions, LinkOptions};
pub(crate) use simulation::{PhaseOptions, SimulationReport, print_simulation, write_trace};

use serde::Serialize;

use crate::console::Console;
use viem::base::text::counted;
use viem_io::Source;
use viem_workload::{Workload, text};

/// Whether a source is a workload; it stays to be read.
pub(crate) fn is_workload(source: &mut Source<'_>) -> bool {
    text::is_workload(&source.start())
}

/// The size of a workload, as written to `--json`.
#[derive(Serialize)]
pub(crate) struct JsonProgram {
    tasks: usize,
    messages: u64,
    flits: u64,
}

impl JsonProgram {
    pub(crate) fn of(program: &Workload) -> Self {
        Self { tasks: program.num_tasks(), messages: program.num_messages(), flits: program.num_flits() }
    }
}

/// Prints how large a workload is.
pub(crate) fn print_program(console: Console, program: &Workload) {
    console.line(format_args!(
        "workload has {}, {}, {}",
        counted(program.num_tasks(), "task", "tasks"),
        counted(program.num_messages(), "message", "messages"),
        counted(program.num_flits(), "flit", "flits")
    ));
}
