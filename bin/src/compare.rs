//! Mappings side by side, and the picture of two of them.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::console::Console;
use crate::error::{Result, UsageError};
use crate::files;
use crate::summary::{Summary, change};
use viem::PreparedMachine;
use viem::base::types::Cost;
use viem::graph::CsrGraph;
use viem::machine::Machine;
use viem::mapping::Mapping;
use viem::mapping::objective::ScoreError;
use viem_report::compare::{Arrangement, Comparison, Figures, percent_less};
use viem_report::loads::{LoadTable, Loads};
use viem_report::picture::{self, Side};
use viem_report::traffic::{self, BusiestTraffic};
use viem_workload::contention::{BottleneckConfig, BusiestLink, JobObjective};

/// A mapping to compare with.
#[derive(Clone, Debug)]
pub(crate) enum Other {
    Arrangement(Arrangement),
    File(PathBuf),
}

impl Other {
    /// The name of an arrangement, or that of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(arrangement) => Ok(Self::Arrangement(arrangement)),
            Err(_) if text.is_empty() => Err("a mapping has an empty name".to_owned()),
            Err(_) => Ok(Self::File(PathBuf::from(text))),
        }
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::Arrangement(_) => None,
            Self::File(path) => files::files_of_mapping(path).next(),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Arrangement(arrangement) => arrangement.name().to_owned(),
            Self::File(path) => files::name(path),
        }
    }

    fn mapping(
        &self,
        machine: &dyn Machine,
        comparison: &Comparison<'_>,
        count: usize,
        console: Console,
    ) -> Result<Mapping> {
        let read = match self {
            Self::Arrangement(arrangement) => {
                let mapping = comparison.arranged(*arrangement);
                let name = arrangement.name();
                return mapping
                    .ok_or_else(|| UsageError(format!("there is no memory for the order `{name}`")).into());
            }
            Self::File(path) if comparison.is_many() => files::read_many(path, count, machine, console),
            Self::File(path) => files::read_mapping(path, count, machine, console),
        };
        let names = Arrangement::ALL.map(Arrangement::name).join(", ");
        Ok(read.map_err(|error| error.or_else_is(format_args!("one of {names}")))?)
    }
}

/// A mapping and its figures, as written to `--json`.
#[derive(Serialize)]
pub(crate) struct Row {
    name: String,
    /// How much less J is than that of the identity, or of `block` where PEs have many vertices, in percent.
    gain: f64,
    /// The same for people.
    #[serde(skip)]
    change: String,
    #[serde(flatten)]
    figures: Figures,
    /// The load of the busiest link, where links are known and each process has a place.
    #[serde(skip_serializing_if = "Option::is_none")]
    busiest_link: Option<BusiestLink>,
    /// The completion time of the workload, or of one phase of all messages, if that is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_time: Option<u64>,
}

/// What simulates a mapping, if that was asked for.
type Simulate<'a> = &'a dyn Fn(&Mapping) -> Result<Option<u64>>;

/// The given mapping beside others. There must be room for all processes.
pub(crate) fn rows(
    (graph, machine): (&CsrGraph, &dyn Machine),
    comparison: &Comparison<'_>,
    given: (&Path, &Mapping),
    others: &[Other],
    simulate: Simulate<'_>,
    console: Console,
) -> Result<Vec<Row>> {
    let count = given.1.num_processes();
    let identity = comparison.arranged(Arrangement::Block).expect("there is room");
    let identity = comparison.figures(&identity)?.cost;
    let row = |name: String, mapping: &Mapping| -> Result<Row> {
        let figures = comparison.figures(mapping)?;
        let busiest = (!comparison.is_many()).then(|| traffic::busiest(graph, machine, mapping.pes()).ok());
        let (busiest_link, completion_time) =
            (busiest.flatten().and_then(|all| all.link), simulate(mapping)?);
        let gain = percent_less(identity, figures.cost);
        let change = change(identity.into(), figures.cost.into());
        Ok(Row { name, gain, change, figures, busiest_link, completion_time })
    };
    let mut rows = vec![row(files::name(given.0), given.1)?];
    for other in others {
        rows.push(row(other.name(), &other.mapping(machine, comparison, count, console)?)?);
    }
    Ok(rows)
}

