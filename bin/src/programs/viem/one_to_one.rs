//! `viem` where each process has a PE of its own.

use std::path::Path;

use serde::Serialize;

use super::first_mapping::FirstOrder;
use super::goal;
use super::job::Job;
use super::keep::{self, Keep};
use super::options::Options;
use crate::compare::Busiest;
use crate::console::Console;
use crate::error::{Failure, Result, UsageError};
use crate::exit::End;
use crate::files;
use crate::fixed::{FirstHost, Fixed, with_rank0_on_first_host};
use crate::launch::{self, JobLaunch};
use crate::machine;
use crate::progress::Progress;
use crate::ranks;
use crate::report::Found;
use crate::signals::{self, First, StopAtSignal};
use viem::graph::CsrGraph;
use viem::mapping::construct::Construction;
use viem::mapping::search::Neighbourhood;
use viem::partition::PartitionAlgorithm;
use viem::solve::{MapPreset, OneToOneConfig, Report, Request, Secondary, Solution};
use viem_report::compare::percent_less;
use viem_workload::contention::{BottleneckConfig, ReliefConfig};

/// Maps each process to a PE of its own.
pub(super) fn map(mut job: Job<'_>, graph: &CsrGraph) -> Result<End> {
    let Job { options, started, machine, console, .. } = job;
    let planned = job.places.planned.take();
    planned.iter().try_for_each(|planned| planned.check(machine, graph.num_nodes()))?;
    let schedule = options.goal.as_ref().map(|goal| goal.read(machine, graph.num_nodes())).transpose()?;
    let read = |path: &Path| files::read_mapping(path, graph.num_nodes(), machine, console);
    let start = options.input_mapping.as_deref().map(read).transpose()?;
    let (relief, bottleneck) = (options.relief()?, options.bottleneck());
    let relief = relief.as_ref().map(|relief| relief as &dyn Secondary);
    let secondary = bottleneck.as_ref().map(|bottleneck| bottleneck as &dyn Secondary).or(relief);
    let order = options.first.read(graph.num_nodes())?;
    if let (Some(keep), Some(_)) = (&options.keep, options.first.along()) {
        let message = format!(
            "--keep={keep} maps groups before their processes, so no order of these is a beginning; leave out --construction_algorithm"
        );
        return Err(UsageError(message).into());
    }
    let groups = options.keep.as_ref().map(|keep| keep.groups(graph.num_nodes())).transpose()?;
    let mut fixed = options.fixed.read_processes(graph.num_nodes(), machine)?;
    if let Some(FirstHost::Rank0) = options.first_host {
        fixed = with_rank0_on_first_host(fixed, machine, (graph.num_nodes(), start.as_ref()))?;
    }
    let progress = Progress::new(options.report.quiet);
    // From here on there is something to save.
    let received = signals::listen(&progress, First::AsksToStop);
    console.line(format_args!("io time: {:.6}", started.elapsed().as_secs_f64()));
    console.line(format_args!("model has {} nodes, {} edges", graph.num_nodes(), graph.num_arcs()));
    machine::tell(console, machine);
    fixed.iter().for_each(|fixed| fixed.tell(console, "processes"));
    groups.iter().for_each(|groups| keep::tell(console, groups));
    let solution = {
        let observer = StopAtSignal { observer: progress, received: received.clone() };
        Request::new(graph, job.prepared)
            .start(start.as_ref())
            .initial(order.as_ref().map(FirstOrder::initial))
            .fixed(fixed.as_ref().map(|fixed| &fixed.vertices))
            .together(groups.as_ref())
            .then_lower(secondary)
            .solve(&job.config, &observer)?
    };
    ranks::tell(console, machine, solution.mapping.pes());
    tell(console, &solution.report);
    let busiest = Busiest::new(graph, machine, &solution.mapping);
    busiest.iter().for_each(|busiest| busiest.tell(console));
    let (launch, refused) = launch::of_mapping(planned, machine, &solution.mapping, job.places.outputs);
    let schedule = schedule.map(|schedule| schedule.mapped(&solution.mapping, machine)).transpose()?;
    job.write(graph, &solution, (fixed.as_ref(), busiest), (launch.as_ref(), schedule.as_deref()))?;
    job.places.goal.iter().for_each(|&goal| goal::tell(console, job.places.outputs.name(goal)));
    job.tell_end(&solution.report, launch.as_ref());
    refused.map_or(Ok(()), |error| Err(Failure::from(error)))?;
    Ok(received.interrupt().map_or(End::Done, End::Signal))
}

