//! The part of `generate_model` that divides an application graph into parts.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::Destination;
use super::audit::Claim;
use super::speeds::SpeedOptions;
use crate::exit::{End, UsageError};
use crate::files;
use crate::options::{self, one_of};
use crate::progress::Progress;
use crate::remap::{Curve, JsonRemap, Remap, RemapOptions};
use crate::signals::{self, First};
use viem::graph::{Coordinates, CsrGraph};
use viem::ground::threads;
use viem::ground::types::{BlockId, Cost, Weight};
use viem::io::metis::NodeWeights;
use viem::io::output::{Content, OutputId};
use viem::io::{self, Outputs, Source, WriteError};
use viem::mapping::model::{self, Model, ModelError};
use viem::partition::{
    Algorithm, AlgorithmError, Grouping, Index, Input, Migration, Partition, Partitioner, Preset, Quality,
    Remapped, Targets,
};
use viem::report::picture;

/// Into what a graph is divided, and how.
#[derive(Args, Clone, Debug)]
#[command(rename_all = "snake_case")]
pub(super) struct DivideOptions {
    /// Number of parts of an application graph, that is of vertices of the model
    #[arg(long, value_name = "INT")]
    k: Option<usize>,

    #[command(flatten)]
    speeds: SpeedOptions,

    /// How an application graph is divided [default: multilevel]; rcb, zcurve and hilbert need --coordinates
    #[arg(long, value_name = "ALGORITHM", value_parser = one_of(&Algorithm::ALL, Algorithm::name))]
    algorithm: Option<Algorithm>,

    /// Where the vertices lie: a line of coordinates for each, an .xyz file with a header, or a Matrix Market array
    #[arg(long, value_name = "FILE")]
    coordinates: Option<PathBuf>,

    /// How rcb and rsb group parts of unequal speed where they divide them in two: the first ones that make about half, or so that both
    /// groups are as equal as possible [default: simple]
    #[arg(long, value_name = "GROUPING", value_parser = one_of(&Grouping::ALL, Grouping::name))]
    grouping: Option<Grouping>,

    /// Write the order of the vertices by the algorithm, to be cut anew with --index: line i holds the position of vertex i, both from 0.
    /// The parts then are ranges of this order
    #[arg(long, value_name = "FILE")]
    write_index: Option<PathBuf>,

    /// The order of the vertices that --write_index wrote: parts are ranges of it, which takes no time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["algorithm", "write_index"])]
    index: Option<PathBuf>,

    /// Also draw the graph and its parts into an SVG file
    #[arg(long, value_name = "FILE.svg", requires = "coordinates")]
    picture: Option<PathBuf>,
}

/// What is written besides the model.
pub(super) struct MoreOutputs {
    index: Option<OutputId>,
    picture: Option<OutputId>,
}

