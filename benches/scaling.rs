//! The growth of J, time and memory with the number of processes, and the speedup by a second thread.
//!
//! ```text
//! cargo bench --bench scaling -- [preset=eco,fast] [threads=1,2] [sizes=10-20] [graph=geometric,mesh] [seed=0]
//! ```
//!
//! The graphs have 2^10 to 2^20 vertices and are generated: `geometric` is a random geometric graph of
//! average degree 13 with shuffled vertices, `mesh` a triangulation of average degree 6, numbered row by row.
//! The machine is 4:16:x with distances 1:10:100. The benchmark prints J, the seconds of reading the graph
//! (from memory), of construction and of search, the total microseconds per process, the ratio of these to
//! the size before, the ratio of the mapping time to that with the first number of threads, and the peak
//! memory of mapping in addition to the graph (on Linux). J and the permutation are recomputed by the
//! independent auditor, and all numbers of threads must give the same mapping.

mod common;

use std::ops::RangeInclusive;
use std::time::Instant;

use common::{GENERATED, Options, Table, audited_cost, fail, generated, memory, text_of};
use viem::graph::CsrGraph;
use viem::machine::Hierarchy;
use viem::mapping::Mapping;
use viem::solve::{Config, MapPreset, PreparedMachine, Request};
use viem_io::Source;
use viem_io::metis::{self, NodeWeights};

fn main() {
    let (presets, threads, graphs, sizes, seed) = Options::read(|options| {
        Ok((
            options.members("preset", &MapPreset::ALL, MapPreset::name, &[MapPreset::Eco])?,
            options.list("threads", vec![1])?,
            options.members("graph", &GENERATED, |name| name, &GENERATED)?,
            options.value("sizes", Sizes(10..=20))?.0,
            options.value("seed", 0)?,
        ))
    });
    let table = Table::new([
        ("graph", 9),
        ("preset", 0),
        ("n", 7),
        ("threads", 0),
        ("J", 12),
        ("reading, s", 0),
        ("construction, s", 0),
        ("search, s", 0),
        ("µs per process", 0),
        ("over size before", 0),
        ("over first threads", 0),
        ("MiB", 5),
    ]);
    for preset in presets {
        let config = Config::preset(preset).with_seed(seed);
        for &graph in &graphs {
            // Microseconds per process at the size before, by number of threads.
            let mut before = vec![None; threads.len()];
            for log_size in sizes.clone() {
                let instance = Instance::new(graph, 1 << log_size);
                rows(
                    &table,
                    [graph, preset.name(), &format!("2^{log_size}")],
                    &instance,
                    &config,
                    &threads,
                    &mut before,
                );
            }
        }
    }
}

/// One row for each number of threads.
fn rows(
    table: &Table,
    names: [&str; 3],
    instance: &Instance,
    config: &Config,
    threads: &[usize],
    before: &mut [Option<f64>],
) {
    let mut first: Option<Run> = None;
    for (&threads, before) in threads.iter().zip(before) {
        let run = instance.run(&config.with_threads(threads));
        let each = 1e6 * (instance.reading + run.seconds()) / instance.graph.num_nodes() as f64;
        let growth = before.replace(each).map_or(1.0, |before| each / before);
        let first = first.get_or_insert_with(|| run.clone());
        assert!(run.mapping == first.mapping, "{threads} threads give another mapping");
        let [graph, preset, size] = names.map(str::to_string);
        table.row([
            graph,
            preset,
            size,
            format!("{threads}"),
            format!("{}", run.cost),
            format!("{:.3}", instance.reading),
            format!("{:.3}", run.construction),
            format!("{:.3}", run.search),
            format!("{each:.1}"),
            format!("{growth:.2}"),
            format!("{:.2}", run.seconds() / first.seconds()),
            run.mebibytes.map_or("-".to_string(), |mebibytes| mebibytes.to_string()),
        ]);
    }
}

const ARITIES: [u32; 2] = [4, 16];
const DISTANCES: [i64; 3] = [1, 10, 100];

/// Binary logarithms of sizes, such as `10-20`.
struct Sizes(RangeInclusive<u32>);

impl std::str::FromStr for Sizes {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first @ 6..), Ok(last @ ..=28)) => Ok(Self(first..=last)),
            _ => Err("sizes are two numbers from 6 to 28, such as 10-20"),
        }
    }
}

struct Instance {
    /// The file, for the auditor.
    text: String,
    graph: CsrGraph,
    hierarchy: Hierarchy,
    /// Seconds of reading the file.
    reading: f64,
}

#[derive(Clone)]
struct Run {
    mapping: Mapping,
    cost: i64,
    construction: f64,
    search: f64,
    mebibytes: Option<usize>,
}

impl Run {
    fn seconds(&self) -> f64 {
        self.construction + self.search
    }
}

impl Instance {
    fn new(name: &str, num_processes: usize) -> Self {
        let text = text_of(&generated(name, num_processes));
        let start = Instant::now();
        let source = Source::new(name, text.as_bytes()).expect("a text");
        let graph = metis::read(source, NodeWeights::Ignore).expect("a graph");
        let reading = start.elapsed().as_secs_f64();
        let inner: usize = ARITIES.iter().map(|&arity| arity as usize).product();
        let outermost = (num_processes / inner) as u32;
        let arities = ARITIES.into_iter().chain([outermost]).collect();
        let hierarchy = Hierarchy::new(arities, DISTANCES.to_vec()).expect("a machine");
        Self { text, graph, hierarchy, reading }
    }

    fn run(&self, config: &Config) -> Run {
        let before = memory::restart_peak();
        let solution = Request::new(&self.graph, &PreparedMachine::new(&self.hierarchy))
            .solve(config)
            .unwrap_or_else(|error| fail(error));
        let mebibytes = before.zip(memory::peak()).map(|(before, peak)| peak.saturating_sub(before) >> 10);
        let audited = audited_cost(&self.text, &solution.mapping, &self.hierarchy);
        assert_eq!(audited, solution.report.cost as u128);
        Run {
            mapping: solution.mapping,
            cost: solution.report.cost,
            construction: solution.report.seconds.construction,
            search: solution.report.seconds.search,
            mebibytes,
        }
    }
}
