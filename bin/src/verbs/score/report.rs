//! Mappings of graphs, scored.

use serde::Serialize;

use super::options::Options;
use crate::application::Input;
use crate::capacities::OneOrEach;
use crate::compare::{self, Busiest, Row};
use crate::console::Console;
use crate::end::End;
use crate::error::Result;
use crate::files;
use crate::job::{Job, Plan, end_of_lines};
use crate::limits::Limits;
use crate::loads;
use crate::machine;
use crate::many_to_one;
use crate::mesh::MeshOptions;
use crate::ranks;
use crate::report::{self, Found};
use crate::summary::{PROCESSES, Summary, VERTICES, print_size};
use crate::verb::Form;
use crate::workload::{self, SimulationReport};
use viem::base::text::ranges;
use viem::base::types::PeId;
use viem::graph::{CsrGraph, VertexWeights};
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::mapping::problem::check_room;
use viem::solve::Balance;
use viem::{Config, PreparedMachine, Request};
use viem_io::output::{Content, OutputId};
use viem_report::compare::Comparison;
use viem_report::traffic::{self, DistanceTraffic, LevelTraffic};
use viem_workload::simulate::Simulation;

/// What is known of a mapping, as written to `--json`.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    found: Found<'a>,
    #[serde(flatten)]
    traffic: Traffic,
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

/// Scores a mapping of a graph.
pub(super) fn score(options: &Options) -> Result<End> {
    options.phase.check()?;
    let mut plan = Plan::new(options.inputs(), [])?;
    let to = Outputs {
        trace: plan.optional("--trace", options.phase.trace.as_deref())?,
        picture: plan.optional("--picture", options.picture.file())?,
    };
    let job = plan.start(&options.report)?;
    let console = job.console;
    let machine = options.sharing.weigh(options.machine.build(console)?)?;
    let machine = machine.as_ref();
    options.sharing.balance.check()?;
    let threads = crate::options::threads(None)?;
    let (input, mesh) = (Input::open(&options.file)?, (&options.mesh, false, &options.nodes));
    let (application, is_many_to_one) = options.sharing.read(input, machine, mesh, (threads, console))?;
    let weights = application.weights.as_ref();
    let limits = options.sharing.limits(machine, weights, &options.nodes)?;
    if !is_many_to_one {
        options.sharing.check_one_to_one()?;
    }
    let prepared = &PreparedMachine::new(machine);
    Task { options, machine, prepared, weights, limits, to, job, is_many_to_one }.run(&application.graph)
}

/// Where the results go.
struct Outputs {
    trace: Option<OutputId>,
    picture: Option<OutputId>,
}

/// A score as it was asked for.
struct Task<'a> {
    options: &'a Options,
    machine: &'a dyn Machine,
    prepared: &'a PreparedMachine<'a>,
    /// All weights of the vertices, if they have several.
    weights: Option<&'a VertexWeights>,
    limits: Limits,
    to: Outputs,
    job: Job<'a>,
    is_many_to_one: bool,
}

