//! Partitioning a graph, from scratch or from a previous partition.

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;

use super::options::Options;
use crate::application::{self, Application};
use crate::audit::{Claim, MODEL, Written};
use crate::end::End;
use crate::error::{Result, UsageError};
use crate::fixed::Fixed;
use crate::job::{Job, Plan};
use crate::limits::Limits;
use crate::loads::{self, Below};
use crate::memory::JsonMemory;
use crate::options::BalanceOptions;
use crate::remap::{Curve, Remap};
use crate::report::{self, Found, JsonQuality};
use crate::signals::First;
use crate::summary::{Summary, VERTICES, size};
use crate::verb::Form;
use viem::base::text::counted;
use viem::base::threads;
use viem::base::types::Weight;
use viem::graph::{Coordinates, CsrGraph};
use viem::machine::{Blocks, Machine as _};
use viem::partition::{Grouping, OrderIndex, PartitionInput, PartitionQuality, Targets, TargetsError};
use viem::solve::{Config, Initial, Objective, Order, PreparedMachine, Report, Request, Solution};
use viem_io as io;
use viem_io::Source;
use viem_io::coordinates::Ids;
use viem_io::fixed::FixedKind;
use viem_io::mapping::Room;
use viem_io::output::{Content, OutputId, Staged};
use viem_report::envelope::Envelope;
use viem_report::picture;

/// Into what a graph is to be divided.
struct Asked<'a> {
    number: usize,
    /// If the blocks are not all alike.
    capacities: Option<Vec<u32>>,
    balance: &'a BalanceOptions,
}

/// The blocks into which a graph is divided.
struct Division {
    blocks: Blocks,
    /// If they are not all alike.
    capacities: Option<Vec<u32>>,
    limits: Limits,
}

impl Asked<'_> {
    /// Reads what is asked for. What no graph can make right is refused.
    fn read(options: &Options) -> Result<Asked<'_>> {
        let balance = options.balance.read()?;
        let capacities = options.capacities.as_ref().map(|capacities| capacities.read()).transpose()?;
        let number = match (options.blocks, &capacities) {
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
        Targets::check(number, balance.imbalance)?;
        if let Some(capacities) = &capacities {
            Blocks::proportional(capacities.clone())?;
        }
        Ok(Asked { number, capacities, balance: &options.balance })
    }

    /// The blocks of a graph. There are no more than vertices, so their memory is bounded by that of the graph.
    fn of(self, graph: &CsrGraph) -> Result<Division> {
        let Self { number, capacities, balance } = self;
        let blocks = match capacities.clone() {
            Some(capacities) => Blocks::proportional(capacities)?,
            None if number > graph.num_nodes() => {
                let num_nodes = graph.num_nodes();
                return Err(TargetsError::NumBlocks { num_blocks: number, num_nodes }.into());
            }
            None => Blocks::equal(number)?,
        };
        Ok(Division { limits: balance.limits(blocks.num_pes())?, blocks, capacities })
    }
}

/// The greatest ratio of the weight of a part to its own share of all, rounded up; 1 if nothing weighs anything.
fn greatest_ratio(weights: &[Weight], shares: &[Weight]) -> f64 {
    let filled = weights.iter().zip(shares).filter(|&(&weight, _)| weight > 0);
    filled.map(|(&weight, &share)| weight as f64 / share as f64).reduce(f64::max).unwrap_or(1.0)
}

/// Where the results go.
struct Outputs {
    blocks: Option<OutputId>,
    model: Option<OutputId>,
    /// The order of the vertices.
    index: Option<OutputId>,
    /// The picture of the blocks.
    picture: Option<OutputId>,
    /// The picture of a curve of remappings.
    curve: Option<OutputId>,
}

/// What is read besides the graph.
struct Given {
    coordinates: Option<Coordinates>,
    index: Option<OrderIndex>,
}

/// A solution; the order that it comes from, if that is to be written; where it starts from a previous partition, the curve if that is asked for.
struct Partitioned {
    solution: Solution,
    index: Option<OrderIndex>,
    curve: Option<Curve>,
}

