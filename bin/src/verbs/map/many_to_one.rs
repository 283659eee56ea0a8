//! Mappings that put many vertices on a PE.

use std::path::Path;

use serde::Serialize;

use super::initial::InitialOrder;
use super::options::Options;
use super::task::Task;
use crate::application::Application;
use crate::audit::{Claim, MODEL, NodeClaim, Written};
use crate::capacities::OneOrEach;
use crate::compare::Busiest;
use crate::console::Console;
use crate::end::End;
use crate::error::{Result, UsageError};
use crate::files;
use crate::fixed::Fixed;
use crate::job::{Job, end};
use crate::limits::Limits;
use crate::loads;
use crate::machine;
use crate::many_to_one;
use crate::memory::JsonMemory;
use crate::mesh::MeshOptions;
use crate::ranks;
use crate::remap::{Remap, Remapped};
use crate::report::{self, Found};
use crate::signals::{First, StopAtSignal};
use crate::summary::{Summary, VERTICES, size};
use crate::verb::Form;
use viem::base::observer::Observer;
use viem::base::threads;
use viem::base::types::Weight;
use viem::graph::{CsrGraph, VertexWeights};
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::mapping::search::Neighbourhood;
use viem::partition::FixedVertices;
use viem::solve::{ManyToOneConfig, MapPreset, Report, Request, Secondary, Solution};
use viem_io as io;
use viem_io::output::{Content, Staged};
use viem_report::envelope::Envelope;
use viem_report::traffic::{self, PeTraffic};
use viem_workload::contention::BottleneckConfig;

/// A mapping that is made from scratch.
pub(crate) struct Scratch {
    /// The order along which a mapping to improve is made.
    order: Option<InitialOrder>,
    /// True if the mapping along that order is the result.
    keeps_order: bool,
    /// A mapping to improve.
    start: Option<Mapping>,
    /// The search for the objective, if that is not J alone.
    bottleneck: Option<BottleneckConfig>,
    /// True if the vertices of each PE are connected.
    is_connected: bool,
    /// True if each vertex has a place of its own.
    has_places: bool,
}

impl Scratch {
    /// Reads the start. Must be called before signals are caught, as a pipe may never end.
    pub(super) fn read(
        options: &Options,
        bottleneck: Option<BottleneckConfig>,
        (application, machine): (&Application, &dyn Machine),
        console: Console,
    ) -> Result<Self> {
        let graph = &application.graph;
        let read = |path: &Path| files::read_many(path, graph.num_nodes(), machine, console);
        let start = options.initial.as_deref().map(read).transpose()?;
        if let (Some(_), Some(algorithm)) = (&start, options.construction.along()) {
            return Err(UsageError(format!(
                "--construction={algorithm} makes the mapping to improve, and --initial names it; leave one of them out"
            ))
            .into());
        }
        let (order, keeps_order) = (options.construction.read(application)?, options.neighbourhood.is_none());
        if keeps_order && order.is_none() {
            let message =
                "--neighbourhood=none keeps a mapping along an order; give --construction, or leave it out";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(Self {
            order,
            keeps_order,
            start,
            bottleneck,
            is_connected: options.connected,
            has_places: options.one_to_one,
        })
    }
}

/// The start of a mapping.
pub(crate) enum Way<'a> {
    Scratch(Scratch),
    Previous(Remap<'a>),
}

/// A request for a many-to-one mapping.
pub(crate) struct ManyToOne<'a> {
    task: Task<'a>,
    application: &'a Application,
    graph: &'a CsrGraph,
    /// All weights of the vertices, if they have several.
    weights: Option<&'a VertexWeights>,
    limits: Limits,
    fixed: Option<Fixed>,
    way: Way<'a>,
}

/// A mapping, its traffic, the quotient graph if it is written, and the previous mapping that was resumed.
struct ManyToOneResult<'a> {
    solution: Solution,
    traffic: PeTraffic,
    busiest: Option<Busiest>,
    model: Option<CsrGraph>,
    remapped: Option<Remapped<'a>>,
}

