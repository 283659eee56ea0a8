//! `viem`: maps the processes of a model to the PEs of a machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use serde::Serialize;

use super::compare::PictureOptions;
use super::console::Console;
use super::direct::{self, DirectOptions};
use super::exit::{self, End, UsageError};
use super::files;
use super::first_mapping::{FirstOptions, FirstOrder, within};
use super::launch::{self, JobLaunch, JsonLaunch, LaunchOptions};
use super::machine::{self, JsonMachine, MachineOptions};
use super::map_directly::{Job, Places};
use super::neighbourhood::NeighbourhoodOptions;
use super::options::{self, ReportOptions, one_of};
use super::programs::{self, MapJob, MapProgramOptions};
use super::progress::Progress;
use super::qap::{self, ModelFormat, OutputFormat};
use super::remap::RemapOptions;
use super::signals::{self, First, StopAtSignal};
use crate::compare::percent_less;
use crate::graph::CsrGraph;
use crate::io::output::{Content, OutputId};
use crate::io::{self, Outputs, Source};
use crate::mapping::Mapping;
use crate::observer::Observer;
use crate::partition::Algorithm;
use crate::search::Neighbourhood;
use crate::solve::{DirectConfig, Given, MapConfig, MapPreset, Report, Seconds, Solution, solve_watched};
use crate::threads;
use crate::topology::{DistanceKind, Hierarchy, Machine};
use crate::types::{Cost, Distance};

/// What the help says below the options.
const SIGNALS: &str = "The first SIGINT, SIGTERM, SIGUSR1 or SIGUSR2 ends the run early: the best mapping found so far is written, and after \
     SIGINT (Ctrl-C) the program ends by that signal. The second ends it at once.";

/// Maps processes to the processing elements of a machine so that those that communicate much are near each other; or an
/// application graph with many vertices for each element.
#[derive(Parser, Debug)]
#[command(name = "viem", version, infer_long_args = true, rename_all = "snake_case", after_help = format!("{SIGNALS}\n\n{}", exit::CODES))]
pub(super) struct Options {
    /// The model: a METIS graph whose vertices are the processes and whose edge weights are how much two of
    /// them communicate; or an application graph of more vertices than the machine has processing elements; a program in time (PROCESS ...); or, without a
    /// machine, a quadratic assignment problem of QAPLIB (FILE.dat, FILE.qap); - is standard input
    pub(super) file: PathBuf,

    /// What the model is, where its name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&ModelFormat::ALL, ModelFormat::name))]
    pub(super) input_format: Option<ModelFormat>,

    #[command(flatten)]
    pub(super) machine: MachineOptions,

    #[command(flatten)]
    pub(super) direct: DirectOptions,

    #[command(flatten)]
    pub(super) remap: RemapOptions,

    /// Seed of all random choices: the same seed gives the same mapping
    #[arg(long, default_value = "0", value_name = "INT", allow_negative_numbers = true, value_parser = options::seed)]
    pub(super) seed: u64,

    /// How much time to spend for how good a mapping
    #[arg(long, default_value = "eco", value_name = "PRESET", value_parser = one_of(&MapPreset::ALL, MapPreset::name))]
    pub(super) preconfiguration_mapping: MapPreset,

    #[command(flatten)]
    pub(super) first: FirstOptions,

    /// Store the distance matrix (hierarchy) or compute each distance from the numbers of the two processing
    /// elements (hierarchyonline); for regular trees; the mapping is the same [default: the faster]
    #[arg(long, value_name = "KIND", value_parser = one_of(&DistanceKind::ALL, DistanceKind::name))]
    pub(super) distance_construction_algorithm: Option<DistanceKind>,

    #[command(flatten)]
    pub(super) neighbourhood: NeighbourhoodOptions,

    /// A mapping to improve: the result is not worse than it
    #[arg(long, alias = "input", value_name = "FILE")]
    pub(super) input_mapping: Option<PathBuf>,