impl DivideOptions {
    /// Every file that is read besides the graph.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.speeds.file().into_iter().chain(self.coordinates.as_deref()).chain(self.index.as_deref())
    }

    /// Adds what is to be written to the outputs; it must not overwrite an input.
    pub(super) fn add_to(&self, outputs: &mut Outputs, inputs: &[&Path]) -> Result<MoreOutputs, WriteError> {
        let mut add =
            |path: &Option<PathBuf>| path.as_deref().map(|path| outputs.add(path, inputs)).transpose();
        Ok(MoreOutputs { index: add(&self.write_index)?, picture: add(&self.picture)? })
    }

    fn algorithm(&self) -> Algorithm {
        self.algorithm.unwrap_or_default()
    }

    /// An error if these options do not fit together.
    fn check(&self) -> Result<(), UsageError> {
        let (algorithm, is_index) = (self.algorithm(), self.index.is_some());
        let needs = !is_index && algorithm.needs_coordinates();
        if needs && self.coordinates.is_none() {
            let message = format!(
                "--algorithm={algorithm} needs to know where the vertices lie; give --coordinates=FILE"
            );
            return Err(UsageError(message));
        }
        if self.coordinates.is_some() && !needs && self.picture.is_none() {
            let users: Vec<&str> = names_of(Algorithm::needs_coordinates);
            let message = format!(
                "--coordinates is for --algorithm={} and for --picture; leave it out",
                users.join(", ")
            );
            return Err(UsageError(message));
        }
        let is_recursive = !is_index && self.write_index.is_none() && algorithm.is_recursive();
        if self.grouping.is_some() && !is_recursive {
            let users: Vec<&str> = names_of(Algorithm::is_recursive);
            let message =
                format!("--grouping is for --algorithm={} without an index; leave it out", users.join(", "));
            return Err(UsageError(message));
        }
        Ok(())
    }

    /// An error if one of these options is given: what is read is no graph that is divided.
    pub(super) fn refuse(&self, instead: &str) -> Result<(), UsageError> {
        let given = [
            (self.k.is_some(), "--k"),
            (self.speeds.is_given(), "--speeds"),
            (self.algorithm.is_some(), "--algorithm"),
            (self.coordinates.is_some(), "--coordinates"),
            (self.grouping.is_some(), "--grouping"),
            (self.write_index.is_some(), "--write_index"),
            (self.index.is_some(), "--index"),
            (self.picture.is_some(), "--picture"),
        ];
        options::refuse(&given, &format!("is for graphs that are partitioned; {instead}"))
    }

    /// An error if something besides the multilevel partitioner is asked for, which alone resumes partitions.
    pub(super) fn check_remap(&self, remap: &RemapOptions) -> Result<(), UsageError> {
        let is_other = self.algorithm().name() != Algorithm::default().name();
        if is_other || self.index.is_some() || self.write_index.is_some() {
            return remap.refuse("is for --algorithm=multilevel without an index");
        }
        Ok(())
    }

    /// Into what a graph is divided, in this imbalance in percent; nothing if that is missing. What no graph can mend is refused.
    pub(super) fn parts(&self, imbalance: f64) -> anyhow::Result<Option<Parts>> {
        self.check()?;
        let (speeds, imbalance) = (self.speeds.read()?, options::imbalance(imbalance)?);
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

/// The names of the algorithms of a kind.
fn names_of(is_of_kind: fn(Algorithm) -> bool) -> Vec<&'static str> {
    Algorithm::ALL.into_iter().filter(|&algorithm| is_of_kind(algorithm)).map(Algorithm::name).collect()
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
    pub graphs: &'a [PathBuf],
    pub options: &'a DivideOptions,
    pub parts: Option<Parts>,
    pub remap: &'a RemapOptions,
    pub preset: Preset,
    pub seed: u64,
    pub threads: usize,
    /// In percent.
    pub imbalance: f64,
    pub quiet: bool,
    pub to: &'a Destination,
    pub more: MoreOutputs,
}

/// What is read besides the graph.
struct Given {
    coordinates: Option<Coordinates>,
    index: Option<Index>,
}

