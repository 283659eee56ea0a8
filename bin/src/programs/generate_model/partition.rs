//! Dividing an application graph into parts.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::application::{self, Application};
use super::audit::Claim;
use super::destination::Destination;
use super::options::{Options, PartitionOptions};
use crate::error::{Result, UsageError};
use crate::exit::End;
use crate::fixed::{Fixed, JsonFixed};
use crate::loads::{self, Below};
use crate::memory::JsonMemory;
use crate::progress::Progress;
use crate::remap::{Curve, JsonRemap, Remap};
use crate::signals::{self, First};
use crate::{files, options};
use viem::graph::{Coordinates, CsrGraph};
use viem::ground::threads;
use viem::ground::types::{BlockId, Cost, Weight};
use viem::mapping::model::{self, CommunicationModel, ModelError};
use viem::partition::{
    Grouping, Migration, OrderIndex, Partition, PartitionAlgorithmError, PartitionInput, PartitionQuality,
    Partitioner, Remapped, Targets,
};
use viem_io as io;
use viem_io::Source;
use viem_io::coordinates::Ids;
use viem_io::fixed::FixedKind;
use viem_io::mapping::Room;
use viem_io::metis::NodeWeights;
use viem_io::output::Content;
use viem_report::picture;

/// Into what a graph is divided.
pub(super) struct Parts {
    number: usize,
    /// If they are not all alike.
    speeds: Option<Vec<u32>>,
    /// As a share.
    imbalance: f64,
    /// As a part of a share.
    least_load: f64,
}

impl Parts {
    /// Into what a graph is divided; nothing if that is missing. What no graph can make right is refused.
    pub(super) fn of(options: &Options) -> Result<Option<Self>> {
        options.partition.check()?;
        let PartitionOptions { k, speeds, .. } = &options.partition;
        let (speeds, imbalance) = (speeds.read()?, options::imbalance(options.imbalance)?);
        let least_load = options::least_load(options.least_load)?;
        let parts = match (*k, speeds) {
            (Some(k), Some(speeds)) if k != speeds.len() => {
                let message = format!("--k={k}, but --speeds has {} numbers; leave out --k", speeds.len());
                return Err(UsageError(message).into());
            }
            (_, Some(speeds)) => Self { number: speeds.len(), speeds: Some(speeds), imbalance, least_load },
            (Some(number), None) => Self { number, speeds: None, imbalance, least_load },
            (None, None) => return Ok(None),
        };
        Targets::check(parts.number, parts.imbalance).map_err(ModelError::from)?;
        Ok(Some(parts))
    }

    fn targets(&self, graph: &CsrGraph) -> Result<Targets, ModelError> {
        let targets = match &self.speeds {
            None => {
                model::check_num_blocks(graph, self.number)?;
                Targets::equal(graph, self.number, self.imbalance)?
            }
            Some(speeds) => {
                model::check_num_blocks(graph, speeds.iter().filter(|&&speed| speed > 0).count())?;
                Targets::proportional(graph, speeds, self.imbalance)?
            }
        };
        let least = Targets::least_shares(graph, &self.capacities(), self.least_load)?;
        Ok(targets.with_least_loads(least)?)
    }

    /// How much of the graph each part takes, in proportion.
    fn capacities(&self) -> Cow<'_, [u32]> {
        self.speeds.as_deref().map_or_else(|| vec![1; self.number].into(), Cow::from)
    }

    /// The share of each part in the weight of all vertices, rounded up.
    fn shares(&self, graph: &CsrGraph) -> Vec<Weight> {
        Targets::shares(graph, &self.capacities(), 0.0)
    }
}

/// The greatest ratio of the weight of a part to its own share of all, rounded up; 1 if nothing weighs anything.
fn balance(weights: &[Weight], shares: &[Weight]) -> f64 {
    let filled = weights.iter().zip(shares).filter(|&(&weight, _)| weight > 0);
    filled.map(|(&weight, &share)| weight as f64 / share as f64).reduce(f64::max).unwrap_or(1.0)
}

/// A division as it was asked for.
pub(super) struct Job<'a> {
    pub options: &'a Options,
    pub parts: Option<Parts>,
    pub threads: usize,
    pub to: &'a Destination,
}

/// What is read besides the graph.
struct Given {
    coordinates: Option<Coordinates>,
    index: Option<OrderIndex>,
}

