//! Workloads: generated, or their communication graphs written.

use std::path::PathBuf;

use serde::Serialize;

use super::destination::{Destination, WEIGHTS};
use super::options::{GeneratorOptions, NAME, Options};
use crate::error::{Result, UsageError};
use crate::exit::End;
use crate::progress::Progress;
use crate::report::JsonReport;
use crate::signals::{self, First};
use crate::workload::{JsonProgram, tell_program};
use viem_io as io;
use viem_io::Source;
use viem_io::output::Fill;
use viem_workload::generate::{self, Pattern, Size};
use viem_workload::{Workload, text};

/// What was made, as written to `--json`.
#[derive(Serialize)]
struct Made {
    #[serde(flatten)]
    program: JsonProgram,
    /// Edges of the communication graph.
    num_edges: usize,
}

/// Writes a workload of a pattern.
pub(super) fn generate(
    options: &Options,
    (pattern, lengths): &(Pattern, Vec<u32>),
    to: &Destination,
) -> Result<End> {
    let &GeneratorOptions { rounds, flits, cycles, shuffle, .. } = &options.generator;
    let mut program = generate::workload(*pattern, lengths, Size::new(rounds, flits, cycles), options.seed)?;
    if shuffle {
        program = generate::shuffled(&program, options.seed);
    }
    write(options, &program, &|out| text::write(out, &program), to)
}

/// Writes the communication graph of a workload.
pub(super) fn model(options: &Options, source: Source<'_>, to: &Destination) -> Result<End> {
    if options.files.len() > 1 {
        return Err(UsageError("a model is made of one workload".to_owned()).into());
    }
    let progress = Progress::new(options.report.quiet);
    signals::listen(&progress, First::Ends);
    let program = text::read(source)?;
    let graph = program.graph();
    write(options, &program, &|out| io::metis::write(out, &graph, WEIGHTS), to)
}

/// Writes a workload or what is made of it, and the report.
pub(super) fn write(
    options: &Options,
    program: &Workload,
    content: Fill<'_>,
    to: &Destination,
) -> Result<End> {
    tell_program(to.console, program);
    let made = Made { program: JsonProgram::of(program), num_edges: program.graph().num_edges() };
    let report = JsonReport::new(NAME, options.files.first().map(PathBuf::as_path), (), made);
    to.outputs.write(&[(Some(to.model), content), (to.json, &|out| report.write(out))])?;
    to.console.line(format_args!("written to {}", to.outputs.name(to.model)));
    Ok(End::Done)
}
