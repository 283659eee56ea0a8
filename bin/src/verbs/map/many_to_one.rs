//! Mappings that put many vertices on a PE.

use std::path::Path;

use serde::Serialize;

use super::initial::InitialOrder;
use super::one_to_one::print_stopped;
use super::task::Task;
use crate::audit::{Claim, MODEL, Written};
use crate::compare::Busiest;
use crate::end::End;
use crate::error::{Result, UsageError};
use crate::files;
use crate::fixed::Fixed;
use crate::job::end;
use crate::loads;
use crate::machine;
use crate::many_to_one;
use crate::memory::JsonMemory;
use crate::ranks;
use crate::remap::{Curve, Remap};
use crate::report::Found;
use crate::signals::{First, StopAtSignal};
use crate::summary::{Summary, VERTICES, size};
use crate::verb::Form;
use viem::base::observer::Observer;
use viem::base::threads;
use viem::base::types::Weight;
use viem::graph::CsrGraph;
use viem::mapping::Mapping;
use viem::mapping::search::Neighbourhood;
use viem::partition::{FixedVertices, PartitionAlgorithm};
use viem::solve::{Balance, ManyToOneConfig, MapPreset, Request, Solution};
use viem_io as io;
use viem_io::output::{Content, Staged};
use viem_report::envelope::Envelope;
use viem_report::traffic::{self, PeTraffic};
use viem_workload::contention::BottleneckConfig;

/// A many-to-one mapping as it was asked for.
struct ManyToOne<'a> {
    task: Task<'a>,
    graph: &'a CsrGraph,
    balance: Balance,
    /// The order along which a mapping to improve is made.
    order: Option<InitialOrder>,
    /// A mapping to improve.
    start: Option<Mapping>,
    /// A previous mapping.
    remap: Option<Remap<'a>>,
    fixed: Option<Fixed>,
}

/// A mapping, its traffic, the quotient graph if that is written, and the curve if that was asked for.
struct ManyToOneResult {
    solution: Solution,
    traffic: PeTraffic,
    busiest: Option<Busiest>,
    model: Option<CsrGraph>,
    curve: Option<Curve>,
}

/// Maps the vertices of a graph to PEs that have room for many.
pub(super) fn map(task: Task<'_>, graph: &CsrGraph) -> Result<End> {
    let Task { options, machine, .. } = task;
    let console = task.job.console;
    let read = |path: &Path| files::read_many(path, graph.num_nodes(), machine, console);
    let start = options.initial.as_deref().map(read).transpose()?;
    let remap = options.remap.read(graph, machine.num_pes())?;
    options.remap.check_limit(options.search.time.time_limit.is_some())?;
    if let (Some(_), Some(algorithm)) = (&start, options.construction.along()) {
        return Err(UsageError(format!(
            "--construction={algorithm} makes the mapping to improve, and --initial names it; leave one of them out"
        ))
        .into());
    }
    let order = options.construction.read(graph.num_nodes())?;
    if options.neighbourhood.is_none() && order.is_none() {
        let message =
            "--neighbourhood=none keeps a mapping along an order; give --construction, or leave it out";
        return Err(UsageError(message.to_owned()).into());
    }
    let balance = options.sharing.balance.read()?;
    let fixed = options.fixed.read_vertices(graph.num_nodes(), machine)?;
    ManyToOne { task, graph, balance, order, start, remap, fixed }.run()
}