impl Task<'_> {
    fn run(&self, graph: &CsrGraph) -> Result<End> {
        let Self { options, machine, prepared, job, .. } = self;
        self.print_problem(graph);
        let mapping = self.mapping(graph)?;
        ranks::print(job.console, *machine, mapping.pes());
        let compared = self.compared(graph, &mapping)?;
        let name = files::name(&options.mapping);
        let drawn = options.picture.draw(graph, prepared, &name, &mapping, self.is_many_to_one)?;
        let drawn = drawn.unwrap_or_default();
        let simulation = options.phase.simulate(graph, *machine, &mapping)?;
        let several = self.limits.several(graph, self.weights)?;
        let request = Request::new(graph, prepared);
        let request = match &several {
            Some(several) => request.balanced(several),
            None if self.is_many_to_one => request.balanced(self.limits.get()),
            None => request,
        };
        let known = request.evaluate(&mapping, &Config::default())?;
        let report = self.report((graph, &mapping), &known, (simulation.as_ref(), compared))?;
        let bounds = self.limits.get().bounds(graph, *machine);
        let too_heavy = loads::too_heavy(graph, &bounds, None, loads::PES);
        print((job.console, job.form), &report, machine.num_pes(), too_heavy);
        simulation.iter().for_each(|simulation| workload::print_simulation(job.console, simulation));
        let report = report::of_verb("score", options.file.as_path(), self.named(), report);
        let report = report.on(options.machine.report(*machine));
        let contents: [Content<'_>; 2] = [
            (self.to.trace, &|out| workload::write_trace(out, simulation.as_ref(), &mapping)),
            (self.to.picture, &|out| out.write_all(drawn.as_bytes())),
        ];
        job.publish(&|out| report.write(out), &contents, None)?;
        end_of_lines()
    }

    /// Prints what is scored.
    fn print_problem(&self, graph: &CsrGraph) {
        let console = self.job.console;
        print_size(console, self.job.form, graph, if self.is_many_to_one { VERTICES } else { PROCESSES });
        machine::print(console, self.job.form, self.machine);
    }

    /// The mapping beside others, if that was asked for.
    fn compared(&self, graph: &CsrGraph, mapping: &Mapping) -> Result<Vec<Row>> {
        let Self { options, machine, prepared, .. } = self;
        if options.compare.is_empty() {
            return Ok(Vec::new());
        }
        let given = (options.mapping.as_path(), mapping);
        let comparison = Comparison::new(graph, prepared).of_many(self.is_many_to_one);
        let simulate = |mapping: &Mapping| {
            let simulation = options.phase.simulate(graph, *machine, mapping)?;
            Ok(simulation.map(|simulation| simulation.completion_time))
        };
        let model = (graph, *machine);
        compare::rows(model, &comparison, given, &options.compare, &simulate, self.job.console)
    }

    fn report<'b>(
        &self,
        (graph, mapping): (&CsrGraph, &Mapping),
        known: &'b viem::Report,
        (simulation, compared): (Option<&'b Simulation>, Vec<Row>),
    ) -> Result<Report<'b>> {
        let Self { machine, prepared, is_many_to_one, .. } = *self;
        let by_pe = || traffic::by_pe(graph, machine.num_pes(), mapping.pes());
        Ok(Report {
            found: Found {
                busiest: (!is_many_to_one)
                    .then(|| Busiest::new((graph, prepared), (None, mapping), false))
                    .flatten(),
                by_pe: is_many_to_one.then(by_pe),
                ..Found::new(known)
            },
            traffic: match machine.hierarchy() {
                Some(hierarchy) => Traffic::ByLevel(traffic::by_level(graph, hierarchy, mapping)),
                None => {
                    Traffic::ByDistance(traffic::by_distance(graph, prepared.distances()?, mapping.pes()))
                }
            },
            empty_pes: traffic::empty_pes(machine.num_pes(), mapping.pes()),
            simulation: simulation.map(SimulationReport::from),
            compared,
        })
    }

    /// Reads the mapping.
    fn mapping(&self, graph: &CsrGraph) -> Result<Mapping> {
        let Self { options, machine, is_many_to_one, .. } = *self;
        if !is_many_to_one {
            check_room(graph.num_nodes(), machine)?;
        }
        let read = if is_many_to_one { files::read_many } else { files::read_mapping };
        Ok(read(&options.mapping, graph.num_nodes(), machine, self.job.console)?)
    }

    /// The options that decide the result.
    fn named(&self) -> JsonOptions {
        let percents = |share: fn(&Balance) -> f64| self.is_many_to_one.then(|| self.limits.percents(share));
        JsonOptions {
            mapping: files::name(&self.options.mapping),
            capacities: self.options.sharing.names(),
            node_capacity: self.options.nodes.names(),
            imbalance: percents(|balance| balance.imbalance),
            imbalance_per_division: self.limits.are_per_division(),
            least_load: percents(|balance| balance.least_load),
            least_loads: self.limits.names_of_least_loads(),
            mesh: self.options.mesh.clone(),
        }
    }
}

