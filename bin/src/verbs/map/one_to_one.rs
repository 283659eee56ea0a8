//! Mappings that give each process a place of its own.

use std::path::Path;

use serde::Serialize;

use super::goal::{self, Goal};
use super::initial::InitialOrder;
use super::options::Options;
use super::task::Task;
use super::together;
use crate::application::Application;
use crate::audit;
use crate::compare::Busiest;
use crate::end::End;
use crate::error::{Failure, Result, UsageError};
use crate::files;
use crate::fixed::{FirstHost, Fixed, with_rank0_on_first_host};
use crate::job::end;
use crate::launch::{self, JobLaunch, Planned};
use crate::machine;
use crate::mesh::MeshOptions;
use crate::ranks;
use crate::report::{self, Found};
use crate::signals::{First, StopAtSignal};
use crate::summary::{PROCESSES, Summary, change, print_size};
use crate::verb::Form;
use viem::graph::CsrGraph;
use viem::mapping::construct::Construction;
use viem::mapping::search::Neighbourhood;
use viem::partition::PartitionAlgorithm;
use viem::solve::{MapPreset, OneToOneConfig, ProcessGroups, Report, Request, Secondary, Solution};
use viem_io as io;
use viem_io::output::{Content, OutputId, Staged};
use viem_workload::contention::BottleneckConfig;

/// What a mapping must respect, as it was read.
struct Constraints {
    fixed: Option<Fixed>,
    groups: Option<ProcessGroups>,
}

/// A request for a one-to-one mapping.
pub(super) struct OneToOne<'a> {
    pub(super) options: &'a Options,
    pub(super) task: Task<'a>,
    /// The search for the objective, if that is not J alone.
    pub(super) bottleneck: Option<BottleneckConfig>,
    /// The output for the schedule with ranks named by their PEs.
    pub(super) goal: Option<OutputId>,
}

/// Maps each process to a place of its own.
pub(super) fn map(
    mut asked: OneToOne<'_>,
    planned: Option<Planned>,
    application: &Application,
) -> Result<End> {
    let OneToOne { options, ref mut task, bottleneck, goal } = asked;
    let graph = &application.graph;
    let (machine, console) = (task.machine, task.job.console);
    planned.iter().try_for_each(|planned| planned.check(machine, graph.num_nodes()))?;
    let replaces = options.goal.as_ref().is_some_and(Goal::replaces);
    let schedule = options.goal.as_ref().map(|goal| goal.read(machine, graph.num_nodes())).transpose()?;
    let read = |path: &Path| files::read_mapping(path, graph.num_nodes(), machine, console);
    let start = options.initial.as_deref().map(read).transpose()?;
    let order = options.construction.read(application)?;
    check_order(options)?;
    let groups = options.together.as_ref().map(|asked| asked.groups(graph.num_nodes())).transpose()?;
    let mut fixed = options.fixed.read_processes(graph.num_nodes(), machine)?;
    if let Some(FirstHost::Rank0) = options.first_host {
        fixed = with_rank0_on_first_host(fixed, machine, (graph.num_nodes(), start.as_ref()))?;
    }
    let constraints = Constraints { fixed, groups };
    // From here on there is something to save.
    let (progress, received) = task.job.watch(First::AsksToStop, options.search.time.time_limit);
    print_problem(task, graph, &constraints, bottleneck.filter(|_| options.objective.is_none()));
    let solution = {
        let observer = StopAtSignal { observer: progress, received: received.clone() };
        Request::new(graph, task.prepared)
            .start(start.as_ref())
            .initial(order.as_ref().map(InitialOrder::initial))
            .fixed(constraints.fixed.as_ref().map(|fixed| &fixed.vertices))
            .together(constraints.groups.as_ref())
            .then_lower(bottleneck.as_ref().map(|bottleneck| bottleneck as &dyn Secondary))
            .observed(&observer)
            .solve(&task.config)?
    };
    let (launch, refused) = launch::of_mapping(planned, machine, &solution.mapping, &mut task.job.outputs);
    let schedule = schedule.map(|schedule| schedule.renamed_by(&solution.mapping, machine)).transpose()?;
    let busiest = Busiest::new((graph, task.prepared), (start.as_ref(), &solution.mapping), false);
    print(task, &solution, busiest.as_ref(), bottleneck);
    asked.write(
        application,
        &solution,
        (constraints.fixed.as_ref(), busiest),
        (launch.as_ref(), schedule.as_deref()),
    )?;
    let task = &asked.task;
    goal.iter().for_each(|&goal| goal::print(console, task.job.name(goal), replaces));
    launch.iter().for_each(|launch| launch.print(console));
    print_end(task, &solution.report);
    refused.map_or(Ok(()), |error| Err(Failure::from(error)))?;
    end(&received)
}

/// An error if groups are placed before their processes, and an order of these is asked for.
fn check_order(options: &Options) -> Result<(), UsageError> {
    let (Some(asked), Some(_)) = (&options.together, options.construction.along()) else { return Ok(()) };
    Err(UsageError(format!(
        "--together={asked} places groups first, so an initial order of processes has no effect; leave out --construction"
    )))
}

