//! Quadratic assignment problems, solved.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::options::{NAME, Options};
use crate::console::Console;
use crate::error::Result;
use crate::exit::End;
use crate::fixed::{Fixed, JsonFixed};
use crate::given::Given;
use crate::progress::Progress;
use crate::qap::{OutputFormat, Problem, gap, gap_in_words, tell_gap};
use crate::report::JsonReport;
use crate::signals::{self, First, StopAtSignal};
use crate::{files, options};
use viem::ground::observer::{Observer, Phase};
use viem::ground::types::Cost;
use viem::qap::{QapConfig, QapMachine, QapRequest, QapSolution};
use viem::solve::MapPreset;
use viem_io as io;
use viem_io::fixed::FixedKind;
use viem_io::mapping::Room;
use viem_io::output::Content;
use viem_io::{Outputs, qap_solution};
use viem_verify as verify;

/// The progress line of a search, with the gap to a known J.
struct Watcher {
    progress: Progress,
    known: Option<Cost>,
}

impl Observer for Watcher {
    fn begins(&self, _: Phase) {
        self.progress.tell("improving the assignment");
    }

    fn reached(&self, cost: Cost) {
        let gap = self.known.and_then(|known| Some((known, gap(cost, known)?)));
        self.progress.tell(match gap {
            Some((known, gap)) => {
                format!("improving the assignment, J = {cost}, {} {known}", gap_in_words(gap, 3))
            }
            None => format!("improving the assignment, J = {cost}"),
        });
    }
}

/// Solves a problem.
pub(super) fn map(options: &Options, given: &Given) -> Result<End> {
    let started = Instant::now();
    let (model, start) = (options.file.as_path(), options.input_mapping.as_deref());
    let fixed = options.fixed.file();
    let inputs: Vec<&Path> = [model].into_iter().chain(start).chain(fixed).collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let read_only: Vec<&Path> = [model].into_iter().chain(fixed).collect();
    let output = outputs.add(&options.output_filename, &read_only)?;
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = given.console(options.report.quiet, &outputs)?;
    let config = config(options, outputs.is_file(output))?;

    let problem = Problem::read(model, console)?;
    let start = start.map(|path| problem.assignment(path, console)).transpose()?;
    let size = problem.qap.size();
    let fixed = options.fixed.read(size, Room::plain(size), FixedKind::Objects)?;
    let progress = Progress::new(options.report.quiet);
    let received = signals::listen(&progress, First::AsksToStop);
    console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
    console.line(format_args!("quadratic assignment problem of {} objects", problem.qap.size()));
    fixed.iter().for_each(|fixed| fixed.tell(console, "objects"));
    let machine = QapMachine::of(&problem.qap);
    if let Some(machine) = &machine {
        note_machine(console, machine);
    }
    let solution = {
        let watcher = Watcher { progress, known: problem.known(None) };
        let observer = StopAtSignal { observer: watcher, received: received.clone() };
        let fixed = fixed.as_ref().map(|fixed| &fixed.vertices);
        QapRequest::new(&problem.qap).start(start.as_ref()).fixed(fixed).solve(&config, &observer)?
    };
    let known = problem.known(solution.lower_bound);
    let found = QapFound {
        num_objects: size,
        settings: config.with_threads(1),
        solution: &solution,
        recognised: machine,
        known,
        gap_percent: known.and_then(|known| gap(solution.cost, known)),
        fixed: fixed.as_ref().map(Fixed::report),
    };
    tell(console, &found);
    let named = JsonOptions { preconfiguration_mapping: options.preconfiguration_mapping };
    let report = JsonReport::new(NAME, model, named, found).seeded(options.seed);
    problem.check_claims(model, solution.cost, solution.lower_bound, console);
    let written = solution.mapping.pes();
    let contents: [Content<'_>; 2] = [
        (Some(output), &|out| match options.output_format {
            OutputFormat::Mapping => io::mapping::write(out, written),
            OutputFormat::Sln => qap_solution::write(out, written, solution.cost),
        }),
        (json, &|out| report.write(out)),
    ];
    let staged = outputs.stage(&contents)?;
    if let Some(written) = staged.path(output).filter(|_| options.verify) {
        audit(model, written, solution.cost, fixed.as_ref(), console)?;
    }
    staged.publish()?;
    let place = outputs.name(output);
    console.line(format_args!(
        "identity {} -> {}; written to {place}",
        solution.cost_of_identity, solution.cost
    ));
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// Audits the files: J, and the objects that are fixed.
fn audit(model: &Path, written: &Path, cost: Cost, fixed: Option<&Fixed>, console: Console) -> Result<()> {
    let (model, written) = (files::text(model)?, files::text(written)?);
    files::compare(verify::audit_qap(&model, &written)?, cost)?;
    console.line(format_args!("verified: J of the files is {cost} too"));
    fixed.map_or(Ok(()), |fixed| fixed.check_objects(&written, console))
}

/// Says which matrix is a machine's, and what comes of that.
fn note_machine(console: Console, QapMachine { matrix, machine, is_mapped, .. }: &QapMachine) {
    let consequence = match is_mapped {
        true => "to which the other matrix is mapped as a graph",
        false => "but the other matrix is too dense for a mapping to help",
    };
    console.note(format_args!("matrix {matrix} holds the distances of a {machine}, {consequence}"));
}

/// The settings of a run. `is_file`: whether the assignment goes to a file of its own.
fn config(options: &Options, is_file: bool) -> Result<QapConfig> {
    if options.verify {
        let read = [options.file.as_path()].into_iter().chain(options.fixed.file());
        files::probe_verifiable(read, is_file)?;
    }
    let mut config = QapConfig::preset(options.preconfiguration_mapping);
    config.seed = options.seed;
    config.threads = options::threads(options.threads)?;
    config.time_limit = options.time_limit;
    config.target = options.target;
    config.validate()?;
    Ok(config)
}

/// What was done, in lines for people.
fn tell(console: Console, QapFound { solution, known, gap_percent, .. }: &QapFound<'_>) {
    console.line(format_args!("time spent for mapping {:.6}", solution.seconds));
    if solution.stopped {
        console.line(format_args!("stopped early: this is the best assignment found so far"));
    }
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", solution.cost));
    if solution.is_optimal {
        console.line(format_args!("proved optimal: no assignment has a lower J"));
    } else if let Some(bound) = solution.lower_bound {
        console.line(format_args!("no assignment has a J below {bound}"));
    }
    tell_gap(console, *known, *gap_percent);
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    preconfiguration_mapping: MapPreset,
}

/// What is known of the result.
#[derive(Serialize)]
struct QapFound<'a> {
    num_objects: usize,
    /// Every setting that decides the result.
    settings: QapConfig,
    #[serde(flatten)]
    solution: &'a QapSolution,
    /// The machine whose distances either matrix holds.
    recognised: Option<QapMachine>,
    /// The J that the file names.
    known: Option<Cost>,
    gap_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<JsonFixed>,
}
