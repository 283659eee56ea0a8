//! `generate_model`: partitions an application graph and writes the quotient graph as a model, or sums recorded
//! traffic into one.
//!
//! | member | what it holds |
//! |---|---|
//! | `divide`, `speeds` | dividing a graph, and how much work each part takes |
//! | `model_onto` | mapping a graph directly onto a machine |
//! | `sum_traffic` | summing recorded traffic |
//! | `audit` | `--verify` |

mod audit;
mod divide;
mod model_onto;
mod speeds;
pub(super) mod sum_traffic;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use super::console::Console;
use super::exit::{self, End, UsageError};
use super::files;
use super::machine::MachineOptions;
use super::options::{self, ReportOptions, one_of};
use super::remap::{Curve, RemapOptions};
use super::workload::{self, GenerateJob, GenerateOptions};
use audit::Claim;
use divide::{DivideOptions, MoreOutputs, Parts};
use model_onto::OntoOptions;
use sum_traffic::{Job, TrafficOptions};
use viem::graph::CsrGraph;
use viem::io::output::{Content, OutputId};
use viem::io::traffic::{Format, WINDOW};
use viem::io::{self, Outputs, Source};
use viem::partition::Preset;

/// Makes a model: a graph of processes and of what they communicate. Partitions an application graph, each block of
/// which becomes a process, sums recorded traffic of an MPI job, or takes the messages of a program in time.
#[derive(Parser, Debug)]
#[command(name = NAME, version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
struct Options {
    /// The application graph, in METIS format, a program in time, or files of recorded traffic; - is standard input
    #[arg(required_unless_present = "generate", value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    divide: DivideOptions,

    #[command(flatten)]
    onto: OntoOptions,

    /// Seed of all random choices: the same seed gives the same model
    #[arg(long, default_value = "0", value_name = "INT", allow_negative_numbers = true, value_parser = options::seed)]
    seed: u64,

    /// How much time to spend for how good a partition; social is for graphs with heavy-tailed degrees
    #[arg(long, default_value = "eco", value_name = "PRESET", value_parser = one_of(&Preset::ALL, Preset::name))]
    preconfiguration: Preset,

    /// No block is heavier than this many percent above the mean, rounded up; 0 is perfect balance
    #[arg(long, default_value_t = 3.0, value_name = "PERCENT", allow_negative_numbers = true)]
    imbalance: f64,

    /// Where the model is written; - is standard output, which then carries nothing else
    #[arg(long, short, default_value = "model.graph", value_name = "FILE")]
    output_filename: PathBuf,

    /// Where the block of each vertex is written: line i holds the block of vertex i, both from 0
    #[arg(long, value_name = "FILE")]
    mapping_filename: Option<PathBuf>,

    /// Threads to use, 256 or as many as there are cores at most; the model is the same at any number [default: all
    /// cores]
    #[arg(long, value_name = "INT")]
    threads: Option<usize>,

    /// Read graph, blocks and model again from their files and recompute cut, loads and model, and on a machine J, by independent
    /// code; a mismatch fails loudly
    #[arg(long)]
    verify: bool,

    #[command(flatten)]
    report: ReportOptions,

    // Groups with headings come last: what follows one would stand under its heading.
    #[command(flatten)]
    remap: RemapOptions,

    #[command(flatten)]
    traffic: TrafficOptions,

    #[command(flatten)]
    program: GenerateOptions,
}

/// The name of the program.
pub(super) const NAME: &str = "generate_model";

/// Models carry both weights, format 11, as VieM writes them.
pub(super) const WEIGHTS: io::metis::Content = io::metis::Content { node_weights: true, edge_weights: true };

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    exit::run(generate)
}

fn generate(options: &Options) -> anyhow::Result<End> {
    options.check_generate()?;
    let machine = options.onto.machine();
    let of_machine = machine.iter().flat_map(MachineOptions::files).chain(options.onto.file());
    let read_only =
        options.files.iter().map(PathBuf::as_path).chain(of_machine).chain(options.divide.files());
    let read_only: Vec<&Path> = read_only.chain(options.remap.files()).collect();
    let inputs: Vec<&Path> = read_only.iter().copied().chain(options.remap.old()).collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let model = outputs.add(&options.output_filename, &inputs)?;
    // A partition may be replaced by its successor.
    let blocks = options.mapping_filename.as_deref().map(|path| outputs.add(path, &read_only)).transpose()?;
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let more = options.divide.add_to(&mut outputs, &inputs)?;
    let picture = options.remap.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    let parts = options.divide.parts(options.imbalance)?;
    options.divide.check_remap(&options.remap)?;
    let job = GenerateJob {
        options: &options.program,
        report: &options.report,
        outputs: &outputs,
        model,
        json,
        console,
    };
    if let Some(pattern) = &options.program.generate {
        options.refuse_options_of_graphs("--generate makes a program in time")?;
        options.traffic.refuse("is for recorded traffic; --generate makes a program in time")?;
        return job.generate(pattern, options.seed);
    }
    let mut first = Source::open(&options.files[0])?;
    if workload::is_program(&mut first) {
        options.refuse_options_of_graphs("this is a program in time")?;
        options.traffic.refuse("is for recorded traffic; this is a program in time")?;
        return job.model(first, &options.files);
    }
    let is_traffic = options.traffic.is_said() || Format::recognise(&first.peek(WINDOW)).is_some();
    if !is_traffic {
        let why = "is for recorded traffic, and this is not recognised as such; leave it out, or say with --from what was recorded";
        options.traffic.refuse(why)?;
        let to = Destination { outputs, model, blocks, json, picture, verify: options.verify, console };
        if options.verify {
            audit::check_files(inputs.iter().copied(), &to)?;
        }
        return match machine {
            Some(machine) => options.onto(machine, &to)?.run(first),
            None => options.division(parts, &to, more)?.run(first),
        };
    }
    options.refuse_options_of_graphs("these files are recorded traffic")?;
    let Options { files, traffic, report, .. } = options;
    sum_traffic::sum(&Job { files, traffic, report, outputs: &outputs, model, json, console }, first)
}

