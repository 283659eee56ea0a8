//! `generate_model`: partitions an application graph and writes the quotient graph as a model, or sums recorded
//! traffic into one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use serde::Serialize;

use super::console::Console;
use super::exit::{self, End, UsageError};
use super::files;
use super::machine::MachineOptions;
use super::model_onto::{self, OntoOptions};
use super::options::{self, ReportOptions, one_of};
use super::programs::{self, GenerateJob, GenerateOptions};
use super::progress::Progress;
use super::signals::{self, First};
use super::sum_traffic::{self, Job, TrafficOptions};
use crate::graph::CsrGraph;
use crate::io::metis::{Content, NodeWeights};
use crate::io::output::OutputId;
use crate::io::traffic::{Format, WINDOW};
use crate::io::{self, Outputs, Source};
use crate::model::{self, ModelConfig};
use crate::partition::{Partition, Preset};
use crate::types::{Cost, Weight};

/// Makes a model: a graph of processes and of what they communicate. Partitions an application graph, each block of
/// which becomes a process, sums recorded traffic of an MPI job, or takes the messages of a program in time.
#[derive(Parser, Debug)]
#[command(name = "generate_model", version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
struct Options {
    /// The application graph, in METIS format, a program in time, or files of recorded traffic; - is standard input
    #[arg(required_unless_present = "generate", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Number of blocks of an application graph, that is of vertices of the model
    #[arg(long, value_name = "INT")]
    k: Option<usize>,

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

    #[command(flatten)]
    report: ReportOptions,

    #[command(flatten)]
    traffic: TrafficOptions,

    #[command(flatten)]
    program: GenerateOptions,
}

/// What the program did, as written to `--json`.
#[derive(Serialize)]
struct Report {
    program: &'static str,
    version: &'static str,
    graph: String,
    n: usize,
    m: usize,
    k: usize,
    seed: u64,
    preconfiguration: &'static str,
    imbalance: f64,
    cut: Cost,
    /// Weight of the heaviest block over the mean, rounded up.
    balance: f64,
    heaviest_block: Weight,
    /// What it may weigh at most.
    bound: Weight,
    /// By how much blocks exceed what they may weigh, in sum; 0 if the partition is balanced as asked.
    overload: Weight,
    model_edges: usize,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Seconds {
    reading: f64,
    partitioning: f64,
}

/// The name of the program.
pub(super) const NAME: &str = "generate_model";

/// Models carry both weights, format 11, as VieM writes them.
pub(super) const WEIGHTS: Content = Content { node_weights: true, edge_weights: true };

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    exit::run(generate)
}

fn generate(options: &Options) -> anyhow::Result<End> {
    let machine = options.onto.machine();
    let of_machine = machine.iter().flat_map(MachineOptions::files);
    let inputs: Vec<&Path> = options.files.iter().map(PathBuf::as_path).chain(of_machine).collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let model = outputs.add(&options.output_filename, &inputs)?;
    let blocks = options.mapping_filename.as_deref().map(|path| outputs.add(path, &inputs)).transpose()?;
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    let config = options.config()?;
    let job = GenerateJob {
        options: &options.program,
        report: &options.report,
        outputs: &outputs,
        model,
        json,
        console,
    };
    if let Some(pattern) = &options.program.generate {
        return job.generate(pattern, options.seed);
    }
    let mut first = Source::open(&options.files[0])?;
    if programs::is_program(&mut first)? {
        return job.model(first, &options.files);
    }
    let is_traffic = options.traffic.from.is_some() || Format::recognise(&first.peek(WINDOW)?).is_some();
    if !is_traffic {
        let to = Destination { outputs, model, blocks, json, console };
        return match machine {
            Some(machine) => options.onto(machine, &to)?.run(first),
            None => partition(options, config, first, &to),
        };
    }
    model_onto::refuse(&options.onto)?;
    let other = [("--k", options.k.is_some()), ("--mapping_filename", blocks.is_some())];
    if let Some((option, _)) = other.iter().find(|(_, is_given)| *is_given) {
        let message =
            format!("{option} is for graphs that are partitioned; these files are recorded traffic");
        return Err(UsageError(message).into());
    }
    let Options { files, traffic, report, .. } = options;
    sum_traffic::sum(&Job { files, traffic, report, outputs: &outputs, model, json, console }, first)
}