impl<'a> ManyToOne<'a> {
    /// Reads the constraints.
    pub(crate) fn new(task: Task<'a>, application: &'a Application, way: Way<'a>) -> Result<Self> {
        let Application { graph, weights, .. } = application;
        let lifted = matches!(way, Way::Scratch(Scratch { has_places: true, .. }));
        let lifted = lifted.then(|| task.asked.sharing.lifted_by_default());
        let sharing = lifted.as_ref().unwrap_or(task.asked.sharing);
        let limits = sharing.limits(task.machine, weights.as_ref(), task.asked.nodes)?;
        let fixed = task.asked.fixed.read_vertices(graph.num_nodes(), task.machine)?;
        Ok(Self { task, application, graph, weights: weights.as_ref(), limits, fixed, way })
    }

    /// Maps the vertices to PEs that have room for many.
    pub(crate) fn run(&self) -> Result<End> {
        let Task { machine, config, prepared, job, .. } = &self.task;
        let (progress, received) = job.watch(First::AsksToStop, config.time_limit);
        self.print_problem();
        let (solution, remapped) = {
            let observer = StopAtSignal { observer: progress, received: received.clone() };
            self.solve(&observer)?
        };
        let model = self.model(&solution)?;
        let traffic = traffic::by_pe(self.graph, machine.num_pes(), solution.mapping.pes());
        let start = self.scratch().and_then(|scratch| scratch.start.as_ref());
        let busiest = Busiest::new((self.graph, prepared), (start, &solution.mapping), true);
        let found = ManyToOneResult { solution, traffic, busiest, model, remapped };
        self.print(&found);
        self.write(found)?;
        let place = self.task.name();
        match job.form {
            Form::Verb => job.console.line(format_args!("mapping written to {place}")),
            Form::VieM => job.console.line(format_args!("written to {place}")),
        }
        self.application.print_dictionary(place, machine.num_pes(), job.console);
        end(&received)
    }

    /// The start of a mapping from scratch.
    fn scratch(&self) -> Option<&Scratch> {
        match &self.way {
            Way::Scratch(scratch) => Some(scratch),
            Way::Previous(_) => None,
        }
    }

    /// Returns whether each vertex has a place of its own.
    fn has_places(&self) -> bool {
        self.scratch().is_some_and(|scratch| scratch.has_places)
    }

    fn print_problem(&self) {
        let (Task { machine, job, .. }, graph) = (&self.task, self.graph);
        let console = job.console;
        console.detail(format_args!("io time: {:.6}", job.seconds()));
        let size = size(graph, VERTICES);
        console.line(format_args!("graph: {size}"));
        machine::print(console, job.form, *machine);
        match self.has_places() {
            true => console.line(format_args!("one-to-one mapping within bounds of the weights")),
            false => console.line(format_args!(
                "many-to-one mapping, {:.1} vertices per PE",
                graph.num_nodes() as f64 / machine.num_pes() as f64
            )),
        }
        self.fixed.iter().for_each(|fixed| fixed.print(console, "vertices"));
        if self.weights.is_none() {
            loads::print_rounded(console, graph, &machine.capacities(), self.limits.balance.least_load);
            self.fixed.iter().for_each(|fixed| fixed.warn_of_loads(console, graph, &self.bounds(), "PE"));
        }
    }

    /// The mapping, and the previous one that was resumed.
    fn solve(&self, observer: &dyn Observer) -> Result<(Solution, Option<Remapped<'a>>)> {
        let Task { prepared, config, job, .. } = &self.task;
        let several = self.limits.several(self.graph, self.weights)?;
        let request = Request::new(self.graph, prepared).fixed(self.fixed()).observed(observer);
        let request = match &several {
            Some(several) => request.balanced(several),
            None => request.balanced(self.limits.get()),
        };
        match &self.way {
            Way::Previous(remap) => {
                let (solution, remapped) = remap.solve(request, (self.graph, config), ("J", job.console))?;
                Ok((solution, Some(remapped)))
            }
            Way::Scratch(Scratch { order, start, bottleneck, is_connected, has_places, .. }) => {
                let request = request
                    .connected(*is_connected)
                    .in_places(*has_places)
                    .start(start.as_ref())
                    .initial(order.as_ref().map(InitialOrder::initial))
                    .then_lower(bottleneck.as_ref().map(|bottleneck| bottleneck as &dyn Secondary));
                Ok((request.solve(config)?, None))
            }
        }
    }

