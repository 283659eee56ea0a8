//! `viem`: maps the processes of a model to the PEs of a machine.
//!
//! | member | what it holds |
//! |---|---|
//! | `one_to_one` | where each process has a PE of its own |
//! | `map_directly` | where PEs have many vertices |
//! | `first_mapping` | how the first mapping is made |
//! | `neighbourhood` | how a mapping is improved by exchanges |

mod first_mapping;
mod map_directly;
mod neighbourhood;
mod one_to_one;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use serde::Serialize;

use super::compare::PictureOptions;
use super::console::Console;
use super::direct::DirectOptions;
use super::exit::{self, End, UsageError};
use super::files;
use super::launch::{LaunchOptions, Planned};
use super::machine::MachineOptions;
use super::options::{self, ReportOptions, one_of};
use super::qap::{self, ModelFormat, OutputFormat};
use super::remap::RemapOptions;
use super::workload::{self, MapJob, MapProgramOptions};
use first_mapping::FirstOptions;
use neighbourhood::NeighbourhoodOptions;
use viem::graph::CsrGraph;
use viem::ground::threads;
use viem::ground::types::Cost;
use viem::io::output::{Content, OutputId};
use viem::io::{self, Outputs, Source};
use viem::machine::{DistanceKind, Machine};
use viem::mapping::Mapping;
use viem::mapping::solve::{MapConfig, MapPreset};

/// The name of the program.
pub(super) const NAME: &str = "viem";

/// What the help says below the options.
const SIGNALS: &str = "The first SIGINT, SIGTERM, SIGUSR1 or SIGUSR2 ends the run early: the best mapping found so far is written, and after \
     SIGINT (Ctrl-C) the program ends by that signal. The second ends it at once.";

/// Maps processes to the processing elements of a machine so that those that communicate much are near each other; or an
/// application graph with many vertices for each element.
#[derive(Parser, Debug)]
#[command(name = NAME, version, infer_long_args = true, rename_all = "snake_case", after_help = format!("{SIGNALS}\n\n{}", exit::CODES))]
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

    // Groups with headings come last: what follows one would stand under its heading.
    #[command(flatten)]
    pub(super) remap: RemapOptions,

    #[command(flatten)]
    pub(super) programs: MapProgramOptions,
}

/// Where the results go.
pub(super) struct Places<'a> {
    pub outputs: &'a mut Outputs,
    pub mapping: OutputId,
    pub json: Option<OutputId>,
    pub picture: Option<OutputId>,
    /// The picture of a curve of remappings.
    pub curve: Option<OutputId>,
    /// What launches the job.
    pub planned: Option<Planned>,
}

/// What has the file of a mapping audited, and tells what was found right.
type Audit<'a> = &'a dyn Fn(&Path) -> anyhow::Result<()>;

impl Places<'_> {
    /// What people call the place of the mapping.
    pub fn name(&self) -> &str {
        self.outputs.name(self.mapping)
    }

    /// Writes a mapping, the report, the picture and further texts. Nothing is replaced unless the audit, if there is one, agrees with the
    /// file of the mapping.
    pub fn write<'b>(
        &self,
        mapping: &Mapping,
        report: &impl Serialize,
        drawn: Option<&'b str>,
        more: impl Iterator<Item = (OutputId, &'b str)>,
        audit: Option<Audit<'_>>,
    ) -> anyhow::Result<()> {
        let texts: Vec<(OutputId, &str)> = self.picture.zip(drawn).into_iter().chain(more).collect();
        let write_mapping = |out: &mut dyn Write| io::mapping::write(out, mapping.as_slice());
        let write_report = |out: &mut dyn Write| files::write_report(out, NAME, report);
        let fills = files::fills(&texts);
        let mut contents: Vec<Content<'_>> =
            vec![(Some(self.mapping), &write_mapping), (self.json, &write_report)];
        contents.extend(fills.iter().map(|(id, fill)| (Some(*id), fill as _)));
        let staged = self.outputs.stage(&contents)?;
        if let Some((written, audit)) = staged.path(self.mapping).zip(audit) {
            audit(written)?;
        }
        Ok(staged.publish()?)
    }
}

/// A graph that is to be mapped.
struct Job<'a> {
    options: &'a Options,
    started: Instant,
    graph: &'a CsrGraph,
    machine: &'a dyn Machine,
    config: MapConfig,
    places: Places<'a>,
    console: Console,
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
    let weights = options.direct.pe_weights.as_deref();
    let others = options.machine.files().chain(weights).chain(options.first.file());
    let read_only: Vec<&Path> = [model].into_iter().chain(others).chain(options.remap.files()).collect();
    let inputs: Vec<&Path> = read_only
        .iter()
        .copied()
        .chain(options.input_mapping.as_deref())
        .chain(options.remap.old())
        .collect();
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

    let places = Places { outputs: &mut outputs, mapping: output, json, picture, curve, planned };
    let mut source = Source::open(model)?;
    if workload::is_program(&mut source) {
        options.first.refuse_order("is for graphs; this is a program in time")?;
        options.remap.refuse("is for graphs; this is a program in time")?;
        options.direct.refuse("is for graphs; this is a program in time")?;
        return workload::map(MapJob { options, config, places, console }, source, machine);
    }
    options.programs.refuse("is for programs in time; this is a graph")?;
    let machine = machine.as_ref();
    let (graph, is_direct) = options.direct.read(source, machine)?;
    let job = Job { options, started, graph: &graph, machine, config, places, console };
    if is_direct { map_directly::map(job) } else { one_to_one::map(job) }
}

impl Options {
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
