//! Placements of experts, scored.

use std::path::Path;

use serde::Serialize;

use super::job::JsonOptions;
use super::options::{NAME, Options};
use crate::error::Result;
use crate::exit::End;
use crate::experts::{self, Moves, Rows, Scored};
use crate::files;
use crate::given::Given;
use crate::machine;
use crate::report::JsonReport;
use viem_io::{Outputs, Source};
use viem_training::experts::{ExpertId, score_experts, text};

/// The options that decide the result.
#[derive(Serialize)]
struct Named {
    experts: ExpertId,
    #[serde(flatten)]
    all: JsonOptions,
}

/// Scores a placement of the experts of a trace.
pub(super) fn score(options: &Options, experts: ExpertId, given: &Given) -> Result<End> {
    let inputs: Vec<&Path> = [&options.file, &options.input_mapping]
        .map(|path| path.as_path())
        .into_iter()
        .chain(options.machine.files())
        .chain(options.remap_from.as_deref())
        .collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = given.console(options.report.quiet, &outputs)?;
    let machine = options.machine.build(console)?;
    let machine = machine.as_ref();
    let routing = experts::read(&options.experts, &options.file, experts, console)?.routing;
    machine::tell(console, machine);
    let placement = text::read_placement(Source::open(&options.input_mapping)?, experts)?;
    let moved = |path: &Path| -> Result<Moves> {
        let old = text::read_placement(Source::open(path)?, experts)?;
        old.check_old(&routing, &placement.copies())?;
        Ok(Moves::new(path, None, placement.moved_from(&old, machine.num_pes())))
    };
    let remap = options.remap_from.as_deref().map(moved).transpose()?;
    let score = score_experts(&routing, &placement, machine)?;
    let name = files::name(&options.input_mapping);
    let rows = Rows::new(&options.experts, (&routing, machine), &placement.copies(), (name, &score))?;
    rows.tell(console);
    if let Some(remap) = &remap {
        remap.tell(console, &placement);
    }
    let scored = Scored::new(&routing, &placement, remap, rows);
    let named = Named { experts, all: JsonOptions::of(options) };
    let report = JsonReport::new(NAME, options.file.as_path(), named, scored);
    let report = report.on(options.machine.report(machine));
    outputs.write(&[(json, &|out| report.write(out))])?;
    Ok(End::Done)
}