/// The rows as a table for people.
pub(crate) fn print(console: Console, rows: &[Row], is_many: bool) {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("mapping".len());
    let levels: String = rows[0].figures.levels.iter().map(|level| format!(" {:>9}", level.name)).collect();
    let base = if is_many { "than block" } else { "than identity" };
    console.line(format_args!("J is a model of communication, not a run time"));
    let has_links = rows.iter().any(|row| row.busiest_link.is_some());
    let is_simulated = rows.iter().any(|row| row.completion_time.is_some());
    let column =
        |is_there: bool, text: &dyn Display| if is_there { format!(" {text:>16}") } else { String::new() };
    let more = column(has_links, &"busiest link") + &column(is_simulated, &"simulated");
    console.line(format_args!(
        "{:width$} {:>20} {base:>13}{levels} {:>16} {:>8}{more}",
        "mapping", "J", "busiest node", "partners"
    ));
    for Row { name, change, figures, busiest_link, completion_time, .. } in rows {
        let load = busiest_link.as_ref().map_or(0, |link| link.load);
        let more = column(has_links, &load) + &column(is_simulated, &completion_time.unwrap_or(0));
        let Figures { cost, levels, busiest, most_partners, .. } = figures;
        let shares: String = levels.iter().map(|level| format!(" {:>7.2} %", 100.0 * level.share)).collect();
        console.line(format_args!(
            "{name:width$} {cost:>20} {change:>13}{shares} {busiest:>16} {most_partners:>8}{more}"
        ));
    }
    console.line(format_args!(
        "busiest node: the most traffic that leaves a node; partners: the most other nodes that a node exchanges with"
    ));
}

/// The traffic of the busiest node and link before and after, as written to `--json`. Before is the identity, or equal ranges of vertices.
#[derive(Serialize)]
pub(crate) struct Busiest {
    identity: BusiestTraffic,
    /// Of the mapping to improve, if one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    initial: Option<BusiestTraffic>,
    mapping: BusiestTraffic,
    /// The loads of all nodes and switches. Those before are of the mapping to improve if one is given, else of the identity.
    loads: LoadTable,
}

