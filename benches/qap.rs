//! Quadratic assignment problems: the results on each file of a folder, and the time of an iteration of tabu
//! search.
//!
//! ```text
//! VIEM_QAPLIB=FOLDER cargo bench --bench qap -- [seconds=20] [threads=2] [seeds=1] [files=nug30,sko100a] [child.rounds=50]
//! cargo bench --bench qap -- iteration
//! cargo bench --bench qap -- machines [degree=6] [seconds=5] [threads=1] [seeds=1]
//! ```
//!
//! `machines` generates problems from geometric graphs on machines with shuffled PEs, and solves them with
//! and without mapping to the recognised machine. `machine=null` disables such mappings for files too,
//! `machine=eco` sets their effort.
//!
//! `FOLDER/best_known.tsv`, if it exists, has the best known J of each file in the third column; otherwise
//! the line of n in the file may contain it. A run ends once the best known J is reached. Settings with a dot
//! are those of `QapConfig`, by name. Seconds are wall-clock seconds.

mod common;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::{Options, Stopwatch, changed, fail};
use viem::base::rng::Rng;
use viem::graph::generate;
use viem::machine::Machine;
use viem::qap::{Qap, QapConfig, QapMachine, QapRequest};
use viem_io::{Source, qaplib};

struct Run {
    iteration: bool,
    machines: bool,
    degree: f64,
    seconds: f64,
    threads: usize,
    seeds: u64,
    files: Vec<String>,
    settings: Vec<(String, String)>,
}

fn main() {
    let run = Options::read(|options| {
        let machine = options.optional("machine")?.map(|value| ("machine".to_owned(), value));
        Ok(Run {
            iteration: options.word("iteration")?,
            machines: options.word("machines")?,
            degree: options.value("degree", 6.0)?,
            seconds: options.value("seconds", 20.0)?,
            threads: options.value("threads", 2)?,
            seeds: options.value("seeds", 1)?,
            files: options.list("files", Vec::new())?,
            settings: options.settings()?.into_iter().chain(machine).collect(),
        })
    });
    if run.iteration {
        // The stopwatch measures the processor time of its own thread.
        return viem::base::threads::run(1, iteration).unwrap_or_else(|error| fail(error));
    }
    if run.machines {
        return machines(&run);
    }
    match std::env::var_os("VIEM_QAPLIB") {
        Some(folder) => table(&run, Path::new(&folder)),
        // This is the case when all benchmarks are run.
        None => println!("qap: set VIEM_QAPLIB to a folder of problems"),
    }
}

/// One line for each file and seed, then the means.
fn table(run: &Run, folder: &Path) {
    let known = best_known(folder);
    let config =
        QapConfig::default().with_threads(run.threads).with_time_limit(Duration::from_secs_f64(run.seconds));
    let config: QapConfig = changed(&config, &run.settings).unwrap_or_else(|error| fail(error));
    println!("| instance | best known | ours | gap (%) | seconds | seed |");
    println!("|---|--:|--:|--:|--:|--:|");
    let mut gaps = Vec::new();
    for path in problems(folder, &run.files) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = Source::open(&path).and_then(qaplib::read).unwrap_or_else(|error| fail(error));
        let known = known.get(&name).copied().or(file.claimed.iter().copied().min());
        let problem = Qap::from_matrices(file.size, file.a, file.b).unwrap_or_else(|error| fail(error));
        for seed in 0..run.seeds {
            let config = config.with_seed(seed).with_target(known);
            let solution = QapRequest::new(&problem).solve(&config).unwrap_or_else(|error| fail(error));
            let (cost, seconds) = (solution.cost, solution.seconds);
            let above = known.map(|known| 100.0 * (cost - known) as f64 / known.max(1) as f64);
            let [known, gap] = [known.map(|known| known.to_string()), above.map(|gap| format!("{gap:.4}"))]
                .map(|text| text.unwrap_or_else(|| "-".to_owned()));
            println!("| {name} | {known} | {cost} | {gap} | {seconds:.2} | {seed} |");
            gaps.extend(above);
        }
    }
    let reached = gaps.iter().filter(|&&gap| gap <= 0.0).count();
    let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
    println!("\n{reached} of {} at the best known J, mean gap {mean:.4} %", gaps.len());
}