    /// Go on improving, from new constructions and from the best mapping by turns, for this time, and return
    /// the best mapping found; large problems end early. Seconds, or with a unit: 90, 1.5, 90s, 2m, 1h
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = options::duration)]
    pub(super) time_limit: Option<Duration>,

    /// End once J is at most this; for quadratic assignment problems
    #[arg(long, value_name = "J", allow_negative_numbers = true)]
    pub(super) target: Option<Cost>,

    /// Where the mapping is written: line i holds the processing element of process i, both from 0; - is
    /// standard output, which then carries nothing else
    #[arg(long, short, alias = "output", default_value = "permutation", value_name = "FILE")]
    pub(super) output_filename: PathBuf,

    /// How the mapping is written: a number a line, or as a solution file of QAPLIB (n, J, the place of each object from 1)
    #[arg(long, default_value = "mapping", value_name = "FORMAT",
          value_parser = one_of(&OutputFormat::ALL, OutputFormat::name))]
    pub(super) output_format: OutputFormat,

    /// Threads to use, 256 or as many as there are cores at most; the mapping is the same at any number [default: all
    /// cores]
    #[arg(long, value_name = "INT")]
    pub(super) threads: Option<usize>,

    /// Read model and mapping again from their files and recompute J by independent code; a mismatch fails loudly
    #[arg(long)]
    pub(super) verify: bool,

    #[command(flatten)]
    pub(super) launch: LaunchOptions,

    #[command(flatten)]
    pub(super) picture: PictureOptions,

    #[command(flatten)]
    pub(super) report: ReportOptions,

    #[command(flatten)]
    pub(super) programs: MapProgramOptions,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    exit::run(map)
}

fn map(options: &Options) -> anyhow::Result<End> {
    if qap::is_problem(&options.file, options.input_format, &options.machine)? {
        return qap::map(options);
    }
    qap::refuse_options_of_problems(options)?;
    let started = Instant::now();
    let model = options.file.as_path();
    let start = options.input_mapping.as_deref();
    let weights = options.direct.pe_weights.as_deref();
    let others = options.machine.files().chain(weights).chain(options.first.file());
    let read_only: Vec<&Path> = [model].into_iter().chain(others).chain(options.remap.files()).collect();
    let inputs: Vec<&Path> = read_only.iter().copied().chain(start).chain(options.remap.old()).collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    // A mapping may be improved in place.
    let output = outputs.add(&options.output_filename, &read_only)?;
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let picture = options.picture.add_to(&mut outputs, &inputs)?;
    let planned = options.launch.add_to(&mut outputs, &inputs)?;
    let curve = options.remap.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    let threads = options::threads(options.threads)?;
    let machine = threads::run(threads, || options.machine.build(console))??;
    let machine = options.direct.weigh(machine)?;
    let config = options.config(machine.as_ref(), outputs.is_file(output))?;
    options.direct.imbalance()?;
    options.first.check()?;

    let mut source = Source::open(model)?;
    if programs::is_program(&mut source) {
        options.first.refuse_order("is for graphs; this is a program in time")?;
        options.remap.refuse("is for graphs; this is a program in time")?;
        options.direct.refuse("is for graphs; this is a program in time")?;
        let places = programs::Places { outputs: &mut outputs, mapping: output, json, picture, planned };
        return programs::map(options.program_job(config, places, console), source, machine);
    }
    options.programs.refuse("is for programs in time; this is a graph")?;
    let machine = machine.as_ref();
    let (graph, is_direct) = options.direct.read(source, machine)?;
    if is_direct {
        if planned.is_some() {
            return Err(
                direct::no_launch("generate_model --machine makes a model of a direct mapping").into()
            );
        }
        let start = start.map(|path| files::read_many(path, graph.num_nodes(), machine)).transpose()?;
        let places = Places { outputs: &outputs, mapping: output, json, picture, curve };
        let job = options.directly(started, &graph, machine, start, &config, places, console)?;
        return job.run();
    }
    let places = programs::Places { outputs: &mut outputs, mapping: output, json, picture, planned };
    options.one_to_one(started, &graph, machine, &config, places, console)
}

