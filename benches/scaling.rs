//! How J, time and memory grow with the number of processes, and what a second thread saves.
//!
//! ```text
//! cargo bench --bench scaling -- [preset=eco,fast] [threads=1,2] [sizes=10-20] [graph=geometric,mesh] [seed=0]
//! ```
//!
//! The graphs have 2^10 to 2^20 vertices, made up on the spot: `geometric` is a random geometric graph of average degree 13,
//! numbered at random, `mesh` a triangulation of average degree 6, numbered row by row. The machine is 4:16:x with
//! distances 1:10:100. Printed are J, the seconds of reading the graph (from memory), of construction and of search,
//! the microseconds a process takes in all three, how much longer that is than at the size before, how the time of mapping
//! relates to that with the first number of threads, and the most memory that mapping takes besides the graph
//! (on Linux). J and the permutation are recomputed by the independent auditor, and all numbers of threads must
//! give the same mapping.

use std::time::Instant;

use viem::graph::{CsrGraph, generate};
use viem::io::Source;
use viem::io::metis::{self, Content, NodeWeights};
use viem::mapping::Mapping;
use viem::solve::{MapConfig, MapPreset, solve};
use viem::topology::Hierarchy;

const ARITIES: [u32; 2] = [4, 16];
const DISTANCES: [i64; 3] = [1, 10, 100];

fn main() {
    let (mut presets, mut threads, mut graphs) = (vec![MapPreset::Eco], vec![1], vec!["geometric", "mesh"]);
    let (mut sizes, mut seed) = (10..=20, 0);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for argument in &arguments {
        let (key, value) = argument.split_once('=').unwrap_or((argument, ""));
        let number = |text: &str| text.parse::<usize>().expect("a number");
        match key {
            "preset" => {
                let preset = |name: &str| MapPreset::ALL.into_iter().find(|preset| preset.name() == name);
                presets = value.split(',').map(|name| preset(name).expect("a preset")).collect();
            }
            "threads" => threads = value.split(',').map(number).collect(),
            "graph" => graphs = value.split(',').collect(),
            "sizes" => {
                let (first, last) = value.split_once('-').unwrap_or((value, value));
                sizes = number(first)..=number(last);
            }
            "seed" => seed = number(value) as u64,
            _ => {} // cargo passes options of its own
        }
    }
    println!(
        "preset  graph          n thr            J  reading  construction   search  us/process  growth  to first    MiB"
    );
    for preset in presets {
        for &graph in &graphs {
            // Microseconds for each process at the size before, by number of threads.
            let mut before = vec![None; threads.len()];
            for log_size in sizes.clone() {
                let instance = Instance::new(graph, 1 << log_size);
                let mut first: Option<Run> = None;
                for (&threads, before) in threads.iter().zip(&mut before) {
                    let config = MapConfig { seed, threads, ..MapConfig::preset(preset) };
                    let run = instance.run(&config);
                    let each = 1e6 * (instance.reading + run.seconds()) / (1usize << log_size) as f64;
                    let growth = before.replace(each).map_or(1.0, |before| each / before);
                    let first = first.get_or_insert_with(|| run.clone());
                    assert!(run.mapping == first.mapping, "{threads} threads give another mapping");
                    println!(
                        "{:6}  {graph:9} {:>7} {threads:3} {:12} {:8.3} {:13.3} {:8.3} {each:11.2} {growth:7.2} {:9.2} {:>6}",
                        preset.name(),
                        1usize << log_size,
                        run.cost,
                        instance.reading,
                        run.construction,
                        run.search,
                        run.seconds() / first.seconds(),
                        run.mebibytes.map_or("-".to_string(), |mebibytes| mebibytes.to_string()),
                    );
                }
            }
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
        let graph = match name {
            "geometric" => generate::random_geometric(num_processes, 13.0, 1),
            "mesh" => {
                let width = 1 << num_processes.ilog2().div_ceil(2);
                generate::mesh(width, num_processes / width, 1)
            }
            _ => panic!("graph is geometric or mesh"),
        };
        let mut text = Vec::new();
        let content = Content { node_weights: false, edge_weights: false };
        metis::write(&mut text, &graph, content).expect("memory takes everything");
        let start = Instant::now();
        let source = Source::new(name, text.as_slice()).expect("a text");
        let graph = metis::read(source, NodeWeights::Ignore).expect("a graph");
        let reading = start.elapsed().as_secs_f64();
        let inner: usize = ARITIES.iter().map(|&arity| arity as usize).product();
        let outermost = (num_processes / inner) as u32;
        let arities = ARITIES.into_iter().chain([outermost]).collect();
        let hierarchy = Hierarchy::new(arities, DISTANCES.to_vec()).expect("a machine");
        let text = String::from_utf8(text).expect("digits, spaces and line ends");
        Self { text, graph, hierarchy, reading }
    }

    fn run(&self, config: &MapConfig) -> Run {
        let before = memory::restart_peak();
        let solution = solve(&self.graph, &self.hierarchy, config, None, &()).expect("a mapping");
        let mebibytes = before.zip(memory::peak()).map(|(before, peak)| peak.saturating_sub(before) >> 10);
        let lines: String = solution.mapping.as_slice().iter().map(|pe| format!("{pe}\n")).collect();
        let arities: Vec<u64> = self.hierarchy.arities().iter().map(|&arity| u64::from(arity)).collect();
        let audited = viem::verify::audit(&self.text, &lines, &arities, &DISTANCES.map(|d| d as u64));
        assert_eq!(audited, Ok(solution.report.cost as u128));
        Run {
            mapping: solution.mapping,
            cost: solution.report.cost,
            construction: solution.report.seconds.construction,
            search: solution.report.seconds.search,
            mebibytes,
        }
    }
}

/// Resident memory of this process in KiB, as Linux tells it.
mod memory {
    fn status(key: &str) -> Option<usize> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// Forgets the peak so far; the memory at hand.
    pub fn restart_peak() -> Option<usize> {
        std::fs::write("/proc/self/clear_refs", "5").ok()?;
        status("VmRSS:")
    }

    /// The most memory since.
    pub fn peak() -> Option<usize> {
        status("VmHWM:")
    }
}
