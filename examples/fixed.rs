//! Processes mapped to a tree around two that must be on given PEs.

use std::error::Error;

use viem::Hierarchy;
use viem::graph::generate;
use viem::partition::FixedVertices;
use viem::solve::{Config, PreparedMachine, Request};

fn main() -> Result<(), Box<dyn Error>> {
    let graph = generate::mesh(16, 8, 1);
    let machine = Hierarchy::parse("4:4:8", "1:10:100")?;
    let mut fixed = FixedVertices::none(graph.num_nodes(), machine.num_pes());
    // Process 0 must be on the first node, and process 1 on the last one, where the disk is.
    fixed.fix(0, 0)?;
    fixed.fix(1, 127)?;
    let solution =
        Request::new(&graph, &PreparedMachine::new(&machine)).fixed(&fixed).solve(&Config::default())?;
    println!(
        "J = {}, of the identity around them {}",
        solution.report.cost, solution.report.cost_of_identity
    );
    println!("processes 0 and 1 are on PEs {:?}", &solution.mapping.pes()[..2]);
    Ok(())
}
