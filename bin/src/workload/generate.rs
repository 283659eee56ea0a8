//! The part of `generate_model` that writes programs in time, or their communication graphs.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::tell_program;
use crate::console::Console;
use crate::exit::{End, UsageError};
use crate::options::ReportOptions;
use crate::progress::Progress;
use crate::signals::{self, First};
use crate::{files, generate_model};
use viem::io::output::{Fill, OutputId};
use viem::io::{self, Outputs, Source};
use viem::workload::generate::{self, Pattern, Size};
use viem::workload::{Workload, text};

/// How a program in time is generated.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case", next_help_heading = "Programs in time")]
pub(crate) struct GenerateOptions {
    /// Write a program in time instead of a model: ring:64, mesh:8x8, butterfly:64, tree:63, transpose:64 or random:200
    // No conflict with the files is told to clap, which would let pass --rounds and the like beside files.
    #[arg(long, value_name = "PATTERN:SIZE", value_parser = pattern)]
    pub(crate) generate: Option<(Pattern, Vec<u32>)>,

    /// Rounds of the program
    #[arg(long, default_value_t = Size::default().rounds, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    rounds: u64,

    /// Length of a message
    #[arg(long, default_value_t = Size::default().flits, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    flits: u64,

    /// Cycles of computation for each flit that is sent or received
    #[arg(long, default_value_t = Size::default().cycles, value_name = "INT", requires = "generate", value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    cycles: u64,

    /// Number the tasks at random
    #[arg(long, requires = "generate")]
    shuffle: bool,
}

/// Parses a pattern and its size.
fn pattern(text: &str) -> Result<(Pattern, Vec<u32>), String> {
    let fault = || {
        let names = Pattern::ALL.map(|pattern| pattern.name().to_owned());
        format!("a program is one of {} with its size, such as ring:64 or mesh:8x8", names.join(", "))
    };
    let (name, size) = text.split_once(':').ok_or_else(fault)?;
    let pattern: Pattern = name.parse().map_err(|_| fault())?;
    let lengths: Result<Vec<u32>, _> = size.split('x').map(str::parse).collect();
    Ok((pattern, lengths.map_err(|_| fault())?))
}

/// A program that is generated, or whose communication graph is written.
pub(crate) struct GenerateJob<'a> {
    pub(crate) options: &'a GenerateOptions,
    pub(crate) report: &'a ReportOptions,
    pub(crate) outputs: &'a Outputs,
    pub(crate) model: OutputId,
    pub(crate) json: Option<OutputId>,
    pub(crate) console: Console,
}

/// What was made, as written to `--json`.
#[derive(Serialize)]
struct GenerateReport {
    tasks: usize,
    messages: u64,
    flits: u64,
    /// Edges of the communication graph.
    m: usize,
}

impl GenerateJob<'_> {
    /// Writes a program of a pattern.
    pub(crate) fn generate(
        &self,
        (pattern, lengths): &(Pattern, Vec<u32>),
        seed: u64,
    ) -> anyhow::Result<End> {
        let &GenerateOptions { rounds, flits, cycles, shuffle, .. } = self.options;
        let size = Size::new(rounds, flits, cycles);
        let program = generate::workload(*pattern, lengths, size, seed);
        let mut program = program.map_err(|error| UsageError(error.to_string()))?;
        if shuffle {
            program = generate::shuffled(&program, seed);
        }
        self.write(&program, &|out| text::write(out, &program))
    }

    /// Writes the communication graph of a program.
    pub(crate) fn model(&self, source: Source<'_>, files: &[PathBuf]) -> anyhow::Result<End> {
        if files.len() > 1 {
            return Err(UsageError("a model is made of one program in time".to_owned()).into());
        }
        let progress = Progress::new(self.report.quiet);
        signals::listen(&progress, First::Ends);
        let program = text::read(source)?;
        let graph = program.graph();
        self.write(&program, &|out| io::metis::write(out, &graph, generate_model::WEIGHTS))
    }

    fn write(&self, program: &Workload, content: Fill<'_>) -> anyhow::Result<End> {
        tell_program(self.console, program);
        let report = GenerateReport {
            tasks: program.num_tasks(),
            messages: program.num_messages(),
            flits: program.num_flits(),
            m: program.graph().num_edges(),
        };
        self.outputs.write(&[
            (Some(self.model), content),
            (self.json, &|out| files::write_report(out, generate_model::NAME, &report)),
        ])?;
        self.console.line(format_args!("written to {}", self.outputs.name(self.model)));
        Ok(End::Done)
    }
}
