//! Cut, balance and time of the partitioner beside recorded peers.
//!
//! ```text
//! VIEM_GRAPHS=folder [VIEM_PEERS=partition.tsv] cargo bench --bench partition -- [options]
//!     preset=fast,eco  k=2,8,32,64  epsilon=0,3  graph=crack,cs4  seeds=1  threads=1  table  flow.rounds=3
//! ```
//!
//! The folder holds METIS graphs (`*.graph`). The peers' file has the columns graph, k, epsilon in
//! percent, tool, cut, max_block, mean_block, seconds. A setting can be changed by its name. Printed are the geometric means of cut and time over each
//! peer, and the worst cut of a single seed; `table` prints every cell, means over the seeds. With one thread, times
//! are CPU times; with more, times of the clock.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Instant;

use viem::graph::{CsrGraph, GraphBuilder};
use viem::partition::{Contraction, Partitioner, Preset, Settings, Targets};
use viem::rng::Rng;

struct Options {
    presets: Vec<Preset>,
    blocks: Vec<usize>,
    epsilons: Vec<f64>,
    graphs: Option<Vec<String>>,
    seeds: u64,
    table: bool,
    threads: usize,
    /// Changes to the settings of the presets.
    changes: Vec<(String, f64)>,
}

fn options() -> Options {
    let mut options = Options {
        presets: Preset::ALL.to_vec(),
        blocks: vec![2, 8, 32, 64],
        epsilons: vec![3.0, 0.0],
        graphs: None,
        seeds: 1,
        table: false,
        threads: 1,
        changes: Vec::new(),
    };
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').unwrap_or((&argument, ""));
        let list = || value.split(',').map(str::to_owned);
        let number = |text: String| text.parse::<f64>().expect("a number");
        match key {
            "preset" => {
                options.presets = list()
                    .map(|name| Preset::ALL.into_iter().find(|p| p.name() == name).expect("a preset"))
                    .collect();
            }
            "k" => options.blocks = list().map(|text| number(text) as usize).collect(),
            "epsilon" => options.epsilons = list().map(number).collect(),
            "graph" => options.graphs = Some(list().collect()),
            "threads" => options.threads = number(value.to_owned()) as usize,
            "seeds" => options.seeds = number(value.to_owned()) as u64,
            name if name.contains('.') || ["matching", "least_share"].contains(&name) => {
                options.changes.push((name.to_owned(), number(value.to_owned())));
            }
            "table" => options.table = true,
            _ => {} // cargo passes options of its own
        }
    }
    options
}

/// The settings of a preset with the changes asked for.
fn settings(preset: Preset, exact: bool, changes: &[(String, f64)]) -> Settings {
    let mut settings = if exact { Settings::exact(preset) } else { Settings::of(preset) };
    for (name, value) in changes {
        let whole = *value as usize;
        match name.as_str() {
            "matching" => settings.contraction = Contraction::Matching,
            "least_share" => settings.contraction = Contraction::Clustering { least_share: *value },
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
            "flow.region" => settings.flow.region = *value,
            "balance.slack" => settings.balance.slack = *value,
            "balance.slack_nodes" => settings.balance.slack_nodes = *value as i64,
            "balance.final_slack" => settings.balance.final_slack = *value as i64,
            "balance.final_rounds" => settings.balance.final_rounds = whole,
            "balance.effort" => settings.balance.effort = whole,
            "balance.patience" => settings.balance.patience = whole,
            "pool.members" => settings.pool.members = whole,
            "pool.least_nodes" => settings.pool.least_nodes = whole,
            "pool.least_per_block" => settings.pool.least_per_block = whole,
            "pool.generations" => settings.pool.generations = whole,
            "pool.cycles" => settings.pool.cycles = whole,
            _ => panic!("no setting is called {name}"),
        }
    }
    settings
}

/// Seconds of CPU time if there is one thread and the system tells, else of the clock.
fn seconds(start: Instant, threads: usize) -> f64 {
    if threads > 1 {
        return start.elapsed().as_secs_f64();
    }
    // The kernel brings the figure up to date when the thread offers to yield.
    std::thread::yield_now();
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = on_cpu.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

type Peers = HashMap<(String, usize, String), Vec<(String, f64, f64)>>;

fn peers() -> Peers {
    let mut peers = Peers::new();
    let Ok(path) = std::env::var("VIEM_PEERS") else { return peers };
    let text = std::fs::read_to_string(path).expect("the peers' file can be read");
    for line in text.lines().skip(1) {
        let field: Vec<&str> = line.split('\t').collect();
        let key = (field[0].to_owned(), field[1].parse().expect("k"), field[2].to_owned());
        let parse = |index: usize| field[index].parse::<f64>().expect("a number");
        peers.entry(key).or_default().push((field[3].to_owned(), parse(4), parse(7)));
    }
    peers
}

fn graphs(options: &Options) -> Vec<(String, CsrGraph)> {
    let mut graphs = Vec::new();
    if let Ok(folder) = std::env::var("VIEM_GRAPHS") {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "graph"));
        paths.sort();
        for path in paths {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if options.graphs.as_ref().is_none_or(|wanted| wanted.contains(&name)) {
                let source = viem::io::Source::open(&path).expect("a readable file");
                let graph =
                    viem::io::metis::read(source, viem::io::metis::NodeWeights::Read).expect("a graph");
                graphs.push((name, graph));
            }
        }
    }
    let wanted = |name: &str| options.graphs.as_ref().is_some_and(|list| list.iter().any(|g| g == name));
    if wanted("mesh20") {
        graphs.push(("mesh20".to_owned(), mesh(1024, 1024)));
    }
    if wanted("mesh16") {
        graphs.push(("mesh16".to_owned(), mesh(256, 256)));
    }
    graphs
}