/// The mapping. An order of the processes that it begins from counts as its construction.
fn solve(
    graph: &CsrGraph,
    machine: &dyn Machine,
    config: &MapConfig,
    (start, order): (Option<&Mapping>, Option<&FirstOrder>),
    observer: &dyn Observer,
) -> anyhow::Result<Solution> {
    let mut rest = *config;
    let streams = (config.seed, config.threads);
    let first = |observer: &dyn Observer| {
        order.map(|order| order.mapping(graph, machine, streams, observer)).transpose()
    };
    let (first, spent) = within(&mut rest.time_limit, observer, first)?;
    let given = Given { start, first: first.as_ref() };
    let mut solution = solve_watched(graph, machine, &rest, given, observer)?;
    let seconds = &mut solution.report.seconds;
    seconds.construction += spent.as_secs_f64();
    seconds.total += spent.as_secs_f64();
    Ok(solution)
}

/// What was done, in the lines that VieM prints.
fn tell(console: Console, report: &Report) {
    console.line(format_args!("construction took {:.6}", report.seconds.construction));
    console.line(format_args!("J(C,D,Pi) = {}", report.cost_of_construction));
    console.line(format_args!("local search took {:.6}", report.seconds.search));
    console.line(format_args!("time spent for mapping {:.6}", report.seconds.total));
    if report.stopped {
        console.line(format_args!("stopped early: this is the best mapping found so far"));
    }
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
}

/// Writes mapping, report and further texts, once the mapping is verified if that was asked for.
fn write(
    (options, machine): (&Options, &dyn Machine),
    outputs: &Outputs,
    (output, json): (OutputId, Option<OutputId>),
    texts: &[(OutputId, &str)],
    solution: &Solution,
    report_of_run: &JsonReport<'_>,
    console: Console,
) -> anyhow::Result<()> {
    let Solution { mapping, report } = solution;
    let write_mapping = |out: &mut dyn Write| io::mapping::write(out, mapping.as_slice());
    let write_report = |out: &mut dyn Write| files::write_json(out, report_of_run);
    let fills = files::fills(texts);
    let mut contents: Vec<Content<'_>> = vec![(Some(output), &write_mapping), (json, &write_report)];
    contents.extend(fills.iter().map(|(id, fill)| (Some(*id), fill as _)));
    let staged = outputs.stage(&contents)?;
    if let Some(written) = staged.path(output).filter(|_| options.verify) {
        files::verify(&options.file, written, (&options.machine, machine), report.cost)?;
        console.line(format_args!("verified: J of the files is {} too", report.cost));
    }
    Ok(staged.publish()?)
}

/// What was written, and what it is worth.
fn tell_end(
    outputs: &Outputs,
    output: OutputId,
    launch: Option<&JobLaunch>,
    report: &Report,
    console: Console,
) {
    launch.iter().for_each(|launch| launch.tell(console));
    let (identity, cost) = (report.cost_of_identity, report.cost);
    let (less, place) = (percent_less(identity, cost), outputs.name(output));
    console.line(format_args!("identity {identity} -> {cost} ({less:.1} % less); written to {place}"));
}

