//! The machine as the mapper uses it.

use crate::Workload;
use crate::routing::Routing;
use viem::base::observer::Observer;
use viem::base::types::{Distance, PeId};
use viem::machine::{DistanceOracle, Distances, Division, Interconnect, Machine, MachineError, distances_of};
use viem::mapping::annealing::Near;

/// A machine as the mapper sees it.
pub(super) struct MachineView {
    pub routing: Routing,
    near: Nearby,
    distances: Distances,
    /// The smallest distance of two PEs.
    least: Distance,
    /// The capacity of each PE, in tasks.
    pub room: Vec<u32>,
    /// The side lengths of a grid of PEs, and whether each dimension is closed.
    pub grid: Option<Vec<(u32, bool)>>,
}

/// The PEs near each PE.
///
/// Places are numbered in the order of the machine's parts, which allows near places to be found without
/// scanning. On grids that is not the order of the PEs.
struct Nearby {
    near: Near,
    pe_at: Vec<PeId>,
    place_of: Vec<PeId>,
}

impl Nearby {
    fn new(machine: &dyn Machine, distances: &Distances, observer: &dyn Observer) -> Self {
        let in_order = || (0..machine.num_pes() as PeId).collect::<Vec<PeId>>();
        let (pe_at, parts) = match machine.division() {
            Division::Parts(parts) => (parts.order().to_vec(), Some(parts)),
            _ => (in_order(), None),
        };
        let is_in_order = pe_at.is_sorted();
        let listed = (!is_in_order).then(|| distances.listed(&pe_at));
        let listed = listed.as_ref().unwrap_or(distances);
        let near = Near::new(listed, &listed.keys(), parts.as_ref(), observer);
        let mut place_of = in_order();
        for (place, &pe) in (0..).zip(&pe_at) {
            place_of[pe as usize] = place;
        }
        Self { near, pe_at, place_of }
    }

    /// Nearest first; the PE itself if there is no other.
    fn of(&self, pe: PeId) -> impl Iterator<Item = PeId> + Clone + '_ {
        self.near.of(self.place_of[pe as usize]).iter().map(|&place| self.pe_at[place as usize])
    }
}

/// J of a mapping.
pub(super) fn cost(distances: &Distances, workload: &Workload, pe_of: &[PeId]) -> i128 {
    let terms = workload.channels().iter().zip(workload.traffic()).map(|(channel, traffic)| {
        let distance = distances.distance(pe_of[channel.from as usize], pe_of[channel.to as usize]);
        2 * i128::from(traffic.flits) * i128::from(distance)
    });
    terms.sum()
}

impl MachineView {
    pub(super) fn new(machine: &dyn Machine, observer: &dyn Observer) -> Result<Self, MachineError> {
        let distances = distances_of(machine)?;
        let near = Nearby::new(machine, &distances, observer);
        let pes = 0..machine.num_pes() as PeId;
        let to_nearest = |pe: PeId| near.of(pe).next().map(|other| distances.distance(pe, other));
        let least = pes.filter_map(to_nearest).min().unwrap_or(0);
        let room = machine.capacities();
        let grid = match machine.interconnect() {
            Interconnect::Grid(grid) if grid.vertex().num_pes() == 1 => {
                let sides = grid.dimensions().iter();
                Some(sides.map(|side| (side.length, side.is_closed)).collect())
            }
            _ => None,
        };
        Ok(Self { routing: Routing::new(machine)?, near, distances, least, room, grid })
    }

    /// The PEs in the order of the machine's parts, if that is another order.
    pub(super) fn sorted(&self) -> Option<&[PeId]> {
        let order = self.near.pe_at.as_slice();
        (!order.is_sorted()).then_some(order)
    }

    /// Returns whether messages to another PE take time.
    pub(super) fn has_distances(&self) -> bool {
        self.least > 0
    }

    pub(super) fn num_pes(&self) -> usize {
        self.room.len()
    }

    pub(super) fn distance(&self, p: PeId, q: PeId) -> Distance {
        self.distances.distance(p, q)
    }

    /// J of a mapping, as [`cost`](super::cost) has it.
    pub(super) fn cost(&self, workload: &Workload, pe_of: &[PeId]) -> i128 {
        cost(&self.distances, workload, pe_of)
    }

    /// PEs near a PE, nearest first.
    pub(super) fn near(&self, pe: PeId) -> impl Iterator<Item = PeId> + Clone + '_ {
        self.near.of(pe).filter(move |&other| other != pe)
    }

    /// The PEs at the smallest distance that occurs between two PEs.
    pub(super) fn neighbours(&self, pe: PeId) -> impl Iterator<Item = PeId> + Clone + '_ {
        self.near(pe).take_while(move |&other| self.distance(pe, other) == self.least)
    }

    /// The [neighbours](Self::neighbours) of each PE.
    pub(super) fn neighbour_lists(&self) -> Vec<Vec<PeId>> {
        (0..self.num_pes() as PeId).map(|pe| self.neighbours(pe).collect()).collect()
    }

    /// The coordinates of a PE in a grid.
    pub(super) fn coordinates(&self, pe: PeId) -> impl Iterator<Item = u32> + '_ {
        let mut rest = pe;
        self.grid.iter().flatten().map(move |&(length, _)| {
            let own = rest % length;
            rest /= length;
            own
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use viem::machine::{Grid, Hierarchy, Hypercube};

    #[test]
    fn neighbours_are_all_pes_at_the_least_distance_whatever_the_order_of_the_parts() {
        let machines: Vec<Box<dyn Machine>> = vec![
            Box::new(Grid::mesh(&[6, 5]).unwrap()),
            Box::new(Grid::torus(&[80, 70]).unwrap()),
            Box::new(Grid::mesh(&[3, 4, 5]).unwrap()),
            Box::new(Hypercube::new(5).unwrap()),
            Box::new(Hierarchy::parse("3:4:5", "1:10:100").unwrap()),
        ];
        for machine in machines {
            let view = MachineView::new(machine.as_ref(), &()).unwrap();
            let all = machine.num_pes() as PeId;
            for pe in (0..all).step_by(1 + all as usize / 100) {
                let expected: Vec<PeId> = (0..all).filter(|&other| view.distance(pe, other) == 1).collect();
                let mut found: Vec<PeId> = view.neighbours(pe).collect();
                found.sort_unstable();
                assert_eq!(found, expected, "{pe} of {}", machine.describe());
                let distances: Vec<Distance> = view.near(pe).map(|other| view.distance(pe, other)).collect();
                assert!(distances.is_sorted(), "{distances:?}");
            }
        }
    }
}
