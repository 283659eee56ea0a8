//! A search for an assignment.

use std::path::Path;

use serde::Serialize;

use super::options::Options;
use super::problem::{OutputFormat, Problem, gap, gap_in_words, print_gap};
use crate::console::Console;
use crate::end::End;
use crate::error::Result;
use crate::files;
use crate::fixed::{Fixed, JsonFixed};
use crate::job::{Job, Plan, end};
use crate::progress::Progress;
use crate::report;
use crate::signals::{First, StopAtSignal};
use crate::summary::Summary;
use viem::base::observer::{Observer, Phase};
use viem::base::text::counted;
use viem::base::types::Cost;
use viem::qap::{QapConfig, QapMachine, QapRequest, QapSolution};
use viem::solve::MapPreset;
use viem_io as io;
use viem_io::fixed::FixedKind;
use viem_io::mapping::Room;
use viem_io::output::{Content, OutputId, Staged};
use viem_io::qap_solution;
use viem_report::envelope::Envelope;
use viem_verify as verify;

/// The progress line of a search, with the gap to a known J.
struct Watcher {
    progress: Progress,
    known: Option<Cost>,
}

impl Observer for Watcher {
    fn begins(&self, _: Phase) {
        self.progress.show("improving the assignment");
    }

    fn reached(&self, cost: Cost) {
        let gap = self.known.and_then(|known| Some((known, gap(cost, known)?)));
        self.progress.show(match gap {
            Some((known, gap)) => {
                format!("improving the assignment, J = {cost}, {} {known}", gap_in_words(gap, 3))
            }
            None => format!("improving the assignment, J = {cost}"),
        });
    }
}

/// Solves a problem.
pub(super) fn solve(options: &Options) -> Result<End> {
    let (file, start) = (options.file.as_path(), options.initial.as_deref());
    let read_only: Vec<&Path> = [file].into_iter().chain(options.fixed.file()).collect();
    let mut plan = Plan::new(read_only, start)?;
    let output = plan.successor("--output", &options.output)?;
    let job = plan.start(&options.report)?;
    let console = job.console;
    if options.verify {
        job.check_verifiable(output)?;
    }
    let config = config(options)?;
    let problem = Problem::read(file, console)?;
    let start = start.map(|path| problem.assignment(path, console)).transpose()?;
    let size = problem.qap.size();
    let fixed = options.fixed.read(size, Room::plain(size), FixedKind::Objects)?;
    let (progress, received) = job.watch(First::AsksToStop, options.search.time.time_limit);
    console.detail(format_args!("io time: {:.6}", job.seconds()));
    console.line(format_args!("problem: {}", counted(size, "object", "objects")));
    fixed.iter().for_each(|fixed| fixed.print(console, "objects"));
    let machine = QapMachine::of(&problem.qap);
    machine.iter().for_each(|machine| note_machine(console, machine));
    let solution = {
        let watcher = Watcher { progress, known: problem.known(None) };
        let observer = StopAtSignal { observer: watcher, received: received.clone() };
        let fixed = fixed.as_ref().map(|fixed| &fixed.vertices);
        QapRequest::new(&problem.qap).start(start.as_ref()).fixed(fixed).observed(&observer).solve(&config)?
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
    print(console, &found);
    problem.check_claims(file, solution.cost, solution.lower_bound, console);
    let report = report::of_verb("qap", file, JsonOptions { preset: options.search.preset }, found);
    write(options, &job, output, (&solution, fixed.as_ref()), &report.seeded(config.seed))?;
    console.line(format_args!("assignment written to {}", job.name(output)));
    end(&received)
}

/// Writes assignment and report, once they are verified if that was asked for.
fn write(
    options: &Options,
    job: &Job<'_>,
    output: OutputId,
    (solution, fixed): (&QapSolution, Option<&Fixed>),
    report: &Envelope<JsonOptions, QapFound<'_>>,
) -> Result<()> {
    let written = solution.mapping.pes();
    let contents: [Content<'_>; 1] = [(Some(output), &|out| match options.format {
        OutputFormat::Mapping => io::mapping::write(out, written),
        OutputFormat::Sln => qap_solution::write(out, written, solution.cost),
    })];
    let audit = |staged: &Staged<'_>| match staged.path(output) {
        Some(written) => audit(&options.file, written, solution.cost, fixed, job.console),
        None => Ok(()),
    };
    job.publish(&|out| report.write(out), &contents, options.verify.then_some(&audit as _))
}

/// Audits the files: J, and the objects that are fixed.
fn audit(model: &Path, written: &Path, cost: Cost, fixed: Option<&Fixed>, console: Console) -> Result<()> {
    let (model, written) = (files::text(model)?, files::text(written)?);
    files::compare(verify::audit_qap(&model, &written)?, cost)?;
    console.line(format_args!("verified: J of the files is {cost} too"));
    fixed.map_or(Ok(()), |fixed| fixed.check_objects(&written, console))
}

/// Reports which matrix was recognised as a machine, and whether the problem is mapped to it.
fn note_machine(console: Console, QapMachine { matrix, machine, is_mapped, .. }: &QapMachine) {
    let consequence = match is_mapped {
        true => "to which the other matrix is mapped as a graph",
        false => "but the other matrix is too dense for a mapping to help",
    };
    console.note(format_args!("matrix {matrix} holds the distances of a {machine}, {consequence}"));
}

/// The settings of a run.
fn config(options: &Options) -> Result<QapConfig> {
    let mut config = QapConfig::preset(options.search.preset);
    config.seed = options.search.random.seed;
    config.threads = options.search.random.threads()?;
    config.time_limit = options.search.time.time_limit;
    config.target = options.target;
    config.validate()?;
    Ok(config)
}

/// Prints what was found.
fn print(console: Console, QapFound { solution, known, gap_percent, .. }: &QapFound<'_>) {
    console.detail(format_args!("time spent for mapping {:.6}", solution.seconds));
    report::print_stopped(console, solution.stopped, "assignment");
    let mut summary = Summary::new("identity", "assignment");
    summary.change("J", solution.cost_of_identity, solution.cost);
    summary.print(console);
    if solution.is_optimal {
        console.line(format_args!("proved optimal: no assignment has a lower J"));
    } else if let Some(bound) = solution.lower_bound {
        console.line(format_args!("no assignment has a J below {bound}"));
    }
    print_gap(console, *known, *gap_percent);
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    preset: MapPreset,
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
