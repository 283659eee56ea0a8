//! A job on some nodes of a cluster: the processes are mapped to the cores that the batch system allocated.

use std::error::Error;

use viem::graph::generate;
use viem::solve::{Config, PreparedMachine, Request};
use viem::{Hierarchy, Listed, score};

fn main() -> Result<(), Box<dyn Error>> {
    // 8 cores per node, 4 nodes per rack, 16 racks. The job has nodes 3, 4, 5 and 17.
    let cluster = Hierarchy::parse("8:4:16", "1:10:40")?;
    let cores: Vec<u32> = [3, 4, 5, 17].into_iter().flat_map(|node| node * 8..(node + 1) * 8).collect();
    let job = Listed::new(&cluster, cores)?;

    let traffic = generate::grid(8, 4);
    let solution = Request::new(&traffic, &PreparedMachine::new(&job)).solve(&Config::default())?;
    // PEs of the job are numbered from 0; these are the cores of the cluster.
    let cores: Vec<u32> = solution.mapping.pes().iter().map(|&pe| job.list()[pe as usize]).collect();
    println!("J = {}, processes on cores {cores:?}", solution.report.cost);
    assert_eq!(score(&traffic, &cluster, &cores)?, solution.report.cost);
    Ok(())
}
