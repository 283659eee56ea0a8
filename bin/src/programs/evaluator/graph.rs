//! Mappings of graphs, scored.

use serde::Serialize;

use super::job::Job;
use super::options::{NAME, TABLE};
use crate::compare::{self, Busiest, Row};
use crate::console::Console;
use crate::error::Result;
use crate::exit::End;
use crate::files;
use crate::loads;
use crate::machine::{self, JsonMachine};
use crate::many_to_one::{self, JsonSpread, SharingOptions};
use crate::modes::Mode;
use crate::ranks;
use crate::workload::{self, SimulationReport};
use viem::PreparedMachine;
use viem::graph::CsrGraph;
use viem::ground::text::ranges;
use viem::ground::types::{Cost, PeId};
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::mapping::objective::evaluate;
use viem::mapping::problem::check_room;
use viem_io::Source;
use viem_report::compare::Comparison;
use viem_report::traffic::{self, DistanceTraffic, LevelTraffic};

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
    /// None where PEs have many vertices.
    #[serde(skip_serializing_if = "Option::is_none")]
    busiest: Option<Busiest>,
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

impl Job<'_> {
    /// Scores a mapping of a graph.
    pub(super) fn graph(&self, source: Source, machine: &dyn Machine) -> Result<End> {
        let Self { options, console, .. } = *self;
        let (graph, is_many_to_one) =
            options.sharing.read(source, machine, crate::options::threads(None)?, console)?;
        TABLE.refuse(if is_many_to_one { Mode::ManyToOne } else { Mode::OneToOne }, self.given)?;
        console.line(format_args!("model has {} nodes, {} edges", graph.num_nodes(), graph.num_arcs()));
        machine::tell(console, machine);
        let prepared = PreparedMachine::new(machine);
        let Given { mapping, identity, spread } = self.given(&graph, &prepared, is_many_to_one)?;
        ranks::tell(console, machine, mapping.pes());
        let mut compared = Vec::new();
        if !options.compare.is_empty() {
            let given = (options.input_mapping.as_path(), &mapping);
            let comparison = Comparison::new(&graph, &prepared).of_many(is_many_to_one);
            let simulate = |mapping: &Mapping| {
                let simulation = options.simulation.phase(&graph, machine, mapping)?;
                Ok(simulation.map(|simulation| simulation.completion_time))
            };
            let model = (&graph, machine);
            compared = compare::rows(model, &comparison, given, &options.compare, &simulate, console)?;
        }
        let name = files::name(&options.input_mapping);
        let drawn =
            options.picture.draw(&graph, &prepared, &name, &mapping, is_many_to_one)?.unwrap_or_default();
        let simulation = options.simulation.phase(&graph, machine, &mapping)?;
        let distances = prepared.distances()?;
        let hierarchy = machine.hierarchy();
        let report = Report {
            model: files::name(&options.file),
            input_mapping: name,
            n: graph.num_nodes(),
            m: graph.num_edges(),
            machine: options.machine.report(machine),
            hierarchy: hierarchy.map(|hierarchy| hierarchy.arities().to_vec()),
            distances: hierarchy.map(|hierarchy| hierarchy.distances().to_vec()),
            cost: Objective { mapping: evaluate(&graph, distances, &mapping)?, identity },
            busiest: (!is_many_to_one).then(|| Busiest::new(&graph, machine, &mapping)).flatten(),
            traffic: match hierarchy {
                Some(hierarchy) => Traffic::ByLevel(traffic::by_level(&graph, hierarchy, &mapping)),
                None => Traffic::ByDistance(traffic::by_distance(&graph, distances, mapping.pes())),
            },
            spread,
            empty_pes: traffic::empty_pes(machine.num_pes(), mapping.pes()),
            simulation: simulation.as_ref().map(SimulationReport::from),
            compared,
        };
        let bounds = options.sharing.balance()?.bounds(&graph, machine);
        let too_heavy = loads::too_heavy(&graph, &bounds, None, loads::PES);
        tell(console, &report, machine.num_pes(), too_heavy);
        simulation.iter().for_each(|simulation| workload::tell_simulation(console, simulation));
        self.outputs.write(&[
            (self.json, &|out| files::write_report(out, NAME, &report)),
            (self.trace, &|out| workload::write_trace(out, simulation.as_ref(), &mapping)),
            (self.picture, &|out| out.write_all(drawn.as_bytes())),
        ])?;
        Ok(End::Done)
    }

    /// Reads the mapping of a graph.
    fn given(&self, graph: &CsrGraph, prepared: &PreparedMachine<'_>, is_many_to_one: bool) -> Result<Given> {
        let Self { options, console, .. } = *self;
        let machine = prepared.machine();
        let path = options.input_mapping.as_path();
        if is_many_to_one {
            console.line(format_args!("reading input mapping"));
            let mapping = files::read_many(path, graph.num_nodes(), machine, console)?;
            let spread = spread(graph, machine, &options.sharing, &mapping)?;
            return Ok(Given { mapping, identity: None, spread: Some(spread) });
        }
        check_room(graph.num_nodes(), machine)?;
        let identity = Mapping::in_order(machine, graph.num_nodes()).expect("there is room");
        let identity = evaluate(graph, prepared.distances()?, &identity)?;
        console.line(format_args!("reading input mapping"));
        let mapping = files::read_mapping(path, graph.num_nodes(), machine, console)?;
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

/// What a many-to-one mapping puts on PEs, and what they exchange.
fn spread(
    graph: &CsrGraph,
    machine: &dyn Machine,
    sharing: &SharingOptions,
    mapping: &Mapping,
) -> Result<JsonSpread> {
    let balance = sharing.balance()?;
    Ok(JsonSpread {
        imbalance: 100.0 * balance.imbalance,
        least_load: 100.0 * balance.least_load,
        loads: Some(balance.loads(graph, machine, mapping.pes())),
        by_pe: Some(traffic::by_pe(graph, machine.num_pes(), mapping.pes())),
    })
}

/// What was found, in lines for people.
fn tell(console: Console, report: &Report<'_>, num_pes: usize, too_heavy: Option<String>) {
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", report.cost.mapping));
    if let Some(identity) = report.cost.identity {
        console.line(format_args!("J of the identity = {identity}"));
    }
    report.busiest.iter().for_each(|busiest| busiest.tell(console));
    match &report.traffic {
        Traffic::ByLevel(levels) => tell_levels(console, levels),
        Traffic::ByDistance(rows) => tell_distances(console, rows),
    }
    if let Some(spread) = &report.spread {
        spread
            .loads
            .iter()
            .for_each(|loads| many_to_one::tell_loads(console, loads, num_pes, too_heavy.clone()));
        spread.by_pe.iter().for_each(|traffic| many_to_one::tell_traffic(console, traffic));
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