impl Options {
    /// How a program in time is mapped with these options.
    fn program_job<'a>(
        &'a self,
        config: MapConfig,
        places: programs::Places<'a>,
        console: Console,
    ) -> MapJob<'a> {
        MapJob {
            file: &self.file,
            start: self.input_mapping.as_deref(),
            machine_options: &self.machine,
            options: &self.programs,
            preset: self.preconfiguration_mapping,
            config,
            report: &self.report,
            verify: self.verify,
            picture: &self.picture,
            places,
            console,
        }
    }

    /// Maps each process to a PE of its own.
    fn one_to_one(
        &self,
        started: Instant,
        graph: &CsrGraph,
        machine: &dyn Machine,
        config: &MapConfig,
        places: programs::Places<'_>,
        console: Console,
    ) -> anyhow::Result<End> {
        let programs::Places { outputs, mapping: output, json, picture, planned } = places;
        self.remap.refuse(
            "is for many vertices a processing element; here each process has one of its own, and --input_mapping improves a mapping",
        )?;
        planned.iter().try_for_each(|planned| planned.check(machine, graph.num_nodes()))?;
        let start = self.input_mapping.as_deref();
        let start = start.map(|path| files::read_mapping(path, graph.num_nodes(), machine)).transpose()?;
        let order = self.first.read(graph.num_nodes())?;
        let progress = Progress::new(self.report.quiet);
        // From here on there is something to save.
        let received = signals::listen(&progress, First::AsksToStop);
        console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
        console.line(format_args!("model has {} nodes, {} edges", graph.num_nodes(), graph.num_arcs()));
        machine::tell(console, machine);
        let solution = {
            let observer = StopAtSignal { observer: progress, received: received.clone() };
            solve(graph, machine, config, (start.as_ref(), order.as_ref()), &observer)?
        };
        tell(console, &solution.report);
        let drawn = self.picture.draw(graph, machine, outputs.name(output), &solution.mapping, false)?;
        let (launch, refused) = launch::of_mapping(planned, machine, &solution.mapping, outputs);
        let settings = config.effective_on(machine).with_construction(solution.report.algorithm);
        let report = JsonReport::new(self, machine, &solution.report, settings, launch.as_ref());
        let launch_files =
            launch.iter().flat_map(JobLaunch::files).map(|(id, file)| (id, file.content.as_str()));
        let texts: Vec<(OutputId, &str)> =
            picture.zip(drawn.as_deref()).into_iter().chain(launch_files).collect();
        write((self, machine), outputs, (output, json), &texts, &solution, &report, console)?;
        tell_end(outputs, output, launch.as_ref(), &solution.report, console);
        refused.map_or(Ok(()), Err)?;
        Ok(received.interrupt().map_or(End::Done, End::Signal))
    }

    /// The same options for an application graph of many vertices a PE.
    #[allow(clippy::too_many_arguments)] // what a run is given
    fn directly<'a>(
        &'a self,
        started: Instant,
        graph: &'a CsrGraph,
        machine: &'a dyn Machine,
        start: Option<Mapping>,
        config: &MapConfig,
        places: Places<'a>,
        console: Console,
    ) -> anyhow::Result<Job<'a>> {
        let remap = self.remap.read(graph, machine.num_pes())?;
        self.remap.check_alone(start.is_some(), self.time_limit.is_some())?;
        if self.remap.is_given() {
            self.first.refuse_order("does not go with --remap_from, which starts where its vertices were")?;
        }
        if start.is_some() {
            self.first.refuse_order(
                "makes the mapping to improve, and --input_mapping names it; leave one of them out",
            )?;
        }
        let preset = self.preconfiguration_mapping;
        let mut direct = DirectConfig::preset(preset);
        direct.seed = config.seed;
        direct.threads = config.threads;
        direct.imbalance = self.direct.imbalance()?;
        direct.time_limit = config.time_limit;
        Ok(Job {
            started,
            model: &self.file,
            graph,
            machine,
            machine_options: &self.machine,
            direct_options: &self.direct,
            preset,
            config: direct,
            first: self.first.read(graph.num_nodes())?,
            is_searched: config.search.neighbourhood != Neighbourhood::None,
            start,
            remap,
            picture: &self.picture,
            verify: self.verify,
            quiet: self.report.quiet,
            places,
            console,
        })
    }

    /// `is_file`: whether the mapping goes to a file of its own.
    fn config(&self, machine: &dyn Machine, is_file: bool) -> anyhow::Result<MapConfig> {
        let older = self.remap.old().into_iter().chain(self.remap.files());
        let mut read = [self.file.as_path()].into_iter().chain(self.machine.files()).chain(older);
        if self.verify && (!is_file || read.any(io::is_stream)) {
            let message = "--verify reads the files again, so none of them can be a stream; name files";
            return Err(UsageError(message.to_string()).into());
        }
        if let (Some(kind), None) = (self.distance_construction_algorithm, machine.hierarchy()) {
            let message = format!(
                "--distance_construction_algorithm={} is for regular trees only; leave it out",
                kind.name()
            );
            return Err(UsageError(message).into());
        }
        let mut config = MapConfig::preset(self.preconfiguration_mapping);
        config.seed = self.seed;
        config.threads = options::threads(self.threads)?;
        config.distances = self.distance_construction_algorithm;
        config.construction.algorithm = self.first.construction();
        config.search = self.neighbourhood.config()?;
        config.time_limit = self.time_limit;
        config.validate()?;
        Ok(config)
    }
}

