//! Placements of experts, scored.

use std::path::Path;

use serde::Serialize;

use super::options::Options;
use super::rows::{self, Moves, Rows, Scored};
use crate::end::End;
use crate::error::Result;
use crate::files;
use crate::job::{Plan, end_of_lines};
use crate::machine;
use crate::report;
use crate::verb::Form;
use viem_io::Source;
use viem_training::experts::{ExpertId, score_experts, text};

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    experts: ExpertId,
    token_bytes: u64,
    score: String,
}

/// Scores a placement of the experts of a trace.
pub(super) fn score(options: &Options, placement: &Path) -> Result<End> {
    let read_only = [options.read_only(), vec![placement]].concat();
    let job = Plan::new(read_only, options.previous.as_deref())?.start(&options.report)?;
    let console = job.console;
    let machine = options.machine.build(console)?;
    let machine = machine.as_ref();
    let (name, experts) = (files::name(placement), options.trace.experts);
    let routing = rows::read(&options.trace, console)?.routing;
    machine::print(console, Form::Verb, machine);
    let placement = text::read_placement(Source::open(placement)?, experts)?;
    let moved = |path: &Path| -> Result<Moves> {
        let old = text::read_placement(Source::open(path)?, experts)?;
        old.check_old(&routing, &placement.copies())?;
        Ok(Moves::new(path, None, placement.moved_from(&old, machine.num_pes())))
    };
    let remap = options.previous.as_deref().map(moved).transpose()?;
    let score = score_experts(&routing, &placement, machine)?;
    let named = JsonOptions { experts, token_bytes: options.trace.token_bytes, score: name.clone() };
    let rows = Rows::new(&options.trace, (&routing, machine), &placement.copies(), (name, &score))?;
    rows.print(console);
    if let Some(remap) = &remap {
        remap.print(console, &placement);
    }
    let scored = Scored::new(&routing, &placement, remap, rows);
    let report = report::of_verb("experts", options.trace.file.as_path(), named, scored);
    let report = report.on(options.machine.report(machine));
    job.publish(&|out| report.write(out), &[], None)?;
    end_of_lines()
}
