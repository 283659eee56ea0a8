//! Machines with known distances only: out through a port, in through a port.

use super::hop::{Hop, LaneId, check_lanes, push};
use viem::base::types::PeId;
use viem::machine::{DistanceOracle, Distances, Machine, MachineError, Metric, distances_of};

/// Link 2 p leads out of PE p, link 2 p + 1 into it. On each, a flit takes half the distance.
#[derive(Debug)]
pub(super) struct PortRoutes {
    distances: Distances,
    num_pes: usize,
    longest: u64,
}

impl PortRoutes {
    pub(super) fn new(machine: &dyn Machine) -> Result<Self, MachineError> {
        let num_pes = machine.num_pes();
        check_lanes(2 * num_pes as u128)?;
        let distances = distances_of(machine)?;
        let longest = distances.max_distance() as u64;
        Ok(Self { distances, num_pes, longest })
    }

    pub(super) fn num_links(&self) -> usize {
        2 * self.num_pes
    }

    pub(super) fn longest(&self) -> (u64, u64) {
        (2, self.longest.max(1))
    }

    pub(super) fn route(&self, from: PeId, to: PeId, hops: &mut Vec<Hop>) {
        if from != to {
            let distance = self.distances.distance(from, to) as u64;
            push(hops, 2 * from as usize, distance.div_ceil(2));
            push(hops, 2 * to as usize + 1, distance / 2);
        }
    }

    pub(super) fn name(&self, link: LaneId) -> String {
        if link.is_multiple_of(2) {
            format!("out of PE {}", link / 2)
        } else {
            format!("into PE {}", link / 2)
        }
    }
}
