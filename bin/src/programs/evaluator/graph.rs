//! Mappings of graphs, scored.

use serde::Serialize;

use super::job::{Job, JsonOptions};
use super::options::TABLE;
use crate::compare::{self, Busiest, Row};
use crate::console::Console;
use crate::error::Result;
use crate::exit::End;
use crate::files;
use crate::loads;
use crate::machine;
use crate::many_to_one;
use crate::modes::Mode;
use crate::ranks;
use crate::report::Found;
use crate::workload::{self, SimulationReport};
use viem::graph::CsrGraph;
use viem::ground::text::ranges;
use viem::ground::types::PeId;
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::mapping::problem::check_room;
use viem::{Config, PreparedMachine, Request};
use viem_io::Source;
use viem_report::compare::Comparison;
use viem_report::traffic::{self, DistanceTraffic, LevelTraffic};

/// What the evaluator finds, as written to `--json`.
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
        let mapping = self.given(&graph, machine, is_many_to_one)?;
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
        let balance = options.sharing.balance()?;
        let request = Request::new(&graph, &prepared);
        let request = if is_many_to_one { request.balanced(balance) } else { request };
        let known = request.evaluate(&mapping, &Config::default())?;
        let by_pe = || traffic::by_pe(&graph, machine.num_pes(), mapping.pes());
        let report = Report {
            found: Found {
                busiest: (!is_many_to_one).then(|| Busiest::new(&graph, machine, &mapping)).flatten(),
                by_pe: is_many_to_one.then(by_pe),
                ..Found::new(&known)
            },
            traffic: match hierarchy {
                Some(hierarchy) => Traffic::ByLevel(traffic::by_level(&graph, hierarchy, &mapping)),
                None => Traffic::ByDistance(traffic::by_distance(&graph, distances, mapping.pes())),
            },
            empty_pes: traffic::empty_pes(machine.num_pes(), mapping.pes()),
            simulation: simulation.as_ref().map(SimulationReport::from),
            compared,
        };
        let bounds = balance.bounds(&graph, machine);
        let too_heavy = loads::too_heavy(&graph, &bounds, None, loads::PES);
        tell(console, &report, machine.num_pes(), too_heavy);
        simulation.iter().for_each(|simulation| workload::tell_simulation(console, simulation));
        let named = JsonOptions::of(options);
        let named = if is_many_to_one { named.balanced(balance) } else { named };
        let report = self.json_report(machine, named, report);
        self.outputs.write(&[
            (self.json, &|out| report.write(out)),
            (self.trace, &|out| workload::write_trace(out, simulation.as_ref(), &mapping)),
            (self.picture, &|out| out.write_all(drawn.as_bytes())),
        ])?;
        Ok(End::Done)
    }

    /// Reads the mapping of a graph.
    fn given(&self, graph: &CsrGraph, machine: &dyn Machine, is_many_to_one: bool) -> Result<Mapping> {
        let Self { options, console, .. } = *self;
        if !is_many_to_one {
            check_room(graph.num_nodes(), machine)?;
        }
        console.line(format_args!("reading input mapping"));
        let read = if is_many_to_one { files::read_many } else { files::read_mapping };
        Ok(read(&options.input_mapping, graph.num_nodes(), machine, console)?)
    }
}

/// What was found, in lines for people.
fn tell(console: Console, report: &Report<'_>, num_pes: usize, too_heavy: Option<String>) {
    let Found { report: known, busiest, by_pe, .. } = &report.found;
    console.line(format_args!("quadratic assignment objective J(C,D,Pi') = {}", known.cost));
    if known.loads.is_none() {
        console.line(format_args!("J of the identity = {}", known.cost_of_identity));
    }
    busiest.iter().for_each(|busiest| busiest.tell(console));
    match &report.traffic {
        Traffic::ByLevel(levels) => tell_levels(console, levels),
        Traffic::ByDistance(rows) => tell_distances(console, rows),
    }
    if let Some(loads) = &known.loads {
        many_to_one::tell_loads(console, loads, num_pes, too_heavy);
    }
    by_pe.iter().for_each(|traffic| many_to_one::tell_traffic(console, traffic));
    if !report.empty_pes.is_empty() {
        let (count, which) = (report.empty_pes.len(), ranges(&report.empty_pes));
        console.line(format_args!("processing elements left empty: {count} ({which})"));
    }
    if !report.compared.is_empty() {
        compare::tell(console, &report.compared, known.loads.is_some());
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