/// The options that decide the result.
#[derive(Serialize)]
struct JsonOptions {
    mapping: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacities: Option<OneOrEach<String>>,
    /// Of each node, by weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_capacity: Option<OneOrEach<String>>,
    /// Where PEs have many vertices: in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    imbalance: Option<OneOrEach<f64>>,
    /// Whether that is the imbalance of each division.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    imbalance_per_division: bool,
    /// In percent of the share.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_load: Option<OneOrEach<f64>>,
    /// The file of those of each PE, by weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    least_loads: Option<OneOrEach<String>>,
    #[serde(flatten)]
    mesh: MeshOptions,
}

/// Prints what was found.
fn print((console, form): (Console, Form), report: &Report<'_>, num_pes: usize, too_heavy: Option<String>) {
    let Found { report: known, busiest, by_pe, .. } = &report.found;
    let is_one_to_one = known.loads.is_none();
    let mut summary = Summary::new("identity", "mapping");
    match form {
        Form::VieM => {
            console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", known.cost));
        }
        Form::Verb if is_one_to_one => summary.change("J", known.cost_of_identity, known.cost),
        Form::Verb => {
            summary.figure("J", known.cost, "");
            summary.figure("cut", known.cut, "");
        }
    }
    busiest.iter().for_each(|busiest| busiest.add_to(&mut summary));
    by_pe.iter().for_each(|traffic| many_to_one::add_traffic(&mut summary, traffic));
    many_to_one::add_pieces(&mut summary, known);
    summary.print(console);
    busiest.iter().filter(|_| form == Form::Verb).for_each(|busiest| busiest.print_loads(console));
    many_to_one::print_several(console, known, num_pes);
    if let Some(loads) = known.loads.as_ref().filter(|_| known.loads_by_weight.is_empty()) {
        many_to_one::print_loads(console, loads, num_pes, too_heavy);
    }
    match &report.traffic {
        Traffic::ByLevel(levels) => print_levels(console, levels),
        Traffic::ByDistance(rows) => print_distances(console, rows),
    }
    if !report.empty_pes.is_empty() {
        let (count, which) = (report.empty_pes.len(), ranges(&report.empty_pes));
        console.line(format_args!(
            "PEs without {}: {count} ({which})",
            if is_one_to_one { "a process" } else { "a vertex" }
        ));
    }
    if !report.compared.is_empty() {
        compare::print(console, &report.compared, !is_one_to_one);
    }
}

fn print_levels(console: Console, levels: &[LevelTraffic]) {
    console.line(format_args!(
        "{:>5} {:>10} {:>20} {:>20} {:>20} {:>8}",
        "level", "PEs", "distance", "weight of edges", "J, both directions", "share"
    ));
    for level in levels {
        let LevelTraffic { level, group_size, distance, weight, cost, share, .. } = level;
        let percent = 100.0 * share;
        console.line(format_args!(
            "{level:>5} {group_size:>10} {distance:>20} {weight:>20} {cost:>20} {percent:>7.2}%"
        ));
    }
}

fn print_distances(console: Console, rows: &[DistanceTraffic]) {
    let heads = ["distance", "weight of edges", "J, both directions"];
    console.line(format_args!("{:>20} {:>20} {:>20} {:>8}", heads[0], heads[1], heads[2], "share"));
    for row in rows {
        let DistanceTraffic { least, greatest, weight, cost, share, .. } = row;
        let distance = if least == greatest { least.to_string() } else { format!("{least}-{greatest}") };
        let percent = 100.0 * share;
        console.line(format_args!("{distance:>20} {weight:>20} {cost:>20} {percent:>7.2}%"));
    }
}