/// A partition as it was asked for.
struct Task<'a> {
    options: &'a Options,
    config: Config,
    to: Outputs,
    job: Job<'a>,
    division: Division,
    application: Application,
    given: Given,
}

/// Partitions a graph.
pub(super) fn partition(options: &Options) -> Result<End> {
    options.check()?;
    let mut plan = Plan::new(options.read_only(), options.remap.previous())?;
    let to = Outputs {
        blocks: options.output().map(|path| plan.successor("--output", path)).transpose()?,
        model: plan.optional("--model", options.model.as_deref())?,
        index: plan.optional("--write-index", options.order.write_index.as_deref())?,
        picture: plan.optional("--picture", options.picture.as_deref())?,
        curve: plan.optional("--curve", options.remap.picture())?,
    };
    let job = plan.start(&options.report)?;
    if let Some(result) = to.blocks.or(to.model).filter(|_| options.verify) {
        job.check_verifiable(result)?;
    }
    let (asked, config) = (Asked::read(options)?, options.config()?);
    let (source, kind) = (Source::open(&options.file)?, (options.from, options.verify));
    let application = application::read(source, kind, config.threads, job.console)?;
    let division = asked.of(&application.graph)?;
    let given = given(options, application.graph.num_nodes())?;
    Task { options, config, to, job, division, application, given }.run()
}

/// Reads what is read besides the graph.
fn given(options: &Options, num_nodes: usize) -> Result<Given> {
    let order = &options.order;
    let ids = order.coordinate_ids.unwrap_or(Ids::Unknown);
    let points = |path: &PathBuf| io::coordinates::read_with(Source::open(path)?, num_nodes, ids);
    let positions = |path: &PathBuf| io::index::read(Source::open(path)?, num_nodes);
    let index = order.index.as_ref().map(positions).transpose()?;
    Ok(Given {
        coordinates: order.coordinates.as_ref().map(points).transpose()?,
        index: index
            .map(|positions| OrderIndex::of_positions(positions).expect("the reader has found an order")),
    })
}