    /// The quotient graph, if it is to be written.
    fn model(&self, solution: &Solution) -> Result<Option<CsrGraph>> {
        let Task { to, machine, config, .. } = &self.task;
        let quotient = || solution.mapping.quotient(self.graph, machine.num_pes());
        Ok(to.model.map(|_| threads::run(config.threads, quotient)).transpose()?)
    }

    /// The greatest load of each PE.
    fn bounds(&self) -> Vec<Weight> {
        self.limits.get().bounds(self.graph, self.task.machine)
    }

    /// The vertices that are fixed, if any are.
    fn fixed(&self) -> Option<&FixedVertices> {
        self.fixed.as_ref().map(|fixed| &fixed.vertices)
    }

    /// Prints what was found.
    fn print(&self, ManyToOneResult { solution, traffic, busiest, remapped, .. }: &ManyToOneResult<'_>) {
        let Task { machine, job, .. } = &self.task;
        let (console, Solution { mapping, report, .. }) = (job.console, solution);
        console.detail(format_args!("time spent for mapping {:.6}", report.seconds.total));
        report::print_stopped(console, report.stopped, "mapping");
        self.print_costs(report, traffic, remapped.as_ref());
        if let (Some(busiest), None, Form::Verb) = (busiest, remapped, job.form) {
            busiest.print_loads(console);
            busiest.warn_of_rise(self.scratch().and_then(|scratch| scratch.bottleneck), console);
        }
        if report.cost_of_start.is_some_and(|start| report.cost > start) {
            console.warn(format_args!(
                "J is higher than that of --initial, which exceeds bounds or leaves PEs without a vertex"
            ));
        }
        many_to_one::print_several(console, report, machine.num_pes());
        if let Some(loads) = report.loads.as_ref().filter(|_| report.loads_by_weight.is_empty()) {
            let too_heavy = loads::too_heavy(self.graph, &self.bounds(), self.fixed(), loads::PES);
            many_to_one::print_loads(console, loads, machine.num_pes(), too_heavy);
            if !self.has_places() {
                many_to_one::print_empty(console, loads, *machine, report.num_processes);
            }
        }
        if let Some((remapped, migration)) = remapped.as_ref().zip(report.migration) {
            remapped.print(console, &migration);
        }
        ranks::print(console, *machine, mapping.pes());
    }

    /// Prints J and the cut, before and after, and the traffic between PEs.
    fn print_costs(&self, report: &Report, traffic: &PeTraffic, remapped: Option<&Remapped<'_>>) {
        let Job { console, form, .. } = self.task.job;
        let before = remapped.and_then(|remapped| remapped.before.as_ref());
        let start = before.map(|before| before.cost).or(report.cost_of_start).or(report.cost_of_construction);
        let mut summary = Summary::new(if remapped.is_some() { "previous" } else { "initial" }, "mapping");
        match form {
            Form::VieM => {
                console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
            }
            Form::Verb => summary.since("J", start, report.cost),
        }
        summary.since("cut", before.map(|before| before.cut), report.cut);
        many_to_one::add_traffic(&mut summary, traffic);
        many_to_one::add_pieces(&mut summary, report);
        summary.print(console);
    }

