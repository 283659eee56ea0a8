//! Quality and time of mapping beside recorded peers: every model with every preset.
//!
//! ```text
//! VIEM_MODELS=folder VIEM_PEERS=mapping.tsv cargo bench --bench mapping -- [options]
//!     preset=fast,eco  model=cs4,wing  seeds=3  threads=1  table
//! ```
//!
//! The folder holds models (`*.graph`). The peers' file has the columns model, hierarchy, distances, tool, J,
//! seconds; it tells what machine a model is mapped to. Lines of the tool `best-known` are the least J
//! known, those of `identity` are no peer. Printed are, for each preset, the geometric mean of J over each peer, the
//! worst model beside its best peer, how many models match the best known, and the seconds in all;
//! `table` prints every model. J and the permutation are recomputed by the independent auditor.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use viem::graph::CsrGraph;
use viem::solve::{MapConfig, MapPreset, solve};
use viem::topology::Hierarchy;

/// A model, its machine and what others reached.
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
}

fn models(folder: &str, peers: &str, wanted: &[String]) -> Vec<Model> {
    let text = std::fs::read_to_string(peers).expect("the peers' file can be read");
    let mut models: Vec<Model> = Vec::new();
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[name, arities, distances, tool, cost, ..] = columns.as_slice() else {
            panic!("a line with columns model, hierarchy, distances, tool, J: {line}");
        };
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let index = models.iter().position(|model| model.name == name).unwrap_or_else(|| {
            let path = Path::new(folder).join(format!("{name}.graph"));
            let text = std::fs::read_to_string(&path).expect("a readable model");
            let source = viem::io::Source::new(name, text.as_bytes()).expect("a text");
            let graph = viem::io::metis::read(source, viem::io::metis::NodeWeights::Ignore).expect("a model");
            let hierarchy = Hierarchy::parse(arities, distances).expect("a hierarchy");
            models.push(Model { name: name.to_string(), text, graph, hierarchy, peers: BTreeMap::new() });
            models.len() - 1
        });
        models[index].peers.insert(tool.to_string(), cost.parse().expect("a number"));
    }
    models
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp()
}

fn main() {
    let (mut presets, mut wanted) = (MapPreset::ALL.to_vec(), Vec::new());
    let (mut seeds, mut threads, mut table) = (1u64, 1, false);
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').unwrap_or((&argument, ""));
        let list = || value.split(',').map(str::to_owned);
        match key {
            "preset" => {
                let preset = |name: String| MapPreset::ALL.into_iter().find(|p| p.name() == name);
                presets = list().map(|name| preset(name).expect("a preset")).collect();
            }
            "model" => wanted = list().collect(),
            "seeds" => seeds = value.parse().expect("a number"),
            "threads" => threads = value.parse().expect("a number"),
            "table" => table = true,
            _ => {} // cargo passes options of its own
        }
    }
    let (Ok(folder), Ok(peers)) = (std::env::var("VIEM_MODELS"), std::env::var("VIEM_PEERS")) else {
        println!("set VIEM_MODELS to a folder of models and VIEM_PEERS to what peers reached on them");
        return;
    };
    let models = models(&folder, &peers, &wanted);
    for preset in presets {
        let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let (mut worst, mut matched, mut seconds) = ((0.0, ""), 0, 0.0);
        for model in &models {
            for seed in 0..seeds {
                let config = MapConfig { seed, threads, ..MapConfig::preset(preset) };
                let start = Instant::now();
                let solution = solve(&model.graph, &model.hierarchy, &config, None, &()).expect("a mapping");
                let took = start.elapsed().as_secs_f64();
                let cost = audited(model, &solution.mapping, solution.report.cost);
                seconds += took;
                for (tool, peer) in &model.peers {
                    ratios.entry(tool).or_default().push(cost / peer);
                }
                let over_peer = cost / model.best_peer();
                if over_peer > worst.0 {
                    worst = (over_peer, &model.name);
                }
                matched += usize::from(cost <= model.best_known());
                if table {
                    println!(
                        "{:7} {:28} seed {seed}  J {cost:>11}  best peer {over_peer:.4}  best known {:.4}  \
                         construction {:.3} s  search {:.3} s",
                        preset.name(),
                        model.name,
                        cost / model.best_known(),
                        solution.report.seconds.construction,
                        solution.report.seconds.search,
                    );
                }
            }
        }
        let runs = models.len() as u64 * seeds;
        let means: Vec<String> =
            ratios.iter().map(|(tool, ratios)| format!("{tool} {:.4}", geometric_mean(ratios))).collect();
        println!(
            "{:7} J over {}; worst {:.4} ({}); best known reached {matched}/{runs}; {seconds:.2} s",
            preset.name(),
            means.join(", "),
            worst.0,
            worst.1
        );
    }
}

/// J as the auditor recomputes it; panics if it is not what was reported.
fn audited(model: &Model, mapping: &viem::mapping::Mapping, reported: i64) -> f64 {
    let lines: String = mapping.as_slice().iter().map(|pe| format!("{pe}\n")).collect();
    let arities: Vec<u64> = model.hierarchy.arities().iter().map(|&arity| u64::from(arity)).collect();
    let distances: Vec<u64> = model.hierarchy.distances().iter().map(|&distance| distance as u64).collect();
    let cost = viem::verify::audit(&model.text, &lines, &arities, &distances).expect("a permutation");
    assert_eq!(cost, reported as u128, "{}", model.name);
    cost as f64
}
