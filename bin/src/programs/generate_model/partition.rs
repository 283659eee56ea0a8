//! Dividing an application graph into parts.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

use super::application::{self, Application};
use super::audit::Claim;
use super::destination::Destination;
use super::options::{NAME, Options, PartitionOptions};
use crate::error::{Result, UsageError};
use crate::exit::End;
use crate::fixed::Fixed;
use crate::loads::{self, Below};
use crate::memory::JsonMemory;
use crate::options;
use crate::progress::Progress;
use crate::remap::{Curve, Remap};
use crate::report::{Found, JsonQuality, JsonReport};
use crate::signals::{self, First};
use viem::graph::{Coordinates, CsrGraph};
use viem::ground::threads;
use viem::ground::types::{BlockId, Weight};
use viem::machine::{Blocks, Machine as _};
use viem::partition::{Grouping, OrderIndex, PartitionInput, PartitionQuality, Targets};
use viem::solve::{Balance, Config, Initial, Objective, Order, PreparedMachine, Report, Request, Solution};
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
    blocks: Blocks,
    /// If they are not all alike.
    speeds: Option<Vec<u32>>,
    balance: Balance,
}

impl Parts {
    /// Into what a graph is divided; nothing if that is missing. What no graph can make right is refused.
    pub(super) fn of(options: &Options) -> Result<Option<Self>> {
        options.partition.check()?;
        let PartitionOptions { k, speeds, .. } = &options.partition;
        let (speeds, imbalance) = (speeds.read()?, options::imbalance(options.imbalance)?);
        let balance = Balance { imbalance, least_load: options::least_load(options.least_load)? };
        let number = match (*k, &speeds) {
            (Some(k), Some(speeds)) if k != speeds.len() => {
                let message = format!("--k={k}, but --speeds has {} numbers; leave out --k", speeds.len());
                return Err(UsageError(message).into());
            }
            (_, Some(speeds)) => speeds.len(),
            (Some(number), None) => number,
            (None, None) => return Ok(None),
        };
        Targets::check(number, imbalance)?;
        let blocks = speeds.clone().map_or_else(|| Blocks::equal(number), Blocks::proportional)?;
        Ok(Some(Self { blocks, speeds, balance }))
    }
}

