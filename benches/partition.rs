//! Cut, balance and time of the partitioner, compared with recorded peers.
//!
//! ```text
//! VIEM_GRAPHS=folder [VIEM_PEERS=partition.tsv] cargo bench --bench partition -- [options]
//!     preset=fast,eco  k=2,8,32,64  epsilon=0,3  graph=crack,cs4  seeds=1  threads=1  table  flow.rounds=3
//! ```
//!
//! The folder contains METIS graphs (`*.graph`). The peers' file, which `benches/tables` can write, has the
//! columns graph, k, epsilon_percent, tool, cut, seconds. Every setting can be changed by its name in
//! [`PartitionConfig`], with dots between nested settings; the contraction by `contraction=matching` or
//! `contraction.clustering.least_share=0.3`. The benchmark prints the geometric means of cut and time
//! relative to each peer, and the worst cut of a single seed. `table` prints every cell as a mean over the
//! seeds. With one thread, times are CPU times; with more, wall-clock times.

mod common;

use std::collections::{BTreeMap, HashMap};

use common::{
    Options, Stopwatch, Table, changed, check_partition, columns, fail, geometric_mean, graphs_of, number_in,
    read_graph,
};
use viem::base::threads;
use viem::graph::{CsrGraph, generate};
use viem::partition::{PartitionConfig, PartitionPreset, Partitioner, Targets};
use viem_io::metis::NodeWeights;

struct Run {
    presets: Vec<PartitionPreset>,
    blocks: Vec<usize>,
    /// In percent.
    epsilons: Vec<f64>,
    /// Names of graphs; all of the folder if empty.
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
            let contraction = options.optional("contraction")?;
            let mut changes: Vec<_> =
                contraction.map(|value| ("contraction".to_owned(), value)).into_iter().collect();
            changes.extend(options.settings()?);
            Ok(Run {
                presets: options.members(
                    "preset",
                    &PartitionPreset::ALL,
                    PartitionPreset::name,
                    &PartitionPreset::ALL,
                )?,
                blocks: options.list("k", vec![2, 8, 32, 64])?,
                epsilons: options.list("epsilon", vec![3.0, 0.0])?,
                graphs: options.list("graph", Vec::new())?,
                seeds: options.value("seeds", 1)?,
                threads: options.value("threads", 1)?,
                table: options.word("table")?,
                changes,
            })
        })
    }

    /// The settings of a preset with the requested changes.
    fn settings(&self, preset: PartitionPreset, exact: bool) -> PartitionConfig {
        let settings = if exact { PartitionConfig::exact(preset) } else { PartitionConfig::preset(preset) };
        changed(&settings, &self.changes).unwrap_or_else(|message| fail(message))
    }
}

/// The results of peers, by graph, number of blocks, and epsilon in percent.
type Peers = HashMap<(String, usize, String), Vec<Peer>>;

struct Peer {
    tool: String,
    cut: f64,
    seconds: Option<f64>,
}

fn peers() -> Peers {
    let mut peers = Peers::new();
    let Ok(path) = std::env::var("VIEM_PEERS") else { return peers };
    let names = ["graph", "k", "epsilon_percent", "tool", "cut", "seconds"];
    for [graph, k, epsilon, tool, cut, seconds] in columns(&path, names) {
        let k = k.parse().unwrap_or_else(|_| fail(format!("{path}: `{k}` is not a number of blocks")));
        let Some(cut) = number_in(&cut) else { continue };
        let seconds = number_in(&seconds).filter(|&seconds| seconds > 0.0);
        peers.entry((graph, k, epsilon)).or_default().push(Peer { tool, cut: cut.max(1.0), seconds });
    }
    peers
}

/// The graphs of the folder, and the named triangulated grids of 2^16 and 2^20 vertices.
fn graphs(wanted: &[String]) -> Vec<(String, CsrGraph)> {
    let mut graphs = Vec::new();
    if let Ok(folder) = std::env::var("VIEM_GRAPHS") {
        let mut found = graphs_of(&folder);
        found.retain(|(name, _)| wanted.is_empty() || wanted.contains(name));
        graphs.extend(found.into_iter().map(|(name, path)| (name, read_graph(&path, NodeWeights::Read))));
    }
    for (name, side) in [("mesh16", 1 << 8), ("mesh20", 1 << 10)] {
        if wanted.iter().any(|wanted| wanted == name) {
            graphs.push((name.to_owned(), generate::mesh(side, side, 1)));
        }
    }
    graphs
}

/// The cuts of all seeds for a graph, k and epsilon, and their times.
struct Cell {
    name: String,
    cuts: Vec<f64>,
    /// Mean over the seeds.
    seconds: f64,
    overload: i64,
    heaviest: i64,
}

