//! J and time of direct mappings, many vertices a PE, beside recorded peers.
//!
//! ```text
//! VIEM_GRAPHS=folder [VIEM_PEERS=many.tsv] cargo bench --bench many -- [options]
//!     preset=fast,eco  machine=4:8:2,4:8:6  distances=1:10:100  imbalance=3  graph=crack,cs4  seeds=1  threads=1  table
//!     whole.flow.rounds=3  sections.k_way.rounds=2
//! ```
//!
//! The folder holds METIS graphs (`*.graph`). The peers' file has the columns graph, hierarchy, distances, tool, J, seconds. With
//! it, only graphs that occur there are mapped. Every setting can be changed by its name in [`DirectSettings`]. Printed are the
//! geometric means of J and time over each peer, and the worst J; `table` prints every cell, means over the seeds. With one
//! thread, times are CPU times; with more, times of the clock. `graph=mesh16` and `mesh20` are triangulated grids of 2^16 and
//! 2^20 vertices.

mod common;

use std::collections::{BTreeMap, HashMap};

use common::{
    Options, Stopwatch, Table, changed, columns, fail, geometric_mean, graphs_of, number_in, read_graph,
};
use viem::graph::{CsrGraph, generate};
use viem::io::metis::NodeWeights;
use viem::solve::{DirectConfig, MapPreset, map_directly};
use viem::threads;

struct Run {
    presets: Vec<MapPreset>,
    machines: Vec<String>,
    distances: Option<String>,
    /// In percent.
    imbalance: f64,
    /// Names; all of the folder if empty.
    graphs: Vec<String>,
    seeds: u64,
    threads: usize,
    table: bool,
    /// Changes to the settings of the presets.
    changes: Vec<(String, String)>,
}

impl Run {
    fn read() -> Self {
        Options::read(|options| {
            Ok(Run {
                presets: options.members("preset", &MapPreset::ALL, MapPreset::name, &MapPreset::ALL)?,
                machines: options.list("machine", vec!["4:8:2".to_owned(), "4:8:6".to_owned()])?,
                distances: options.optional("distances")?,
                imbalance: options.value("imbalance", 3.0)?,
                graphs: options.list("graph", Vec::new())?,
                seeds: options.value("seeds", 1)?,
                threads: options.value("threads", 1)?,
                table: options.word("table")?,
                changes: options.settings()?,
            })
        })
    }

    /// The distances of a machine: as given, or 1:10:100 for trees.
    fn distances(&self, machine: &str) -> Option<&str> {
        let is_tree = machine.starts_with(|first: char| first.is_ascii_digit());
        self.distances.as_deref().or(is_tree.then_some("1:10:100"))
    }

    fn config(&self, preset: MapPreset, seed: u64) -> DirectConfig {
        let config = DirectConfig::preset(preset);
        let settings = changed(&config.settings, &self.changes).unwrap_or_else(|message| fail(message));
        DirectConfig { settings, seed, threads: self.threads, imbalance: self.imbalance / 100.0, ..config }
    }
}

/// What peers reached, by graph and machine.
type Peers = HashMap<(String, String), Vec<Peer>>;

struct Peer {
    tool: String,
    cost: f64,
    seconds: Option<f64>,
}