/// The problems of a folder by name, or some of them.
fn problems(folder: &Path, names: &[String]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| fail(error));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "dat" || end == "qap"));
    paths.retain(|path| {
        let name = path.file_stem().unwrap_or_default();
        names.is_empty() || names.iter().any(|wanted| name == wanted.as_str())
    });
    paths.sort();
    paths
}

fn best_known(folder: &Path) -> HashMap<String, i64> {
    let text = fs::read_to_string(folder.join("best_known.tsv")).unwrap_or_default();
    let rows = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let row = |fields: Vec<&str>| {
        let name = fields.first()?.trim_end_matches(".dat").to_owned();
        Some((name, fields.get(2)?.parse().ok()?))
    };
    rows.filter_map(row).collect()
}

/// One line for each machine, size and seed: J with and without mapping to the machine.
fn machines(run: &Run) {
    let config =
        QapConfig::default().with_threads(run.threads).with_time_limit(Duration::from_secs_f64(run.seconds));
    let config: QapConfig = changed(&config, &run.settings).unwrap_or_else(|error| fail(error));
    println!("| machine | mapped | seed | J | J without mapping |");
    println!("|---|---|--:|--:|--:|");
    let specs = [
        ("4:4:4", "1:10:100"),
        ("4:8:4", "1:10:100"),
        ("4:16:8", "1:10:100"),
        ("4:16:16", "1:10:100"),
        ("mesh:8x8", ""),
        ("mesh:12x12", ""),
        ("mesh:20x20", ""),
        ("torus:32x32", ""),
        ("hypercube:6", ""),
        ("hypercube:8", ""),
        ("hypercube:10", ""),
    ];
    for (spec, distances) in specs {
        let distances = Some(distances).filter(|distances| !distances.is_empty());
        let machine = viem_cluster::build(spec, distances).unwrap_or_else(|error| fail(error));
        for seed in 0..run.seeds {
            let problem = geometric(&*machine, run.degree, seed);
            let solved = |config: QapConfig| {
                QapRequest::new(&problem)
                    .solve(&config.with_seed(seed))
                    .unwrap_or_else(|error| fail(error))
                    .cost
            };
            let [with, without] = [config, config.with_machine(None)].map(solved);
            let is_mapped = QapMachine::of(&problem).is_some_and(|machine| machine.is_mapped);
            println!("| {spec} | {is_mapped} | {seed} | {with} | {without} |");
        }
    }
}

/// A random geometric graph on a machine with shuffled PEs.
fn geometric(machine: &dyn Machine, degree: f64, seed: u64) -> Qap {
    let n = machine.num_pes();
    let graph = generate::random_geometric(n, degree, seed);
    let mut flows = vec![0; n * n];
    for u in graph.nodes() {
        for (v, weight) in graph.arcs(u) {
            flows[u as usize * n + v as usize] = weight;
        }
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    Rng::new(seed).shuffle(&mut order);
    let distances = machine.distances().unwrap_or_else(|error| fail(error));
    let whole = order.iter().flat_map(|&pe| distances.row_of(pe, &order)).collect();
    Qap::from_matrices(n, flows, whole).unwrap_or_else(|error| fail(error))
}

/// Processor time of an iteration of tabu search on dense problems of 100 objects, symmetric and asymmetric.
fn iteration() {
    const SIZE: usize = 100;
    const ITERATIONS: u32 = 20_000;
    for is_symmetric in [true, false] {
        let mut rng = Rng::new(1);
        let mut matrix = || {
            let mut entries: Vec<i64> = (0..SIZE * SIZE).map(|_| i64::from(rng.below(100))).collect();
            for i in 0..SIZE {
                for j in 0..i {
                    if is_symmetric {
                        entries[i * SIZE + j] = entries[j * SIZE + i];
                    }
                }
            }
            entries
        };
        let problem = Qap::from_matrices(SIZE, matrix(), matrix()).unwrap_or_else(|error| fail(error));
        let mut config = QapConfig::default();
        (config.first.rounds, config.first.iterations) = (0, ITERATIONS);
        // One batch: four members.
        (config.population, config.children) = (4, 0);
        let watch = Stopwatch::start(1);
        let solution = QapRequest::new(&problem).solve(&config).unwrap_or_else(|error| fail(error));
        let microseconds = watch.seconds() * 1e6 / f64::from(4 * ITERATIONS);
        let kind = if is_symmetric { "symmetric" } else { "asymmetric" };
        println!("n = {SIZE}, {kind}: {microseconds:.2} microseconds an iteration (J = {})", solution.cost);
    }
}
