//! `evaluator`: scores a mapping.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

use super::compare::{self, Other, PictureOptions, Row};
use super::console::{Console, ranges};
use super::direct::{self, DirectOptions, JsonSpread};
use super::exit::{self, End, UsageError};
use super::files;
use super::machine::{self, JsonMachine, MachineOptions};
use super::options::{ReportOptions, one_of};
use super::qap::{self, ModelFormat};
use super::workload::{self, SimulationOptions, SimulationReport};
use viem::graph::CsrGraph;
use viem::ground::types::{Cost, PeId};
use viem::io::output::OutputId;
use viem::io::{Outputs, Source};
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::mapping::objective::evaluate;
use viem::mapping::problem::check_room;
use viem::mapping::solve;
use viem::report::compare::Comparison;
use viem::report::traffic::{self, DistanceTraffic, LevelTraffic};

/// The name of the program.
pub(super) const NAME: &str = "evaluator";

/// Scores a mapping: its objective J, that of the identity, and the traffic at each level or distance of the machine.
#[derive(Parser, Debug)]
#[command(name = NAME, version, infer_long_args = true, rename_all = "snake_case", after_help = exit::CODES)]
pub(super) struct Options {
    /// The model: a METIS graph whose vertices are the processes, a program in time (PROCESS ...), or, without a machine, a quadratic assignment problem of
    /// QAPLIB (FILE.dat, FILE.qap); - is standard input
    pub(super) file: PathBuf,

    /// What the model is, where its name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&ModelFormat::ALL, ModelFormat::name))]
    pub(super) input_format: Option<ModelFormat>,

    /// The mapping: line i holds the processing element of process i, both from 0; of a quadratic assignment problem also a
    /// solution file of QAPLIB
    #[arg(long, alias = "input", value_name = "FILE")]
    pub(super) input_mapping: PathBuf,

    /// Set the mapping side by side with others, by commas: block (the identity), socket (the packages of a node by turns), cyclic or
    /// node (the nodes by turns), random, or files of mappings
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Other::parse)]
    pub(super) compare: Vec<Other>,

    #[command(flatten)]
    pub(super) picture: PictureOptions,

    #[command(flatten)]
    pub(super) machine: MachineOptions,

    #[command(flatten)]
    pub(super) direct: DirectOptions,

    #[command(flatten)]
    pub(super) report: ReportOptions,

    #[command(flatten)]
    pub(super) simulation: SimulationOptions,
}

/// What the evaluator finds, as written to `--json`.
#[derive(Serialize)]
struct Report<'a> {
    model: String,
    input_mapping: String,
    n: usize,
    m: usize,
    machine: JsonMachine,
    #[serde(skip_serializing_if = "Option::is_none")]
    hierarchy: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<Vec<i64>>,
    #[serde(rename = "J")]
    cost: Objective,
    #[serde(flatten)]
    traffic: Traffic,
    /// How work and traffic are spread where PEs have many vertices.
    #[serde(flatten)]
    spread: Option<JsonSpread>,
    /// PEs that no process is on.
    empty_pes: Vec<PeId>,
    /// One phase of all messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    simulation: Option<SimulationReport<'a>>,
    /// The mapping beside others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compared: Vec<Row>,
}

/// The traffic at each level of a tree, or at each distance elsewhere.
#[derive(Serialize)]
enum Traffic {
    #[serde(rename = "levels")]
    ByLevel(Vec<LevelTraffic>),
    #[serde(rename = "by_distance")]
    ByDistance(Vec<DistanceTraffic>),
}

#[derive(Serialize)]
struct Objective {
    mapping: Cost,
    /// None where PEs have many vertices.
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<Cost>,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    exit::run(score)
}

