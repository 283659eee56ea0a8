//! The traffic of a training job, from how it works in parallel: as a graph, or as a workload.

use serde::Serialize;

use super::destination::{Destination, WEIGHTS};
use super::options::{NAME, Options, TrainingOptions};
use super::workload;
use crate::error::{Result, UsageError};
use crate::exit::End;
use crate::report::JsonReport;
use viem::ground::types::Weight;
use viem_io as io;
use viem_io::Source;
use viem_training::jobs::{
    ClassTotal, ParallelConfig, StepTraffic, TrafficClass, TrainingConfig, step_traffic, step_workload, text,
};

/// What was made, as written to `--json`.
#[derive(Serialize)]
struct Report<'a> {
    num_processes: usize,
    num_edges: usize,
    /// Sum of the weights of the edges, each once.
    weight: Weight,
    /// Bytes that a weight of 1 stands for.
    unit: u64,
    /// Bytes that all ranks send in a step.
    bytes: u64,
    classes: &'a [ClassTotal],
}

/// Writes the communication graph of a step.
pub(super) fn model(options: &TrainingOptions, to: &Destination) -> Result<End> {
    let (parallel, model) = (parallel(options)?, model_of(options)?);
    let traffic = step_traffic(&parallel, &model)?;
    tell(to, &traffic);
    let StepTraffic { graph, classes, .. } = &traffic;
    let weight = graph.total_arc_weight() / 2;
    let (num_processes, num_edges) = (graph.num_nodes(), graph.num_edges());
    let made = Report { num_processes, num_edges, weight, unit: model.unit, bytes: traffic.bytes(), classes };
    let report = JsonReport::new(NAME, None, (), made);
    to.outputs.write(&[
        (Some(to.model), &|out| io::metis::write(out, graph, WEIGHTS)),
        (to.json, &|out| report.write(out)),
    ])?;
    to.console.line(format_args!("written to {}", to.outputs.name(to.model)));
    Ok(End::Done)
}

/// Writes the workload of a step.
pub(super) fn workload(options: &Options, to: &Destination) -> Result<End> {
    let (training, flit_bytes) = (&options.training, options.order.flit_bytes);
    let program = step_workload(&parallel(training)?, &model_of(training)?, &training.overlap, flit_bytes)?;
    let is_joined = |class: &&TrafficClass| training.overlap.contains(class);
    let joined: Vec<&str> = TrafficClass::ALL.iter().filter(is_joined).map(|class| class.name()).collect();
    let phases = match joined.as_slice() {
        [] => "each class of traffic is a phase".to_owned(),
        joined => format!("{} are one phase, each other class of traffic is one", joined.join(", ")),
    };
    to.console.line(format_args!("a flit is {flit_bytes} bytes; {phases}, without computation"));
    workload::write(options, &program, &|out| viem_workload::text::write(out, &program), to)
}

fn parallel(options: &TrainingOptions) -> Result<ParallelConfig> {
    let parallel = ParallelConfig::parse(options.parallel.as_deref().unwrap_or_default())?;
    Ok(match &options.order {
        Some(order) => parallel.with_order(order)?,
        None => parallel,
    })
}

/// The model, from its file or from the option itself.
fn model_of(options: &TrainingOptions) -> Result<TrainingConfig> {
    let Some(model) = &options.model else {
        return Err(UsageError("--parallel needs to know what is trained; give --model".to_owned()).into());
    };
    let source = match options.file() {
        Some(path) => Source::open(path)?,
        None => Source::new("--model", model.as_bytes())?,
    };
    Ok(text::read(source)?)
}

/// The table of what is sent.
fn tell(to: &Destination, traffic: &StepTraffic) {
    let (console, all) = (to.console, traffic.bytes());
    console.line(format_args!(
        "{:14} {:>8} {:>12} {:>22} {:>6}",
        "traffic", "groups", "ranks each", "bytes a step", "share"
    ));
    for &ClassTotal { class, groups, smallest, largest, bytes, .. } in &traffic.classes {
        let sizes = if smallest == largest { largest.to_string() } else { format!("{smallest}-{largest}") };
        let share = 100.0 * bytes as f64 / all as f64;
        console.line(format_args!("{class:14} {groups:>8} {sizes:>12} {bytes:>22} {share:>5.1}%"));
    }
    let (nodes, arcs) = (traffic.graph.num_nodes(), traffic.graph.num_arcs());
    console.line(format_args!("communication graph has {nodes} nodes, {arcs} edges"));
    console.line(format_args!("total weight {}", traffic.graph.total_arc_weight() / 2));
}
