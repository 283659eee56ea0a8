//! The part of `generate_model` that divides an application graph into parts.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::exit::{End, UsageError};
use super::files;
use super::generate_model::{Destination, NAME, WEIGHTS};
use super::progress::Progress;
use super::signals::{self, First};
use super::speeds::SpeedOptions;
use crate::graph::CsrGraph;
use crate::io::metis::NodeWeights;
use crate::io::{self, Source};
use crate::model::{self, Model, ModelError};
use crate::partition::{Partition, Partitioner, Preset, Quality, Targets};
use crate::threads;
use crate::types::{Cost, Weight};

/// Into what a graph is divided, and how.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(super) struct DivideOptions {
    /// Number of parts of an application graph, that is of vertices of the model
    #[arg(long, value_name = "INT")]
    k: Option<usize>,

    #[command(flatten)]
    speeds: SpeedOptions,
}

impl DivideOptions {
    /// Every file that is read besides the graph.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.speeds.file().into_iter()
    }

    /// An error if one of these options is given: what is read is no graph that is divided.
    pub(super) fn refuse(&self, instead: &str) -> Result<(), UsageError> {
        let given = [("--k", self.k.is_some()), ("--speeds", self.speeds.is_given())];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                Err(UsageError(format!("{option} is for graphs that are partitioned; {instead}")))
            }
            None => Ok(()),
        }
    }

    /// Into what a graph is divided, in this imbalance in percent; nothing if that is missing. What no graph can mend is refused.
    pub(super) fn parts(&self, imbalance: f64) -> anyhow::Result<Option<Parts>> {
        let (speeds, imbalance) = (self.speeds.read()?, imbalance / 100.0);
        let parts = match (self.k, speeds) {
            (Some(k), Some(speeds)) if k != speeds.len() => {
                let message = format!("--k={k}, but --speeds has {} numbers; leave out --k", speeds.len());
                return Err(UsageError(message).into());
            }
            (_, Some(speeds)) => Parts { number: speeds.len(), speeds: Some(speeds), imbalance },
            (Some(number), None) => Parts { number, speeds: None, imbalance },
            (None, None) => return Ok(None),
        };
        Targets::check(parts.number, parts.imbalance).map_err(ModelError::from)?;
        Ok(Some(parts))
    }
}

/// Into what a graph is divided.
pub(super) struct Parts {
    number: usize,
    /// If they are not all alike.
    speeds: Option<Vec<u32>>,
    /// As a share.
    imbalance: f64,
}

impl Parts {
    fn targets(&self, graph: &CsrGraph) -> Result<Targets, ModelError> {
        let Some(speeds) = &self.speeds else {
            model::check_num_blocks(graph, self.number)?;
            return Ok(Targets::equal(graph, self.number, self.imbalance)?);
        };
        model::check_num_blocks(graph, speeds.iter().filter(|&&speed| speed > 0).count())?;
        Ok(Targets::proportional(graph, speeds, self.imbalance)?)
    }
}

/// A division as it was asked for.
pub(super) struct Job<'a> {
    pub graphs: &'a [std::path::PathBuf],
    pub parts: Option<Parts>,
    pub preset: Preset,
    pub seed: u64,
    pub threads: usize,
    /// In percent.
    pub imbalance: f64,
    pub quiet: bool,
    pub to: &'a Destination,
}

impl Job<'_> {
    pub(super) fn run(&self, source: Source<'_>) -> anyhow::Result<End> {
        let (started, console) = (Instant::now(), self.to.console);
        let usage =
            |message: &str| UsageError(format!("{message}; or say with --from what traffic was recorded"));
        let [path] = self.graphs else {
            return Err(usage("partitioning takes one graph in METIS format").into());
        };
        let parts = self.parts.as_ref().ok_or_else(|| {
            usage("--k, the number of parts, or --speeds, the speed of each, or --machine is missing")
        })?;
        let graph = io::metis::read(source, NodeWeights::Read)?;
        let reading = started.elapsed().as_secs_f64();
        console.line(format_args!("io time: {reading:.6}"));
        console.line(format_args!("graph has {} nodes and {} edges", graph.num_nodes(), graph.num_arcs()));
        console.line(format_args!("performing partitioning!"));
        let targets = parts.targets(&graph)?;
        let begin = Instant::now();
        let partition = self.divide(&graph, &targets)?;
        let partitioning = begin.elapsed().as_secs_f64();
        console.line(format_args!("partitioning took {partitioning:.6}"));
        let model = Model::of(&graph, partition, &targets);
        let report = self.report(path, (&graph, &targets), &model, Seconds { reading, partitioning });
        self.tell(&graph, &model, &report);
        self.to.outputs.write(&[
            (Some(self.to.model), &|out| io::metis::write(out, &model.graph, WEIGHTS)),
            (self.to.blocks, &|out| io::partition::write(out, model.partition.blocks())),
            (self.to.json, &|out| files::write_json(out, &report)),
        ])?;
        console.line(format_args!("written to {}", self.to.outputs.name(self.to.model)));
        Ok(End::Done)
    }

    fn divide(&self, graph: &CsrGraph, targets: &Targets) -> anyhow::Result<Partition> {
        let progress = Progress::new(self.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("partitioning");
        let partitioner = Partitioner::new(self.preset, self.seed);
        let run = threads::run(self.threads, || partitioner.partition(graph, targets));
        Ok(run.map_err(ModelError::from)?)
    }

    fn tell(&self, graph: &CsrGraph, model: &Model, report: &Report) {
        let console = self.to.console;
        console.line(format_args!("cut {}", report.cut));
        console.line(format_args!("balance {:.5}", report.balance));
        let Quality { cut_edges, setups, boundary, largest_volume, .. } = &report.quality;
        console.line(format_args!(
            "{cut_edges} cut edges, {setups} setups, {boundary} vertices on the boundary, largest volume of a part \
             {largest_volume}"
        ));
        if report.overload > 0 {
            console.warn(format_args!("{}", imbalance_warning(graph, &model.partition)));
        }
        let quotient = &model.graph;
        console.line(format_args!("model has {} nodes, {} edges", quotient.num_nodes(), quotient.num_arcs()));
        console.line(format_args!("writing model of computation and communication to disk"));
    }

    fn report(
        &self,
        path: &Path,
        (graph, targets): (&CsrGraph, &Targets),
        model: &Model,
        seconds: Seconds,
    ) -> Report {
        let (partition, heaviest_block) = (&model.partition, model.heaviest_block());
        let mean = (graph.total_node_weight() as f64 / targets.num_blocks() as f64).ceil();
        Report {
            program: NAME,
            version: env!("CARGO_PKG_VERSION"),
            graph: files::name(path),
            n: graph.num_nodes(),
            m: graph.num_edges(),
            k: targets.num_blocks(),
            seed: self.seed,
            preconfiguration: self.preset.name(),
            imbalance: self.imbalance,
            cut: partition.cut(),
            balance: if mean > 0.0 { heaviest_block as f64 / mean } else { 1.0 },
            heaviest_block,
            bound: model.bound,
            overload: partition.overload(),
            quality: Quality::of(graph, partition.blocks(), targets.num_blocks()),
            model_edges: model.graph.num_edges(),
            seconds,
        }
    }
}

/// What was done, as written to `--json`.
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
    #[serde(flatten)]
    quality: Quality,
    model_edges: usize,
    seconds: Seconds,
}

#[derive(Serialize)]
struct Seconds {
    reading: f64,
    partitioning: f64,
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
