//! Workloads, or their communication graphs, as results.

use std::path::Path;

use serde::Serialize;

use crate::audit::MODEL;
use crate::end::End;
use crate::error::Result;
use crate::job::Job;
use crate::report;
use crate::summary::{PROCESSES, size};
use crate::workload::{JsonProgram, print_program};
use viem_io as io;
use viem_io::output::{Content, OutputId};
use viem_workload::{Workload, text};

/// What was made, as written to `--json`.
#[derive(Serialize)]
struct JsonMade {
    #[serde(flatten)]
    program: JsonProgram,
    /// Edges of the communication graph.
    num_edges: usize,
}

/// A workload that is written, or whose graph is.
pub(crate) struct Made<'a, O> {
    job: &'a Job<'a>,
    verb: &'static str,
    input: Option<&'a Path>,
    program: &'a Workload,
    /// The options that decide the result.
    options: O,
    seed: Option<u64>,
}

impl<'a, O: Serialize> Made<'a, O> {
    /// A workload that a verb makes of an input and of options.
    pub(crate) fn by(
        verb: &'static str,
        (input, options): (Option<&'a Path>, O),
        job: &'a Job<'a>,
        program: &'a Workload,
    ) -> Self {
        Self { job, verb, input, program, options, seed: None }
    }

    /// The same with random choices.
    pub(crate) fn seeded(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// Writes the workload or its graph, and the report.
    pub(crate) fn publish(&self, output: OutputId, is_workload: bool) -> Result<End> {
        let Self { job, verb, input, program, ref options, seed } = *self;
        print_program(job.console, program);
        let graph = program.graph();
        let made = JsonMade { program: JsonProgram::of(program), num_edges: graph.num_edges() };
        let report = report::of_verb(verb, input, options, made).seeded(seed);
        let contents: [Content<'_>; 1] = [(Some(output), &|out| match is_workload {
            true => text::write(out, program),
            false => io::metis::write(out, &graph, MODEL),
        })];
        job.publish(&|out| report.write(out), &contents, None)?;
        let name = job.name(output);
        if is_workload {
            job.console.line(format_args!("workload written to {name}"));
        } else {
            let size = size(&graph, PROCESSES);
            job.console.line(format_args!("graph of {size} written to {name}"));
        }
        Ok(End::Done)
    }
}
