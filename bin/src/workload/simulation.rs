//! Simulation of mappings, of workloads and of graphs.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::costs::LinkOptions;
use crate::console::Console;
use crate::error::{Result, UsageError};
use viem::graph::CsrGraph;
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem_report::envelope::write_json;
use viem_workload::Workload;
use viem_workload::routing::Routing;
use viem_workload::simulate::{
    ChromeTrace, Costs, Latency, LinkLoad, PeTime, Simulation, SimulationConfig, simulate,
};

/// How one phase of all messages of a graph is simulated.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct PhaseOptions {
    /// Simulate one phase, in which each process sends to all its neighbours. Prints the completion time, times of PEs, and the
    /// busiest links
    #[arg(long)]
    simulate: bool,

    #[command(flatten)]
    links: LinkOptions,

    /// Write the timeline of the simulation to FILE, for chrome://tracing or Perfetto; - is standard output
    #[arg(long, value_name = "FILE", requires = "simulate")]
    pub(crate) trace: Option<PathBuf>,
}

/// A simulation, as written to `--json`. Times are in cycles.
#[derive(Serialize)]
pub(crate) struct SimulationReport<'a> {
    completion_time: u64,
    latency: Latency,
    busiest_links: Vec<&'a LinkLoad>,
    pes: &'a [PeTime],
}

/// Links that are printed.
const SHOWN_LINKS: usize = 10;

impl<'a> From<&'a Simulation> for SimulationReport<'a> {
    fn from(simulation: &'a Simulation) -> Self {
        Self {
            completion_time: simulation.completion_time,
            latency: simulation.latency,
            busiest_links: simulation.busiest(SHOWN_LINKS),
            pes: &simulation.pes,
        }
    }
}

impl PhaseOptions {
    /// An error if options are given that decide nothing.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        if self.links.is_given() && !self.simulate {
            let message = "--sharing and --latency-cycles are for --simulate; leave them out";
            return Err(UsageError(message.to_owned()));
        }
        Ok(())
    }

    /// Simulates one phase of all messages of a graph, if that was asked for.
    pub(crate) fn simulate(
        &self,
        graph: &CsrGraph,
        machine: &dyn Machine,
        mapping: &Mapping,
    ) -> Result<Option<Simulation>> {
        if !self.simulate {
            return Ok(None);
        }
        let (program, routing) = (Workload::of_graph(graph)?, Routing::new(machine)?);
        // All messages start at once.
        let config = SimulationConfig::new(Costs::new(0, 0)).with_sharing(self.links.sharing()?);
        let config = config.with_timeline(self.trace.is_some());
        Ok(Some(simulate(&program, &routing, mapping.pes(), config)?))
    }
}

/// The timeline of a simulation, as an output.
pub(crate) fn write_trace(
    out: &mut dyn Write,
    simulation: Option<&Simulation>,
    mapping: &Mapping,
) -> std::io::Result<()> {
    let timeline = simulation.and_then(|simulation| simulation.timeline.as_ref());
    match timeline {
        Some(timeline) => write_json(out, &ChromeTrace::new(timeline, mapping.pes())),
        None => Ok(()),
    }
}

/// What a simulation has found, in lines for people.
pub(crate) fn print_simulation(console: Console, simulation: &Simulation) {
    let Simulation { completion_time, pes, latency, .. } = simulation;
    console.line(format_args!("simulated completion time = {completion_time}"));
    let sum = |part: fn(&PeTime) -> u64| pes.iter().map(|pe| part(pe) as f64).sum::<f64>();
    let all = (*completion_time as f64 * pes.len() as f64).max(1.0);
    console.line(format_args!(
        "PEs are busy {:.1} %, blocked {:.1} %, idle {:.1} % of the time",
        100.0 * sum(|pe| pe.busy) / all,
        100.0 * sum(|pe| pe.blocked) / all,
        100.0 * sum(|pe| pe.idle) / all
    ));
    console.line(format_args!(
        "messages take {:.1} cycles on average, {:.1} if alone, {} at most; {} of {} take no time",
        latency.mean,
        latency.mean_alone,
        latency.longest,
        latency.local,
        latency.local + latency.messages
    ));
    let busiest = simulation.busiest(SHOWN_LINKS);
    if busiest.is_empty() {
        return;
    }
    console.line(format_args!(
        "{:>24} {:>10} {:>14} {:>8} {:>8} {:>14}",
        "busiest links", "messages", "flits", "busy", "held", "waited for"
    ));
    for LinkLoad { name, messages, flits, busy, held, waited, .. } in busiest {
        let share = |cycles: u64| 100.0 * cycles as f64 / (*completion_time).max(1) as f64;
        console.line(format_args!(
            "{name:>24} {messages:>10} {flits:>14} {:>7.1}% {:>7.1}% {waited:>14}",
            share(*busy),
            share(*held)
        ));
    }
}
