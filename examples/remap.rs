//! A mesh in 16 blocks, one of which becomes slow and another is removed: the cost of keeping most vertices in
//! place.

use std::error::Error;

use viem::graph::generate;
use viem::machine::Blocks;
use viem::partition::{PreviousAssignment, Remapping, RemovedBlocks};
use viem::solve::{Balance, Objective};
use viem::{Config, PreparedMachine, Request};

fn main() -> Result<(), Box<dyn Error>> {
    let (mesh, config) = (generate::mesh(80, 60, 1), Config::eco());
    let partition =
        |machine| Request::new(&mesh, machine).balanced(Balance::default()).minimise(Objective::Cut);
    let blocks = Blocks::equal(16)?;
    let machine = PreparedMachine::new(&blocks);
    let old = partition(&machine).solve(&config)?;
    println!("before: {} edges are cut by 16 blocks", old.report.cut);

    // Block 5 was removed, so block 6 is now block 5; block 0 has half the speed of the others.
    let homes = PreviousAssignment::after(old.mapping.pes(), RemovedBlocks(&[5]), 15)?;
    let mut speeds = vec![2; 15];
    speeds[0] = 1;
    let (blocks, weight) = (Blocks::proportional(speeds)?, "0.1".parse()?);
    let machine = PreparedMachine::new(&blocks);
    let remapping = Remapping::new(&homes, weight).with_curve();
    let found = partition(&machine).previous(remapping).solve_for_weights(&config)?;
    let new = &found.best(weight)?.report;
    println!(
        "after: {} edges are cut, {} vertices migrate",
        new.cut,
        new.migration.unwrap_or_default().vertices
    );

    println!("weight of migration, cut, vertices that migrate:");
    for point in found.curve() {
        println!("{:>10} {:>6} {:>6}", point.migration_weight, point.cost, point.migration.vertices);
    }
    Ok(())
}
