//! Cut, balance and time of the partitioner beside recorded peers.
//!
//! ```text
//! VIEM_GRAPHS=folder [VIEM_PEERS=partition.tsv] cargo bench --bench partition -- [options]
//!     preset=fast,eco  k=2,8,32,64  epsilon=0,3  graph=crack,cs4  seeds=1  threads=1  table  flow.rounds=3
//! ```
//!
//! The folder holds METIS graphs (`*.graph`). The peers' file, which `benches/tables` can write, has the columns graph, k,
//! epsilon_percent, tool, cut, seconds. A setting can be changed by its name; the contraction by `matching` or
//! `least_share=0.3`. Printed are the geometric means of cut and time over each
//! peer, and the worst cut of a single seed; `table` prints every cell, means over the seeds. With one thread, times
//! are CPU times; with more, times of the clock.

mod common;

use std::collections::{BTreeMap, HashMap};

use common::{
    Options, Stopwatch, Table, check_partition, columns, fail, geometric_mean, graphs_of, number_in,
    read_graph,
};
use viem::graph::{CsrGraph, generate};
use viem::io::metis::NodeWeights;
use viem::partition::{Contraction, Partitioner, Preset, Settings, Targets};
use viem::threads;

struct Run {
    presets: Vec<Preset>,
    blocks: Vec<usize>,
    /// In percent.
    epsilons: Vec<f64>,
    /// Names; all of the folder if empty.
    graphs: Vec<String>,
    seeds: u64,
    threads: usize,
    table: bool,
    contraction: Option<Contraction>,
    /// Changes to the settings of the presets.
    changes: Vec<(String, f64)>,
}

impl Run {
    fn read() -> Self {
        Options::read(|options| {
            let share = options.optional("least_share")?;
            let clustering = share.map(|least_share| Contraction::Clustering { least_share });
            Ok(Run {
                presets: options.members("preset", &Preset::ALL, Preset::name, &Preset::ALL)?,
                blocks: options.list("k", vec![2, 8, 32, 64])?,
                epsilons: options.list("epsilon", vec![3.0, 0.0])?,
                graphs: options.list("graph", Vec::new())?,
                seeds: options.value("seeds", 1)?,
                threads: options.value("threads", 1)?,
                table: options.word("table")?,
                contraction: if options.word("matching")? { Some(Contraction::Matching) } else { clustering },
                changes: options.settings()?,
            })
        })
    }

    /// The settings of a preset with the changes asked for.
    fn settings(&self, preset: Preset, exact: bool) -> Settings {
        let mut settings = if exact { Settings::exact(preset) } else { Settings::of(preset) };
        settings.contraction = self.contraction.unwrap_or(settings.contraction);
        for (name, value) in &self.changes {
            change(&mut settings, name, *value);
        }
        settings
    }
}

/// Changes a setting by its name.
fn change(settings: &mut Settings, name: &str, value: f64) {
    let whole = value as usize;
    match name {
        "bisection.coarsest" => settings.bisection.coarsest = whole,
        "bisection.tries" => settings.bisection.tries = whole,
        "bisection.passes" => settings.bisection.passes = whole,
        "bisection.patience" => settings.bisection.patience = whole,
        "initial.coarsest_per_block" => settings.initial.coarsest_per_block = whole,
        "initial.coarsest" => settings.initial.coarsest = whole,
        "initial.bisections" => settings.initial.bisections = whole,
        "k_way.rounds" => settings.k_way.rounds = whole,
        "k_way.patience" => settings.k_way.patience = whole,
        "k_way.least_steps" => settings.k_way.least_steps = whole,
        "k_way.seeds" => settings.k_way.seeds = whole,
        "flow.rounds" => settings.flow.rounds = whole,
        "flow.depth" => settings.flow.depth = whole as u32,
        "flow.region" => settings.flow.region = value,
        "balance.slack" => settings.balance.slack = value,
        "balance.slack_nodes" => settings.balance.slack_nodes = value as i64,
        "balance.final_slack" => settings.balance.final_slack = value as i64,
        "balance.final_rounds" => settings.balance.final_rounds = whole,
        "balance.effort" => settings.balance.effort = whole,
        "balance.patience" => settings.balance.patience = whole,
        "pool.members" => settings.pool.members = whole,
        "pool.least_nodes" => settings.pool.least_nodes = whole,
        "pool.least_per_block" => settings.pool.least_per_block = whole,
        "pool.generations" => settings.pool.generations = whole,
        _ => fail(format!("no setting is called `{name}`")),
    }
}

/// What peers reached, by graph, number of blocks, and epsilon in percent.
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

/// Those of the folder, and triangulated grids of 2^16 and 2^20 vertices if asked for by their names.
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

/// The cuts of all seeds for a graph, k and epsilon, and what they took.
struct Cell {
    name: String,
    cuts: Vec<f64>,
    /// Mean over the seeds.
    seconds: f64,
    overload: i64,
    heaviest: i64,
}

impl Cell {
    fn new(name: &str, graph: &CsrGraph, targets: &Targets, settings: &Settings, run: &Run) -> Self {
        let name = format!("{name} k={}", targets.num_blocks());
        let mut cell = Self { name, cuts: Vec::new(), seconds: 0.0, overload: 0, heaviest: 0 };
        for seed in 0..run.seeds {
            let watch = Stopwatch::start(run.threads);
            let partition = Partitioner::with_settings(settings.clone(), seed).partition(graph, targets);
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
}

/// All cells beside one peer.
#[derive(Default)]
struct Comparison {
    cuts: Vec<f64>,
    times: Vec<f64>,
    worst: f64,
    worst_name: String,
    /// Cells, and how many of their seeds cut more than 1.08 of what the peer does.
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
            let settings = run.settings(preset, epsilon == 0.0);
            let mut comparisons: BTreeMap<&str, Comparison> = BTreeMap::new();
            let mut seconds = 0.0;
            let columns = [("graph", 24), ("cut", 10), ("heaviest", 0), ("overload", 0), ("seconds", 8)];
            let table = run.table.then(|| Table::new(columns));
            for ((name, graph), &k) in
                graphs.iter().flat_map(|graph| run.blocks.iter().map(move |k| (graph, k)))
            {
                let targets = Targets::equal(graph, k, epsilon / 100.0).unwrap_or_else(|error| fail(error));
                let cell = Cell::new(name, graph, &targets, &settings, run);
                seconds += cell.seconds;
                for peer in peers.get(&(name.clone(), k, format!("{epsilon}"))).into_iter().flatten() {
                    comparisons.entry(&peer.tool).or_default().add(&cell, peer);
                }
                if let Some(table) = &table {
                    table.row([
                        cell.name.clone(),
                        format!("{:.1}", cell.cut()),
                        format!("{}", cell.heaviest),
                        format!("{}", cell.overload),
                        format!("{:.4}", cell.seconds),
                    ]);
                } else if cell.overload > 0 {
                    println!("{}: overload {}", cell.name, cell.overload);
                }
            }
            println!("{} epsilon {epsilon} %: {seconds:.2} s", preset.name());
            comparisons.iter().for_each(|(tool, comparison)| comparison.print(tool));
        }
    }
}
