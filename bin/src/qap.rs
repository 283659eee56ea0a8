//! Quadratic assignment problems: what `viem` and `evaluator` do with a file of QAPLIB.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::console::Console;
use super::exit::{End, UsageError};
use super::machine::MachineOptions;
use super::progress::Progress;
use super::signals::{self, First, StopAtSignal};
use crate::viem::{NAME as VIEM, Options as MapOptions};
use crate::{evaluator, files, options};
use viem::ground::observer::{Observer, Phase};
use viem::ground::settings::named;
use viem::ground::types::Cost;
use viem::io::output::Content;
use viem::io::qaplib::{self, Qaplib};
use viem::io::{self, Outputs, Source, qap_solution};
use viem::mapping::Mapping;
use viem::qap::{Qap, QapConfig, QapMachine, QapSolution, lower_bound, solve_watched};
use viem_verify as verify;

named! {
    /// What a model is.
    pub enum ModelFormat: "format" {
        /// A METIS graph of processes.
        Metis = "metis",
        /// A quadratic assignment problem of QAPLIB.
        Qaplib = "qaplib",
    }
}

named! {
    /// How a mapping is written.
    pub enum OutputFormat: "format" {
        /// A number a line.
        Mapping = "mapping",
        /// A solution file of QAPLIB.
        Sln = "sln",
    }
}

/// Names of files that hold problems of QAPLIB, packed or not.
const ENDINGS: [&str; 4] = [".dat", ".qap", ".dat.gz", ".qap.gz"];

/// Whether the model is a quadratic assignment problem: it is said to be one, or its name says so and no machine is given.
pub(super) fn is_problem(
    model: &Path,
    format: Option<ModelFormat>,
    machine: &MachineOptions,
) -> Result<bool, UsageError> {
    let name = model.to_string_lossy().to_ascii_lowercase();
    let is_named = ENDINGS.iter().any(|ending| name.ends_with(ending));
    let is_problem = format.map_or(is_named && !machine.is_given(), |format| format == ModelFormat::Qaplib);
    if is_problem {
        machine.refuse(
            "is of a machine, and a quadratic assignment problem holds its own distances; leave it out",
        )?;
    }
    Ok(is_problem)
}

/// An error if an option is there that is for quadratic assignment problems only.
pub(super) fn refuse_options_of_problems(options: &MapOptions) -> Result<(), UsageError> {
    let given = [
        (options.target.is_some(), "--target"),
        (options.output_format != OutputFormat::Mapping, "--output_format=sln"),
    ];
    let why = "is for quadratic assignment problems (FILE.dat, FILE.qap, or --input_format=qaplib) only; leave it out";
    options::refuse(&given, why)
}

/// Why there is no use for options of what is mapped to machines.
const FOR_MACHINES: &str = "is for machines, not for quadratic assignment problems; leave it out";

/// A problem from a file, and what the file says of J.
struct Problem {
    qap: Qap,
    claimed: Vec<Cost>,
}

impl Problem {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let Qaplib { size, a, b, claimed } = qaplib::read(Source::open(path)?)?;
        Ok(Self { qap: Qap::from_matrices(size, a, b)?, claimed })
    }

    /// The least J that the file names and that no bound rules out.
    fn known(&self, lower_bound: Option<Cost>) -> Option<Cost> {
        let is_possible = |&claim: &Cost| lower_bound.is_none_or(|bound| bound <= claim);
        self.claimed.iter().copied().filter(is_possible).min()
    }

    /// An assignment from a file. A solution file holds the place of each object or the object on each place, whichever has the J
    /// that it claims.
    fn assignment(&self, path: &Path, console: Console) -> anyhow::Result<Mapping> {
        let file = qap_solution::read(Source::open(path)?, self.qap.size())?;
        let cost = self.qap.cost(&file.order);
        let Some(claimed) = file.claimed.filter(|&claimed| claimed != cost) else {
            return Ok(Mapping::new(file.order)?);
        };
        let mut inverse = vec![0; file.order.len()];
        for (object, &place) in file.order.iter().enumerate() {
            inverse[place as usize] = object as u32;
        }
        let cost_of_inverse = self.qap.cost(&inverse);
        if cost_of_inverse == claimed {
            return Ok(Mapping::new(inverse)?);
        }
        console.warn(format_args!(
            "{} claims J = {claimed}, but J is {cost} if it holds the place of each object, which is taken, and \
             {cost_of_inverse} if it holds the object on each place",
            files::name(path)
        ));
        Ok(Mapping::new(file.order)?)
    }
}

