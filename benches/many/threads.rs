//! The time saved by a second thread, and the memory of a mapping.

use std::time::Instant;

use super::Run;
use crate::common::{Table, memory};
use viem::solve::MapPreset;

/// Graphs with fewer vertices are skipped unless they are named.
const LEAST_NODES: usize = 50_000;

/// One row for each graph and machine. Both numbers of threads must give the same mapping.
pub fn table(run: &Run, preset: MapPreset) {
    println!("{}: seconds on the clock", preset.name());
    let table = Table::new([("graph", 24), ("J", 12), ("one", 8), ("two", 8), ("ratio", 8), ("MiB", 6)]);
    let mut graphs = run.graphs(|_| true);
    graphs.retain(|(_, graph)| graph.num_nodes() > LEAST_NODES || !run.graphs.is_empty());
    for (name, graph) in graphs {
        for spec in &run.machines {
            let machine = run.machine(spec);
            let before = memory::restart_peak();
            let [one, two] = [1, 2].map(|threads| {
                let config = run.config(preset, 0).with_threads(threads);
                let begin = Instant::now();
                let solution = run.map(&graph, machine.as_ref(), &config);
                (solution, begin.elapsed().as_secs_f64())
            });
            let used = before.zip(memory::peak()).map(|(before, peak)| peak.saturating_sub(before) >> 10);
            assert_eq!(one.0.mapping, two.0.mapping, "{name} {spec}");
            let [ratio, first, second] = [two.1 / one.1, one.1, two.1].map(|number| format!("{number:.3}"));
            let memory = used.map_or_else(|| "-".to_owned(), |used| used.to_string());
            table.row([
                format!("{name} {spec}"),
                one.0.report.cost.to_string(),
                first,
                second,
                ratio,
                memory,
            ]);
        }
    }
}