fn score(options: &Options) -> anyhow::Result<End> {
    if qap::is_problem(&options.file, options.input_format, &options.machine)? {
        return qap::score(options);
    }
    let files = [options.file.as_path(), options.input_mapping.as_path()];
    let weights = options.direct.pe_weights.as_deref();
    let others = options.compare.iter().filter_map(Other::file).chain(weights);
    let inputs: Vec<&Path> = files.into_iter().chain(options.machine.files()).chain(others).collect();
    files::probe_inputs(&inputs)?;
    let mut outputs = Outputs::new();
    let json = options.report.add_to(&mut outputs, &inputs)?;
    let trace = options.simulation.add_to(&mut outputs, &inputs)?;
    let picture = options.picture.add_to(&mut outputs, &inputs)?;
    let console = Console::new(options.report.quiet, &outputs)?;
    options.direct.imbalance()?;
    let machine = options.direct.weigh(options.machine.build(console)?)?;
    let job = Job { options, outputs: &outputs, json, trace, picture, console };
    let mut source = Source::open(&options.file)?;
    if workload::is_program(&mut source) {
        job.program(source, machine.as_ref())
    } else {
        job.graph(source, machine.as_ref())
    }
}

/// What is to be done, with the outputs that were asked for.
pub(super) struct Job<'a> {
    pub options: &'a Options,
    pub outputs: &'a Outputs,
    pub json: Option<OutputId>,
    pub trace: Option<OutputId>,
    pub picture: Option<OutputId>,
    pub console: Console,
}

impl Job<'_> {
    /// Scores a mapping of a program in time.
    fn program(&self, source: Source, machine: &dyn Machine) -> anyhow::Result<End> {
        let options = self.options;
        if !options.compare.is_empty() {
            let message =
                "--compare sets mappings of a graph side by side; score those of a program one by one";
            return Err(UsageError(message.to_owned()).into());
        }
        options.direct.refuse("is for graphs; this is a program in time")?;
        workload::score(self, source, machine)
    }

    /// Scores a mapping of a graph.
    fn graph(&self, source: Source, machine: &dyn Machine) -> anyhow::Result<End> {
        let Self { options, console, .. } = *self;
        options
            .simulation
            .refuse_costs("is for programs in time; all messages of a graph are sent at once")?;
        let (graph, is_direct) = options.direct.read(source, machine)?;
        console.line(format_args!("model has {} nodes, {} edges", graph.num_nodes(), graph.num_arcs()));
        machine::tell(console, machine);
        let Given { mapping, identity, spread } = self.given(&graph, machine, is_direct)?;
        let mut compared = Vec::new();
        if !options.compare.is_empty() {
            let given = (options.input_mapping.as_path(), &mapping);
            let comparison = Comparison::new(&graph, machine)?.of_many(is_direct);
            compared = compare::rows(machine, &comparison, given, &options.compare)?;
        }
        let name = files::name(&options.input_mapping);
        let drawn = options.picture.draw(&graph, machine, &name, &mapping, is_direct)?.unwrap_or_default();
        let simulation = options.simulation.phase(&graph, machine, &mapping)?;
        let distances = machine.distances()?;
        let hierarchy = machine.hierarchy();
        let report = Report {
            model: files::name(&options.file),
            input_mapping: name,
            n: graph.num_nodes(),
            m: graph.num_edges(),
            machine: options.machine.report(machine),
            hierarchy: hierarchy.map(|hierarchy| hierarchy.arities().to_vec()),
            distances: hierarchy.map(|hierarchy| hierarchy.distances().to_vec()),
            cost: Objective { mapping: evaluate(&graph, &distances, &mapping)?, identity },
            traffic: match hierarchy {
                Some(hierarchy) => Traffic::ByLevel(traffic::by_level(&graph, hierarchy, &mapping)),
                None => Traffic::ByDistance(traffic::by_distance(&graph, &distances, mapping.as_slice())),
            },
            spread,
            empty_pes: traffic::empty_pes(machine.num_pes(), mapping.as_slice()),
            simulation: simulation.as_ref().map(SimulationReport::from),
            compared,
        };
        tell(console, &report);
        simulation.iter().for_each(|simulation| workload::tell_simulation(console, simulation));
        self.outputs.write(&[
            (self.json, &|out| files::write_report(out, NAME, &report)),
            (self.trace, &|out| workload::write_trace(out, simulation.as_ref(), &mapping)),
            (self.picture, &|out| out.write_all(drawn.as_bytes())),
        ])?;
        Ok(End::Done)
    }

    /// Reads the mapping of a graph.
    fn given(&self, graph: &CsrGraph, machine: &dyn Machine, is_direct: bool) -> anyhow::Result<Given> {
        let Self { options, console, .. } = *self;
        let path = options.input_mapping.as_path();
        if is_direct {
            console.line(format_args!("reading input mapping"));
            let mapping = files::read_many(path, graph.num_nodes(), machine)?;
            let spread = spread(graph, machine, options.direct.imbalance()?, &mapping);
            return Ok(Given { mapping, identity: None, spread: Some(spread) });
        }
        check_room(graph.num_nodes(), machine)?;
        let identity = Mapping::in_order(machine, graph.num_nodes()).expect("there is room");
        let identity = evaluate(graph, &machine.distances()?, &identity)?;
        console.line(format_args!("reading input mapping"));
        let mapping = files::read_mapping(path, graph.num_nodes(), machine)?;
        Ok(Given { mapping, identity: Some(identity), spread: None })
    }
}

