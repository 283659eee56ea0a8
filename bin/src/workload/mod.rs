//! What the programs share about workloads: how their instructions run, and how they are simulated.

mod costs;
mod simulation;

pub(crate) use costs::CostOptions;
pub(crate) use simulation::{SimulationOptions, SimulationReport, tell_simulation, write_trace};

use crate::console::Console;
use viem_io::Source;
use viem_workload::{Workload, text};

/// Whether a source is a workload; it stays to be read.
pub(crate) fn is_workload(source: &mut Source<'_>) -> bool {
    text::is_workload(&source.start())
}

/// Prints how large a workload is.
pub(crate) fn tell_program(console: Console, program: &Workload) {
    console.line(format_args!(
        "workload has {} tasks, {} messages, {} flits",
        program.num_tasks(),
        program.num_messages(),
        program.num_flits()
    ));
}