/// How far a J is above another, in percent, if that is above 0.
fn gap(cost: Cost, known: Cost) -> Option<f64> {
    (known > 0).then(|| 100.0 * (cost as f64 - known as f64) / known as f64)
}

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
            Some((known, gap)) => format!("improving the assignment, J = {cost}, {gap:.3} % above {known}"),
            None => format!("improving the assignment, J = {cost}"),
        });
    }
}

/// Solves a problem.
pub(super) fn map(options: &MapOptions) -> anyhow::Result<End> {
    let started = Instant::now();
    let (model, start) = (options.file.as_path(), options.input_mapping.as_deref());
    let inputs: Vec<&Path> = [model].into_iter().chain(start).collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let output = outputs.add(&options.output_filename, &[model])?;
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    let config = config(options, outputs.is_file(output))?;

    let problem = Problem::read(model)?;
    let start = start.map(|path| problem.assignment(path, console)).transpose()?;
    let progress = Progress::new(options.report.quiet);
    let received = signals::listen(&progress, First::AsksToStop);
    console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
    console.line(format_args!("quadratic assignment problem of {} objects", problem.qap.size()));
    let machine = QapMachine::of(&problem.qap);
    if let Some(QapMachine { matrix, machine, is_mapped, .. }) = &machine {
        let consequence = match is_mapped {
            true => "to which the other matrix is mapped as a graph",
            false => "but the other matrix is too dense for a mapping to help",
        };
        console.note(format_args!("matrix {matrix} holds the distances of a {machine}, {consequence}"));
    }
    let solution = {
        let watcher = Watcher { progress, known: problem.known(None) };
        let observer = StopAtSignal { observer: watcher, received: received.clone() };
        solve_watched(&problem.qap, &config, start.as_ref(), &observer)?
    };
    let report = JsonReport::new(options, &problem, &solution, config.with_threads(1), machine);
    tell(console, &report);
    let written = solution.mapping.as_slice();
    let contents: [Content<'_>; 2] = [
        (Some(output), &|out| match options.output_format {
            OutputFormat::Mapping => io::mapping::write(out, written),
            OutputFormat::Sln => qap_solution::write(out, written, solution.cost),
        }),
        (json, &|out| files::write_report(out, VIEM, &report)),
    ];
    let staged = outputs.stage(&contents)?;
    if let Some(written) = staged.path(output).filter(|_| options.verify) {
        let audited = verify::audit_qap(&files::text(model)?, &files::text(written)?)?;
        files::compare(audited, solution.cost)?;
        console.line(format_args!("verified: J of the files is {} too", solution.cost));
    }
    staged.publish()?;
    let place = outputs.name(output);
    console.line(format_args!(
        "identity {} -> {}; written to {place}",
        solution.cost_of_identity, solution.cost
    ));
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// The settings of a run. `is_file`: whether the assignment goes to a file of its own.
fn config(options: &MapOptions, is_file: bool) -> anyhow::Result<QapConfig> {
    if options.verify && (!is_file || io::is_stream(&options.file)) {
        let message = "--verify reads the files again, so none of them can be a stream; name files";
        return Err(UsageError(message.to_string()).into());
    }
    let given = [
        (options.distance_construction_algorithm.is_some(), "--distance_construction_algorithm"),
        (options.launch.is_given(), "--launch"),
        (options.picture.is_given(), "--picture"),
    ];
    options::refuse(&given, FOR_MACHINES)?;
    options.first.refuse(FOR_MACHINES)?;
    options.neighbourhood.refuse(FOR_MACHINES)?;
    options.direct.refuse(FOR_MACHINES)?;
    options.remap.refuse(FOR_MACHINES)?;
    options.programs.refuse(FOR_MACHINES)?;
    let mut config = QapConfig::preset(options.preconfiguration_mapping);
    config.seed = options.seed;
    config.threads = options::threads(options.threads)?;
    config.time_limit = options.time_limit;
    config.target = options.target;
    config.validate()?;
    Ok(config)
}

/// What was done, in lines for people.
fn tell(console: Console, report: &JsonReport) {
    console.line(format_args!("time spent for mapping {:.6}", report.seconds));
    if report.stopped {
        console.line(format_args!("stopped early: this is the best assignment found so far"));
    }
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost.search));
    if report.is_optimal {
        console.line(format_args!("proved optimal: no assignment has a lower J"));
    } else if let Some(bound) = report.lower_bound {
        console.line(format_args!("no assignment has a J below {bound}"));
    }
    tell_gap(console, report.known, report.gap_percent);
}