impl Busiest {
    /// Of a mapping, and of the one that it improves; loads that could overflow are left out.
    pub(crate) fn new(
        (graph, machine): (&CsrGraph, &PreparedMachine<'_>),
        (initial, mapping): (Option<&Mapping>, &Mapping),
        is_many: bool,
    ) -> Option<Self> {
        let whole = machine.machine();
        let of = |mapping: &Mapping| traffic::busiest(graph, whole, mapping.pes()).ok();
        let identity = if is_many {
            Comparison::new(graph, machine).of_many(true).arranged(Arrangement::Block)?
        } else {
            Mapping::in_order(whole, graph.num_nodes())?
        };
        let loads = LoadTable::new(graph, machine, initial.unwrap_or(&identity), mapping).ok()?;
        Some(Self { identity: of(&identity)?, initial: initial.and_then(of), mapping: of(mapping)?, loads })
    }

    /// Prints the loads of all nodes and switches, as details.
    pub(crate) fn print_loads(&self, console: Console) {
        let LoadTable { nodes, switches, .. } = &self.loads;
        let before = if self.initial.is_some() { "initial" } else { "identity" };
        print_loads(console, ("leaves node", before), nodes);
        switches.iter().for_each(|switches| print_loads(console, ("passes switch", before), switches));
    }

    /// Adds both to a summary.
    pub(crate) fn add_to(&self, summary: &mut Summary) {
        let Self { identity: before, mapping: after, .. } = self;
        summary.change("traffic of the busiest node", before.node, after.node);
        let load = |busiest: &BusiestTraffic| busiest.link.as_ref().map_or(0, |link| link.load);
        if let Some(link) = after.link.as_ref().or(before.link.as_ref()) {
            summary.change_of("load of the busiest link", load(before), load(after), &link.name);
        }
    }

    /// Warns if the busiest node or link carries more than under the identity. Names the objective that minimises its load, unless that has been
    /// minimised.
    pub(crate) fn warn_of_rise(&self, searched: Option<BottleneckConfig>, console: Console) {
        let Self { identity: before, mapping: after, .. } = self;
        let load = |busiest: &BusiestTraffic| busiest.link.as_ref().map_or(0, |link| link.load);
        let carriers = [
            (("node", JobObjective::BusiestNode), before.node, after.node),
            (("link", JobObjective::Bottleneck), load(before), load(after)),
        ];
        let risen = carriers.into_iter().find(|&(_, before, after)| after > before);
        let Some(((carrier, objective), before, after)) = risen else { return };
        let hint = match searched.map(|searched| searched.objective) {
            None | Some(JobObjective::J | JobObjective::Mixed) => {
                format!("; --objective={} minimises it", objective.name())
            }
            Some(JobObjective::Bottleneck | JobObjective::BusiestNode) => String::new(),
        };
        console.warn(format_args!(
            "the busiest {carrier} carries {after}, more than the {before} of processes in their order, and jobs wait for it{hint}"
        ));
    }
}

/// Prints loads as an aligned table, with headings for the names and for the loads before.
fn print_loads(console: Console, (what, before): (&str, &str), loads: &Loads) {
    let width = |texts: &mut dyn Iterator<Item = usize>, head: &str| texts.max().unwrap_or(0).max(head.len());
    let digits =
        |loads: &[Cost], head: &str| width(&mut loads.iter().map(|load| load.to_string().len()), head);
    let names = width(&mut loads.names.iter().map(|name| name.chars().count()), what);
    let (befores, afters) = (digits(&loads.before, before), digits(&loads.after, "mapping"));
    console.detail(format_args!("{what:names$}  {before:>befores$}  {:>afters$}", "mapping"));
    for ((name, before), &after) in loads.names.iter().zip(&loads.before).zip(&loads.after) {
        let change = change((*before).into(), after.into());
        console.detail(format_args!("{name:names$}  {before:>befores$}  {after:>afters$}  {change}"));
    }
    if loads.left_out > 0 {
        console.detail(format_args!("{} others with no more traffic are left out", loads.left_out));
    }
}

/// A picture of the traffic before and after.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(crate) struct PictureOptions {
    /// Also draw the traffic before and after into an SVG file. Before is the identity, or equal ranges of vertices; the
    /// picture has the matrix, the share of each level, and the traffic that leaves each node and passes each switch; for a
    /// simulated workload, the activity of each PE over time
    #[arg(long, value_name = "FILE.svg")]
    picture: Option<PathBuf>,
}

impl PictureOptions {
    /// The file of the picture, if there is to be one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.picture.as_deref()
    }

    /// The picture, if there is to be one, of the order of the numbers and a mapping of this name.
    pub(crate) fn draw(
        &self,
        graph: &CsrGraph,
        machine: &PreparedMachine<'_>,
        name: &str,
        mapping: &Mapping,
        is_many: bool,
    ) -> Result<Option<String>, ScoreError> {
        if self.picture.is_none() {
            return Ok(None);
        }
        let comparison = Comparison::new(graph, machine).of_many(is_many);
        let in_order = comparison.arranged(Arrangement::Block).expect("there is room");
        let before = Side::new(if is_many { "block" } else { "identity" }, &in_order);
        let after = Side::new(name, mapping);
        picture::draw(graph, &comparison, &before, &after).map(Some)
    }
}
