//! J with exact sizes compared with J with an imbalance.

use super::Run;
use super::peers::{has_peer, peers};
use crate::common::{Table, geometric_mean};
use viem::solve::MapPreset;

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
                let relaxed = run.map(&graph, machine.as_ref(), &config).report.cost;
                let exact = Run { imbalance: 0.0, ..run.clone() };
                let report = exact.map(&graph, machine.as_ref(), &config).report;
                let ratio = report.cost.max(1) as f64 / relaxed.max(1) as f64;
                ratios.push(ratio);
                let [cost, exact, overload] =
                    [relaxed, report.cost, report.loads.unwrap().overload].map(|n| n.to_string());
                table.row([format!("{name} {spec}"), cost, exact, format!("{ratio:.4}"), overload]);
            }
        }
    }
    println!("mean {:.4}", geometric_mean(&ratios));
}