/// What the program did, as written to `--json`. Of the options it holds those that decide the result, so
/// that, times aside, the same result has the same report.
#[derive(Serialize)]
struct JsonReport<'a> {
    program: &'static str,
    version: &'static str,
    model: String,
    n: usize,
    m: usize,
    seed: u64,
    machine: JsonMachine,
    options: JsonOptions<'a>,
    /// Every setting that decides the result, whether an option names it or not.
    settings: MapConfig,
    #[serde(rename = "J")]
    cost: JsonCost,
    swaps: JsonSwaps,
    stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    launch: Option<JsonLaunch>,
    seconds: Seconds,
}

#[derive(Serialize)]
struct JsonOptions<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    hierarchy: Option<&'a [u32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<&'a [Distance]>,
    preconfiguration_mapping: MapPreset,
    construction_algorithm: &'static str,
    local_search_neighborhood: Neighbourhood,
    communication_neighborhood_dist: usize,
    search_space_s: usize,
    /// In seconds.
    time_limit: Option<f64>,
}

#[derive(Serialize)]
struct JsonCost {
    identity: Cost,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_mapping: Option<Cost>,
    construction: Cost,
    search: Cost,
}

#[derive(Serialize)]
struct JsonSwaps {
    tried: u64,
    made: u64,
}

impl<'a> JsonReport<'a> {
    fn new(
        options: &Options,
        machine: &'a dyn Machine,
        report: &Report,
        settings: MapConfig,
        launch: Option<&JobLaunch>,
    ) -> Self {
        Self {
            program: "viem",
            version: env!("CARGO_PKG_VERSION"),
            model: files::name(&options.file),
            n: report.num_processes,
            m: report.num_edges,
            seed: options.seed,
            machine: options.machine.report(machine),
            options: JsonOptions {
                hierarchy: machine.hierarchy().map(Hierarchy::arities),
                distances: machine.hierarchy().map(Hierarchy::distances),
                preconfiguration_mapping: options.preconfiguration_mapping,
                construction_algorithm: options
                    .first
                    .along()
                    .map_or(report.algorithm.name(), Algorithm::name),
                local_search_neighborhood: settings.search.neighbourhood,
                communication_neighborhood_dist: settings.search.max_hops,
                search_space_s: settings.search.block_size,
                time_limit: options.time_limit.map(|limit| limit.as_secs_f64()),
            },
            settings,
            cost: JsonCost {
                identity: report.cost_of_identity,
                input_mapping: report.cost_of_start,
                construction: report.cost_of_construction,
                search: report.cost,
            },
            swaps: JsonSwaps { tried: report.swaps_tried, made: report.swaps_made },
            stopped: report.stopped,
            launch: launch.map(JobLaunch::report),
            seconds: report.seconds,
        }
    }
}
