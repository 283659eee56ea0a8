//! Partitioning a graph, from scratch or from a previous partition.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use super::options::OrderOptions;
use crate::application::{self, Application, How, Input};
use crate::audit::{Claim, MODEL, Written};
use crate::capacities::{CapacitiesByWeight, NodeOptions, OneOrEach};
use crate::end::End;
use crate::error::{Failure, Result, UsageError};
use crate::files;
use crate::fixed::{Fixed, FixedOptions};
use crate::job::{Job, end};
use crate::limits::Limits;
use crate::loads;
use crate::many_to_one::SharingOptions;
use crate::memory::JsonMemory;
use crate::mesh::MeshOptions;
use crate::options::{BalanceOptions, CoordinateOptions, ResultOptions};
use crate::remap::{Drawn, Remap, RemapOptions, Remapped};
use crate::report::{self, Found, JsonQuality};
use crate::signals::{First, StopAtSignal};
use crate::summary::{Summary, VERTICES, size};
use crate::verb::Form;
use viem::base::observer::Observer;
use viem::base::text::counted;
use viem::base::threads;
use viem::base::types::Weight;
use viem::graph::{Coordinates, CsrGraph};
use viem::machine::{Blocks, Machine as _};
use viem::partition::{
    Grouping, OrderIndex, PartitionAlgorithm, PartitionInput, PartitionPreset, PartitionQuality, Targets,
    TargetsError,
};
use viem::solve::{Config, Initial, Objective, Order, PreparedMachine, Report, Request, Solution};
use viem_io as io;
use viem_io::fixed::FixedKind;
use viem_io::mapping::Room;
use viem_io::metis::NodeWeights;
use viem_io::output::{Content, OutputId, Staged};
use viem_report::envelope::Envelope;
use viem_report::picture;
use viem_traffic::Format;

/// The options that `viem partition` and `viem remap` share.
pub(crate) struct Asked<'a> {
    pub(crate) verb: &'static str,
    pub(crate) file: &'a Path,
    /// The kind of the file, if it was given.
    pub(crate) from: Option<Format>,
    pub(crate) blocks: Option<usize>,
    pub(crate) preset: PartitionPreset,
    pub(crate) sharing: &'a SharingOptions,
    pub(crate) is_connected: bool,
    pub(crate) fixed: &'a FixedOptions,
    pub(crate) coordinates: &'a CoordinateOptions,
    pub(crate) mesh: &'a MeshOptions,
    pub(crate) results: &'a ResultOptions,
}

/// The start of a partition.
pub(crate) enum Way<'a> {
    /// An algorithm or an order, and the output for the order.
    Order(&'a OrderOptions, Option<OutputId>),
    /// A previous partition, and the output for the picture of the curve.
    Previous(&'a RemapOptions, Option<OutputId>),
}

impl Way<'_> {
    /// Returns whether vertices may have several weights: the multilevel algorithm knows them.
    fn takes_several_weights(&self) -> bool {
        match self {
            Self::Order(options, index) => {
                let is_multilevel = options.algorithm() == PartitionAlgorithm::default();
                is_multilevel && options.index.is_none() && index.is_none()
            }
            Self::Previous(..) => true,
        }
    }
}

/// The outputs for the results.
pub(crate) struct Outputs {
    pub(crate) blocks: Option<OutputId>,
    pub(crate) model: Option<OutputId>,
    /// The picture of the blocks.
    pub(crate) picture: Option<OutputId>,
}

/// Into what a graph is to be divided.
struct Sizes<'a> {
    number: usize,
    /// If the blocks are not all alike.
    capacities: CapacitiesByWeight,
    balance: &'a BalanceOptions,
}

/// The blocks into which a graph is divided.
struct Division {
    blocks: Blocks,
    /// If they are not all alike.
    capacities: CapacitiesByWeight,
    limits: Limits,
}

impl<'a> Sizes<'a> {
    /// Reads what is asked for. What no graph can make right is refused.
    fn read(Asked { blocks, sharing, .. }: &Asked<'a>) -> Result<Self> {
        sharing.balance.check()?;
        let capacities = sharing.of_blocks()?;
        let greatest = capacities.greatest();
        let number = match (*blocks, &greatest) {
            (Some(k), Some(capacities)) if k != capacities.len() => {
                let message = format!(
                    "--blocks={k}, but --capacities has {} numbers; leave out --blocks",
                    capacities.len()
                );
                return Err(UsageError(message).into());
            }
            (_, Some(capacities)) => capacities.len(),
            (number, None) => number.unwrap_or(0),
        };
        Targets::check(number, 0.0)?;
        greatest.map(Blocks::proportional).transpose()?;
        Ok(Self { number, capacities, balance: &sharing.balance })
    }

