//! Subsets of a machine: each set of five PEs of a mesh of eight, connected or not.
//!
//! A many-to-one mapping is compared with a method that does not know the machine: a partition into five
//! blocks, which are placed optimally by enumeration.
//!
//! Pellegrini: Process mapping onto complex architectures and partitions thereof. 2015 (the figure of the
//! graph bump).

use viem::base::types::{Cost, PeId};
use viem::machine::{Blocks, Grid, Listed};
use viem::mapping::objective::score;
use viem::solve::{Balance, MapPreset, Objective};
use viem::{PreparedMachine, Request};

use super::Run;
use crate::common::{fail, geometric_mean};

const PES: usize = 8;
const BLOCKS: usize = 5;

/// One line for each graph: J of the many-to-one mapping relative to that of the partition.
pub fn table(run: &Run, preset: MapPreset) {
    for (name, graph) in run.graphs(|name| name == "bump") {
        let config = run.config(preset, 0);
        let equal = Blocks::equal(BLOCKS).unwrap_or_else(|error| fail(error));
        let prepared = PreparedMachine::new(&equal);
        let balance = Balance::default().with_imbalance(run.imbalance / 100.0);
        let request = Request::new(&graph, &prepared).balanced(balance).minimise(Objective::Cut);
        let partition = request.solve(&config).unwrap_or_else(|error| fail(error)).mapping;
        let blocks = partition.quotient(&graph, BLOCKS);
        let (mut ratios, mut worst) = (Vec::new(), (0.0, String::new()));
        for subset in subsets() {
            let mesh = Grid::mesh(&[2, 4]).unwrap_or_else(|error| fail(error));
            let machine = Listed::new(mesh, subset.clone()).unwrap_or_else(|error| fail(error));
            let placed =
                |order: &Vec<PeId>| score(&blocks, &machine, order).unwrap_or_else(|error| fail(error));
            let relabelled: Cost = orders().iter().map(placed).min().unwrap_or(0);
            let direct = run.map(&graph, &machine, &config).report.cost;
            let ratio = direct as f64 / relabelled as f64;
            ratios.push(ratio);
            if ratio > worst.0 {
                worst = (ratio, format!("{direct} beside {relabelled} on the PEs {subset:?}"));
            }
        }
        println!(
            "{} {name} onto {} subsets of mesh:2x4: J over that of a partition {:.4}, worst {:.4} ({})",
            preset.name(),
            ratios.len(),
            geometric_mean(&ratios),
            worst.0,
            worst.1
        );
    }
}

/// All sets of five PEs.
fn subsets() -> impl Iterator<Item = Vec<PeId>> {
    let members = |set: u32| (0..PES as PeId).filter(move |pe| set >> pe & 1 == 1).collect::<Vec<_>>();
    (0..1u32 << PES).filter(|set| set.count_ones() as usize == BLOCKS).map(members)
}

/// All orders of the blocks.
fn orders() -> Vec<Vec<PeId>> {
    let mut orders = vec![Vec::new()];
    for next in 0..BLOCKS as PeId {
        let insert = |order: Vec<PeId>| {
            (0..=order.len()).map(move |place| {
                let mut longer = order.clone();
                longer.insert(place, next);
                longer
            })
        };
        orders = orders.into_iter().flat_map(insert).collect();
    }
    orders
}
