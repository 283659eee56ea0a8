//! What the mapper asks of a machine.

use crate::annealing::Near;
use crate::observer::Observer;
use crate::routing::Routing;
use crate::topology::{
    DistanceOracle, DistanceVisitor, Distances, Division, Interconnect, Machine, MachineError,
};
use crate::types::{Distance, PeId};

/// A machine as the mapper sees it.
pub(super) struct Ground {
    pub routing: Routing,
    /// The PEs near each PE.
    near: Near,
    distances: Distances,
    /// The least distance of two PEs.
    least: Distance,
    /// How many tasks each PE has room for.
    pub room: Vec<u32>,
    /// The lengths of a grid of PEs, and which of its dimensions are closed.
    pub grid: Option<Vec<(u32, bool)>>,
}

struct Nearest<'a>(&'a dyn Machine, &'a dyn Observer);

impl DistanceVisitor for Nearest<'_> {
    type Output = Near;

    fn visit<O: DistanceOracle>(self, oracle: &O) -> Near {
        let keys: Vec<O::Key> = (0..oracle.num_pes() as PeId).map(|pe| oracle.key(pe)).collect();
        let parts = match self.0.division() {
            Division::Parts(parts) if parts.order().iter().copied().eq(0..keys.len() as PeId) => Some(parts),
            _ => None,
        };
        Near::new(oracle, &keys, parts.as_ref(), self.1)
    }
}

struct Between(PeId, PeId);

impl DistanceVisitor for Between {
    type Output = Distance;

    fn visit<O: DistanceOracle>(self, oracle: &O) -> Distance {
        oracle.distance(self.0, self.1)
    }
}

impl Ground {
    pub(super) fn new(machine: &dyn Machine, observer: &dyn Observer) -> Result<Self, MachineError> {
        let distances = machine.distances()?;
        let near = distances.visit(Nearest(machine, observer));
        let pes = 0..machine.num_pes() as PeId;
        let to_nearest = |pe: PeId| near.of(pe).first().map(|&other| distances.visit(Between(pe, other)));
        let least = pes.clone().filter_map(to_nearest).min().unwrap_or(0);
        let room = pes.map(|pe| machine.capacity(pe)).collect();
        let grid = match machine.interconnect() {
            Interconnect::Grid(grid) if grid.vertex().num_pes() == 1 => {
                let sides = grid.dimensions().iter();
                Some(sides.map(|side| (side.length, side.is_closed)).collect())
            }
            _ => None,
        };
        Ok(Self { routing: Routing::new(machine)?, near, distances, least, room, grid })
    }

    pub(super) fn num_pes(&self) -> usize {
        self.room.len()
    }

    pub(super) fn distance(&self, p: PeId, q: PeId) -> Distance {
        self.distances.visit(Between(p, q))
    }

    /// PEs near a PE, nearest first.
    pub(super) fn near(&self, pe: PeId) -> impl Iterator<Item = PeId> + Clone + '_ {
        self.near.of(pe).iter().copied().filter(move |&other| other != pe)
    }

    /// PEs that no two are nearer to each other than these to a PE.
    pub(super) fn neighbours(&self, pe: PeId) -> impl Iterator<Item = PeId> + Clone + '_ {
        self.near(pe).take_while(move |&other| self.distance(pe, other) == self.least)
    }

    /// How far a PE is along each dimension of a grid.
    pub(super) fn coordinates(&self, pe: PeId) -> impl Iterator<Item = u32> + '_ {
        let mut rest = pe;
        self.grid.iter().flatten().map(move |&(length, _)| {
            let own = rest % length;
            rest /= length;
            own
        })
    }
}
