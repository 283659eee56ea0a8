//! J with exact sizes compared with J with an imbalance.

use viem::mapping::solve::MapPreset;

use super::peers::{has_peer, peers};
use super::{Run, map};
use crate::common::{Table, geometric_mean};

/// One row for each graph and machine.
pub fn table(run: &Run, preset: MapPreset) {
    let peers = peers();
    println!("{}: exact sizes beside an imbalance of {} %", preset.name(), run.imbalance);
    let table = Table::new([("graph", 24), ("J", 12), ("J, exact", 12), ("ratio", 8), ("overload", 0)]);
    let mut ratios = Vec::new();
    for (name, graph) in run.graphs(|name| has_peer(peers.as_ref(), name)) {
        for spec in &run.machines {
            let machine = run.machine(spec);
            for seed in 0..run.seeds {
                let config = run.config(preset, seed);
                let relaxed = map(&graph, machine.as_ref(), &config).report.cost;
                let report = map(&graph, machine.as_ref(), &config.with_imbalance(0.0)).report;
                let ratio = report.cost.max(1) as f64 / relaxed.max(1) as f64;
                ratios.push(ratio);
                let [cost, exact, overload] =
                    [relaxed, report.cost, report.loads.overload].map(|n| n.to_string());
                table.row([format!("{name} {spec}"), cost, exact, format!("{ratio:.4}"), overload]);
            }
        }
    }
    println!("mean {:.4}", geometric_mean(&ratios));
}