impl Cell {
    fn new(name: &str, graph: &CsrGraph, targets: &Targets, settings: &PartitionConfig, run: &Run) -> Self {
        let name = format!("{name} k={}", targets.num_blocks());
        let mut cell = Self { name, cuts: Vec::new(), seconds: 0.0, overload: 0, heaviest: 0 };
        for seed in 0..run.seeds {
            let partitioner = Partitioner::with_settings(*settings, seed).unwrap_or_else(|error| fail(error));
            let watch = Stopwatch::start(run.threads);
            let partition = partitioner.partition(graph, targets);
            cell.seconds += watch.seconds() / run.seeds as f64;
            check_partition(graph, &partition);
            cell.cuts.push(partition.cut().max(1) as f64);
            cell.overload = cell.overload.max(partition.overload());
            cell.heaviest = partition.block_weights().iter().copied().fold(cell.heaviest, i64::max);
        }
        cell
    }

    fn cut(&self) -> f64 {
        geometric_mean(&self.cuts)
    }

    fn row(&self) -> [String; 5] {
        [
            self.name.clone(),
            format!("{:.1}", self.cut()),
            format!("{}", self.heaviest),
            format!("{}", self.overload),
            format!("{:.4}", self.seconds),
        ]
    }
}

/// All cells compared with one peer.
#[derive(Default)]
struct Comparison {
    cuts: Vec<f64>,
    times: Vec<f64>,
    worst: f64,
    worst_name: String,
    /// Cells with seeds whose cut exceeds 1.08 times the peer's, and their number.
    above: Vec<String>,
}

impl Comparison {
    fn add(&mut self, cell: &Cell, peer: &Peer) {
        self.cuts.push(cell.cut() / peer.cut);
        self.times.extend(peer.seconds.map(|seconds| cell.seconds / seconds));
        let worst = cell.cuts.iter().copied().fold(0.0, f64::max) / peer.cut;
        if worst > self.worst {
            (self.worst, self.worst_name) = (worst, cell.name.clone());
        }
        let above = cell.cuts.iter().filter(|&&cut| cut > 1.08 * peer.cut).count();
        if above > 0 {
            self.above.push(format!("{}: {above}", cell.name));
        }
    }

    fn print(&self, tool: &str) {
        let (cut, time) = (geometric_mean(&self.cuts), geometric_mean(&self.times));
        let (count, worst, name) = (self.cuts.len(), self.worst, &self.worst_name);
        println!("  {tool:15} cut {cut:.4}  time {time:.3}  ({count} cells)  worst {worst:.3} {name}");
        if !self.above.is_empty() {
            println!("                  seeds above 1.08: {}", self.above.join(", "));
        }
    }
}

fn main() {
    let run = Run::read();
    threads::run(run.threads, || compare(&run)).unwrap_or_else(|error| fail(error));
}

fn compare(run: &Run) {
    let (peers, graphs) = (peers(), graphs(&run.graphs));
    if graphs.is_empty() {
        return println!("partition: set VIEM_GRAPHS to a folder of graphs, or give graph=mesh16");
    }
    for &preset in &run.presets {
        for &epsilon in &run.epsilons {
            compare_preset(run, preset, epsilon, &graphs, &peers);
        }
    }
}

/// All graphs and numbers of blocks with one preset and one imbalance, in percent.
fn compare_preset(
    run: &Run,
    preset: PartitionPreset,
    epsilon: f64,
    graphs: &[(String, CsrGraph)],
    peers: &Peers,
) {
    let settings = run.settings(preset, epsilon == 0.0);
    let mut comparisons: BTreeMap<&str, Comparison> = BTreeMap::new();
    let mut seconds = 0.0;
    let columns = [("graph", 24), ("cut", 10), ("heaviest", 0), ("overload", 0), ("seconds", 8)];
    let table = run.table.then(|| Table::new(columns));
    for ((name, graph), &k) in graphs.iter().flat_map(|graph| run.blocks.iter().map(move |k| (graph, k))) {
        let targets = Targets::equal(graph, k, epsilon / 100.0).unwrap_or_else(|error| fail(error));
        let cell = Cell::new(name, graph, &targets, &settings, run);
        seconds += cell.seconds;
        for peer in peers.get(&(name.clone(), k, format!("{epsilon}"))).into_iter().flatten() {
            comparisons.entry(&peer.tool).or_default().add(&cell, peer);
        }
        if let Some(table) = &table {
            table.row(cell.row());
        } else if cell.overload > 0 {
            println!("{}: overload {}", cell.name, cell.overload);
        }
    }
    println!("{} epsilon {epsilon} %: {seconds:.2} s", preset.name());
    comparisons.iter().for_each(|(tool, comparison)| comparison.print(tool));
}
