//! The package as its users call it.

mod cluster;
#[path = "../../../../tests/common/estimate.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod estimate;
#[path = "../../../../tests/common/files.rs"]
#[allow(dead_code)] // each test program uses a part of it
mod files;
mod hwloc;
#[path = "../../../../tests/common/reader.rs"]
mod reader;
mod readers;
mod spec;

use viem::base::types::{Distance, PeId};
use viem::machine::{DistanceOracle as _, Machine};

/// All distances of a machine, by PE and PE.
fn table(machine: &dyn Machine) -> Vec<Vec<Distance>> {
    let (distances, pes) = (machine.distances().expect("a small machine"), 0..machine.num_pes() as PeId);
    pes.clone().map(|p| pes.clone().map(|q| distances.distance(p, q)).collect()).collect()
}
