//! `evaluator`: scores a mapping.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use super::console::Console;
use super::exit::{self, End};
use super::files;
use super::options::{MachineOptions, ReportOptions};
use crate::io::Outputs;
use crate::io::metis::NodeWeights;
use crate::mapping::Mapping;
use crate::objective::cost;
use crate::problem::Problem;
use crate::traffic::{self, LevelTraffic};
use crate::types::Cost;

/// Scores a mapping: its objective J, that of the identity, and the traffic at each level of the machine.
#[derive(Parser, Debug)]
#[command(name = "evaluator", version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
struct Options {
    /// The model: a METIS graph whose vertices are the processes; - is standard input
    file: PathBuf,

    /// The mapping: line i holds the processing element of process i, both from 0
    #[arg(long, value_name = "FILE")]
    input_mapping: PathBuf,

    #[command(flatten)]
    machine: MachineOptions,

    #[command(flatten)]
    report: ReportOptions,
}

/// What the evaluator finds, as written to `--json`.
#[derive(Serialize)]
struct Report {
    program: &'static str,
    version: &'static str,
    model: String,
    input_mapping: String,
    n: usize,
    m: usize,
    hierarchy: Vec<u32>,
    distances: Vec<i64>,
    #[serde(rename = "J")]
    cost: Objective,
    levels: Vec<LevelTraffic>,
}

#[derive(Serialize)]
struct Objective {
    mapping: Cost,
    identity: Cost,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    exit::run(evaluate)
}

fn evaluate(options: &Options) -> anyhow::Result<End> {
    let inputs = [options.file.as_path(), options.input_mapping.as_path()];
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    let hierarchy = options.machine.hierarchy(console)?;
    let graph = files::read_graph(&options.file, NodeWeights::Ignore)?;
    console.line(format_args!("model has {} nodes, {} edges", graph.num_nodes(), graph.num_arcs()));
    console.line(format_args!("specified hierarchy has {} entities.", hierarchy.num_pes()));
    let oracle = hierarchy.online64();
    let problem = Problem::new(&graph, &oracle)?;
    console.line(format_args!("reading input mapping"));
    let mapping = files::read_mapping(&options.input_mapping, graph.num_nodes())?;

    let report = Report {
        program: "evaluator",
        version: env!("CARGO_PKG_VERSION"),
        model: files::name(&options.file),
        input_mapping: files::name(&options.input_mapping),
        n: graph.num_nodes(),
        m: graph.num_edges(),
        hierarchy: hierarchy.arities().to_vec(),
        distances: hierarchy.distances().to_vec(),
        cost: Objective {
            mapping: cost(&problem, &mapping),
            identity: cost(&problem, &Mapping::identity(graph.num_nodes())),
        },
        levels: traffic::by_level(&graph, &hierarchy, &mapping),
    };
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost.mapping));
    console.line(format_args!("J of the identity = {}", report.cost.identity));
    console.line(format_args!(
        "{:>5} {:>10} {:>20} {:>20} {:>8}",
        "level", "PEs", "distance", "weight", "share"
    ));
    for level in &report.levels {
        let LevelTraffic { level, group_size, distance, weight, share, .. } = level;
        let percent = 100.0 * share;
        console.line(format_args!("{level:>5} {group_size:>10} {distance:>20} {weight:>20} {percent:>7.2}%"));
    }
    outputs.write(&[(json, &|out| files::write_json(out, &report))])?;
    Ok(End::Done)
}
