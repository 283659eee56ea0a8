//! Programs in time: how they are mapped, scored, simulated and generated.

mod generate;
mod map;
mod score;
mod simulation;

pub(super) use generate::{GenerateJob, GenerateOptions};
pub(super) use map::{MapJob, MapProgramOptions, map};
pub(super) use score::score;
pub(super) use simulation::{SimulationOptions, SimulationReport, tell_simulation, write_trace};

use clap::Args;

use super::console::Console;
use super::exit::UsageError;
use super::options;
use viem::io::Source;
use viem::workload::simulate::Costs;
use viem::workload::{Workload, text};

/// How a program in time runs.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Programs in time")]
pub(crate) struct ProgramOptions {
    /// Cycles of a SEND [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    send_cycles: Option<u64>,

    /// Cycles of a RECEIVE, once the message is there [default: 1]
    #[arg(long, value_name = "INT", value_parser = clap::value_parser!(u64).range(0..=Costs::MOST))]
    receive_cycles: Option<u64>,
}

impl ProgramOptions {
    fn costs(&self) -> Costs {
        let Costs { send, receive, .. } = Costs::default();
        Costs::new(self.send_cycles.unwrap_or(send), self.receive_cycles.unwrap_or(receive))
    }

    /// An error if one of these options is there.
    fn refuse(&self, why: &str) -> Result<(), UsageError> {
        let given = [
            (self.send_cycles.is_some(), "--send_cycles"),
            (self.receive_cycles.is_some(), "--receive_cycles"),
        ];
        options::refuse(&given, why)
    }
}

/// Whether a source is a program in time; it stays to be read.
pub(crate) fn is_program(source: &mut Source<'_>) -> bool {
    text::is_workload(&source.start())
}

fn tell_program(console: Console, program: &Workload) {
    console.line(format_args!(
        "program has {} tasks, {} messages, {} flits",
        program.num_tasks(),
        program.num_messages(),
        program.num_flits()
    ));
}
