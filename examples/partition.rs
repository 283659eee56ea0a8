//! A mesh divided into 8 blocks of equal weight with few edges between them.

use std::error::Error;

use viem::graph::generate;
use viem::{PartitionPreset, Partitioner, Targets};

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = generate::mesh(100, 80, 1);
    let targets = Targets::equal(&mesh, 8, 0.03)?;
    let partition = Partitioner::new(PartitionPreset::Eco, 0).partition(&mesh, &targets);
    println!("{} of {} edges are cut", partition.cut(), mesh.num_edges());
    println!("weights of the blocks: {:?}", partition.block_weights());
    println!("vertex 0 is in block {}", partition.blocks()[0]);
    Ok(())
}