    /// The blocks of a graph. There are no more than vertices, so their memory is bounded by that of the graph.
    fn of(self, Application { graph, weights, .. }: &Application) -> Result<Division> {
        let Self { number, capacities, balance } = self;
        let blocks = match capacities.greatest() {
            Some(capacities) => Blocks::proportional(capacities)?,
            None if number > graph.num_nodes() => {
                let num_nodes = graph.num_nodes();
                return Err(TargetsError::NumBlocks { num_blocks: number, num_nodes }.into());
            }
            None => Blocks::equal(number)?,
        };
        let limits = balance.limits_of(&blocks, weights.as_ref(), (&capacities, &NodeOptions::default()))?;
        Ok(Division { limits, blocks, capacities })
    }
}

/// The greatest ratio of the weight of a part to its own share of all, rounded up; 1 if nothing weighs anything.
fn greatest_ratio(weights: &[Weight], shares: &[Weight]) -> f64 {
    let filled = weights.iter().zip(shares).filter(|&(&weight, _)| weight > 0);
    filled.map(|(&weight, &share)| weight as f64 / share as f64).reduce(f64::max).unwrap_or(1.0)
}

/// A partition, the order from which it was made, and the previous partition that was resumed.
struct Partitioned<'a> {
    solution: Solution,
    /// The order that is written.
    written: Option<(OutputId, OrderIndex)>,
    remapped: Option<Remapped<'a>>,
}

/// The start of a partition, as it was read.
enum Start<'a> {
    Order { options: &'a OrderOptions, index: Option<OrderIndex>, to: Option<OutputId> },
    Previous(Remap<'a>),
}

impl<'a> Start<'a> {
    fn read(way: Way<'a>, graph: &CsrGraph, num_blocks: usize) -> Result<Self> {
        Ok(match way {
            Way::Previous(options, curve) => Self::Previous(options.read(graph, num_blocks, curve)?),
            Way::Order(options, to) => {
                let index = options.read_index(graph.num_nodes())?;
                Self::Order { options, index, to }
            }
        })
    }
}

/// A graph that is to be divided.
struct Task<'a> {
    asked: Asked<'a>,
    start: Start<'a>,
    config: Config,
    to: Outputs,
    job: Job<'a>,
    division: Division,
    application: Application,
    coordinates: Option<Coordinates>,
}

