//! `generate_model`: partitions an application graph and writes the quotient graph as a model.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use serde::Serialize;

use super::console::Console;
use super::exit::{self, End};
use super::files;
use super::options::{self, ReportOptions, one_of};
use super::progress::Progress;
use super::signals::{self, First};
use crate::io::metis::{Content, NodeWeights};
use crate::io::{self, Outputs};
use crate::model::{self, ModelConfig};
use crate::partition::Preset;
use crate::types::{Cost, Weight};

/// Partitions an application graph and writes the quotient graph of the blocks: a model of computation and
/// communication in which each block is a process.
#[derive(Parser, Debug)]
#[command(name = "generate_model", version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
struct Options {
    /// The application graph, in METIS format; - is standard input
    file: PathBuf,

    /// Number of blocks, that is of vertices of the model
    #[arg(long, value_name = "INT")]
    k: usize,

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
    /// What it may weigh at most, and whether that was kept.
    bound: Weight,
    balanced: bool,
    model_edges: usize,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Seconds {
    reading: f64,
    partitioning: f64,
}

/// Models carry both weights, format 11, as VieM writes them.
const WEIGHTS: Content = Content { node_weights: true, edge_weights: true };

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    exit::run(generate)
}

fn generate(options: &Options) -> anyhow::Result<End> {
    let started = Instant::now();
    let (mut outputs, inputs) = (Outputs::new(), [options.file.as_path()]);
    let output = outputs.add(&options.output_filename, &inputs)?;
    let blocks = options.mapping_filename.as_deref().map(|path| outputs.add(path, &inputs)).transpose()?;
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    let config = ModelConfig {
        num_blocks: options.k,
        preset: options.preconfiguration,
        imbalance: options.imbalance / 100.0,
        seed: options.seed,
        threads: options::threads(options.threads)?,
    };
    config.validate()?;

    let graph = files::read_graph(&options.file, NodeWeights::Read)?;
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
    let mean = (graph.total_node_weight() as f64 / options.k as f64).ceil();
    let balance = if mean > 0.0 { heaviest_block as f64 / mean } else { 1.0 };
    console.line(format_args!("cut {}", partition.cut()));
    console.line(format_args!("balance {balance:.5}"));
    if !model.is_balanced() {
        console.warn(format_args!(
            "no balanced partition was found: a block weighs {heaviest_block}, and at most {} was asked for",
            model.bound
        ));
    }
    console.line(format_args!(
        "model has {} nodes, {} edges",
        model.graph.num_nodes(),
        model.graph.num_arcs()
    ));
    console.line(format_args!("writing model of computation and communication to disk"));

    let report = Report {
        program: "generate_model",
        version: env!("CARGO_PKG_VERSION"),
        graph: files::name(&options.file),
        n: graph.num_nodes(),
        m: graph.num_edges(),
        k: options.k,
        seed: options.seed,
        preconfiguration: options.preconfiguration.name(),
        imbalance: options.imbalance,
        cut: partition.cut(),
        balance,
        heaviest_block,
        bound: model.bound,
        balanced: model.is_balanced(),
        model_edges: model.graph.num_edges(),
        seconds: Seconds { reading, partitioning },
    };
    outputs.write(&[
        (Some(output), &|out| io::metis::write(out, &model.graph, WEIGHTS)),
        (blocks, &|out| io::partition::write(out, partition.blocks())),
        (json, &|out| files::write_json(out, &report)),
    ])?;
    console.line(format_args!("written to {}", outputs.name(output)));
    Ok(End::Done)
}