/// The part of each vertex, and the order that it comes from, if that is to be written; where it resumes another partition, what
/// changes place.
struct Division {
    blocks: Vec<BlockId>,
    index: Option<Index>,
    migration: Option<Migration>,
    curve: Option<Curve>,
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
        let given = self.given(graph.num_nodes())?;
        let reading = started.elapsed().as_secs_f64();
        console.line(format_args!("io time: {reading:.6}"));
        console.line(format_args!("graph has {} nodes and {} edges", graph.num_nodes(), graph.num_arcs()));
        console.line(format_args!("performing partitioning!"));
        let (targets, remap) = self.targets(&graph, parts)?;
        let begin = Instant::now();
        let Division { blocks, index, migration, curve } = match &remap {
            Some(remap) => self.remap(&graph, &targets, remap)?,
            None => self.divide(&graph, &given, &targets)?,
        };
        let partitioning = begin.elapsed().as_secs_f64();
        console.line(format_args!("partitioning took {partitioning:.6}"));
        let model = Model::of(&graph, Partition::of(&graph, blocks, &targets), &targets);
        let mut report =
            self.report(path, (&graph, parts, &targets), &model, Seconds { reading, partitioning });
        self.tell(&graph, &model, &report);
        if let Some((remap, migration)) = remap.as_ref().zip(migration) {
            remap.tell(console, graph.total_node_weight(), &migration);
            report.remap = Some(remap.report(migration, curve.as_ref()));
        }
        let blocks = model.partition.blocks();
        let picture = given.coordinates.filter(|_| self.more.picture.is_some()).map(|points| {
            let Report { k, quality: Quality { cut_edges, setups, .. }, algorithm, .. } = &report;
            let title = format!("{algorithm}: {k} parts, {cut_edges} cut edges, {setups} setups");
            picture::draw_parts(&graph, &points, blocks, *k, &title)
        });
        let more: [Content<'_>; 2] = [
            (self.more.index, &|out| io::index::write(out, index.as_ref().map_or(&[], Index::positions))),
            (self.more.picture, &|out| out.write_all(picture.as_deref().unwrap_or_default().as_bytes())),
        ];
        let claim = Claim {
            file: path,
            graph: &graph,
            blocks,
            num_blocks: targets.num_blocks(),
            cut: model.partition.cut(),
            on: None,
            migration: remap.as_ref().zip(migration),
        };
        self.to.write(&model.graph, &claim, &report, curve.as_ref(), &more)
    }

    /// What the parts may weigh, and where their vertices were.
    fn targets(&self, graph: &CsrGraph, parts: &Parts) -> anyhow::Result<(Targets, Option<Remap<'_>>)> {
        let mut targets = parts.targets(graph)?;
        let remap = self.remap.read(graph, targets.num_blocks())?;
        if let Some(remap) = &remap {
            let equal = vec![1; targets.num_blocks()];
            targets = targets.near(parts.speeds.as_deref().unwrap_or(&equal), &remap.homes.loads(graph));
        }
        Ok((targets, remap))
    }

    fn given(&self, num_nodes: usize) -> anyhow::Result<Given> {
        let DivideOptions { coordinates, index, .. } = self.options;
        let points = |path: &PathBuf| io::coordinates::read(Source::open(path)?, num_nodes);
        let positions = |path: &PathBuf| io::index::read(Source::open(path)?, num_nodes);
        let index = index.as_ref().map(positions).transpose()?;
        Ok(Given {
            coordinates: coordinates.as_ref().map(points).transpose()?,
            index: index
                .map(|positions| Index::of_positions(positions).expect("the reader has found an order")),
        })
    }

    fn divide(&self, graph: &CsrGraph, given: &Given, targets: &Targets) -> anyhow::Result<Division> {
        let progress = Progress::new(self.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("partitioning");
        let (weights, algorithm) = (graph.node_weights(), self.options.algorithm());
        let mut input = Input::new(graph).with_preset(self.preset).with_seed(self.seed);
        input.coordinates = given.coordinates.as_ref();
        input.grouping = self.options.grouping.unwrap_or_default();
        let divide = || -> Result<_, AlgorithmError> {
            if let Some(index) = &given.index {
                return Ok((index.cut(weights, targets), None));
            }
            if self.more.index.is_none() {
                return Ok((algorithm.partition(&input, targets)?.into_blocks(), None));
            }
            let index = Index::of_order(&algorithm.order(&input)?).expect("algorithms order all vertices");
            Ok((index.cut(weights, targets), Some(index)))
        };
        let (blocks, index) = threads::run(self.threads, divide)??;
        Ok(Division { blocks, index, migration: None, curve: None })
    }

    fn remap(&self, graph: &CsrGraph, targets: &Targets, remap: &Remap<'_>) -> anyhow::Result<Division> {
        let progress = Progress::new(self.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("partitioning");
        let partitioner = Partitioner::new(self.preset, self.seed);
        threads::run(self.threads, || -> anyhow::Result<Division> {
            let at = |weight| partitioner.remap(graph, targets, &remap.homes, weight, &());
            let Remapped { partition, migration, .. } = at(remap.weight)?;
            let curve = remap.curve(graph.total_node_weight(), "cut", self.to.console, |weight| {
                let Remapped { partition, migration, .. } = at(weight)?;
                Ok((partition.cut(), migration, partition.overload()))
            })?;
            let (blocks, migration) = (partition.into_blocks(), Some(migration));
            Ok(Division { blocks, index: None, migration, curve })
        })?
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
        (graph, parts, targets): (&CsrGraph, &Parts, &Targets),
        model: &Model,
        seconds: Seconds,
    ) -> Report {
        let (partition, heaviest_block) = (&model.partition, model.heaviest_block());
        let mean = (graph.total_node_weight() as f64 / targets.num_blocks() as f64).ceil();
        Report {
            graph: files::name(path),
            n: graph.num_nodes(),
            m: graph.num_edges(),
            k: targets.num_blocks(),
            speeds: parts.speeds.clone(),
            seed: self.seed,
            algorithm: if self.options.index.is_some() { "index" } else { self.options.algorithm().name() },
            grouping: self.options.grouping,
            preconfiguration: self.preset.name(),
            imbalance: self.imbalance,
            cut: partition.cut(),
            balance: if mean > 0.0 { heaviest_block as f64 / mean } else { 1.0 },
            heaviest_block,
            bound: model.bound,
            overload: partition.overload(),
            quality: Quality::of(graph, partition.blocks(), targets.num_blocks()),
            remap: None,
            model_edges: model.graph.num_edges(),
            seconds,
        }
    }
}

/// What was done, as written to `--json`.
#[derive(Serialize)]
struct Report {
    graph: String,
    n: usize,
    m: usize,
    k: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    speeds: Option<Vec<u32>>,
    seed: u64,
    algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<Grouping>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    remap: Option<JsonRemap>,
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