/// A triangulated grid with random diagonals and randomly numbered patches: 3 edges a vertex.
fn mesh(rows: u32, columns: u32) -> CsrGraph {
    let mut rng = Rng::new(1);
    let mut builder = GraphBuilder::new((rows * columns) as usize);
    let id = |row: u32, column: u32| row * columns + column;
    for row in 0..rows {
        for column in 0..columns {
            let (right, below) = (column + 1 < columns, row + 1 < rows);
            if right {
                builder.add_edge(id(row, column), id(row, column + 1), 1);
            }
            if below {
                builder.add_edge(id(row, column), id(row + 1, column), 1);
            }
            if right && below {
                if rng.below(2) == 0 {
                    builder.add_edge(id(row, column), id(row + 1, column + 1), 1);
                } else {
                    builder.add_edge(id(row, column + 1), id(row + 1, column), 1);
                }
            }
        }
    }
    builder.build().expect("a mesh is a graph")
}

#[derive(Default)]
struct Ratios {
    cut: f64,
    time: f64,
    own: f64,
    worst: f64,
    worst_name: String,
    /// Cells and single seeds with a cut of more than 1.08 of the peer's.
    above: Vec<String>,
    count: usize,
    timed: usize,
}

fn main() {
    let options = options();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build().expect("threads");
    pool.install(|| run(&options));
}

fn run(options: &Options) {
    let peers = peers();
    let graphs = graphs(options);
    for &preset in &options.presets {
        for &epsilon in &options.epsilons {
            let settings = settings(preset, epsilon == 0.0, &options.changes);
            let mut ratios: std::collections::BTreeMap<String, Ratios> = Default::default();
            let mut sum = 0.0;
            for (name, graph) in &graphs {
                for &k in &options.blocks {
                    let targets = Targets::equal(graph, k, epsilon / 100.0).expect("targets");
                    let (mut time, mut overload, mut heaviest) = (0.0, 0, 0);
                    let mut cuts = Vec::new();
                    for seed in 0..options.seeds {
                        let clock = Instant::now();
                        let start = seconds(clock, options.threads);
                        let partition =
                            Partitioner::with_settings(settings.clone(), seed).partition(graph, &targets);
                        time += (seconds(clock, options.threads) - start) / options.seeds as f64;
                        cuts.push(partition.cut().max(1) as f64);
                        overload += partition.overload();
                        heaviest = *partition.block_weights().iter().max().expect("k > 0");
                        let mut sizes = vec![0; k];
                        for (node, &block) in partition.blocks().iter().enumerate() {
                            sizes[block as usize] += graph.node_weight(node as u32);
                        }
                        assert_eq!(sizes, partition.block_weights());
                    }
                    let cut = (cuts.iter().map(|cut| cut.ln()).sum::<f64>() / cuts.len() as f64).exp();
                    sum += time;
                    if overload > 0 {
                        println!("{name} k={k}: overload {overload}");
                    }
                    let mut row = format!("{name:18} {k:3} {epsilon:3} {cut:9.1} {heaviest:7} {time:8.4} s");
                    let key = (name.clone(), k, format!("{epsilon}"));
                    for (tool, peer_cut, peer_time) in peers.get(&key).into_iter().flatten() {
                        let ratio = ratios.entry(tool.clone()).or_default();
                        let quotient = cut / peer_cut.max(1.0);
                        ratio.cut += quotient.ln();
                        ratio.count += 1;
                        if *peer_time > 0.0 {
                            ratio.time += (time / peer_time).ln();
                            ratio.own += time;
                            ratio.timed += 1;
                        }
                        for &cut in &cuts {
                            if cut / peer_cut.max(1.0) > ratio.worst {
                                ratio.worst = cut / peer_cut.max(1.0);
                                ratio.worst_name = format!("{name} k={k}");
                            }
                        }
                        let above = cuts.iter().filter(|&&cut| cut > 1.08 * peer_cut.max(1.0)).count();
                        if above > 0 {
                            ratio.above.push(format!("{name} k={k}: {above}"));
                        }
                        row += &format!("  {tool} {quotient:.3}/{:.2}", time / peer_time);
                    }
                    if options.table {
                        println!("{row}");
                    }
                }
            }
            println!("{} epsilon {epsilon} %: {sum:.2} s", preset.name());
            for (tool, ratio) in ratios {
                println!(
                    "  {tool:15} cut {:.4}  time {:.3}  ({} runs)  worst {:.3} {}",
                    (ratio.cut / ratio.count as f64).exp(),
                    (ratio.time / ratio.timed.max(1) as f64).exp(),
                    ratio.count,
                    ratio.worst,
                    ratio.worst_name
                );
                if !ratio.above.is_empty() {
                    println!("                  seeds above 1.08: {}", ratio.above.join(", "));
                }
            }
        }
    }
}
