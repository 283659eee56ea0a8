//! From recorded traffic to a mapping on a tree: 4 cores per processor, 2 processors per node, 2 nodes.
//!
//! Prints the core of each process, in the output format of `viem`.

use std::error::Error;
use std::path::Path;

use viem::Hierarchy;
use viem::solve::{Config, PreparedMachine, Request};
use viem_io::Source;
use viem_traffic::{Collector, TrafficConfig};

fn main() -> Result<(), Box<dyn Error>> {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("instances/gromacs_water_pme_16.prof.gz");
    let mut traffic = Collector::new(None);
    traffic.read(Source::open(&recorded)?, None)?;
    let (graph, summary) = traffic.finish(&TrafficConfig::default())?;
    println!("{} processes in {} files", graph.num_nodes(), summary.files);

    let machine = Hierarchy::parse("4:2:2", "1:10:100")?;
    let solution = Request::new(&graph, &PreparedMachine::new(&machine)).solve(&Config::default())?;
    println!("J = {}, {} before", solution.report.cost, solution.report.cost_of_identity);
    for (process, core) in solution.mapping.pes().iter().enumerate() {
        println!("process {process} runs on core {core}");
    }
    Ok(())
}