/// What was done, in the lines that VieM prints.
fn tell(console: Console, report: &Report) {
    console.line(format_args!("construction took {:.6}", report.seconds.construction));
    report.cost_of_construction.iter().for_each(|cost| console.line(format_args!("J(C,D,Pi) = {cost}")));
    console.line(format_args!("local search took {:.6}", report.seconds.search));
    console.line(format_args!("time spent for mapping {:.6}", report.seconds.total));
    if report.stopped {
        console.line(format_args!("stopped early: this is the best mapping found so far"));
    }
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost));
}

impl Job<'_> {
    /// Writes mapping, report, picture and what launches the job, once the mapping is verified if that was asked for.
    fn write(
        &self,
        graph: &CsrGraph,
        solution: &Solution,
        (fixed, busiest): (Option<&Fixed>, Option<Busiest>),
        (launch, schedule): (Option<&JobLaunch>, Option<&str>),
    ) -> Result<()> {
        let Job { options, machine, console, .. } = *self;
        let Solution { mapping, report, .. } = solution;
        let drawn = options.picture.draw(graph, self.prepared, self.places.name(), mapping, false)?;
        let mut settings = self.config.one_to_one.effective_on(machine);
        settings.construction.algorithm = report.construction;
        let found = Found {
            settings: Some(settings),
            busiest,
            fixed: fixed.map(Fixed::report),
            launch: launch.map(JobLaunch::report),
            ..Found::new(report)
        };
        let named = JsonOptions::new(options, report, &settings);
        let report_of_run = self.json_report(machine, named, found);
        let files = launch.into_iter().flat_map(JobLaunch::texts).chain(self.places.goal.zip(schedule));
        let audit = |written: &Path| {
            files::verify(&options.file, written, (&options.machine, machine), report.cost)?;
            console.line(format_args!("verified: J of the files is {} too", report.cost));
            fixed.map_or(Ok(()), |fixed| fixed.check(&files::text(written)?, console, "processes"))
        };
        let audit = options.verify.then_some(&audit as _);
        self.places.write(mapping, &report_of_run, drawn.as_deref(), files, audit)
    }

    /// What was written, and what it is worth.
    fn tell_end(&self, report: &Report, launch: Option<&JobLaunch>) {
        launch.iter().for_each(|launch| launch.tell(self.console));
        let (identity, cost) = (report.cost_of_identity, report.cost);
        let (less, place) = (percent_less(identity, cost), self.places.name());
        self.console
            .line(format_args!("identity {identity} -> {cost} ({less:.1} % less); written to {place}"));
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions<'a> {
    preconfiguration_mapping: MapPreset,
    construction_algorithm: Option<&'static str>,
    local_search_neighborhood: Neighbourhood,
    communication_neighborhood_dist: usize,
    search_space_s: usize,
    /// The size of the groups that are kept on a node, or the file that holds them.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep: Option<&'a Keep>,
    /// How a secondary objective was lowered.
    #[serde(skip_serializing_if = "Option::is_none")]
    secondary: Option<ReliefConfig>,
    /// What was minimised, if not J alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<BottleneckConfig>,
    /// In seconds.
    time_limit: Option<f64>,
}

impl<'a> JsonOptions<'a> {
    fn new(options: &'a Options, report: &Report, settings: &OneToOneConfig) -> Self {
        let along = options.first.along().map(PartitionAlgorithm::name);
        Self {
            preconfiguration_mapping: options.preconfiguration_mapping,
            construction_algorithm: along.or(report.construction.map(Construction::name)),
            local_search_neighborhood: settings.search.neighbourhood,
            communication_neighborhood_dist: settings.search.max_hops,
            search_space_s: settings.search.block_size,
            keep: options.keep.as_ref(),
            secondary: options.relief().ok().flatten(),
            objective: options.bottleneck(),
            time_limit: options.time_limit.map(|limit| limit.as_secs_f64()),
        }
    }
}