/// A mapping of a graph, and what it is set beside.
struct Given {
    mapping: Mapping,
    /// J of the identity, where PEs have one process each.
    identity: Option<Cost>,
    /// How work and traffic are spread where PEs have many vertices.
    spread: Option<JsonSpread>,
}

/// What a direct mapping puts on PEs, and what they exchange.
fn spread(graph: &CsrGraph, machine: &dyn Machine, imbalance: f64, mapping: &Mapping) -> JsonSpread {
    let bounds = solve::bounds(graph, machine, imbalance);
    JsonSpread {
        imbalance: 100.0 * imbalance,
        loads: solve::loads(graph, &bounds, mapping.as_slice()),
        by_pe: Some(traffic::by_pe(graph, machine.num_pes(), mapping.as_slice())),
    }
}

/// What was found, in lines for people.
fn tell(console: Console, report: &Report<'_>) {
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost.mapping));
    if let Some(identity) = report.cost.identity {
        console.line(format_args!("J of the identity = {identity}"));
    }
    match &report.traffic {
        Traffic::ByLevel(levels) => tell_levels(console, levels),
        Traffic::ByDistance(rows) => tell_distances(console, rows),
    }
    if let Some(spread) = &report.spread {
        direct::tell_loads(console, &spread.loads);
        spread.by_pe.iter().for_each(|traffic| direct::tell_traffic(console, traffic));
    }
    if !report.empty_pes.is_empty() {
        let (count, which) = (report.empty_pes.len(), ranges(&report.empty_pes));
        console.line(format_args!("processing elements left empty: {count} ({which})"));
    }
    if !report.compared.is_empty() {
        compare::tell(console, &report.compared, report.spread.is_some());
    }
}

fn tell_levels(console: Console, levels: &[LevelTraffic]) {
    console.line(format_args!(
        "{:>5} {:>10} {:>20} {:>20} {:>8}",
        "level", "PEs", "distance", "weight", "share"
    ));
    for level in levels {
        let LevelTraffic { level, group_size, distance, weight, share, .. } = level;
        let percent = 100.0 * share;
        console.line(format_args!("{level:>5} {group_size:>10} {distance:>20} {weight:>20} {percent:>7.2}%"));
    }
}

fn tell_distances(console: Console, rows: &[DistanceTraffic]) {
    console.line(format_args!("{:>20} {:>20} {:>8}", "distance", "weight", "share"));
    for row in rows {
        let DistanceTraffic { least, greatest, weight, share, .. } = row;
        let distance = if least == greatest { least.to_string() } else { format!("{least}-{greatest}") };
        let percent = 100.0 * share;
        console.line(format_args!("{distance:>20} {weight:>20} {percent:>7.2}%"));
    }
}
