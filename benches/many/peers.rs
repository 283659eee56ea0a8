//! J and time compared with recorded peers.

use std::collections::{BTreeMap, HashMap};

use viem::base::threads;
use viem::base::types::Weight;
use viem::graph::CsrGraph;
use viem::machine::Machine;
use viem::solve::{MapPreset, Solution};

use super::Run;
use crate::common::{Stopwatch, Table, columns, fail, geometric_mean, number_in};

/// The results of peers, by graph and machine.
pub type Peers = HashMap<(String, String), Vec<Peer>>;

pub struct Peer {
    tool: String,
    cost: f64,
    seconds: Option<f64>,
}

pub fn peers() -> Option<Peers> {
    let path = std::env::var("VIEM_PEERS").ok()?;
    let mut peers = Peers::new();
    let names = ["graph", "hierarchy", "tool", "J", "seconds"];
    for [graph, machine, tool, cost, seconds] in columns(&path, names) {
        let graph = graph.trim_end_matches(".graph").to_owned();
        let Some(cost) = number_in(&cost) else { continue };
        let seconds = number_in(&seconds).filter(|&seconds| seconds > 0.0);
        peers.entry((graph, machine)).or_default().push(Peer { tool, cost: cost.max(1.0), seconds });
    }
    Some(peers)
}

/// All cells compared with one peer.
#[derive(Default)]
struct Comparison {
    costs: Vec<f64>,
    times: Vec<f64>,
    worst: f64,
    worst_name: String,
}

impl Comparison {
    fn add(&mut self, cell: &Cell, peer: &Peer, name: String) {
        let ratio = cell.cost / peer.cost;
        self.costs.push(ratio);
        self.times.extend(peer.seconds.map(|seconds| cell.seconds / seconds));
        if ratio > self.worst {
            (self.worst, self.worst_name) = (ratio, name);
        }
    }

    fn print(&self, tool: &str) {
        let (cost, time) = (geometric_mean(&self.costs), geometric_mean(&self.times));
        let (count, worst, name) = (self.costs.len(), self.worst, &self.worst_name);
        println!("  {tool:16} J {cost:.4}  time {time:.3}  ({count} cells)  worst {worst:.3} {name}");
    }
}

/// All graphs and machines with one preset.
pub fn table(run: &Run, preset: MapPreset) {
    // One pool for everything, so that its processor time can be measured.
    threads::run(run.threads, || compare(run, preset)).unwrap_or_else(|error| fail(error));
}

fn compare(run: &Run, preset: MapPreset) {
    let peers = peers();
    let graphs = run.graphs(|name| has_peer(peers.as_ref(), name));
    let mut comparisons: BTreeMap<&str, Comparison> = BTreeMap::new();
    let mut all_seconds = 0.0;
    let columns = [("graph", 24), ("J", 12), ("fullest", 0), ("overload", 0), ("seconds", 8)];
    let table = run.table.then(|| Table::new(columns));
    for (spec, (name, graph)) in
        run.machines.iter().flat_map(|spec| graphs.iter().map(move |graph| (spec, graph)))
    {
        let cell = Cell::measure(run, preset, graph, run.machine(spec).as_ref());
        all_seconds += cell.seconds;
        for peer in
            peers.as_ref().and_then(|peers| peers.get(&(name.clone(), spec.clone()))).into_iter().flatten()
        {
            comparisons.entry(&peer.tool).or_default().add(&cell, peer, format!("{name} {spec}"));
        }
        if let Some(table) = &table {
            let Cell { cost, fullest, overload, seconds } = cell;
            let numbers = [format!("{cost:.0}"), format!("{fullest:.4}"), overload.to_string()];
            let [cost, fullest, overload] = numbers;
            table.row([format!("{name} {spec}"), cost, fullest, overload, format!("{seconds:.3}")]);
        } else if cell.overload > 0 {
            println!("{name} {spec}: overload {}", cell.overload);
        }
    }
    println!("{} imbalance {} %: {all_seconds:.2} s", preset.name(), run.imbalance);
    comparisons.iter().for_each(|(tool, comparison)| comparison.print(tool));
}

/// Returns whether a graph occurs in the peers' file, or there is none.
pub fn has_peer(peers: Option<&Peers>, name: &str) -> bool {
    peers.is_none_or(|peers| peers.keys().any(|(graph, _)| graph == name))
}

/// A graph and a machine, means and extremes over the seeds.
struct Cell {
    cost: f64,
    seconds: f64,
    overload: Weight,
    fullest: f64,
}

impl Cell {
    fn measure(run: &Run, preset: MapPreset, graph: &CsrGraph, machine: &dyn Machine) -> Self {
        let mut cell = Cell { cost: 1.0, seconds: 0.0, overload: 0, fullest: 0.0 };
        let mut costs = Vec::new();
        for seed in 0..run.seeds {
            let watch = Stopwatch::start(run.threads);
            let Solution { report, .. } = run.map(graph, machine, &run.config(preset, seed));
            cell.seconds += watch.seconds() / run.seeds as f64;
            costs.push(report.cost.max(1) as f64);
            cell.overload = cell.overload.max(report.loads.unwrap().overload);
            cell.fullest = cell.fullest.max(report.loads.unwrap().fullest);
        }
        Cell { cost: geometric_mean(&costs), ..cell }
    }
}
