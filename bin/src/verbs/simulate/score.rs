//! Mappings of workloads, scored.

use std::path::Path;

use serde::Serialize;

use super::options::Options;
use crate::compare::{self, Row};
use crate::console::Console;
use crate::end::End;
use crate::error::Result;
use crate::files;
use crate::job::{Plan, end_of_lines};
use crate::machine;
use crate::ranks;
use crate::report;
use crate::summary::Summary;
use crate::verb::Form;
use crate::workload::{JsonProgram, SimulationReport, print_program, print_simulation, write_trace};
use viem::PreparedMachine;
use viem::base::text::counted;
use viem::base::types::PeId;
use viem::machine::{Capacities, Machine};
use viem::mapping::Mapping;
use viem_io::Source;
use viem_io::output::Content;
use viem_report::compare::Comparison;
use viem_report::picture::draw_timeline;
use viem_workload::estimate::{Estimate, EstimateError, WorkloadModel};
use viem_workload::routing::Routing;
use viem_workload::simulate::{Simulation, SimulationConfig, simulate};
use viem_workload::{Workload, map, text};

/// What is found out about a mapping of a program, as written to `--json`.
#[derive(Serialize)]
struct ScoreReport<'a> {
    #[serde(flatten)]
    program: JsonProgram,
    cost: i128,
    /// F in cycles, unless its table is too large.
    estimate: Option<f64>,
    ideal: f64,
    phases: usize,
    simulation: SimulationReport<'a>,
    /// The mapping beside others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Row>,
}

/// Scores a mapping of a program.
pub(super) fn score(options: &Options, path: &Path) -> Result<End> {
    let config = options.simulation()?;
    let mut plan = Plan::new(options.read_only(), [])?;
    let trace = plan.optional("--trace", options.trace.as_deref())?;
    let picture = plan.optional("--picture", options.picture.file())?;
    let job = plan.start(&options.report)?;
    let console = job.console;
    let machine = options.machine.build(console)?;
    let machine = machine.as_ref();
    let program = text::read(Source::open(&options.file)?)?;
    print_program(console, &program);
    machine::print(console, Form::Verb, machine);
    // Any number of tasks may share a PE.
    let room = (program.num_tasks() as u64).min(u64::from(PeId::MAX - 1) / machine.num_pes() as u64).max(1);
    let roomy = Capacities::new(machine, vec![room as u32; machine.num_pes()])?;
    let mapping = files::read_mapping(path, program.num_tasks(), &roomy, console)?;
    ranks::print(console, machine, mapping.pes());
    let routing = Routing::new(machine)?;
    let task = Scored { options, program: &program, machine, roomy: &roomy, routing: &routing, config };
    let timed = config.with_timeline(trace.or(picture).is_some());
    let simulation = simulate(&program, &routing, mapping.pes(), timed)?;
    let (report, unknown) = task.report((path, &mapping), &simulation, console)?;
    print(console, &report, unknown);
    print_simulation(console, &simulation);
    if !report.compared.is_empty() {
        compare::print(console, &report.compared, shares_pes(&program, machine));
    }
    let name = files::name(path);
    let drawn = simulation.timeline.as_ref().map(|line| draw_timeline(&name, &simulation, line));
    let report = report::of_verb("simulate", options.file.as_path(), JsonOptions { score: name }, report);
    let contents: [Content<'_>; 2] = [
        (trace, &|out| write_trace(out, Some(&simulation), &mapping)),
        (picture, &|out| out.write_all(drawn.as_deref().unwrap_or_default().as_bytes())),
    ];
    let report = report.on(options.machine.report(machine));
    job.publish(&|out| report.write(out), &contents, None)?;
    end_of_lines()
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    score: String,
}

/// Whether tasks share PEs.
fn shares_pes(program: &Workload, machine: &dyn Machine) -> bool {
    program.num_tasks() as u64 > machine.room()
}

/// A program whose mappings are compared.
struct Scored<'a> {
    options: &'a Options,
    program: &'a Workload,
    machine: &'a dyn Machine,
    /// The same with room for all tasks on each PE.
    roomy: &'a dyn Machine,
    routing: &'a Routing,
    config: SimulationConfig,
}

impl Scored<'_> {
    /// What is known of a mapping, and why there is no estimate, if there is none.
    fn report<'b>(
        &self,
        (path, mapping): (&Path, &Mapping),
        simulation: &'b Simulation,
        console: Console,
    ) -> Result<(ScoreReport<'b>, Option<EstimateError>)> {
        let Self { program, machine, routing, config, .. } = *self;
        let model = WorkloadModel::new(program, config.costs)?;
        let (estimate, unknown) = match Estimate::of(&model, routing, mapping.pes()) {
            Ok(estimate) => (Some(estimate.cycles()), None),
            // J and the simulation need no table.
            Err(error @ EstimateError::TooLarge { .. }) => (None, Some(error)),
            Err(error) => return Err(error.into()),
        };
        let report = ScoreReport {
            program: JsonProgram::of(program),
            cost: map::cost(program, machine, mapping.pes())?,
            estimate,
            ideal: model.completion_time as f64,
            phases: model.phases.len(),
            simulation: SimulationReport::from(simulation),
            compared: self.compared((path, mapping), console)?,
        };
        Ok((report, unknown))
    }

    /// The mapping beside others, if that was asked for.
    fn compared(&self, given: (&Path, &Mapping), console: Console) -> Result<Vec<Row>> {
        let Self { options, program, machine, roomy, routing, config } = *self;
        if options.compare.is_empty() {
            return Ok(Vec::new());
        }
        let (graph, is_many) = (program.graph(), shares_pes(program, machine));
        let machine = if is_many { roomy } else { machine };
        let prepared = PreparedMachine::new(machine);
        let comparison = Comparison::new(&graph, &prepared).of_many(is_many);
        let completion_time =
            |mapping: &Mapping| Ok(Some(simulate(program, routing, mapping.pes(), config)?.completion_time));
        compare::rows((&graph, machine), &comparison, given, &options.compare, &completion_time, console)
    }
}

/// Prints what was found. `unknown` is why there is no estimate.
fn print(console: Console, report: &ScoreReport<'_>, unknown: Option<EstimateError>) {
    let ScoreReport { cost, estimate, ideal, phases, .. } = report;
    let mut summary = Summary::new("", "");
    summary.figure("J", cost, "");
    if let Some(estimate) = estimate {
        let note = format!("ideal: {ideal:.1}; {}", counted(*phases, "phase", "different phases"));
        summary.figure("estimated completion time F", format_args!("{estimate:.1}"), note);
    }
    summary.print(console);
    if let Some(unknown) = unknown {
        console.line(format_args!("no estimate F (ideal: {ideal:.1}): {unknown}"));
    }
}