/// The part of each vertex, and the order that it comes from, if that is to be written; where it resumes another partition, what
/// changes place.
struct Division {
    blocks: Vec<BlockId>,
    index: Option<OrderIndex>,
    migration: Option<Migration>,
    curve: Option<Curve>,
}

impl Job<'_> {
    pub(super) fn run(&self, source: Source<'_>) -> Result<End> {
        let (started, console) = (Instant::now(), self.to.console);
        let (path, parts) = match self.asked() {
            Ok(asked) => asked,
            // Why a file that is no graph cannot be read goes before what is missing.
            Err(error) => {
                let unread = io::read_graph(source, NodeWeights::Ignore).err();
                return Err(unread.map_or(error, Into::into));
            }
        };
        let Application { graph, text } = application::read(self.options, source, self.threads, console)?;
        let given = self.given(graph.num_nodes())?;
        let reading = started.elapsed().as_secs_f64();
        console.line(format_args!("io time: {reading:.6}"));
        console.line(format_args!("graph has {} nodes and {} edges", graph.num_nodes(), graph.num_arcs()));
        console.line(format_args!("performing partitioning!"));
        let (mut targets, remap) = self.targets(&graph, parts)?;
        loads::tell_rounded(console, &graph, &parts.capacities(), parts.least_load);
        let fixed = self.fixed(&graph, &targets)?;
        if let Some(fixed) = &fixed {
            fixed.tell(console, "vertices");
            fixed.warn_of_loads(console, &graph, targets.bounds(), "part");
            targets = targets.with_fixed(&graph, fixed.vertices.clone())?;
        }
        let begin = Instant::now();
        let division = match &remap {
            Some(remap) => self.remap(&graph, &targets, remap)?,
            None => self.divide(&graph, &given, &targets)?,
        };
        let seconds = Seconds { reading, partitioning: begin.elapsed().as_secs_f64() };
        console.line(format_args!("partitioning took {:.6}", seconds.partitioning));
        let Division { blocks, index, migration, curve } = division;
        let (model, quality) = threads::run(self.threads, || {
            let quality = PartitionQuality::of(&graph, &blocks, targets.num_blocks());
            (CommunicationModel::of(&graph, Partition::of(&graph, blocks, &targets), &targets), quality)
        })?;
        let mut report = self.report(path, (&graph, parts, &targets), (&model, quality), seconds);
        let own = fixed.as_ref().map(|fixed| &fixed.vertices);
        let too_heavy = loads::too_heavy(&graph, targets.bounds(), own, loads::PARTS);
        self.tell(&model, &report, too_heavy);
        loads::tell_empty(console, loads::PARTS, report.empty, &parts.capacities(), graph.num_nodes());
        let migration = remap.as_ref().zip(migration);
        if let Some((remap, migration)) = migration {
            remap.tell(console, graph.total_node_weight(), &migration);
            report.remap = Some(remap.report(migration, curve.as_ref()));
        }
        report.fixed = fixed.as_ref().map(Fixed::report);
        let blocks = model.partition.blocks();
        let picture = self.picture(&graph, &given, blocks, &report).unwrap_or_default();
        let positions = index.as_ref().map_or(&[][..], OrderIndex::positions);
        let more: [Content<'_>; 2] = [
            (self.to.index, &|out| io::index::write(out, positions)),
            (self.to.picture, &|out| out.write_all(picture.as_bytes())),
        ];
        let (num_blocks, cut) = (targets.num_blocks(), model.partition.cut());
        let claim = Claim {
            file: path,
            text: text.as_deref(),
            graph: &graph,
            blocks,
            num_blocks,
            cut,
            on: None,
            migration,
            fixed: fixed.as_ref(),
        };
        self.to.write(&model.graph, &claim, &report, curve.as_ref(), &more)
    }

    /// The graph, and into what it is divided.
    fn asked(&self) -> Result<(&Path, &Parts)> {
        let missing =
            |what: &str| UsageError(format!("{what}; or say with --from what traffic was recorded"));
        let [path] = &self.options.files[..] else {
            return Err(missing("partitioning takes one graph in METIS format").into());
        };
        let parts = self.parts.as_ref().ok_or_else(|| {
            missing("--k, the number of parts, or --speeds, the speed of each, or --machine is missing")
        })?;
        Ok((path, parts))
    }

    /// The picture of the parts, if there is to be one.
    fn picture(
        &self,
        graph: &CsrGraph,
        given: &Given,
        blocks: &[BlockId],
        report: &Report,
    ) -> Option<String> {
        let points = given.coordinates.as_ref().filter(|_| self.to.picture.is_some())?;
        let Report { k, quality: PartitionQuality { cut_edges, setups, .. }, algorithm, .. } = report;
        let title = format!("{algorithm}: {k} parts, {cut_edges} cut edges, {setups} setups");
        Some(picture::draw_parts(graph, points, blocks, *k, &title))
    }

    /// What the parts may weigh, and where their vertices were.
    fn targets(&self, graph: &CsrGraph, parts: &Parts) -> Result<(Targets, Option<Remap<'_>>)> {
        let mut targets = parts.targets(graph)?;
        let remap = self.options.remap.read(graph, targets.num_blocks())?;
        if let Some(remap) = &remap {
            targets = targets.near(&parts.capacities(), &remap.homes.loads(graph));
        }
        Ok((targets, remap))
    }

    /// The vertices that must be in given parts, if there are any.
    fn fixed(&self, graph: &CsrGraph, targets: &Targets) -> Result<Option<Fixed>> {
        if self.options.fixed.file().is_some() && self.to.index.is_some() {
            let message = "--fixed does not go with --write_index, as the parts are ranges of the order that is written; leave one of them out";
            return Err(UsageError(message.to_owned()).into());
        }
        let speeds = self.parts.as_ref().and_then(|parts| parts.speeds.as_ref());
        let takes_work = |part: u32| speeds.is_none_or(|speeds| speeds[part as usize] > 0);
        let capacity = |part| if takes_work(part) { u32::MAX } else { 0 };
        let room = Room::new(targets.num_blocks(), &capacity);
        self.options.fixed.read(graph.num_nodes(), room, FixedKind::Parts)
    }

    /// Reads what is read besides the graph. A least load is refused where parts are ranges of an order that is written.
    fn given(&self, num_nodes: usize) -> Result<Given> {
        if self.to.index.is_some() && self.options.least_load > 0.0 {
            let message = "--least_load does not go with --write_index, as the parts are ranges of the order that is written; leave one of them out";
            return Err(UsageError(message.to_owned()).into());
        }
        let PartitionOptions { coordinates, index, .. } = &self.options.partition;
        let ids = self.options.partition.coordinate_ids.unwrap_or(Ids::Unknown);
        let points = |path: &PathBuf| io::coordinates::read_with(Source::open(path)?, num_nodes, ids);
        let positions = |path: &PathBuf| io::index::read(Source::open(path)?, num_nodes);
        let index = index.as_ref().map(positions).transpose()?;
        Ok(Given {
            coordinates: coordinates.as_ref().map(points).transpose()?,
            index: index
                .map(|positions| OrderIndex::of_positions(positions).expect("the reader has found an order")),
        })
    }

    fn divide(&self, graph: &CsrGraph, given: &Given, targets: &Targets) -> Result<Division> {
        let progress = Progress::new(self.options.report.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("partitioning");
        let (weights, algorithm) = (graph.node_weights(), self.options.partition.algorithm());
        let mut input = PartitionInput::new(graph)
            .with_preset(self.options.preconfiguration)
            .with_seed(self.options.seed);
        input.coordinates = given.coordinates.as_ref();
        input.grouping = self.options.partition.grouping.unwrap_or_default();
        let divide = || -> Result<_, PartitionAlgorithmError> {
            if let Some(index) = &given.index {
                return Ok((index.cut(weights, targets), None));
            }
            if self.to.index.is_none() {
                return Ok((algorithm.partition(&input, targets)?.into_blocks(), None));
            }
            let index =
                OrderIndex::of_order(&algorithm.order(&input)?).expect("algorithms order all vertices");
            Ok((index.cut(weights, targets), Some(index)))
        };
        let (blocks, index) = threads::run(self.threads, divide)??;
        Ok(Division { blocks, index, migration: None, curve: None })
    }

    fn remap(&self, graph: &CsrGraph, targets: &Targets, remap: &Remap<'_>) -> Result<Division> {
        let progress = Progress::new(self.options.report.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("partitioning");
        let partitioner = Partitioner::new(self.options.preconfiguration, self.options.seed);
        threads::run(self.threads, || -> Result<Division> {
            let found = partitioner.remap(graph, targets, remap.remapping(), &())?;
            let (best, curve) = remap.best_of(found, ("cut", graph.total_node_weight()), self.to.console)?;
            let Remapped { partition, migration, .. } = best;
            let (blocks, migration) = (partition.into_blocks(), Some(migration));
            Ok(Division { blocks, index: None, migration, curve })
        })?
    }

    fn tell(&self, model: &CommunicationModel, report: &Report, too_heavy: Option<String>) {
        let console = self.to.console;
        console.line(format_args!("cut {}", report.cut));
        console.line(format_args!("balance {:.5}", report.balance));
        let PartitionQuality { cut_edges, setups, boundary, largest_volume, .. } = &report.quality;
        console.line(format_args!(
            "{cut_edges} cut edges, {setups} setups, {boundary} vertices on the boundary, largest volume of a part \
             {largest_volume}"
        ));
        let below = Below { half: report.below_half, least: report.below_least, all: report.k };
        loads::tell_below(console, loads::PARTS, &below, report.shortfall);
        if report.overload > 0 {
            console.warn(format_args!("{}", imbalance_warning(report.overload, too_heavy)));
        }
        let quotient = &model.graph;
        console.line(format_args!("model has {} nodes, {} edges", quotient.num_nodes(), quotient.num_arcs()));
        console.line(format_args!("writing model of computation and communication to disk"));
    }

    fn report(
        &self,
        path: &Path,
        (graph, parts, targets): (&CsrGraph, &Parts, &Targets),
        (model, quality): (&CommunicationModel, PartitionQuality),
        seconds: Seconds,
    ) -> Report {
        let (partition, heaviest_block) = (&model.partition, model.heaviest_block());
        Report {
            graph: files::name(path),
            n: graph.num_nodes(),
            m: graph.num_edges(),
            k: targets.num_blocks(),
            speeds: parts.speeds.clone(),
            seed: self.options.seed,
            algorithm: if self.options.partition.index.is_some() {
                "index"
            } else {
                self.options.partition.algorithm().name()
            },
            grouping: self.options.partition.grouping,
            preconfiguration: self.options.preconfiguration.name(),
            imbalance: self.options.imbalance,
            least_load: self.options.least_load,
            cut: partition.cut(),
            balance: balance(partition.block_weights(), &parts.shares(graph)),
            heaviest_block,
            bound: model.bound,
            overload: partition.overload(),
            below_half: Targets::num_below_half(&parts.capacities(), partition.block_weights()),
            below_least: targets.num_short(partition.block_weights()),
            shortfall: partition.shortfall(),
            empty: targets.num_empty(partition.blocks()),
            quality,
            remap: None,
            fixed: None,
            model_edges: model.graph.num_edges(),
            memory: JsonMemory::of(graph),
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
    /// In percent of the share.
    least_load: f64,
    cut: Cost,
    /// Weight of the heaviest block over the mean, rounded up.
    balance: f64,
    heaviest_block: Weight,
    /// What it may weigh at most.
    bound: Weight,
    /// By how much blocks exceed what they may weigh, in sum; 0 if the partition is balanced as asked.
    overload: Weight,
    /// The number of blocks with less than half of their share.
    below_half: usize,
    /// The number of blocks below their least load.
    below_least: usize,
    /// What these lack, in sum.
    shortfall: Weight,
    /// The number of blocks without vertices, besides those of speed 0.
    empty: usize,
    #[serde(flatten)]
    quality: PartitionQuality,
    #[serde(skip_serializing_if = "Option::is_none")]
    remap: Option<JsonRemap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<JsonFixed>,
    model_edges: usize,
    seconds: Seconds,
    memory: JsonMemory,
}

#[derive(Serialize)]
struct Seconds {
    reading: f64,
    partitioning: f64,
}

/// What is wrong with a partition that is not balanced as asked. `too_heavy` are words about a vertex that fits nowhere.
fn imbalance_warning(overload: Weight, too_heavy: Option<String>) -> String {
    let too_heavy = too_heavy.map_or_else(String::new, |words| format!(": {words}"));
    format!(
        "no balance as asked was found: blocks exceed their bounds by {overload} in sum{too_heavy}; allow more --imbalance or \
         ask for fewer blocks"
    )
}