impl ManyToOne<'_> {
    fn run(&self) -> Result<End> {
        let (progress, received) =
            self.task.job.watch(First::AsksToStop, self.task.options.search.time.time_limit);
        self.print_problem();
        let (solution, curve) = {
            let observer = StopAtSignal { observer: progress, received: received.clone() };
            self.solve(&observer)?
        };
        let model = self.model(&solution)?;
        let num_pes = self.task.machine.num_pes();
        let traffic = traffic::by_pe(self.graph, num_pes, solution.mapping.pes());
        let pair = (self.start.as_ref(), &solution.mapping);
        let busiest = Busiest::new((self.graph, self.task.prepared), pair, true);
        self.print(&solution, &traffic, busiest.as_ref());
        self.write(ManyToOneResult { solution, traffic, busiest, model, curve })?;
        let place = self.task.name();
        match self.task.job.form {
            Form::Verb => self.task.job.console.line(format_args!("mapping written to {place}")),
            Form::VieM => self.task.job.console.line(format_args!("written to {place}")),
        }
        end(&received)
    }

    fn print_problem(&self) {
        let (Task { machine, job, .. }, graph) = (&self.task, self.graph);
        let console = job.console;
        console.detail(format_args!("io time: {:.6}", job.seconds()));
        let size = size(graph, VERTICES);
        console.line(format_args!("graph: {size}"));
        machine::print(console, job.form, *machine);
        console.line(format_args!(
            "many-to-one mapping, {:.1} vertices per PE",
            graph.num_nodes() as f64 / machine.num_pes() as f64
        ));
        loads::print_rounded(console, graph, &machine.capacities(), self.balance.least_load);
        if let Some(fixed) = &self.fixed {
            fixed.print(console, "vertices");
            fixed.warn_of_loads(console, graph, &self.bounds(), "PE");
        }
    }

    /// The mapping, and the curve if there is to be one.
    fn solve(&self, observer: &dyn Observer) -> Result<(Solution, Option<Curve>)> {
        let (Task { prepared, config, job, .. }, graph) = (&self.task, self.graph);
        let request = Request::new(graph, prepared).balanced(self.balance).fixed(self.fixed());
        match &self.remap {
            Some(remap) => {
                remap.solve(request, config, ("J", graph.total_node_weight(), job.console), observer)
            }
            None => {
                let initial = self.order.as_ref().map(InitialOrder::initial);
                Ok((
                    request
                        .start(self.start.as_ref())
                        .initial(initial)
                        .then_lower(self.task.secondary())
                        .observed(observer)
                        .solve(config)?,
                    None,
                ))
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
        self.balance.bounds(self.graph, self.task.machine)
    }

    /// The vertices that are fixed, if any are.
    fn fixed(&self) -> Option<&FixedVertices> {
        self.fixed.as_ref().map(|fixed| &fixed.vertices)
    }

    /// Whether a mapping along an order is the result.
    fn keeps_order(&self) -> bool {
        self.order.is_some() && self.task.options.neighbourhood.is_none()
    }

    /// Prints what was found.
    fn print(
        &self,
        Solution { mapping, report, .. }: &Solution,
        traffic: &PeTraffic,
        busiest: Option<&Busiest>,
    ) {
        let Task { machine, job, .. } = &self.task;
        let console = job.console;
        console.detail(format_args!("time spent for mapping {:.6}", report.seconds.total));
        print_stopped(console, report);
        let mut summary = Summary::new("initial", "mapping");
        match report.cost_of_start.or(report.cost_of_construction) {
            _ if job.form == Form::VieM => {
                console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
            }
            Some(start) => summary.change("J", start, report.cost),
            None => summary.figure("J", report.cost, ""),
        }
        summary.figure("cut", report.cut, "");
        many_to_one::add_traffic(&mut summary, traffic);
        summary.print(console);
        if let Some(busiest) = busiest.filter(|_| job.form == Form::Verb) {
            busiest.print_loads(console);
            busiest.warn_of_rise(self.task.objective(), console);
        }
        if report.cost_of_start.is_some_and(|start| report.cost > start) {
            console.warn(format_args!(
                "J is higher than that of --initial, which exceeds bounds or leaves PEs without a vertex"
            ));
        }
        let too_heavy = loads::too_heavy(self.graph, &self.bounds(), self.fixed(), loads::PES);
        if let Some(loads) = &report.loads {
            many_to_one::print_loads(console, loads, machine.num_pes(), too_heavy);
            many_to_one::print_empty(console, loads, *machine, report.num_processes);
        }
        if let Some((remap, migration)) = self.remap.as_ref().zip(report.migration) {
            remap.print(console, self.graph.total_node_weight(), &migration);
        }
        ranks::print(console, *machine, mapping.pes());
    }

    /// The algorithm whose order is taken, if one is.
    fn along(&self) -> Option<PartitionAlgorithm> {
        self.order.as_ref().map(|order| order.algorithm)
    }

    /// Writes mapping, model and report, once they are verified if that was asked for.
    fn write(
        &self,
        ManyToOneResult { solution, traffic, busiest, model, curve }: ManyToOneResult,
    ) -> Result<()> {
        let (Task { options, machine, to, job, prepared, .. }, graph) = (&self.task, self.graph);
        let json = self.report((&solution, traffic, busiest), (model.as_ref(), curve.as_ref()));
        let Solution { mapping, report, .. } = &solution;
        let drawn =
            options.picture.draw(graph, prepared, self.task.name(), mapping, true)?.unwrap_or_default();
        let curve = curve.as_ref().map_or("", |curve| &curve.picture);
        let contents: [Content<'_>; 4] = [
            (Some(to.mapping), &|out| io::mapping::write(out, mapping.pes())),
            (to.model, &|out| model.iter().try_for_each(|model| io::metis::write(out, model, MODEL))),
            (to.picture, &|out| out.write_all(drawn.as_bytes())),
            (to.curve, &|out| out.write_all(curve.as_bytes())),
        ];
        let claim = Claim {
            file: &options.file,
            text: None,
            graph,
            blocks: mapping.pes(),
            num_blocks: machine.num_pes(),
            model: model.as_ref().map(|model| (model, report.cut)),
            on: Some((&options.machine, *machine, report.cost)),
            migration: self.remap.as_ref().zip(report.migration),
            fixed: self.fixed.as_ref(),
        };
        let audit = |staged: &Staged<'_>| {
            let written = Written {
                blocks: staged.path(to.mapping),
                model: to.model.and_then(|model| staged.path(model)),
            };
            claim.check(&written, job.console)
        };
        job.publish(&|out| json.write(out), &contents, options.verify.then_some(&audit as _))
    }

    /// What was done; times and memory aside, the same result has the same report.
    fn report<'b>(
        &self,
        (Solution { report, .. }, traffic, busiest): (&'b Solution, PeTraffic, Option<Busiest>),
        (model, curve): (Option<&CsrGraph>, Option<&Curve>),
    ) -> Envelope<JsonOptions, Found<'b, ManyToOneConfig>> {
        let Task { options, config, .. } = &self.task;
        let named = JsonOptions {
            preset: options.search.preset,
            capacities: options.sharing.capacities.as_deref().map(files::name),
            time_limit: options.search.time.seconds(),
            construction: self.along().map(PartitionAlgorithm::name),
            neighbourhood: self.keeps_order().then(|| Neighbourhood::None.name()),
            imbalance: 100.0 * self.balance.imbalance,
            least_load: 100.0 * self.balance.least_load,
            objective: self.task.bottleneck,
        };
        let found = Found {
            settings: Some(config.many_to_one),
            by_pe: Some(traffic),
            busiest,
            fixed: self.fixed.as_ref().map(Fixed::report),
            remap: self.remap.as_ref().map(|remap| remap.report(curve)),
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
    capacities: Option<String>,
    /// In seconds.
    time_limit: Option<f64>,
    /// If the mapping was started or made along an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    construction: Option<&'static str>,
    /// `none` if the initial mapping was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbourhood: Option<&'static str>,
    /// In percent.
    imbalance: f64,
    /// In percent of the share.
    least_load: f64,
    /// What was minimised, if not J alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<BottleneckConfig>,
}