impl Options {
    /// The model of a direct mapping onto a machine.
    fn onto<'a>(
        &'a self,
        machine: MachineOptions,
        to: &'a Destination,
    ) -> anyhow::Result<model_onto::Job<'a>> {
        let [graph] = &self.files[..] else {
            return Err(UsageError("a machine takes one graph in METIS format".to_owned()).into());
        };
        Ok(model_onto::Job {
            graph,
            onto: &self.onto,
            machine,
            preset: self.preconfiguration,
            seed: self.seed,
            threads: options::threads(self.threads)?,
            imbalance: self.imbalance,
            quiet: self.report.quiet,
            to,
        })
    }

    /// How an application graph is partitioned; nothing if the number of blocks is missing.
    fn config(&self) -> anyhow::Result<Option<ModelConfig>> {
        let Some(num_blocks) = self.k else { return Ok(None) };
        let config = ModelConfig {
            num_blocks,
            preset: self.preconfiguration,
            imbalance: self.imbalance / 100.0,
            seed: self.seed,
            threads: options::threads(self.threads)?,
        };
        config.validate()?;
        Ok(Some(config))
    }
}

/// Where the results of partitioning go.
pub(super) struct Destination {
    pub outputs: Outputs,
    pub model: OutputId,
    pub blocks: Option<OutputId>,
    pub json: Option<OutputId>,
    pub console: Console,
}

fn partition(
    options: &Options,
    config: Option<ModelConfig>,
    source: Source<'_>,
    to: &Destination,
) -> anyhow::Result<End> {
    let started = Instant::now();
    let console = to.console;
    let usage =
        |message: &str| UsageError(format!("{message}; or say with --from what traffic was recorded"));
    if options.files.len() > 1 {
        return Err(usage("partitioning takes one graph in METIS format").into());
    }
    let config = config
        .ok_or_else(|| usage("--k, the number of blocks to partition into, or --machine is missing"))?;
    let graph = io::metis::read(source, NodeWeights::Read)?;
    let reading = started.elapsed().as_secs_f64();
    console.line(format_args!("io time: {reading:.6}"));
    console.line(format_args!("graph has {} nodes and {} edges", graph.num_nodes(), graph.num_arcs()));
    console.line(format_args!("performing partitioning!"));
    let begin = Instant::now();
    let model = {
        let progress = Progress::new(options.report.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("partitioning");
        model::generate(&graph, &config)?
    };
    let partitioning = begin.elapsed().as_secs_f64();
    console.line(format_args!("partitioning took {partitioning:.6}"));
    let partition = &model.partition;
    let heaviest_block = model.heaviest_block();
    let mean = (graph.total_node_weight() as f64 / config.num_blocks as f64).ceil();
    let balance = if mean > 0.0 { heaviest_block as f64 / mean } else { 1.0 };
    console.line(format_args!("cut {}", partition.cut()));
    console.line(format_args!("balance {balance:.5}"));
    if partition.overload() > 0 {
        console.warn(format_args!("{}", imbalance_warning(&graph, partition)));
    }
    console.line(format_args!(
        "model has {} nodes, {} edges",
        model.graph.num_nodes(),
        model.graph.num_arcs()
    ));
    console.line(format_args!("writing model of computation and communication to disk"));

    let report = Report {
        program: NAME,
        version: env!("CARGO_PKG_VERSION"),
        graph: files::name(&options.files[0]),
        n: graph.num_nodes(),
        m: graph.num_edges(),
        k: config.num_blocks,
        seed: options.seed,
        preconfiguration: options.preconfiguration.name(),
        imbalance: options.imbalance,
        cut: partition.cut(),
        balance,
        heaviest_block,
        bound: model.bound,
        overload: partition.overload(),
        model_edges: model.graph.num_edges(),
        seconds: Seconds { reading, partitioning },
    };
    to.outputs.write(&[
        (Some(to.model), &|out| io::metis::write(out, &model.graph, WEIGHTS)),
        (to.blocks, &|out| io::partition::write(out, partition.blocks())),
        (to.json, &|out| files::write_json(out, &report)),
    ])?;
    console.line(format_args!("written to {}", to.outputs.name(to.model)));
    Ok(End::Done)
}

/// What is wrong with a partition that is not balanced as asked.
fn imbalance_warning(graph: &CsrGraph, partition: &Partition) -> String {
    let heaviest = graph.node_weights().iter().max().copied().unwrap_or(0);
    format!(
        "no balance as asked was found: blocks exceed their bounds by {} in sum (the heaviest vertex weighs {heaviest}); \
         allow more --imbalance or ask for fewer blocks",
        partition.overload()
    )
}