/// Partitions a graph.
pub(crate) fn run(
    asked: Asked<'_>,
    way: Way<'_>,
    config: Config,
    (to, job): (Outputs, Job<'_>),
) -> Result<End> {
    let sizes = Sizes::read(&asked)?;
    let how = How {
        mesh: asked.mesh,
        weights: NodeWeights::Read,
        as_text: asked.results.verify,
        threads: config.threads,
        console: job.console,
    };
    let mut application = application::read(Input::open(asked.file)?, asked.from, &how)?;
    if !way.takes_several_weights() {
        application.leave_weights(&files::name(asked.file), job.console);
    }
    let of_mesh = application.coordinates.take();
    let (graph, division) = (&application.graph, sizes.of(&application)?);
    let coordinates = asked.coordinates.read(graph.num_nodes())?.or(of_mesh);
    if let Way::Order(options, _) = &way {
        options.check_coordinates(coordinates.is_some())?;
    }
    if to.picture.is_some() && coordinates.is_none() {
        let message = "--picture needs the coordinates of the vertices; give --coordinates=FILE";
        return Err(UsageError(message.to_owned()).into());
    }
    let start = Start::read(way, graph, division.blocks.num_pes())?;
    Task { asked, start, config, to, job, division, application, coordinates }.run()
}

impl<'a> Task<'a> {
    fn run(&self) -> Result<End> {
        let (graph, Division { blocks, limits, .. }) = (&self.application.graph, &self.division);
        let console = self.job.console;
        console.detail(format_args!("io time: {:.6}", self.job.seconds()));
        self.print_problem();
        blocks.check_enough(graph)?;
        let several = limits.several(graph, self.application.weights.as_ref())?;
        let fixed = self.fixed()?;
        fixed.iter().for_each(|fixed| fixed.print(console, "vertices"));
        if several.is_none() {
            loads::print_rounded(console, graph, blocks.shares(), limits.balance.least_load);
            let bounds = limits.get().bounds(graph, blocks);
            fixed.iter().for_each(|fixed| fixed.warn_of_loads(console, graph, &bounds, "block"));
        }
        let begin = Instant::now();
        let prepared = PreparedMachine::new(blocks);
        let request = Request::new(graph, &prepared).minimise(Objective::Cut);
        let request = match &several {
            Some(several) => request.balanced(several),
            None => request.balanced(limits.get()),
        };
        let request = request.fixed(fixed.as_ref().map(|fixed| &fixed.vertices));
        let request = request.connected(self.asked.is_connected);
        // A remapping that is stopped has a result worth saving; a partition from scratch has none before its end.
        let is_resumed = matches!(self.start, Start::Previous(_));
        let first = if is_resumed { First::AsksToStop } else { First::Ends };
        let (progress, received) = self.job.watch(first, self.config.time_limit);
        let found = {
            progress.show("partitioning");
            let observer = StopAtSignal { observer: progress, received: received.clone() };
            self.divide(request, &observer)?
        };
        console.detail(format_args!("partitioning took {:.6}", begin.elapsed().as_secs_f64()));
        self.finish(fixed.as_ref(), &found)?;
        end(&received)
    }

    /// Prints what is to be divided. VieM counts each edge in both directions.
    fn print_problem(&self) {
        let (console, graph) = (self.job.console, &self.application.graph);
        let (vertices, arcs) = (graph.num_nodes(), graph.num_arcs());
        match self.job.form {
            Form::VieM => {
                console.line(format_args!("graph has {vertices} nodes and {arcs} edges"));
                console.line(format_args!("performing partitioning!"));
            }
            Form::Verb => {
                let size = size(graph, VERTICES);
                let blocks = counted(self.division.blocks.num_pes(), "block", "blocks");
                console.line(format_args!("graph: {size}; into {blocks}"));
            }
        }
    }

    /// Prints what was found, and writes it.
    fn finish(&self, fixed: Option<&Fixed>, found: &Partitioned<'_>) -> Result<()> {
        let (graph, Division { blocks, limits, capacities }) = (&self.application.graph, &self.division);
        let Partitioned { solution: Solution { mapping, report, .. }, written, remapped } = found;
        let block_of = mapping.pes();
        let (model, quality) = threads::run(self.config.threads, || {
            let num_blocks = blocks.num_pes();
            let quality = match report.in_pieces {
                Some(count) => PartitionQuality::with_pieces(graph, block_of, num_blocks, count),
                None => PartitionQuality::of(graph, block_of, num_blocks),
            };
            (mapping.quotient(graph, num_blocks), quality)
        })?;
        // The loads are those by the first weight.
        let shares = capacities.each().first().map_or(blocks.shares(), |first| first);
        let ratio = greatest_ratio(&quality.loads, &Targets::shares(graph, shares, 0.0));
        let quality = JsonQuality { quality, balance: ratio };
        let bounds = limits.get().bounds(graph, blocks);
        let fixed_vertices = fixed.map(|fixed| &fixed.vertices);
        let too_heavy = match report.fullest_weight() {
            Some(weight) => Some(loads::fullest_weight(weight, report.loads.as_ref()).0),
            None => loads::too_heavy(graph, &bounds, fixed_vertices, loads::BLOCKS),
        };
        self.print(&model, (report, &quality, remapped.as_ref()), too_heavy);
        let claim = Claim {
            file: self.asked.file,
            text: self.application.text.as_deref(),
            graph,
            weights: self.application.weights.as_ref(),
            nodes: None,
            blocks: block_of,
            num_blocks: blocks.num_pes(),
            model: Some((&model, report.cut)),
            on: None,
            migration: remapped.as_ref().zip(report.migration),
            fixed,
        };
        let picture = self.picture(block_of, &quality).unwrap_or_default();
        let found = Found::<()> {
            quality: Some(quality),
            remap: remapped.as_ref().map(Remapped::report),
            fixed: fixed.map(Fixed::report),
            model_edges: Some(model.num_edges()),
            memory: Some(JsonMemory::of(graph)),
            ..Found::new(report)
        };
        let curve = remapped.as_ref().and_then(Remapped::picture);
        self.write(&claim, &self.report(found), (written.as_ref(), &picture, curve))?;
        self.print_end();
        Ok(())
    }

    /// Writes partition, model and report, once they are verified if that was asked for.
    fn write(
        &self,
        claim: &Claim<'_>,
        report: &Envelope<JsonOptions, Found<'_>>,
        (written, picture, curve): (Option<&(OutputId, OrderIndex)>, &str, Option<Drawn<'_>>),
    ) -> Result<()> {
        let (to, model) = (&self.to, claim.model.map(|(model, _)| model));
        let is_decomposition =
            to.blocks.is_some_and(|id| self.application.is_decomposition(self.job.name(id)));
        let (to_index, index) = written.map(|(to, index)| (*to, index.positions())).unzip();
        let (to_curve, curve) = curve.unzip();
        let contents: [Content<'_>; 5] = [
            (to.blocks, &|out| match is_decomposition {
                true => viem_mesh::write_decomposition(out, claim.blocks),
                false => io::partition::write(out, claim.blocks),
            }),
            (to.model, &|out| model.iter().try_for_each(|model| io::metis::write(out, model, MODEL))),
            (to_index, &|out| io::index::write(out, index.unwrap_or_default())),
            (to.picture, &|out| out.write_all(picture.as_bytes())),
            (to_curve, &|out| out.write_all(curve.unwrap_or_default().as_bytes())),
        ];
        let audit = |staged: &Staged<'_>| {
            let path = |id: Option<OutputId>| id.and_then(|id| staged.path(id));
            claim.check(&Written { blocks: path(to.blocks), model: path(to.model) }, self.job.console)
        };
        let is_verified = self.asked.results.verify;
        self.job.publish(&|out| report.write(out), &contents, is_verified.then_some(&audit as _))
    }

    /// Prints where the results are.
    fn print_end(&self) {
        let console = self.job.console;
        if let Some(blocks) = self.to.blocks {
            let name = self.job.name(blocks);
            console.line(format_args!("partition written to {name}"));
            self.application.print_dictionary(name, self.division.blocks.num_pes(), console);
        }
        if let Some(model) = self.to.model {
            console.line(format_args!("model written to {}", self.job.name(model)));
        }
    }

    /// The picture of the blocks, if there is to be one.
    fn picture(&self, block_of: &[u32], JsonQuality { quality, .. }: &JsonQuality) -> Option<String> {
        let points = self.coordinates.as_ref().filter(|_| self.to.picture.is_some())?;
        let PartitionQuality { cut_edges, setups, .. } = quality;
        let (k, algorithm) = (self.division.blocks.num_pes(), self.algorithm());
        let title = format!(
            "{algorithm}: {blocks}, {edges}, {messages}",
            blocks = counted(k, "block", "blocks"),
            edges = counted(cut_edges, "cut edge", "cut edges"),
            messages = counted(setups, "message", "messages")
        );
        Some(picture::draw_parts(&self.application.graph, points, block_of, k, &title))
    }

    /// The name of the algorithm, or of the way of a written order.
    fn algorithm(&self) -> &'static str {
        match &self.start {
            Start::Order { index: Some(_), .. } => "index",
            Start::Order { options, .. } => options.algorithm().name(),
            Start::Previous(_) => PartitionAlgorithm::default().name(),
        }
    }

    /// The vertices that must be in given blocks, if there are any.
    fn fixed(&self) -> Result<Option<Fixed>> {
        let shares = self.division.blocks.shares();
        let capacity = |block: u32| if shares[block as usize] > 0 { u32::MAX } else { 0 };
        let room = Room::new(shares.len(), &capacity);
        self.asked.fixed.read(self.application.graph.num_nodes(), room, FixedKind::Parts)
    }

    fn divide(&self, request: Request<'_>, observer: &dyn Observer) -> Result<Partitioned<'a>> {
        let (options, index, to) = match &self.start {
            Start::Order { options, index, to } => (*options, index.as_ref(), *to),
            Start::Previous(remap) => {
                let on = (&self.application.graph, &self.config);
                let (solution, remapped) =
                    remap.solve(request.observed(observer), on, ("cut", self.job.console))?;
                return Ok(Partitioned { solution, written: None, remapped: Some(remapped) });
            }
        };
        if self.application.weights.is_some() {
            let solution = request.observed(observer).solve(&self.config)?;
            return Ok(Partitioned { solution, written: None, remapped: None });
        }
        let algorithm = options.algorithm();
        let written = to.map(|to| Ok::<_, Failure>((to, self.order(algorithm)?))).transpose()?;
        let order = match index.or(written.as_ref().map(|(_, index)| index)) {
            Some(index) => Order::Index(index),
            None => Order::Algorithm {
                algorithm,
                coordinates: self.coordinates.as_ref(),
                grouping: options.grouping.unwrap_or_default(),
            },
        };
        let solution = request.initial(Initial::Along(order)).solve(&self.config)?;
        Ok(Partitioned { solution, written, remapped: None })
    }

    /// The order of the vertices by an algorithm.
    fn order(&self, algorithm: PartitionAlgorithm) -> Result<OrderIndex> {
        let Config { partition, seed, threads, .. } = self.config;
        let mut input = PartitionInput::new(&self.application.graph).with_preset(partition).with_seed(seed);
        input.coordinates = self.coordinates.as_ref();
        let order = threads::run(threads, || algorithm.order(&input))??;
        Ok(OrderIndex::of_order(&order).expect("algorithms order all vertices"))
    }

    fn print(
        &self,
        model: &CsrGraph,
        (report, JsonQuality { quality, balance }, remapped): (&Report, &JsonQuality, Option<&Remapped<'_>>),
        too_heavy: Option<String>,
    ) {
        let (console, blocks) = (self.job.console, &self.division.blocks);
        report::print_stopped(console, report.stopped, "partition");
        let PartitionQuality { cut_edges, setups, boundary, largest_volume, in_pieces, .. } = quality;
        match self.job.form {
            Form::VieM => {
                console.line(format_args!("cut {}", report.cut));
                console.line(format_args!("balance {balance:.5}"));
            }
            Form::Verb => {
                let mut summary = Summary::new("previous", "partition");
                let edges = counted(*cut_edges, "edge", "edges");
                match remapped.and_then(|remapped| remapped.before.as_ref()) {
                    Some(before) => summary.change_of("cut", before.cut, report.cut, &edges),
                    None => summary.figure("cut", report.cut, edges),
                }
                summary.figure(
                    "balance",
                    format_args!("{balance:.5}"),
                    "greatest weight of a block over its share",
                );
                summary.figure("messages", setups, "pairs of blocks that communicate");
                summary.figure("volume of a block", largest_volume, "greatest");
                summary.figure("boundary vertices", boundary, "");
                if *in_pieces > 0 {
                    summary.figure("blocks in pieces", in_pieces, "not connected");
                }
                summary.print(console);
            }
        }
        if let Some((remapped, migration)) = remapped.zip(report.migration) {
            remapped.print(console, &migration);
        }
        let Some(loads) = &report.loads else { return };
        loads::print_by_weight(console, loads::BLOCKS, &report.loads_by_weight);
        loads::print_below(console, loads::BLOCKS, loads::each(report), blocks.num_pes());
        let overload = report.violation().overload;
        if overload > 0 {
            console.warn(format_args!("{}", imbalance_warning(overload, too_heavy)));
        }
        if self.job.form == Form::VieM {
            console.line(format_args!("model has {} nodes, {} edges", model.num_nodes(), model.num_arcs()));
            console.line(format_args!("writing model of computation and communication to disk"));
        }
        let num_nodes = self.application.graph.num_nodes();
        loads::print_empty(console, loads::BLOCKS, loads.empty, blocks.shares(), num_nodes);
    }

    fn report<'b>(&self, found: Found<'b>) -> Envelope<JsonOptions, Found<'b>> {
        let grouping = match &self.start {
            Start::Order { options, .. } => options.grouping,
            Start::Previous(_) => None,
        };
        let Asked { verb, file, preset, mesh, .. } = self.asked;
        let Division { blocks, capacities, limits } = &self.division;
        let named = JsonOptions {
            blocks: blocks.num_pes(),
            capacities: OneOrEach::of(capacities.each().to_vec()),
            algorithm: self.algorithm(),
            grouping,
            preset: preset.name(),
            imbalance: limits.percents(|balance| balance.imbalance),
            imbalance_per_division: limits.are_per_division(),
            least_load: limits.percents(|balance| balance.least_load),
            least_loads: limits.names_of_least_loads(),
            connected: self.asked.is_connected,
            mesh: mesh.clone(),
            time_limit: self.config.time_limit.map(|limit| limit.as_secs_f64()),
        };
        report::of_verb(verb, file, named, found).seeded(self.config.seed)
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    blocks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacities: Option<OneOrEach<Vec<u32>>>,
    algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<Grouping>,
    preset: &'static str,
    /// In percent.
    imbalance: OneOrEach<f64>,
    /// Whether that is the imbalance of each division.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    imbalance_per_division: bool,
    /// In percent of the share.
    least_load: OneOrEach<f64>,
    /// The file of those of each block.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_loads: Option<OneOrEach<String>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    connected: bool,
    #[serde(flatten)]
    mesh: MeshOptions,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_limit: Option<f64>,
}

/// What is wrong with a partition that is not balanced as asked. `too_heavy` are words about a vertex that fits nowhere.
fn imbalance_warning(overload: Weight, too_heavy: Option<String>) -> String {
    let too_heavy = too_heavy.map_or_else(String::new, |words| format!(": {words}"));
    format!(
        "no balance as asked was found: blocks exceed their bounds by {overload} in sum{too_heavy}; allow more --imbalance or \
         ask for fewer blocks"
    )
}
