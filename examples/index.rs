//! Orders a mesh along a Hilbert curve once, and partitions it again along that order whenever the speeds of
//! the nodes change.

use std::error::Error;

use viem::Targets;
use viem::graph::Coordinates;
use viem::graph::generate;
use viem::partition::PartitionInput;
use viem::partition::{OrderIndex, PartitionAlgorithm, PartitionQuality};

fn main() -> Result<(), Box<dyn Error>> {
    let (width, height) = (100, 80);
    let mesh = generate::mesh(width, height, 1);
    let points = (0..width * height).flat_map(|node| [(node % width) as f64, (node / width) as f64]);
    let points = Coordinates::new(2, points.collect())?;
    let order = PartitionAlgorithm::Hilbert.order(&PartitionInput::new(&mesh).with_coordinates(&points))?;
    let index = OrderIndex::of_order(&order).ok_or("an order has each vertex once")?;
    for speeds in [[1, 1, 1, 1], [1, 1, 1, 4], [2, 0, 1, 4]] {
        let targets = Targets::proportional(&mesh, &speeds, 0.0)?;
        let blocks = index.cut(mesh.node_weights(), &targets);
        let PartitionQuality { cut_edges, loads, .. } = PartitionQuality::of(&mesh, &blocks, speeds.len());
        println!("speeds {speeds:?}: loads {loads:?}, {cut_edges} edges are cut");
    }
    Ok(())
}
