//! Assignments of quadratic assignment problems, scored.

use serde::Serialize;

use super::job::JsonOptions;
use super::options::{NAME, Options};
use crate::error::Result;
use crate::exit::End;
use crate::files;
use crate::given::Given;
use crate::qap::{Problem, gap, tell_gap};
use crate::report::JsonReport;
use viem::ground::types::Cost;
use viem::mapping::Mapping;
use viem::qap::lower_bound;
use viem_io::Outputs;

/// What the evaluator finds, as written to `--json`.
#[derive(Serialize)]
struct Score {
    num_objects: usize,
    cost: Cost,
    cost_of_identity: Cost,
    /// No J is below it, if it was computed.
    lower_bound: Option<Cost>,
    /// The J that the file names.
    known: Option<Cost>,
    gap_percent: Option<f64>,
}

/// Scores an assignment.
pub(super) fn score(options: &Options, given: &Given) -> Result<End> {
    let inputs = [options.file.as_path(), options.input_mapping.as_path()];
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = given.console(options.report.quiet, &outputs)?;
    let problem = Problem::read(&options.file, console)?;
    let qap = &problem.qap;
    console.line(format_args!("quadratic assignment problem of {} objects", qap.size()));
    console.line(format_args!("reading input mapping"));
    let mapping = problem.assignment(&options.input_mapping, console)?;
    let (cost, lower_bound) = (qap.cost(mapping.pes()), lower_bound(qap));
    let known = problem.known(lower_bound);
    let score = Score {
        num_objects: qap.size(),
        cost,
        cost_of_identity: qap.cost(Mapping::identity(qap.size()).pes()),
        lower_bound,
        known,
        gap_percent: known.and_then(|known| gap(cost, known)),
    };
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {cost}"));
    console.line(format_args!("J of the identity = {}", score.cost_of_identity));
    if let Some(bound) = lower_bound {
        console.line(format_args!("no assignment has a J below {bound}"));
    }
    tell_gap(console, known, score.gap_percent);
    problem.check_claims(&options.file, cost, lower_bound, console);
    let report = JsonReport::new(NAME, options.file.as_path(), JsonOptions::of(options), score);
    outputs.write(&[(json, &|out| report.write(out))])?;
    Ok(End::Done)
}