fn peers() -> Option<Peers> {
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

/// Those of the folder, and generated ones if asked for by their names.
fn graphs(run: &Run, peers: Option<&Peers>) -> Vec<(String, CsrGraph)> {
    let mut graphs = Vec::new();
    let has_peer = |name: &String| peers.is_none_or(|peers| peers.keys().any(|(graph, _)| graph == name));
    if let Ok(folder) = std::env::var("VIEM_GRAPHS") {
        let mut found = graphs_of(&folder);
        found.retain(
            |(name, _)| if run.graphs.is_empty() { has_peer(name) } else { run.graphs.contains(name) },
        );
        graphs.extend(found.into_iter().map(|(name, path)| (name, read_graph(&path, NodeWeights::Read))));
    }
    for (name, side) in [("mesh16", 1 << 8), ("mesh20", 1 << 10)] {
        if run.graphs.iter().any(|wanted| wanted == name) {
            graphs.push((name.to_owned(), generate::mesh(side, side, 1)));
        }
    }
    graphs
}

/// All cells beside one peer.
#[derive(Default)]
struct Comparison {
    costs: Vec<f64>,
    times: Vec<f64>,
    worst: f64,
    worst_name: String,
}

impl Comparison {
    fn print(&self, tool: &str) {
        let (cost, time) = (geometric_mean(&self.costs), geometric_mean(&self.times));
        let (count, worst, name) = (self.costs.len(), self.worst, &self.worst_name);
        println!("  {tool:16} J {cost:.4}  time {time:.3}  ({count} cells)  worst {worst:.3} {name}");
    }
}

fn main() {
    let run = Run::read();
    // One pool for everything, so that its processor time can be told.
    threads::run(run.threads, || compare_all(&run)).unwrap_or_else(|error| fail(error));
}

fn compare_all(run: &Run) {
    let peers = peers();
    let graphs = graphs(run, peers.as_ref());
    if graphs.is_empty() {
        return println!("many: set VIEM_GRAPHS to a folder of graphs, or give graph=mesh16");
    }
    for &preset in &run.presets {
        compare(run, preset, &graphs, peers.as_ref());
    }
}

/// All graphs and machines with one preset.
fn compare(run: &Run, preset: MapPreset, graphs: &[(String, CsrGraph)], peers: Option<&Peers>) {
    let mut comparisons: BTreeMap<&str, Comparison> = BTreeMap::new();
    let mut all_seconds = 0.0;
    let columns = [("graph", 24), ("J", 12), ("fullest", 0), ("overload", 0), ("seconds", 8)];
    let table = run.table.then(|| Table::new(columns));
    for (machine, (name, graph)) in
        run.machines.iter().flat_map(|machine| graphs.iter().map(move |graph| (machine, graph)))
    {
        let built =
            viem::machine::build(machine, run.distances(machine), None).unwrap_or_else(|error| fail(error));
        let (mut costs, mut seconds, mut overload, mut fullest) = (Vec::new(), 0.0, 0, 0.0f64);
        for seed in 0..run.seeds {
            let watch = Stopwatch::start(run.threads);
            let solution = map_directly(graph, built.as_ref(), &run.config(preset, seed))
                .unwrap_or_else(|error| fail(error));
            seconds += watch.seconds() / run.seeds as f64;
            costs.push(solution.report.cost.max(1) as f64);
            overload = overload.max(solution.report.loads.overload);
            fullest = fullest.max(solution.report.loads.fullest);
        }
        all_seconds += seconds;
        let (cost, name) = (geometric_mean(&costs), format!("{name} {machine}"));
        let key = name.split_once(' ').map(|(graph, machine)| (graph.to_owned(), machine.to_owned()));
        for peer in peers.and_then(|peers| peers.get(&key?)).into_iter().flatten() {
            let comparison = comparisons.entry(&peer.tool).or_default();
            comparison.costs.push(cost / peer.cost);
            comparison.times.extend(peer.seconds.map(|peer| seconds / peer));
            if cost / peer.cost > comparison.worst {
                (comparison.worst, comparison.worst_name) = (cost / peer.cost, name.clone());
            }
        }
        if let Some(table) = &table {
            let cells = [
                format!("{cost:.0}"),
                format!("{fullest:.4}"),
                format!("{overload}"),
                format!("{seconds:.3}"),
            ];
            let [cost, fullest, overload, seconds] = cells;
            table.row([name, cost, fullest, overload, seconds]);
        } else if overload > 0 {
            println!("{name}: overload {overload}");
        }
    }
    println!("{} imbalance {} %: {all_seconds:.2} s", preset.name(), run.imbalance);
    comparisons.iter().for_each(|(tool, comparison)| comparison.print(tool));
}
