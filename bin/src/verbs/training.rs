//! `viem training`: the traffic of a training job, from how it works in parallel, as a graph or as a workload.

use std::path::Path;

use clap::Parser;
use serde::Serialize;

use super::traffic::made::Made;
use super::traffic::{ResultOptions, WorkloadOptions};
use crate::audit::MODEL;
use crate::console::Console;
use crate::end::{self, End};
use crate::error::Result;
use crate::job::{Job, Plan};
use crate::options::{ReportOptions, one_of};
use crate::report;
use crate::summary::{PROCESSES, size};
use crate::verb::{Form, Verb};
use viem::base::types::Weight;
use viem_io as io;
use viem_io::Source;
use viem_io::output::{Content, OutputId};
use viem_training::jobs::{
    ClassTotal, ParallelConfig, StepTraffic, TrafficClass, TrainingConfig, step_traffic, step_workload, text,
};

const EXAMPLES: &str = "\
Examples:
  viem training --parallel=tp:8,pp:4,dp:16 --model=layers=32,hidden=4096,sequence=8192,microbatches=16 -o job.graph
  viem training --parallel=tp:8,ep:8,pp:4,dp:16 --model=model.txt --workload -o job.workload";

/// Makes the communication graph of a training job: what its ranks send each other in a step, from how it works in parallel.
#[derive(Parser, Debug)]
#[command(name = "training", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", end::CODES))]
pub(crate) struct Options {
    /// How the job works in parallel. tp:8,cp:2,ep:8,pp:4,dp:16, and etp and vpp;
    /// pp:4*12+3*4 is 12 pipelines of four stages and 4 of three
    #[arg(long, value_name = "tp:INT,...")]
    parallel: String,

    /// The model that is trained, and how. layers=32,hidden=4096,sequence=8192,microbatches=16 and so on, or a file
    /// with such lines
    #[arg(long, value_name = "NAME=VALUE,...|FILE")]
    model: String,

    /// In which order the ranks are numbered, from the innermost dimension to the outermost [default: tp,cp,ep,dp,pp]
    #[arg(long, value_name = "tp,cp,...")]
    order: Option<String>,

    #[command(flatten)]
    workload: WorkloadOptions,

    /// Classes of traffic that are sent at the same time, as one phase of the workload of a step
    #[arg(long, value_name = "CLASS,...", requires = "workload", help_heading = "Workloads", value_delimiter = ',', value_parser = one_of(&TrafficClass::ALL, TrafficClass::name))]
    overlap: Vec<TrafficClass>,

    #[command(flatten)]
    result: ResultOptions,

    #[command(flatten)]
    pub(crate) report: ReportOptions,
}

impl Options {
    /// The file that describes the model, if the option itself does not.
    fn file(&self) -> Option<&Path> {
        let path = Path::new(&self.model);
        (!self.model.contains('=') || path.exists()).then_some(path)
    }
}

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

impl Verb for Options {
    fn set_form(&mut self, form: Form) {
        self.report.form = form;
    }

    fn run(&self) -> Result<End> {
        let mut plan = Plan::new(self.file().into_iter().collect(), [])?;
        let output = plan.output("--output", self.result.file(&self.workload))?;
        let job = plan.start(&self.report)?;
        match self.workload.workload {
            true => workload(self, &job, output),
            false => model(self, &job, output),
        }
    }
}

/// Writes the communication graph of a step.
fn model(options: &Options, job: &Job<'_>, output: OutputId) -> Result<End> {
    let (parallel, model) = (parallel(options)?, model_of(options)?);
    let traffic = step_traffic(&parallel, &model)?;
    print(job.console, &traffic);
    let StepTraffic { graph, classes, .. } = &traffic;
    let weight = graph.total_arc_weight() / 2;
    let (num_processes, num_edges) = (graph.num_nodes(), graph.num_edges());
    let made = Report { num_processes, num_edges, weight, unit: model.unit, bytes: traffic.bytes(), classes };
    let report = report::of_verb("training", options.file(), JsonOptions::of(options), made);
    let contents: [Content<'_>; 1] = [(Some(output), &|out| io::metis::write(out, graph, MODEL))];
    job.publish(&|out| report.write(out), &contents, None)?;
    let size = size(graph, PROCESSES);
    job.console.line(format_args!("graph of {size}, total weight {weight}, written to {}", job.name(output)));
    Ok(End::Done)
}

/// Writes the workload of a step.
fn workload(options: &Options, job: &Job<'_>, output: OutputId) -> Result<End> {
    let (overlap, flit_bytes) = (&options.overlap, options.workload.flit_bytes());
    let program = step_workload(&parallel(options)?, &model_of(options)?, overlap, flit_bytes)?;
    let is_joined = |class: &&TrafficClass| overlap.contains(class);
    let joined: Vec<&'static str> =
        TrafficClass::ALL.iter().filter(is_joined).map(|class| class.name()).collect();
    let phases = match joined.as_slice() {
        [] => "each class of traffic is a phase".to_owned(),
        joined => format!("{} are one phase, each other class of traffic is one", joined.join(", ")),
    };
    job.console.line(format_args!("a flit is {flit_bytes} bytes; {phases}, without computation"));
    let named =
        JsonOptions { overlap: Some(joined), flit_bytes: Some(flit_bytes), ..JsonOptions::of(options) };
    Made::by("training", (options.file(), named), job, &program).publish(output, true)
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions<'a> {
    parallel: &'a str,
    order: Option<&'a str>,
    model: &'a str,
    /// Of a workload: the classes that are one phase.
    #[serde(skip_serializing_if = "Option::is_none")]
    overlap: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flit_bytes: Option<u64>,
}

impl<'a> JsonOptions<'a> {
    fn of(options: &'a Options) -> Self {
        let Options { parallel, order, model, .. } = options;
        Self { parallel, order: order.as_deref(), model, overlap: None, flit_bytes: None }
    }
}

fn parallel(options: &Options) -> Result<ParallelConfig> {
    let parallel = ParallelConfig::parse(&options.parallel)?;
    Ok(match &options.order {
        Some(order) => parallel.with_order(order)?,
        None => parallel,
    })
}

/// The model, from its file or from the option itself.
fn model_of(options: &Options) -> Result<TrainingConfig> {
    let source = match options.file() {
        Some(path) => Source::open(path)?,
        None => Source::new("--model", options.model.as_bytes())?,
    };
    Ok(text::read(source)?)
}

/// The table of what is sent.
fn print(console: Console, traffic: &StepTraffic) {
    let all = traffic.bytes();
    console.line(format_args!(
        "{:14} {:>8} {:>12} {:>22} {:>6}",
        "traffic", "groups", "ranks each", "bytes a step", "share"
    ));
    for &ClassTotal { class, groups, smallest, largest, bytes, .. } in &traffic.classes {
        let sizes = if smallest == largest { largest.to_string() } else { format!("{smallest}-{largest}") };
        let share = 100.0 * bytes as f64 / all as f64;
        console.line(format_args!("{class:14} {groups:>8} {sizes:>12} {bytes:>22} {share:>5.1}%"));
    }
}
