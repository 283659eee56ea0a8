//! Quality and time of mapping, compared with recorded peers: every model with every preset.
//!
//! ```text
//! VIEM_MODELS=folder VIEM_PEERS=mapping.tsv cargo bench --bench mapping -- [options]
//!     preset=fast,eco  model=cs4,wing  seeds=3  threads=1  table  improvement.rebuilding=200
//! ```
//!
//! The folder contains models (`*.graph`). The peers' file, which `benches/tables` can write, has the columns
//! model, hierarchy, distances, tool, J; it defines the machine of each model. Lines of the tool `best-known`
//! contain the smallest known J; those of `identity` are not a peer. For each preset, the benchmark prints
//! the geometric mean of J relative to each peer, the worst model relative to its best peer, the number of
//! models that match the best known, and the total seconds. `table` prints every model. Every setting can be
//! changed by its name in `OneToOneConfig`, with dots between nested settings. J and the permutation are
//! recomputed by the independent auditor.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use common::{MapRun, Table, audited_cost, changed, columns, fail, geometric_mean, number_in, read_graph};
use viem::graph::CsrGraph;
use viem::machine::Hierarchy;
use viem::solve::{Config, MapPreset, PreparedMachine, Request, Solution};
use viem_io::metis::NodeWeights;

/// A model, its machine, and the results of peers.
struct Model {
    name: String,
    /// The file, for the auditor.
    text: String,
    graph: CsrGraph,
    hierarchy: Hierarchy,
    /// J by tool.
    peers: BTreeMap<String, f64>,
}

impl Model {
    fn best_peer(&self) -> f64 {
        let tools =
            self.peers.iter().filter(|(tool, _)| !["best-known", "identity"].contains(&tool.as_str()));
        tools.map(|(_, &cost)| cost).fold(f64::INFINITY, f64::min)
    }

    fn best_known(&self) -> f64 {
        self.peers.values().copied().fold(f64::INFINITY, f64::min)
    }

    /// J relative to that of the best peer and to the best known; 1 if there is none.
    fn ratios(&self, cost: f64) -> [f64; 2] {
        let is_known = |other: f64| other > 0.0 && other.is_finite();
        [self.best_peer(), self.best_known()].map(|other| if is_known(other) { cost / other } else { 1.0 })
    }
}

fn main() {
    let run = MapRun::read("model");
    let (Ok(folder), Ok(peers)) = (std::env::var("VIEM_MODELS"), std::env::var("VIEM_PEERS")) else {
        println!(
            "mapping: set VIEM_MODELS to a folder of models and VIEM_PEERS to what peers reached on them"
        );
        return;
    };
    let models = models(&folder, &peers, &run);
    for &preset in &run.presets {
        map(preset, &models, &run);
    }
}

fn models(folder: &str, peers: &str, run: &MapRun) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for [name, arities, distances, tool, cost] in
        columns(peers, ["model", "hierarchy", "distances", "tool", "J"])
    {
        if !run.wants(&name) {
            continue;
        }
        let index = models.iter().position(|model| model.name == name).unwrap_or_else(|| {
            let path = Path::new(folder).join(format!("{name}.graph"));
            let graph = read_graph(&path, NodeWeights::Ignore);
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| fail(error));
            let hierarchy = Hierarchy::parse(&arities, &distances).unwrap_or_else(|error| fail(error));
            models.push(Model { name, text, graph, hierarchy, peers: BTreeMap::new() });
            models.len() - 1
        });
        models[index].peers.extend(number_in(&cost).map(|cost| (tool, cost)));
    }
    models
}

/// Maps all models with a preset and prints a summary.
fn map(preset: MapPreset, models: &[Model], run: &MapRun) {
    let mut config = Config::preset(preset);
    config.one_to_one = changed(&config.one_to_one, &run.changes).unwrap_or_else(|message| fail(message));
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let (mut worst, mut matched, mut seconds) = ((0.0, ""), 0, 0.0);
    let table = run.table.then(|| {
        Table::new([
            ("model", 28),
            ("seed", 0),
            ("J", 12),
            ("over best peer", 0),
            ("over best known", 0),
            ("construction, s", 0),
            ("search, s", 0),
        ])
    });
    for (model, seed) in models.iter().flat_map(|model| (0..run.seeds).map(move |seed| (model, seed))) {
        let config = config.with_seed(seed).with_threads(run.threads);
        let start = Instant::now();
        let Solution { mapping, report, .. } =
            Request::new(&model.graph, &PreparedMachine::new(&model.hierarchy))
                .solve(&config)
                .unwrap_or_else(|error| fail(error));
        seconds += start.elapsed().as_secs_f64();
        let audited = audited_cost(&model.text, &mapping, &model.hierarchy);
        assert_eq!(audited, report.cost as u128, "{}", model.name);
        let cost = report.cost as f64;
        for (tool, peer) in model.peers.iter().filter(|(_, peer)| **peer > 0.0) {
            ratios.entry(tool).or_default().push(cost / peer);
        }
        let [over_peer, over_known] = model.ratios(cost);
        if over_peer > worst.0 {
            worst = (over_peer, &model.name);
        }
        matched += usize::from(cost <= model.best_known());
        if let Some(table) = &table {
            table.row([
                model.name.clone(),
                format!("{seed}"),
                format!("{cost}"),
                format!("{over_peer:.4}"),
                format!("{over_known:.4}"),
                format!("{:.3}", report.seconds.construction),
                format!("{:.3}", report.seconds.search),
            ]);
        }
    }
    let means = ratios.iter().map(|(tool, ratios)| format!("{tool} {:.4}", geometric_mean(ratios)));
    println!(
        "{}: J over {}; worst {:.4} ({}); best known reached {matched}/{}; {seconds:.2} s",
        preset.name(),
        means.collect::<Vec<_>>().join(", "),
        worst.0,
        worst.1,
        models.len() as u64 * run.seeds,
    );
}