/// Prints the problem, and the objective if it is the default of the machine.
fn print_problem(
    task: &Task<'_>,
    graph: &CsrGraph,
    constraints: &Constraints,
    by_default: Option<BottleneckConfig>,
) {
    let console = task.job.console;
    console.detail(format_args!("io time: {:.6}", task.job.seconds()));
    print_size(console, task.job.form, graph, PROCESSES);
    machine::print(console, task.job.form, task.machine);
    constraints.fixed.iter().for_each(|fixed| fixed.print(console, "processes"));
    constraints.groups.iter().for_each(|groups| together::print(console, groups));
    if let Some(BottleneckConfig { objective, .. }) = by_default {
        console.line(format_args!(
            "objective: {}, as jobs wait for the busiest link; --objective=J minimises J",
            objective.name()
        ));
    }
}

/// Prints what was found.
fn print(
    task: &Task<'_>,
    solution: &Solution,
    busiest: Option<&Busiest>,
    bottleneck: Option<BottleneckConfig>,
) {
    let (console, report) = (task.job.console, &solution.report);
    console.detail(format_args!("construction took {:.6}", report.seconds.construction));
    report.cost_of_construction.iter().for_each(|cost| console.detail(format_args!("J(C,D,Pi) = {cost}")));
    console.detail(format_args!("local search took {:.6}", report.seconds.search));
    console.detail(format_args!("time spent for mapping {:.6}", report.seconds.total));
    report::print_stopped(console, report.stopped, "mapping");
    if task.job.form == Form::VieM {
        console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
        return;
    }
    let mut summary = Summary::new("identity", "mapping");
    summary.change("J", report.cost_of_identity, report.cost);
    busiest.iter().for_each(|busiest| busiest.add_to(&mut summary));
    summary.print(console);
    busiest.iter().for_each(|busiest| busiest.print_loads(console));
    busiest.iter().for_each(|busiest| busiest.warn_of_rise(bottleneck, console));
    ranks::print(console, task.machine, solution.mapping.pes());
}

/// Prints where the mapping is; in VieM's form also what it is worth.
fn print_end(task: &Task<'_>, report: &Report) {
    let (console, place) = (task.job.console, task.name());
    match task.job.form {
        Form::Verb => console.line(format_args!("mapping written to {place}")),
        Form::VieM => {
            let (identity, cost) = (report.cost_of_identity, report.cost);
            let change = change(identity.into(), cost.into());
            console.line(format_args!("identity {identity} -> {cost} ({change}); written to {place}"));
        }
    }
}

impl OneToOne<'_> {
    /// Writes mapping, report, picture and what launches the job, once the mapping is verified if that was asked for.
    fn write(
        &self,
        application: &Application,
        solution: &Solution,
        (fixed, busiest): (Option<&Fixed>, Option<Busiest>),
        (launch, schedule): (Option<&JobLaunch>, Option<&str>),
    ) -> Result<()> {
        let Self { options, ref task, .. } = *self;
        let (graph, text) = (&application.graph, application.text.as_deref());
        let Task { machine, ref to, ref job, .. } = *task;
        let Solution { mapping, report, .. } = solution;
        let drawn = options.picture.draw(graph, task.prepared, task.name(), mapping, false)?;
        let mut settings = task.config.one_to_one.effective_on(machine);
        settings.construction.algorithm = report.construction;
        let found = Found {
            settings: Some(settings),
            busiest,
            fixed: fixed.map(Fixed::report),
            launch: launch.map(JobLaunch::report),
            ..Found::new(report)
        };
        let json = task.json_report(JsonOptions::new((options, self.bottleneck), report, &settings), found);
        let texts = launch.into_iter().flat_map(JobLaunch::texts).chain(self.goal.zip(schedule));
        let texts: Vec<_> = to.picture.zip(drawn.as_deref()).into_iter().chain(texts).collect();
        let fills = files::fills(&texts);
        let write_mapping = |out: &mut dyn std::io::Write| io::mapping::write(out, mapping.pes());
        let mut contents: Vec<Content<'_>> = vec![(Some(to.mapping), &write_mapping)];
        contents.extend(fills.iter().map(|(id, fill)| (Some(*id), fill as _)));
        let on = (&options.machine, machine, report.cost);
        let audit = |staged: &Staged<'_>| match staged.path(to.mapping) {
            Some(written) => audit::one_to_one(((&options.file, text), written), on, fixed, job.console),
            None => Ok(()),
        };
        job.publish(&|out| json.write(out), &contents, options.results.verify.then_some(&audit as _))
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions<'a> {
    preset: MapPreset,
    construction: Option<&'static str>,
    neighbourhood: Neighbourhood,
    max_hops: usize,
    interval: usize,
    /// The size of the groups that share a node, or the file that holds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    together: Option<&'a super::together::Together>,
    /// What was minimised, if not J alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<BottleneckConfig>,
    #[serde(flatten)]
    mesh: &'a MeshOptions,
    /// In seconds.
    time_limit: Option<f64>,
}

impl<'a> JsonOptions<'a> {
    fn new(
        (options, objective): (&'a Options, Option<BottleneckConfig>),
        report: &Report,
        settings: &OneToOneConfig,
    ) -> Self {
        let along = options.construction.along().map(PartitionAlgorithm::name);
        Self {
            preset: options.search.preset,
            construction: along.or(report.construction.map(Construction::name)),
            neighbourhood: settings.search.neighbourhood,
            max_hops: settings.search.max_hops,
            interval: settings.search.block_size,
            together: options.together.as_ref(),
            objective,
            mesh: &options.mesh,
            time_limit: options.search.time.seconds(),
        }
    }
}