/// The greatest ratio of the weight of a part to its own share of all, rounded up; 1 if nothing weighs anything.
fn greatest_ratio(weights: &[Weight], shares: &[Weight]) -> f64 {
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

/// A solution; the order that it comes from, if that is to be written; where it resumes another partition, the curve if that is asked for.
struct Division {
    solution: Solution,
    index: Option<OrderIndex>,
    curve: Option<Curve>,
}

/// What is divided, once it is read.
struct Task<'a> {
    path: &'a Path,
    parts: &'a Parts,
    application: &'a Application,
    given: &'a Given,
    remap: Option<Remap<'a>>,
    fixed: Option<Fixed>,
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
        let application = &application::read(self.options, source, self.threads, console)?;
        let graph = &application.graph;
        let given = self.given(graph.num_nodes())?;
        let reading = started.elapsed().as_secs_f64();
        console.line(format_args!("io time: {reading:.6}"));
        console.line(format_args!("graph has {} nodes and {} edges", graph.num_nodes(), graph.num_arcs()));
        console.line(format_args!("performing partitioning!"));
        let (blocks, balance) = (&parts.blocks, parts.balance);
        blocks.check_enough(graph)?;
        let remap = self.options.remap.read(graph, blocks.num_pes())?;
        loads::tell_rounded(console, graph, blocks.shares(), balance.least_load);
        let fixed = self.fixed(graph, parts)?;
        if let Some(fixed) = &fixed {
            fixed.tell(console, "vertices");
            fixed.warn_of_loads(console, graph, &balance.bounds(graph, blocks), "part");
        }
        let (begin, own) = (Instant::now(), fixed.as_ref().map(|fixed| &fixed.vertices));
        let prepared = PreparedMachine::new(blocks);
        let request = Request::new(graph, &prepared).balanced(balance).minimise(Objective::Cut).fixed(own);
        let division = self.divide(request, (graph, &given), remap.as_ref())?;
        console.line(format_args!("partitioning took {:.6}", begin.elapsed().as_secs_f64()));
        self.finish(&Task { path, parts, application, given: &given, remap, fixed }, &division)
    }

    /// Says what was found, and writes it.
    fn finish(&self, task: &Task<'_>, Division { solution, index, curve }: &Division) -> Result<End> {
        let Task { path, parts, application, given, remap, fixed } = task;
        let (graph, blocks) = (&application.graph, &parts.blocks);
        let Solution { mapping, report, .. } = solution;
        let part_of = mapping.pes();
        let (model, quality) = threads::run(self.threads, || {
            let quality = PartitionQuality::of(graph, part_of, blocks.num_pes());
            (mapping.quotient(graph, blocks.num_pes()), quality)
        })?;
        let migration = remap.as_ref().zip(report.migration);
        let balance = greatest_ratio(&quality.loads, &Targets::shares(graph, blocks.shares(), 0.0));
        let quality = JsonQuality { quality, balance };
        let (bounds, own) =
            (parts.balance.bounds(graph, blocks), fixed.as_ref().map(|fixed| &fixed.vertices));
        let too_heavy = loads::too_heavy(graph, &bounds, own, loads::PARTS);
        self.tell((graph, &model, blocks), (report, &quality), too_heavy);
        if let Some((remap, migration)) = &migration {
            remap.tell(self.to.console, graph.total_node_weight(), migration);
        }
        let named = self.options(parts);
        let picture = self.picture(graph, (given, part_of), (&named, &quality)).unwrap_or_default();
        let found = Found::<()> {
            quality: Some(quality),
            remap: remap.as_ref().map(|remap| remap.report(curve.as_ref())),
            fixed: fixed.as_ref().map(Fixed::report),
            model_edges: Some(model.num_edges()),
            memory: Some(JsonMemory::of(graph)),
            ..Found::new(report)
        };
        let json = JsonReport::new(NAME, *path, named, found).seeded(self.options.seed);
        let positions = index.as_ref().map_or(&[][..], OrderIndex::positions);
        let more: [Content<'_>; 2] = [
            (self.to.index, &|out| io::index::write(out, positions)),
            (self.to.picture, &|out| out.write_all(picture.as_bytes())),
        ];
        let claim = Claim {
            file: path,
            text: application.text.as_deref(),
            graph,
            blocks: part_of,
            num_blocks: blocks.num_pes(),
            cut: report.cut,
            on: None,
            migration,
            fixed: fixed.as_ref(),
        };
        self.to.write(&model, &claim, &json, curve.as_ref(), &more)
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
        (given, part_of): (&Given, &[BlockId]),
        (JsonOptions { k, algorithm, .. }, JsonQuality { quality, .. }): (&JsonOptions, &JsonQuality),
    ) -> Option<String> {
        let points = given.coordinates.as_ref().filter(|_| self.to.picture.is_some())?;
        let PartitionQuality { cut_edges, setups, .. } = quality;
        let title = format!("{algorithm}: {k} parts, {cut_edges} cut edges, {setups} setups");
        Some(picture::draw_parts(graph, points, part_of, *k, &title))
    }

    /// The vertices that must be in given parts, if there are any.
    fn fixed(&self, graph: &CsrGraph, parts: &Parts) -> Result<Option<Fixed>> {
        if self.options.fixed.file().is_some() && self.to.index.is_some() {
            let message = "--fixed does not go with --write_index, as the parts are ranges of the order that is written; leave one of them out";
            return Err(UsageError(message.to_owned()).into());
        }
        let shares = parts.blocks.shares();
        let capacity = |part: u32| if shares[part as usize] > 0 { u32::MAX } else { 0 };
        self.options.fixed.read(graph.num_nodes(), Room::new(shares.len(), &capacity), FixedKind::Parts)
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

    fn divide(
        &self,
        request: Request<'_>,
        (graph, given): (&CsrGraph, &Given),
        remap: Option<&Remap<'_>>,
    ) -> Result<Division> {
        let progress = Progress::new(self.options.report.quiet);
        signals::listen(&progress, First::Ends);
        progress.tell("partitioning");
        let config = &self.options.config(self.threads);
        if let Some(remap) = remap {
            let to = ("cut", graph.total_node_weight(), self.to.console);
            let (solution, curve) = remap.solve(request, config, to, &())?;
            return Ok(Division { solution, index: None, curve });
        }
        let index = self.to.index.is_some().then(|| self.index(graph, given, config)).transpose()?;
        let order = match given.index.as_ref().or(index.as_ref()) {
            Some(index) => Order::Index(index),
            None => Order::Algorithm {
                algorithm: self.options.partition.algorithm(),
                coordinates: given.coordinates.as_ref(),
                grouping: self.options.partition.grouping.unwrap_or_default(),
            },
        };
        let solution = request.initial(Initial::Along(order)).solve(config, &())?;
        Ok(Division { solution, index, curve: None })
    }

    /// The order of the vertices that is written.
    fn index(&self, graph: &CsrGraph, given: &Given, config: &Config) -> Result<OrderIndex> {
        let mut input = PartitionInput::new(graph).with_preset(config.partition).with_seed(config.seed);
        input.coordinates = given.coordinates.as_ref();
        let order = threads::run(self.threads, || self.options.partition.algorithm().order(&input))??;
        Ok(OrderIndex::of_order(&order).expect("algorithms order all vertices"))
    }

    fn tell(
        &self,
        (graph, model, blocks): (&CsrGraph, &CsrGraph, &Blocks),
        (report, JsonQuality { quality, balance }): (&Report, &JsonQuality),
        too_heavy: Option<String>,
    ) {
        let console = self.to.console;
        console.line(format_args!("cut {}", report.cut));
        console.line(format_args!("balance {balance:.5}"));
        let PartitionQuality { cut_edges, setups, boundary, largest_volume, .. } = quality;
        console.line(format_args!(
            "{cut_edges} cut edges, {setups} setups, {boundary} vertices on the boundary, largest volume of a part \
             {largest_volume}"
        ));
        let Some(loads) = &report.loads else { return };
        let below = Below { half: loads.below_half, least: loads.below_least, all: blocks.num_pes() };
        loads::tell_below(console, loads::PARTS, &below, loads.shortfall);
        if loads.overload > 0 {
            console.warn(format_args!("{}", imbalance_warning(loads.overload, too_heavy)));
        }
        console.line(format_args!("model has {} nodes, {} edges", model.num_nodes(), model.num_arcs()));
        console.line(format_args!("writing model of computation and communication to disk"));
        loads::tell_empty(console, loads::PARTS, loads.empty, blocks.shares(), graph.num_nodes());
    }

    /// The options that decide the result.
    fn options(&self, parts: &Parts) -> JsonOptions {
        let Options { partition, preconfiguration, imbalance, least_load, .. } = self.options;
        let algorithm = if partition.index.is_some() { "index" } else { partition.algorithm().name() };
        JsonOptions {
            k: parts.blocks.num_pes(),
            speeds: parts.speeds.clone(),
            algorithm,
            grouping: partition.grouping,
            preconfiguration: preconfiguration.name(),
            imbalance: *imbalance,
            least_load: *least_load,
        }
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    k: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    speeds: Option<Vec<u32>>,
    algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<Grouping>,
    preconfiguration: &'static str,
    imbalance: f64,
    /// In percent of the share.
    least_load: f64,
}

/// What is wrong with a partition that is not balanced as asked. `too_heavy` are words about a vertex that fits nowhere.
fn imbalance_warning(overload: Weight, too_heavy: Option<String>) -> String {
    let too_heavy = too_heavy.map_or_else(String::new, |words| format!(": {words}"));
    format!(
        "no balance as asked was found: blocks exceed their bounds by {overload} in sum{too_heavy}; allow more --imbalance or \
         ask for fewer blocks"
    )
}