impl Options {
    /// An error if a program is to be generated and files are given, too.
    fn check_generate(&self) -> Result<(), UsageError> {
        if self.program.generate.is_some() && !self.files.is_empty() {
            let message = "--generate makes a program in time and reads nothing; leave it or the files out";
            return Err(UsageError(message.to_owned()));
        }
        Ok(())
    }

    /// An error if there is an option that is of use only for a graph that is partitioned or mapped. What is read or made `instead`
    /// has no blocks, and nothing to audit: a sum of messages has no figures that were optimised.
    fn refuse_options_of_graphs(&self, instead: &str) -> Result<(), UsageError> {
        let given = [
            (self.onto.is_given(), "--machine"),
            (self.verify, "--verify"),
            (self.mapping_filename.is_some(), "--mapping_filename"),
        ];
        let why = format!("is for graphs that are partitioned; {instead}");
        options::refuse(&given, &why)?;
        self.divide.refuse(instead)?;
        self.remap.refuse(&why)
    }

    /// The model of a direct mapping onto a machine.
    fn onto<'a>(
        &'a self,
        machine: MachineOptions,
        to: &'a Destination,
    ) -> anyhow::Result<model_onto::Job<'a>> {
        self.divide
            .refuse("--machine maps onto its processing elements, of which --pe_weights tells the speeds")?;
        let [graph] = &self.files[..] else {
            return Err(UsageError("a machine takes one graph in METIS format".to_owned()).into());
        };
        Ok(model_onto::Job {
            graph,
            onto: &self.onto,
            machine,
            remap: &self.remap,
            preset: self.preconfiguration,
            seed: self.seed,
            threads: options::threads(self.threads)?,
            imbalance: self.imbalance,
            quiet: self.report.quiet,
            to,
        })
    }

    /// How an application graph is divided into parts.
    fn division<'a>(
        &'a self,
        parts: Option<Parts>,
        to: &'a Destination,
        more: MoreOutputs,
    ) -> anyhow::Result<divide::Job<'a>> {
        Ok(divide::Job {
            graphs: &self.files,
            options: &self.divide,
            parts,
            remap: &self.remap,
            preset: self.preconfiguration,
            seed: self.seed,
            threads: options::threads(self.threads)?,
            imbalance: self.imbalance,
            quiet: self.report.quiet,
            to,
            more,
        })
    }
}

/// Where the results of partitioning go.
struct Destination {
    outputs: Outputs,
    model: OutputId,
    blocks: Option<OutputId>,
    json: Option<OutputId>,
    /// Of a curve of remappings.
    picture: Option<OutputId>,
    /// Whether the files are audited.
    verify: bool,
    console: Console,
}

impl Destination {
    /// Writes the model, the blocks, the report, the curve if there is one, and what there is `more`. Where they are to be audited, they
    /// take the place of what was there only if that agrees.
    fn write(
        &self,
        model: &CsrGraph,
        claim: &Claim<'_>,
        report: &impl Serialize,
        curve: Option<&Curve>,
        more: &[Content<'_>],
    ) -> anyhow::Result<End> {
        let curve = curve.map_or("", |curve| &curve.picture);
        let contents: [Content<'_>; 4] = [
            (Some(self.model), &|out| io::metis::write(out, model, WEIGHTS)),
            (self.blocks, &|out| io::partition::write(out, claim.blocks)),
            (self.json, &|out| files::write_report(out, NAME, report)),
            (self.picture, &|out| out.write_all(curve.as_bytes())),
        ];
        let contents = [&contents, more].concat();
        let staged = self.outputs.stage(&contents)?;
        if self.verify {
            claim.check(&staged, self)?;
        }
        staged.publish()?;
        self.console.line(format_args!("written to {}", self.outputs.name(self.model)));
        Ok(End::Done)
    }
}
