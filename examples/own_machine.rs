//! A user-defined machine: two rings joined by a bridge, with distances that no machine of the library has.

use std::error::Error;

use viem::Machine;
use viem::base::types::PeId;
use viem::graph::generate;
use viem::machine::{Distances, MachineError, OwnDistances};
use viem::solve::{Config, PreparedMachine, Request};

/// Two rings of `length` PEs each. The bridge joins the first PE of one to the first PE of the other.
#[derive(Clone, Copy, Debug)]
struct TwoRings {
    length: u32,
    bridge: i64,
}

impl OwnDistances for TwoRings {
    fn distance(&self, a: PeId, b: PeId) -> i64 {
        let along = |a: u32, b: u32| i64::from(a.abs_diff(b).min(self.length - a.abs_diff(b)));
        let (inside_a, inside_b) = (a % self.length, b % self.length);
        if a / self.length == b / self.length {
            along(inside_a, inside_b)
        } else {
            along(inside_a, 0) + self.bridge + along(0, inside_b)
        }
    }

    fn max_distance(&self) -> i64 {
        i64::from(self.length) + self.bridge
    }

    fn has_triangle_inequality(&self) -> bool {
        true
    }
}

impl Machine for TwoRings {
    fn num_pes(&self) -> usize {
        2 * self.length as usize
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        Distances::own(self.num_pes(), *self)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let machine = TwoRings { length: 16, bridge: 5 };
    let traffic = generate::random_geometric(machine.num_pes(), 4.0, 1);
    let solution = Request::new(&traffic, &PreparedMachine::new(&machine)).solve(&Config::default())?;
    println!("J = {}, {} before", solution.report.cost, solution.report.cost_of_identity);
    Ok(())
}
