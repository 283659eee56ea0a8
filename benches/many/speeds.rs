//! PEs of unequal speed: loads and the cut, compared with those of equal PEs.

use viem::base::rng::Rng;
use viem::graph::CsrGraph;
use viem::machine::Capacities;
use viem::solve::MapPreset;

use super::Run;
use crate::common::fail;

const PES: usize = 20;
const DRAWS: u64 = 20;
const GREATEST_SPEED: u32 = 8;

/// One line for each graph. All PEs are at distance 1, so minimising J minimises the cut.
pub fn table(run: &Run, preset: MapPreset) {
    for (name, graph) in run.graphs(|name| ["3elt", "whitaker3", "fe_4elt2"].contains(&name)) {
        let equal = mapped(run, preset, &graph, vec![1; PES]);
        let mut rng = Rng::new(1);
        let (mut sum, mut least, mut greatest) = (0.0, f64::MAX, 0.0f64);
        for _ in 0..DRAWS {
            let speeds: Vec<u32> = (0..PES).map(|_| 1 + rng.below(GREATEST_SPEED)).collect();
            let Mapped { cut, fullness } = mapped(run, preset, &graph, speeds);
            sum += cut / equal.cut / DRAWS as f64;
            least = fullness.iter().copied().fold(least, f64::min);
            greatest = fullness.iter().copied().fold(greatest, f64::max);
        }
        println!(
            "{} {name} onto {PES} PEs, {DRAWS} draws of speeds 1 to {GREATEST_SPEED}: mean cut relative to that of equal PEs {sum:.4}; \
             load relative to share {least:.4} to {greatest:.4}",
            preset.name()
        );
    }
}

struct Mapped {
    cut: f64,
    /// The load of each PE divided by its share.
    fullness: Vec<f64>,
}

fn mapped(run: &Run, preset: MapPreset, graph: &CsrGraph, speeds: Vec<u32>) -> Mapped {
    let machine = run.machine(&format!("complete:{PES}"));
    let machine = Capacities::new(machine, speeds.clone()).unwrap_or_else(|error| fail(error));
    let solution = run.map(graph, &machine, &run.config(preset, 0));
    let mut loads = [0; PES];
    for (&weight, &pe) in graph.node_weights().iter().zip(solution.mapping.pes()) {
        loads[pe as usize] += weight;
    }
    let all: u32 = speeds.iter().sum();
    let share = |speed: u32| graph.total_node_weight() as f64 * f64::from(speed) / f64::from(all);
    let fullness = loads.iter().zip(&speeds).map(|(&load, &speed)| load as f64 / share(speed)).collect();
    Mapped { cut: solution.report.cut as f64, fullness }
}
