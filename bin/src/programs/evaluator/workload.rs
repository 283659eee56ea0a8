//! Mappings of workloads, scored.

use serde::Serialize;

use super::job::{Job, JsonOptions};
use crate::compare::{self, Row};
use crate::console::Console;
use crate::error::Result;
use crate::exit::End;
use crate::files;
use crate::machine;
use crate::ranks;
use crate::workload::{JsonProgram, SimulationReport, tell_program, tell_simulation, write_trace};
use viem::PreparedMachine;
use viem::ground::types::PeId;
use viem::machine::{Capacities, Machine};
use viem::mapping::Mapping;
use viem_io::Source;
use viem_report::compare::Comparison;
use viem_report::picture::draw_timeline;
use viem_workload::estimate::{Estimate, EstimateError, WorkloadModel};
use viem_workload::routing::Routing;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    simulation: Option<SimulationReport<'a>>,
    /// The mapping beside others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Row>,
}

/// Scores a mapping of a program.
pub(crate) fn score(job: &Job<'_>, source: Source<'_>, machine: &dyn Machine) -> Result<End> {
    let Job { options, console, .. } = *job;
    let config = options.simulation.costs.simulation();
    let program = text::read(source)?;
    tell_program(console, &program);
    machine::tell(console, machine);
    // Any number of tasks may share a PE.
    let room = (program.num_tasks() as u64).min(u64::from(PeId::MAX - 1) / machine.num_pes() as u64).max(1);
    let roomy = Capacities::new(machine, vec![room as u32; machine.num_pes()])?;
    console.line(format_args!("reading input mapping"));
    let mapping = files::read_mapping(&options.input_mapping, program.num_tasks(), &roomy, console)?;
    ranks::tell(console, machine, mapping.pes());
    let routing = Routing::new(machine)?;
    let model = WorkloadModel::new(&program, config.costs)?;
    let estimate = match Estimate::of(&model, &routing, mapping.pes()) {
        Ok(estimate) => Ok(estimate.cycles()),
        // J and the simulation need no table.
        Err(error @ EstimateError::TooLarge { .. }) => Err(error),
        Err(error) => return Err(error.into()),
    };
    let simulation = options.simulation.run(&program, &routing, &mapping, config, job.picture.is_some())?;
    let timeline = simulation
        .as_ref()
        .and_then(|simulation| simulation.timeline.as_ref().map(|line| (simulation, line)));
    let drawn = timeline
        .map(|(simulation, line)| draw_timeline(&files::name(&options.input_mapping), simulation, line));
    let report = ScoreReport {
        program: JsonProgram::of(&program),
        cost: map::cost(&program, machine, mapping.pes())?,
        estimate: estimate.as_ref().ok().copied(),
        ideal: model.completion_time as f64,
        phases: model.phases.len(),
        simulation: simulation.as_ref().map(SimulationReport::from),
        compared: compared(job, &program, machine, &roomy, &routing, &mapping)?,
    };
    tell(console, &report, estimate.err());
    if !report.compared.is_empty() {
        compare::tell(console, &report.compared, shares_pes(&program, machine));
    }
    simulation.iter().for_each(|simulation| tell_simulation(console, simulation));
    let report = job.json_report(machine, JsonOptions::of(options), report);
    job.outputs.write(&[
        (job.json, &|out| report.write(out)),
        (job.trace, &|out| write_trace(out, simulation.as_ref(), &mapping)),
        (job.picture, &|out| out.write_all(drawn.as_deref().unwrap_or_default().as_bytes())),
    ])?;
    Ok(End::Done)
}

/// Whether tasks share PEs.
fn shares_pes(program: &Workload, machine: &dyn Machine) -> bool {
    program.num_tasks() as u64 > machine.room()
}

/// The mapping beside others, if that was asked for.
fn compared(
    job: &Job<'_>,
    program: &Workload,
    machine: &dyn Machine,
    roomy: &dyn Machine,
    routing: &Routing,
    mapping: &Mapping,
) -> Result<Vec<Row>> {
    let options = job.options;
    if options.compare.is_empty() {
        return Ok(Vec::new());
    }
    let (graph, is_many) = (program.graph(), shares_pes(program, machine));
    let machine = if is_many { roomy } else { machine };
    let prepared = PreparedMachine::new(machine);
    let comparison = Comparison::new(&graph, &prepared).of_many(is_many);
    let simulate = |mapping: &Mapping| {
        let config = options.simulation.costs.simulation();
        let simulation = options.simulation.run(program, routing, mapping, config, false)?;
        Ok(simulation.map(|simulation| simulation.completion_time))
    };
    let given = (options.input_mapping.as_path(), mapping);
    compare::rows((&graph, machine), &comparison, given, &options.compare, &simulate, job.console)
}

/// What was found, in lines for people; `lack` is why there is no estimate.
fn tell(console: Console, report: &ScoreReport<'_>, lack: Option<EstimateError>) {
    let ScoreReport { cost, estimate, ideal, phases, .. } = report;
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {cost}"));
    if let Some(estimate) = estimate {
        console.line(format_args!(
            "estimated completion time F = {estimate:.1} (ideal: {ideal:.1}), {phases} different phases"
        ));
    }
    if let Some(lack) = lack {
        console.line(format_args!("no estimate F (ideal: {ideal:.1}): {lack}"));
    }
}