fn tell_gap(console: Console, known: Option<Cost>, gap: Option<f64>) {
    if let (Some(known), Some(gap)) = (known, gap) {
        console.line(format_args!("the file names J = {known}: {gap:.4} % above it"));
    }
}

/// What the program did, as written to `--json`.
#[derive(Serialize)]
struct JsonReport {
    model: String,
    n: usize,
    seed: u64,
    /// Every setting that decides the result.
    settings: QapConfig,
    #[serde(rename = "J")]
    cost: JsonCost,
    lower_bound: Option<Cost>,
    /// The machine whose distances one of both matrices holds.
    machine: Option<QapMachine>,
    #[serde(rename = "optimal")]
    is_optimal: bool,
    /// The J that the file names.
    known: Option<Cost>,
    gap_percent: Option<f64>,
    stopped: bool,
    seconds: f64,
}

#[derive(Serialize)]
struct JsonCost {
    identity: Cost,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_mapping: Option<Cost>,
    search: Cost,
}

impl JsonReport {
    fn new(
        options: &MapOptions,
        problem: &Problem,
        solution: &QapSolution,
        settings: QapConfig,
        machine: Option<QapMachine>,
    ) -> Self {
        let known = problem.known(solution.lower_bound);
        Self {
            model: files::name(&options.file),
            n: problem.qap.size(),
            seed: options.seed,
            settings,
            cost: JsonCost {
                identity: solution.cost_of_identity,
                input_mapping: solution.cost_of_start,
                search: solution.cost,
            },
            lower_bound: solution.lower_bound,
            machine,
            is_optimal: solution.is_optimal,
            known,
            gap_percent: known.and_then(|known| gap(solution.cost, known)),
            stopped: solution.stopped,
            seconds: solution.seconds,
        }
    }
}

/// What the evaluator finds, as written to `--json`.
#[derive(Serialize)]
struct Score {
    model: String,
    input_mapping: String,
    n: usize,
    #[serde(rename = "J")]
    cost: ScoredCost,
    /// No J is below it, if it was computed.
    lower_bound: Option<Cost>,
    /// The J that the file names.
    known: Option<Cost>,
    gap_percent: Option<f64>,
}

#[derive(Serialize)]
struct ScoredCost {
    mapping: Cost,
    identity: Cost,
}

/// Scores an assignment.
pub(super) fn score(options: &evaluator::Options) -> anyhow::Result<End> {
    let given = [(!options.compare.is_empty(), "--compare"), (options.picture.is_given(), "--picture")];
    options::refuse(&given, FOR_MACHINES)?;
    options.simulation.refuse(FOR_MACHINES)?;
    options.direct.refuse(FOR_MACHINES)?;
    let inputs = [options.file.as_path(), options.input_mapping.as_path()];
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    let problem = Problem::read(&options.file)?;
    let qap = &problem.qap;
    console.line(format_args!("quadratic assignment problem of {} objects", qap.size()));
    console.line(format_args!("reading input mapping"));
    let mapping = problem.assignment(&options.input_mapping, console)?;
    let (cost, lower_bound) = (qap.cost(mapping.as_slice()), lower_bound(qap));
    let known = problem.known(lower_bound);
    let score = Score {
        model: files::name(&options.file),
        input_mapping: files::name(&options.input_mapping),
        n: qap.size(),
        cost: ScoredCost { mapping: cost, identity: qap.cost(Mapping::identity(qap.size()).as_slice()) },
        lower_bound,
        known,
        gap_percent: known.and_then(|known| gap(cost, known)),
    };
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {cost}"));
    console.line(format_args!("J of the identity = {}", score.cost.identity));
    if let Some(bound) = lower_bound {
        console.line(format_args!("no assignment has a J below {bound}"));
    }
    tell_gap(console, known, score.gap_percent);
    outputs.write(&[(json, &|out| files::write_report(out, evaluator::NAME, &score))])?;
    Ok(End::Done)
}