impl Task<'_> {
    fn run(&self) -> Result<End> {
        let (graph, Division { blocks, limits, .. }) = (&self.application.graph, &self.division);
        let console = self.job.console;
        console.detail(format_args!("io time: {:.6}", self.job.seconds()));
        self.print_problem();
        blocks.check_enough(graph)?;
        let remap = self.options.remap.read(graph, blocks.num_pes())?;
        loads::print_rounded(console, graph, blocks.shares(), limits.balance.least_load);
        let fixed = self.fixed()?;
        if let Some(fixed) = &fixed {
            fixed.print(console, "vertices");
            fixed.warn_of_loads(console, graph, &limits.get().bounds(graph, blocks), "block");
        }
        let begin = Instant::now();
        let prepared = PreparedMachine::new(blocks);
        let request = Request::new(graph, &prepared).balanced(limits.get()).minimise(Objective::Cut);
        let request = request.fixed(fixed.as_ref().map(|fixed| &fixed.vertices));
        let found = self.divide(request, remap.as_ref())?;
        console.detail(format_args!("partitioning took {:.6}", begin.elapsed().as_secs_f64()));
        self.finish((remap.as_ref(), fixed.as_ref()), &found)
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
    fn finish(
        &self,
        (remap, fixed): (Option<&Remap<'_>>, Option<&Fixed>),
        Partitioned { solution, index, curve }: &Partitioned,
    ) -> Result<End> {
        let (graph, Division { blocks, limits, .. }) = (&self.application.graph, &self.division);
        let Solution { mapping, report, .. } = solution;
        let block_of = mapping.pes();
        let (model, quality) = threads::run(self.config.threads, || {
            let quality = PartitionQuality::of(graph, block_of, blocks.num_pes());
            (mapping.quotient(graph, blocks.num_pes()), quality)
        })?;
        let ratio = greatest_ratio(&quality.loads, &Targets::shares(graph, blocks.shares(), 0.0));
        let quality = JsonQuality { quality, balance: ratio };
        let bounds = limits.get().bounds(graph, blocks);
        let too_heavy = loads::too_heavy(graph, &bounds, fixed.map(|fixed| &fixed.vertices), loads::BLOCKS);
        self.print(&model, (report, &quality), too_heavy);
        let migration = remap.zip(report.migration);
        if let Some((remap, migration)) = &migration {
            remap.print(self.job.console, graph.total_node_weight(), migration);
        }
        let claim = Claim {
            file: &self.options.file,
            text: self.application.text.as_deref(),
            graph,
            blocks: block_of,
            num_blocks: blocks.num_pes(),
            model: Some((&model, report.cut)),
            on: None,
            migration,
            fixed,
        };
        let picture = self.picture(block_of, &quality).unwrap_or_default();
        let found = Found::<()> {
            quality: Some(quality),
            remap: remap.map(|remap| remap.report(curve.as_ref())),
            fixed: fixed.map(Fixed::report),
            model_edges: Some(model.num_edges()),
            memory: Some(JsonMemory::of(graph)),
            ..Found::new(report)
        };
        let curve = curve.as_ref().map_or("", |curve| &curve.picture);
        self.write(&claim, &self.report(found), (index.as_ref(), &picture, curve))?;
        self.print_end();
        Ok(End::Done)
    }

    /// Writes partition, model and report, once they are verified if that was asked for.
    fn write(
        &self,
        claim: &Claim<'_>,
        report: &Envelope<JsonOptions, Found<'_>>,
        (index, picture, curve): (Option<&OrderIndex>, &str, &str),
    ) -> Result<()> {
        let (to, model) = (&self.to, claim.model.map(|(model, _)| model));
        let positions = index.map_or(&[][..], OrderIndex::positions);
        let contents: [Content<'_>; 5] = [
            (to.blocks, &|out| io::partition::write(out, claim.blocks)),
            (to.model, &|out| model.iter().try_for_each(|model| io::metis::write(out, model, MODEL))),
            (to.index, &|out| io::index::write(out, positions)),
            (to.picture, &|out| out.write_all(picture.as_bytes())),
            (to.curve, &|out| out.write_all(curve.as_bytes())),
        ];
        let audit = |staged: &Staged<'_>| {
            let path = |id: Option<OutputId>| id.and_then(|id| staged.path(id));
            claim.check(&Written { blocks: path(to.blocks), model: path(to.model) }, self.job.console)
        };
        self.job.publish(&|out| report.write(out), &contents, self.options.verify.then_some(&audit as _))
    }

    /// Prints where the results are.
    fn print_end(&self) {
        let console = self.job.console;
        if let Some(blocks) = self.to.blocks {
            console.line(format_args!("partition written to {}", self.job.name(blocks)));
        }
        if let Some(model) = self.to.model {
            console.line(format_args!("model written to {}", self.job.name(model)));
        }
    }

    /// The picture of the blocks, if there is to be one.
    fn picture(&self, block_of: &[u32], JsonQuality { quality, .. }: &JsonQuality) -> Option<String> {
        let points = self.given.coordinates.as_ref().filter(|_| self.to.picture.is_some())?;
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
        let order = &self.options.order;
        if order.index.is_some() { "index" } else { order.algorithm().name() }
    }

    /// The vertices that must be in given blocks, if there are any.
    fn fixed(&self) -> Result<Option<Fixed>> {
        let shares = self.division.blocks.shares();
        let capacity = |block: u32| if shares[block as usize] > 0 { u32::MAX } else { 0 };
        let room = Room::new(shares.len(), &capacity);
        self.options.fixed.read(self.application.graph.num_nodes(), room, FixedKind::Parts)
    }

    fn divide(&self, request: Request<'_>, remap: Option<&Remap<'_>>) -> Result<Partitioned> {
        let (progress, _) = self.job.watch(First::Ends, None);
        progress.show("partitioning");
        if let Some(remap) = remap {
            let to = ("cut", self.application.graph.total_node_weight(), self.job.console);
            let (solution, curve) = remap.solve(request, &self.config, to, &())?;
            return Ok(Partitioned { solution, index: None, curve });
        }
        let index = self.to.index.is_some().then(|| self.index()).transpose()?;
        let order = match self.given.index.as_ref().or(index.as_ref()) {
            Some(index) => Order::Index(index),
            None => Order::Algorithm {
                algorithm: self.options.order.algorithm(),
                coordinates: self.given.coordinates.as_ref(),
                grouping: self.options.order.grouping.unwrap_or_default(),
            },
        };
        let solution = request.initial(Initial::Along(order)).solve(&self.config)?;
        Ok(Partitioned { solution, index, curve: None })
    }

    /// The order of the vertices that is written.
    fn index(&self) -> Result<OrderIndex> {
        let Config { partition, seed, threads, .. } = self.config;
        let mut input = PartitionInput::new(&self.application.graph).with_preset(partition).with_seed(seed);
        input.coordinates = self.given.coordinates.as_ref();
        let order = threads::run(threads, || self.options.order.algorithm().order(&input))??;
        Ok(OrderIndex::of_order(&order).expect("algorithms order all vertices"))
    }

    fn print(
        &self,
        model: &CsrGraph,
        (report, JsonQuality { quality, balance }): (&Report, &JsonQuality),
        too_heavy: Option<String>,
    ) {
        let (console, blocks) = (self.job.console, &self.division.blocks);
        let PartitionQuality { cut_edges, setups, boundary, largest_volume, .. } = quality;
        match self.job.form {
            Form::VieM => {
                console.line(format_args!("cut {}", report.cut));
                console.line(format_args!("balance {balance:.5}"));
            }
            Form::Verb => {
                let mut summary = Summary::new("", "");
                let edges = counted(*cut_edges, "edge", "edges");
                summary.figure("cut", report.cut, edges);
                summary.figure(
                    "balance",
                    format_args!("{balance:.5}"),
                    "greatest weight of a block over its share",
                );
                summary.figure("messages", setups, "pairs of blocks that communicate");
                summary.figure("volume of a block", largest_volume, "greatest");
                summary.figure("boundary vertices", boundary, "");
                summary.print(console);
            }
        }
        let Some(loads) = &report.loads else { return };
        let below = Below { half: loads.below_half, least: loads.below_least, all: blocks.num_pes() };
        loads::print_below(console, loads::BLOCKS, &below, loads.shortfall);
        if loads.overload > 0 {
            console.warn(format_args!("{}", imbalance_warning(loads.overload, too_heavy)));
        }
        if self.job.form == Form::VieM {
            console.line(format_args!("model has {} nodes, {} edges", model.num_nodes(), model.num_arcs()));
            console.line(format_args!("writing model of computation and communication to disk"));
        }
        let num_nodes = self.application.graph.num_nodes();
        loads::print_empty(console, loads::BLOCKS, loads.empty, blocks.shares(), num_nodes);
    }

    fn report<'b>(&self, found: Found<'b>) -> Envelope<JsonOptions, Found<'b>> {
        let Options { file, order, preset, .. } = self.options;
        let Division { blocks, capacities, limits } = &self.division;
        let named = JsonOptions {
            blocks: blocks.num_pes(),
            capacities: capacities.clone(),
            algorithm: self.algorithm(),
            grouping: order.grouping,
            preset: preset.name(),
            imbalance: 100.0 * limits.balance.imbalance,
            least_load: 100.0 * limits.balance.least_load,
            least_loads: limits.file(),
        };
        report::of_verb("partition", file.as_path(), named, found).seeded(self.config.seed)
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    blocks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacities: Option<Vec<u32>>,
    algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<Grouping>,
    preset: &'static str,
    /// In percent.
    imbalance: f64,
    /// In percent of the share.
    least_load: f64,
    /// The file of those of each block.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_loads: Option<String>,
}

/// What is wrong with a partition that is not balanced as asked. `too_heavy` are words about a vertex that fits nowhere.
fn imbalance_warning(overload: Weight, too_heavy: Option<String>) -> String {
    let too_heavy = too_heavy.map_or_else(String::new, |words| format!(": {words}"));
    format!(
        "no balance as asked was found: blocks exceed their bounds by {overload} in sum{too_heavy}; allow more --imbalance or \
         ask for fewer blocks"
    )
}
