//! A mesh in 16 parts, one of which becomes slow and another is removed: the cost of keeping most vertices in
//! place.

use std::error::Error;

use viem::graph::generate;
use viem::partition::{Homes, Remapping};
use viem::{PartitionPreset, Partitioner, Targets};

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = generate::mesh(80, 60, 1);
    let partitioner = Partitioner::new(PartitionPreset::Eco, 0);
    let old = partitioner.partition(&mesh, &Targets::equal(&mesh, 16, 0.03)?);
    println!("before: {} edges are cut by 16 parts", old.cut());

    // Part 5 was removed, so part 6 is now part 5; part 0 has half the speed of the others.
    let homes = Homes::new(old.blocks(), &[5], 15)?;
    let mut speeds = [2; 15];
    speeds[0] = 1;
    let targets = Targets::proportional(&mesh, &speeds, 0.03)?;
    let new = partitioner.remap(&mesh, &targets, &homes, "0.1".parse()?)?;
    println!(
        "after: {} edges are cut, {} vertices change place",
        new.partition.cut(),
        new.migration.vertices
    );

    println!("weight of migration, cut, vertices that change place:");
    let remapping = Remapping::new(&homes, "0.1".parse()?).with_curve();
    for point in partitioner.remap_for(&mesh, &targets, remapping, &())?.curve() {
        println!("{:>10} {:>6} {:>6}", point.migration_weight, point.cost, point.migration.vertices);
    }
    Ok(())
}
