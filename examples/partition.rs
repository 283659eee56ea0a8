//! A mesh divided into 8 blocks of equal weight with few edges between them.

use std::error::Error;

use viem::graph::generate;
use viem::machine::Blocks;
use viem::solve::{Balance, Objective};
use viem::{Config, PreparedMachine, Request};

fn main() -> Result<(), Box<dyn Error>> {
    let (mesh, blocks) = (generate::mesh(100, 80, 1), Blocks::equal(8)?);
    let machine = PreparedMachine::new(&blocks);
    let request = Request::new(&mesh, &machine).balanced(Balance::default()).minimise(Objective::Cut);
    let solution = request.solve(&Config::eco())?;
    println!("{} of {} edges are cut", solution.report.cut, mesh.num_edges());
    println!("loads: {:?}", solution.report.loads);
    println!("vertex 0 is in block {}", solution.mapping.pe_of(0));
    Ok(())
}
