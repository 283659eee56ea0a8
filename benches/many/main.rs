//! Many-to-one mapping: J, time, exact sizes, threads, subsets of machines, unequal PEs.
//!
//! ```text
//! VIEM_GRAPHS=folder [VIEM_PEERS=many.tsv] cargo bench --bench many -- [options]
//!     what=peers  preset=fast,eco  machine=4:8:2,4:8:6  distances=1:10:100  imbalance=3  graph=crack,cs4  seeds=1
//!     threads=1  table  whole.flow.rounds=3  sections.k_way.rounds=2
//! ```
//!
//! | `what` | table | default graphs |
//! |---|---|---|
//! | `peers` | J and time compared with recorded peers, and with `table` of every pair | those of the peers |
//! | `exact` | J with exact sizes relative to J with the imbalance | those of the peers |
//! | `threads` | wall-clock time with one thread and with two, memory | those of the folder with more than 50 000 vertices |
//! | `subsets` | J on each subset of five PEs of `mesh:2x4`, compared with partitioning and the best relabelling | bump |
//! | `speeds` | loads and cut with 20 PEs of random speeds, compared with equal ones | 3elt, whitaker3, fe_4elt2 |
//!
//! The folder contains METIS graphs (`*.graph`); the peers' file has the columns graph, hierarchy, distances,
//! tool, J, seconds. The graphs `mesh16` and `mesh20` are triangulated grids of 2^16 and 2^20 vertices. Every
//! setting can be changed by its name in
//! [`ManyToOnePartitionConfig`](viem::partition::ManyToOnePartitionConfig). Means are geometric. With one
//! thread, times are CPU times; with more, wall-clock times.

#[path = "../common/mod.rs"]
mod common;
mod exact;
mod peers;
mod speeds;
mod subsets;
mod threads;

use common::{Options, changed, fail, graphs_of, read_graph};
use viem::graph::{CsrGraph, generate};
use viem::machine::Machine;
use viem::solve::{Balance, Config, MapPreset, PreparedMachine, Request, Solution};
use viem_io::metis::NodeWeights;

/// A table: its name, and the function that prints it for one preset.
type Table = (&'static str, fn(&Run, MapPreset));

const TABLES: [Table; 5] = [
    ("peers", peers::table),
    ("exact", exact::table),
    ("threads", threads::table),
    ("subsets", subsets::table),
    ("speeds", speeds::table),
];

#[derive(Clone)]
struct Run {
    presets: Vec<MapPreset>,
    machines: Vec<String>,
    distances: Option<String>,
    /// In percent.
    imbalance: f64,
    /// Names of graphs; the default graphs of the table if empty.
    graphs: Vec<String>,
    seeds: u64,
    threads: usize,
    table: bool,
    /// Changes to the settings of the presets.
    changes: Vec<(String, String)>,
}

impl Run {
    fn read(options: &mut Options) -> Result<Self, String> {
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
    }

    /// A machine with its distances: as given, or 1:10:100 for trees.
    fn machine(&self, spec: &str) -> Box<dyn Machine> {
        let is_tree = spec.starts_with(|first: char| first.is_ascii_digit());
        let distances = self.distances.as_deref().or(is_tree.then_some("1:10:100"));
        Box::new(viem_cluster::build(spec, distances).unwrap_or_else(|error| fail(error)))
    }

    fn config(&self, preset: MapPreset, seed: u64) -> Config {
        let mut config = Config::preset(preset).with_seed(seed).with_threads(self.threads);
        let settings = &mut config.many_to_one.settings;
        *settings = changed(settings, &self.changes).unwrap_or_else(|message| fail(message));
        config
    }

    fn map(&self, graph: &CsrGraph, machine: &dyn Machine, config: &Config) -> Solution {
        let balance = Balance::default().with_imbalance(self.imbalance / 100.0);
        let machine = PreparedMachine::new(machine);
        let solution = Request::new(graph, &machine).balanced(balance).solve(config);
        solution.unwrap_or_else(|error| fail(error))
    }

    /// The graphs given by name, or those of the folder whose names are wanted.
    fn graphs(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, CsrGraph)> {
        let named = |name: &str| self.graphs.iter().any(|wanted| wanted == name);
        let mut graphs = Vec::new();
        if let Ok(folder) = std::env::var("VIEM_GRAPHS") {
            let mut found = graphs_of(&folder);
            found.retain(|(name, _)| if self.graphs.is_empty() { is_wanted(name) } else { named(name) });
            graphs.extend(found.into_iter().map(|(name, path)| (name, read_graph(&path, NodeWeights::Read))));
        }
        for (name, side) in [("mesh16", 1 << 8), ("mesh20", 1 << 10)] {
            if named(name) {
                graphs.push((name.to_owned(), generate::mesh(side, side, 1)));
            }
        }
        if graphs.is_empty() {
            println!("no graphs: set VIEM_GRAPHS to a folder that has them, or give graph=mesh16");
        }
        graphs
    }
}

fn main() {
    let (tables, run) = Options::read(|options| {
        let tables = options.members("what", &TABLES, |table| table.0, &TABLES[..1])?;
        Ok((tables, Run::read(options)?))
    });
    for (_, table) in tables {
        run.presets.iter().for_each(|&preset| table(&run, preset));
    }
}
