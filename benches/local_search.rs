//! Local search alone: J and time of every neighbourhood on a model of one's own.
//!
//! ```text
//! cargo bench --bench local_search -- model=FILE hierarchy=4:16:32 distances=1:10:100
//!     [start=random|identity|growing|hierarchybottomup|hierarchytopdown] [hops=1,10] [seeds=5]
//! ```
//!
//! Printed are J of the start and of the end, the CPU seconds of one thread, and exchanges tried and made, as means
//! over the seeds, and the worst J.

use std::path::PathBuf;
use std::time::Instant;

use viem::construct::{Construction, ConstructionConfig, construct};
use viem::io::{Source, metis};
use viem::objective::cost;
use viem::problem::Problem;
use viem::search::{Neighbourhood, SearchConfig, SearchOutcome, local_search};
use viem::topology::Hierarchy;

struct Options {
    model: PathBuf,
    hierarchy: Hierarchy,
    start: Construction,
    hops: Vec<usize>,
    seeds: u64,
}

/// `None` without a model, as when all benchmarks are run.
fn options() -> Option<Options> {
    let arguments: Vec<String> = std::env::args().collect();
    let value =
        |key: &str| arguments.iter().find_map(|argument| argument.strip_prefix(key)?.strip_prefix('='));
    let start = value("start").unwrap_or("random");
    Some(Options {
        model: value("model")?.into(),
        hierarchy: Hierarchy::parse(value("hierarchy")?, value("distances").unwrap_or("1:10:100"))
            .expect("a hierarchy"),
        start: Construction::ALL.into_iter().find(|kind| kind.name() == start).expect("a construction"),
        hops: value("hops").unwrap_or("1,10").split(',').map(|hops| hops.parse().expect("hops")).collect(),
        seeds: value("seeds").unwrap_or("5").parse().expect("a number of seeds"),
    })
}

/// Seconds of CPU time of this thread where the system tells, else of the clock.
fn seconds(begin: Instant) -> f64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let busy = schedule.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    busy.map_or(begin.elapsed().as_secs_f64(), |nanoseconds| nanoseconds * 1e-9)
}

fn main() {
    let Some(options) = options() else {
        return println!("local_search: give model=FILE and hierarchy=…");
    };
    // One thread for all, also for what would be shared out.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| run(&options));
}

fn run(options: &Options) {
    let Options { hierarchy, start, seeds, .. } = options;
    let source = Source::open(&options.model).expect("a readable file");
    let graph = metis::read(source, metis::NodeWeights::Ignore).expect("a graph");
    let oracle = hierarchy.online32().expect("short codes");
    let problem = Problem::new(&graph, &oracle).expect("a hierarchy of the size of the model");
    let begin = Instant::now();
    println!(
        "{:<20}{:>14}{:>14}{:>14}{:>9}{:>14}{:>9}",
        "", "start", "mean J", "worst J", "s", "tried", "made"
    );
    let configs = Neighbourhood::ALL.into_iter().flat_map(|neighbourhood| {
        let hops = if neighbourhood == Neighbourhood::Communication { &options.hops[..] } else { &[10] };
        hops.iter().map(move |&max_hops| SearchConfig { neighbourhood, max_hops, ..SearchConfig::default() })
    });
    for config in configs {
        let mut runs: Vec<(i64, f64, SearchOutcome)> = Vec::new();
        for seed in 0..*seeds {
            let construction = ConstructionConfig { algorithm: *start, ..ConstructionConfig::default() };
            let first = construct(&graph, hierarchy, &construction, seed, &());
            let before = seconds(begin);
            let outcome = local_search(&problem, &first, &config, seed, &());
            runs.push((cost(&problem, &first), seconds(begin) - before, outcome));
        }
        let mean = |value: &dyn Fn(&(i64, f64, SearchOutcome)) -> f64| {
            runs.iter().map(value).sum::<f64>() / runs.len() as f64
        };
        let name = match config.neighbourhood {
            Neighbourhood::Communication => format!("communication, d={}", config.max_hops),
            other => other.name().to_string(),
        };
        println!(
            "{name:<20}{:>14.0}{:>14.0}{:>14}{:>9.3}{:>14.0}{:>9.0}",
            mean(&|run| run.0 as f64),
            mean(&|run| run.2.cost as f64),
            runs.iter().map(|run| run.2.cost).max().unwrap_or(0),
            mean(&|run| run.1),
            mean(&|run| run.2.tried as f64),
            mean(&|run| run.2.made as f64),
        );
    }
}
