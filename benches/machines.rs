//! Quality and time of mapping to any machine, compared with recorded peers: every pair of a machine and a
//! model.
//!
//! ```text
//! VIEM_MACHINES=folder VIEM_MODELS=folder:folder VIEM_PEERS=machines.tsv cargo bench --bench machines -- [options]
//!     preset=fast,eco  machine=torus,mesh  seeds=3  threads=1  table  improvement.anywhere.cooling.proposals=4000
//! ```
//!
//! Machines are files of any kind that the programs read, models are METIS graphs (`NAME.graph` in one of the
//! folders). The peers' file has the columns machine, model, tool, J. Lines of the tool `best-known` contain
//! the smallest known J. For each preset, the benchmark prints the geometric mean of J relative to each peer,
//! the worst pair relative to the best known, the number of pairs that match it, and the total seconds,
//! overall and for pairs of at least 512 processes. `table` prints every pair. Every setting can be changed
//! by its name in `OneToOneConfig`, with dots between nested settings. J is recomputed by the independent
//! auditor.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use common::{MapRun, Table, audited_cost_on, changed, columns, fail, geometric_mean, number_in, read_graph};
use viem::graph::CsrGraph;
use viem::machine::Machine;
use viem::solve::{Config, MapPreset, PreparedMachine, Request, Solution};
use viem_io::metis::NodeWeights;

/// Pairs of at least this many processes are included in the time of large pairs.
const TIMED: usize = 512;

const BEST_KNOWN: &str = "best-known";

/// A machine, a model, and the results of peers.
struct Pair {
    machine_name: String,
    model_name: String,
    machine_file: PathBuf,
    machine: Box<dyn Machine>,
    graph: CsrGraph,
    /// The file of the graph, for the auditor.
    text: String,
    /// J by tool.
    peers: BTreeMap<String, f64>,
}

impl Pair {
    fn read(machine_name: &str, model_name: &str, machines: &str, models: &str) -> Self {
        let machine_file = Path::new(machines).join(machine_name);
        let files = models.split(':').map(|folder| Path::new(folder).join(format!("{model_name}.graph")));
        let graph_file = files.into_iter().find(|file| file.exists());
        let graph_file = graph_file.unwrap_or_else(|| fail(format!("{model_name}.graph is not in {models}")));
        Self {
            machine_name: machine_name.to_string(),
            model_name: model_name.to_string(),
            machine: viem_cluster::build(&machine_file.to_string_lossy(), None)
                .unwrap_or_else(|error| fail(error)),
            machine_file,
            graph: read_graph(&graph_file, NodeWeights::Ignore),
            text: std::fs::read_to_string(&graph_file).unwrap_or_else(|error| fail(error)),
            peers: BTreeMap::new(),
        }
    }

    fn best_known(&self) -> f64 {
        self.peers.get(BEST_KNOWN).copied().filter(|&cost| cost > 0.0).unwrap_or(f64::NAN)
    }
}

fn main() {
    let run = MapRun::read("machine");
    let folders = ["VIEM_MACHINES", "VIEM_MODELS", "VIEM_PEERS"].map(std::env::var);
    let [Ok(machines), Ok(models), Ok(peers)] = folders else {
        println!(
            "machines: set VIEM_MACHINES and VIEM_MODELS to folders of machines and of models, and VIEM_PEERS to \
             what peers reached on them"
        );
        return;
    };
    let pairs = pairs(&machines, &models, &peers, &run);
    for &preset in &run.presets {
        map(preset, &pairs, &run);
    }
}

fn pairs(machines: &str, models: &str, peers: &str, run: &MapRun) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    for [machine, model, tool, cost] in columns(peers, ["machine", "model", "tool", "J"]) {
        if !run.wants(&machine) {
            continue;
        }
        let index = pairs.iter().position(|pair| pair.machine_name == machine && pair.model_name == model);
        let index = index.unwrap_or_else(|| {
            pairs.push(Pair::read(&machine, &model, machines, models));
            pairs.len() - 1
        });
        pairs[index].peers.extend(number_in(&cost).map(|cost| (tool, cost)));
    }
    pairs
}

/// Maps all pairs with a preset and prints a summary.
fn map(preset: MapPreset, pairs: &[Pair], run: &MapRun) {
    let mut config = Config::preset(preset);
    config.one_to_one = changed(&config.one_to_one, &run.changes).unwrap_or_else(|message| fail(message));
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let (mut worst, mut matched, mut seconds, mut timed) = ((0.0, ""), 0, 0.0, 0.0);
    let headings =
        [("machine", 28), ("model", 28), ("seed", 0), ("J", 12), ("over best known", 0), ("seconds", 0)];
    let table = run.table.then(|| Table::new(headings));
    for (pair, seed) in pairs.iter().flat_map(|pair| (0..run.seeds).map(move |seed| (pair, seed))) {
        let config = config.with_seed(seed).with_threads(run.threads);
        let begin = Instant::now();
        let Solution { mapping, report, .. } =
            Request::new(&pair.graph, &PreparedMachine::new(&*pair.machine))
                .solve(&config)
                .unwrap_or_else(|error| fail(error));
        let taken = begin.elapsed().as_secs_f64();
        seconds += taken;
        timed += if pair.graph.num_nodes() >= TIMED { taken } else { 0.0 };
        let audited = audited_cost_on(&pair.text, &mapping, &pair.machine_file);
        assert_eq!(audited, report.cost as u128, "{}", pair.machine_name);
        let cost = report.cost as f64;
        for (tool, peer) in pair.peers.iter().filter(|(_, peer)| **peer > 0.0) {
            ratios.entry(tool).or_default().push(cost / peer);
        }
        let over_known = cost / pair.best_known();
        if over_known > worst.0 {
            worst = (over_known, &pair.machine_name);
        }
        matched += usize::from(over_known <= 1.0);
        if let Some(table) = &table {
            table.row([
                pair.machine_name.clone(),
                pair.model_name.clone(),
                format!("{seed}"),
                format!("{cost}"),
                format!("{over_known:.4}"),
                format!("{taken:.3}"),
            ]);
        }
    }
    let means = ratios.iter().map(|(tool, ratios)| format!("{tool} {:.4}", geometric_mean(ratios)));
    println!(
        "{}: J over {}; worst {:.4} ({}); best known reached {matched}/{}; {seconds:.2} s, {timed:.2} s from {TIMED} \
         processes on",
        preset.name(),
        means.collect::<Vec<_>>().join(", "),
        worst.0,
        worst.1,
        pairs.len() as u64 * run.seeds,
    );
}
