//! A simulation on a mesh of 16 x 16 cells, mapped to a torus of 8 x 8 x 4 nodes.

use std::error::Error;

use viem::Grid;
use viem::graph::generate;
use viem::solve::{Config, MapPreset, PreparedMachine, Request};

fn main() -> Result<(), Box<dyn Error>> {
    let traffic = generate::grid(16, 16);
    let machine = Grid::torus(&[8, 8, 4])?;
    let config = Config::preset(MapPreset::Fast).with_seed(1);
    let report = Request::new(&traffic, &PreparedMachine::new(&machine)).solve(&config)?.report;
    let mean = |cost: i64| cost as f64 / traffic.total_arc_weight() as f64;
    println!("hops of a message: {:.3}, {:.3} before", mean(report.cost), mean(report.cost_of_identity));
    Ok(())
}
