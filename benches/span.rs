//! Work and span of partitions and mappings, and the time that they would take on more cores than there are.
//!
//! ```text
//! cargo bench --bench span -- [job=partition,many,one] [preset=fast,eco] [sizes=18] [graph=geometric,mesh] [blocks=64]
//!     [threads=2,16,64,128] [check] [seed=0]
//! ```
//!
//! The graphs have 2^18 vertices, or as many as `sizes` says, and are generated as those of `scaling` are. Each job reads its graph from a
//! file and then divides it into `blocks` blocks, maps it many-to-one onto 4:16:4, or one-to-one onto 4:16:n/64. One thread does all
//! of it (`threads::measure`). The table has its seconds, the share of the span in them, and the speedups on so many threads that follow; below each
//! row is what the span consists of. With `check`, two threads do the same, and the last column has their predicted time over the real
//! one. Sorting counts as serial.

mod common;

use std::path::Path;
use std::time::Instant;

use common::{GENERATED, Options, Table, fail, generated, read_graph, text_of};
use viem::base::span::{self, Profile};
use viem::base::threads;
use viem::graph::CsrGraph;
use viem::machine::{Blocks, Hierarchy, Machine};
use viem::solve::{Balance, Config, MapPreset, Objective, PreparedMachine, Request};
use viem_io::metis::NodeWeights;

const JOBS: [&str; 3] = ["partition", "many", "one"];

/// The most that blocks and PEs may exceed their shares by.
const IMBALANCE: f64 = 0.03;

fn main() {
    let (jobs, presets, graphs, sizes, blocks, numbers, check, seed) = Options::read(|options| {
        Ok((
            options.members("job", &JOBS, |name| name, &JOBS)?,
            options.members(
                "preset",
                &MapPreset::ALL,
                MapPreset::name,
                &[MapPreset::Fast, MapPreset::Eco],
            )?,
            options.members("graph", &GENERATED, |name| name, &GENERATED[..1])?,
            options.list("sizes", vec![18])?,
            options.value("blocks", 64)?,
            options.list("threads", vec![2, 16, 64, 128])?,
            options.word("check")?,
            options.value("seed", 0)?,
        ))
    });
    let table = Table::new([
        ("job", 9),
        ("graph", 9),
        ("preset", 6),
        ("n", 4),
        ("work, s", 0),
        ("span, %", 0),
        ("speedup", 30),
        ("check", 0),
    ]);
    let folder = tempfile::tempdir().unwrap_or_else(|error| fail(error));
    for (graph, size) in pairs(&graphs, &sizes) {
        let path = folder.path().join(format!("{graph}-{size}.graph"));
        std::fs::write(&path, text_of(&generated(graph, 1 << size))).unwrap_or_else(|error| fail(error));
        for (name, preset) in pairs(&jobs, &presets) {
            let job = Job { path: &path, name, blocks, config: Config::preset(preset).with_seed(seed) };
            let profile = job.profile(numbers.iter().copied().max().unwrap_or(1));
            table.row([
                name.to_string(),
                graph.to_string(),
                preset.name().to_string(),
                format!("2^{size}"),
                format!("{:.2}", profile.work),
                format!("{:.1}", 100.0 * profile.total_span() / profile.work),
                speedups(&profile, &numbers),
                if check { format!("{:.2}", job.checked()) } else { "-".to_string() },
            ]);
            print_span(&profile);
        }
    }
}

/// Each of the first with each of the second.
fn pairs<'a, A: Copy, B: Copy>(first: &'a [A], second: &'a [B]) -> impl Iterator<Item = (A, B)> + 'a {
    first.iter().flat_map(|&one| second.iter().map(move |&other| (one, other)))
}

/// The speedup on each number of threads.
fn speedups(profile: &Profile, numbers: &[usize]) -> String {
    let speedup = |&threads: &usize| format!("{threads}: {:.2}", profile.work / profile.seconds(threads));
    numbers.iter().map(speedup).collect::<Vec<_>>().join(", ")
}

/// Prints the phases of which each takes more than a hundredth of the span, in milliseconds.
fn print_span(profile: &Profile) {
    let least = profile.total_span() / 100.0;
    let phases = profile.span.iter().filter(|(_, seconds)| *seconds >= least);
    let text = |&(name, seconds): &(&str, f64)| {
        format!("{} {:.1}", if name.is_empty() { "other" } else { name }, 1e3 * seconds)
    };
    println!("  span, ms: {}", phases.map(text).collect::<Vec<_>>().join(", "));
}

/// A graph that is read, and what is done with it.
struct Job<'a> {
    path: &'a Path,
    name: &'static str,
    blocks: usize,
    config: Config,
}

impl Job<'_> {
    /// The work and the span on so many threads.
    fn profile(&self, threads: usize) -> Profile {
        threads::measure(threads, || self.run(1)).unwrap_or_else(|error| fail(error)).1
    }

    /// The seconds that two threads should take over those that they take, the best of three.
    fn checked(&self) -> f64 {
        let seconds = || {
            let begin = Instant::now();
            threads::run(2, || self.run(2)).unwrap_or_else(|error| fail(error));
            begin.elapsed().as_secs_f64()
        };
        let best = (0..3).map(|_| seconds()).fold(f64::INFINITY, f64::min);
        let predicted = (0..3).map(|_| self.profile(2).seconds(2)).fold(f64::INFINITY, f64::min);
        predicted / best
    }

    fn run(&self, threads: usize) {
        let graph = span::named("reading", || read_graph(self.path, NodeWeights::Ignore));
        let config = self.config.with_threads(threads);
        match self.name {
            "partition" => {
                let blocks = Blocks::equal(self.blocks).unwrap_or_else(|error| fail(error));
                solve(&graph, &blocks, Some(Objective::Cut), &config);
            }
            "many" => solve(&graph, &tree(4), Some(Objective::J), &config),
            _ => solve(&graph, &tree(graph.num_nodes() as u32 / 64), None, &config),
        }
    }
}

/// The machine 4:16:`outermost`.
fn tree(outermost: u32) -> Hierarchy {
    Hierarchy::new(vec![4, 16, outermost], vec![1, 10, 100]).unwrap_or_else(|error| fail(error))
}

/// Maps many-to-one by this objective, or else one-to-one.
fn solve(graph: &CsrGraph, machine: &dyn Machine, objective: Option<Objective>, config: &Config) {
    let machine = PreparedMachine::new(machine);
    let mut request = Request::new(graph, &machine);
    if let Some(objective) = objective {
        request = request.balanced(Balance::default().with_imbalance(IMBALANCE)).minimise(objective);
    }
    request.solve(config).unwrap_or_else(|error| fail(error));
}
