//! Assignments, scored.

use std::path::Path;

use serde::Serialize;

use super::options::Options;
use super::problem::{Problem, gap, print_gap};
use crate::end::End;
use crate::error::Result;
use crate::files;
use crate::job::{Plan, end_of_lines};
use crate::report;
use crate::summary::Summary;
use viem::base::text::counted;
use viem::base::types::Cost;
use viem::mapping::Mapping;
use viem::qap::lower_bound;

/// What is known of an assignment, as written to `--json`.
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

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    score: String,
}

/// Scores an assignment.
pub(super) fn score(options: &Options, assignment: &Path) -> Result<End> {
    let job = Plan::new(vec![&options.file, assignment], [])?.start(&options.report)?;
    let console = job.console;
    let problem = Problem::read(&options.file, console)?;
    let qap = &problem.qap;
    console.line(format_args!("problem: {}", counted(qap.size(), "object", "objects")));
    let mapping = problem.assignment(assignment, console)?;
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
    let mut summary = Summary::new("identity", "assignment");
    summary.change("J", score.cost_of_identity, cost);
    summary.print(console);
    if let Some(bound) = lower_bound {
        console.line(format_args!("no assignment has a J below {bound}"));
    }
    print_gap(console, known, score.gap_percent);
    problem.check_claims(&options.file, cost, lower_bound, console);
    let named = JsonOptions { score: files::name(assignment) };
    let report = report::of_verb("qap", options.file.as_path(), named, score);
    job.publish(&|out| report.write(out), &[], None)?;
    end_of_lines()
}