    /// Writes mapping, model and report, once they are verified if that was asked for.
    fn write(
        &self,
        ManyToOneResult { solution, traffic, busiest, model, remapped }: ManyToOneResult<'_>,
    ) -> Result<()> {
        let (Task { asked, machine, to, job, prepared, .. }, graph) = (&self.task, self.graph);
        let Solution { mapping, report, .. } = &solution;
        let drawn = asked.picture.draw(graph, prepared, self.task.name(), mapping, true)?.unwrap_or_default();
        let curve = remapped.as_ref().and_then(Remapped::picture);
        let (to_curve, curve) = curve.unzip();
        let is_decomposition = self.application.is_decomposition(self.task.name());
        let contents: [Content<'_>; 4] = [
            (Some(to.mapping), &|out| match is_decomposition {
                true => viem_mesh::write_decomposition(out, mapping.pes()),
                false => io::mapping::write(out, mapping.pes()),
            }),
            (to.model, &|out| model.iter().try_for_each(|model| io::metis::write(out, model, MODEL))),
            (to.picture, &|out| out.write_all(drawn.as_bytes())),
            (to_curve, &|out| out.write_all(curve.unwrap_or_default().as_bytes())),
        ];
        let claim = Claim {
            file: asked.file,
            text: self.application.text.as_deref(),
            graph,
            weights: self.weights,
            nodes: NodeClaim::new(prepared.nodes(), self.limits.node_bounds(), report),
            blocks: mapping.pes(),
            num_blocks: machine.num_pes(),
            model: model.as_ref().map(|model| (model, report.cut)),
            on: Some((asked.on, *machine, report.cost)),
            migration: remapped.as_ref().zip(report.migration),
            fixed: self.fixed.as_ref(),
        };
        let audit = |staged: &Staged<'_>| {
            let written = Written {
                blocks: staged.path(to.mapping),
                model: to.model.and_then(|model| staged.path(model)),
            };
            claim.check(&written, job.console)
        };
        let json = self.report(report, (traffic, busiest), (model.as_ref(), remapped.as_ref()));
        job.publish(&|out| json.write(out), &contents, asked.results.verify.then_some(&audit as _))
    }

    /// What was done; times and memory aside, the same result has the same report.
    fn report<'b>(
        &self,
        report: &'b Report,
        (traffic, busiest): (PeTraffic, Option<Busiest>),
        (model, remapped): (Option<&CsrGraph>, Option<&Remapped<'_>>),
    ) -> Envelope<JsonOptions, Found<'b, ManyToOneConfig>> {
        let Task { asked, config, .. } = &self.task;
        let order = self.scratch().and_then(|scratch| Some((scratch.order.as_ref()?, scratch.keeps_order)));
        let named = JsonOptions {
            preset: asked.preset,
            capacities: asked.sharing.names(),
            node_capacity: asked.nodes.names(),
            time_limit: self.task.time_limit(),
            construction: order.map(|(order, _)| order.algorithm.name()),
            neighbourhood: order.filter(|&(_, is_kept)| is_kept).map(|_| Neighbourhood::None.name()),
            imbalance: self.limits.percents(|balance| balance.imbalance),
            imbalance_per_division: self.limits.are_per_division(),
            least_load: self.limits.percents(|balance| balance.least_load),
            least_loads: self.limits.names_of_least_loads(),
            connected: self.scratch().is_some_and(|scratch| scratch.is_connected),
            one_to_one: self.has_places(),
            mesh: asked.mesh.clone(),
            objective: self.scratch().and_then(|scratch| scratch.bottleneck),
        };
        let found = Found {
            settings: Some(config.many_to_one),
            by_pe: Some(traffic),
            busiest,
            fixed: self.fixed.as_ref().map(Fixed::report),
            remap: remapped.map(Remapped::report),
            model_edges: model.map(CsrGraph::num_edges),
            memory: Some(JsonMemory::of(self.graph)),
            ..Found::new(report)
        };
        self.task.json_report(named, found)
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    preset: MapPreset,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacities: Option<OneOrEach<String>>,
    /// Of each node, by weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_capacity: Option<OneOrEach<String>>,
    /// In seconds.
    time_limit: Option<f64>,
    /// If the mapping was started or made along an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    construction: Option<&'static str>,
    /// `none` if the initial mapping was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbourhood: Option<&'static str>,
    /// In percent.
    imbalance: OneOrEach<f64>,
    /// Whether that is the imbalance of each division.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    imbalance_per_division: bool,
    /// In percent of the share.
    least_load: OneOrEach<f64>,
    /// The file of those of each PE, by weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_loads: Option<OneOrEach<String>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    connected: bool,
    /// Whether each process has a place of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    one_to_one: bool,
    #[serde(flatten)]
    mesh: MeshOptions,
    /// What was minimised, if not J alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<BottleneckConfig>,
}
