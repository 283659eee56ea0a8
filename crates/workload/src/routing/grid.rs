//! Grids: e-cube routes, dimension by dimension.

use super::hop::{Flow, Hop, LaneId, check_lanes, push};
use super::tree::TreeRoutes;
use viem::base::types::PeId;
use viem::machine::{Dimension, Grid, MachineError};

/// Lane ((v · D + k) · 2 + b) · L + l is lane l of L of the link from vertex v along dimension k of D,
/// upwards if b = 0. The lanes inside the vertices follow, vertex by vertex.
#[derive(Debug)]
pub(super) struct GridRoutes {
    dimensions: Vec<Dimension>,
    /// The links inside a vertex.
    inside: TreeRoutes,
    num_vertices: usize,
    /// PEs of a vertex.
    size: PeId,
    /// Cycles that a flit takes over a hop.
    cycles: u64,
    /// Lanes of a link between vertices.
    lanes: usize,
    are_joined: bool,
}

impl GridRoutes {
    pub(super) fn new(grid: &Grid) -> Result<Self, MachineError> {
        let dimensions = grid.dimensions().to_vec();
        let size = grid.vertex().num_pes();
        let num_vertices: usize = dimensions.iter().map(|dimension| dimension.length as usize).product();
        let lanes = 1 + usize::from(dimensions.iter().any(|dimension| dimension.is_closed));
        let inside = TreeRoutes::new(grid.vertex())?;
        let links = 2 * dimensions.len() as u128 * lanes as u128 + inside.num_links() as u128;
        check_lanes(num_vertices as u128 * links)?;
        let cycles = grid.hop().max(1) as u64;
        Ok(Self { dimensions, inside, num_vertices, size: size as PeId, cycles, lanes, are_joined: false })
    }

    pub(super) fn join_lanes(&mut self) {
        self.are_joined = true;
    }

    /// Number of lanes between vertices.
    fn num_outside(&self) -> usize {
        self.num_vertices * self.dimensions.len() * 2 * self.lanes
    }

    pub(super) fn num_lanes(&self) -> usize {
        self.num_outside() + self.num_vertices * self.inside.num_links()
    }

    pub(super) fn link_of(&self, lane: LaneId) -> LaneId {
        if (lane as usize) < self.num_outside() { lane - lane % self.lanes as LaneId } else { lane }
    }

    pub(super) fn longest(&self) -> (u64, u64) {
        let hops: u64 = self.dimensions.iter().map(|dimension| u64::from(dimension.length)).sum();
        let (inside, cycles) = self.inside.longest();
        (hops.max(inside), self.cycles.max(cycles))
    }

    pub(super) fn route(&self, from: PeId, to: PeId, hops: &mut Vec<Hop>) -> Flow {
        let (mut at, target) = (from / self.size, to / self.size);
        if at == target {
            let first = self.num_outside() + at as usize * self.inside.num_links();
            self.inside.route(from % self.size, to % self.size, first, hops);
            return Flow::StoreAndForward;
        }
        let mut stride = 1;
        for (index, &Dimension { length, is_closed }) in self.dimensions.iter().enumerate() {
            let (mut here, there) = (at / stride % length, target / stride % length);
            let up = if there >= here { there - here } else { there + length - here };
            // If both ways round a ring are equally long, the upward one is taken.
            let is_up = if is_closed { up <= length - up } else { there > here };
            let mut lane = 0;
            while here != there {
                let is_round = if is_up { here + 1 == length } else { here == 0 };
                lane |= usize::from(is_round && !self.are_joined);
                let link = (at as usize * self.dimensions.len() + index) * 2 + usize::from(!is_up);
                push(hops, link * self.lanes + lane, self.cycles);
                let next = match (is_up, is_round) {
                    (true, false) => here + 1,
                    (true, true) => 0,
                    (false, false) => here - 1,
                    (false, true) => length - 1,
                };
                at = at - here * stride + next * stride;
                here = next;
            }
            stride *= length;
        }
        Flow::Wormhole
    }

    pub(super) fn name(&self, link: LaneId) -> String {
        let link = link as usize;
        if link >= self.num_outside() {
            let (vertex, inside) = (
                (link - self.num_outside()) / self.inside.num_links(),
                (link - self.num_outside()) % self.inside.num_links(),
            );
            return self.inside.name(inside as LaneId, vertex as PeId * self.size);
        }
        let link = link / self.lanes;
        let (is_up, index, vertex) =
            (link.is_multiple_of(2), link / 2 % self.dimensions.len(), link / 2 / self.dimensions.len());
        let mut rest = vertex as u32;
        let mut coordinates: Vec<u32> = Vec::new();
        for dimension in &self.dimensions {
            coordinates.push(rest % dimension.length);
            rest /= dimension.length;
        }
        let text = |coordinates: &[u32]| {
            let numbers: Vec<String> = coordinates.iter().map(u32::to_string).collect();
            format!("({})", numbers.join(","))
        };
        let here = text(&coordinates);
        let length = self.dimensions[index].length;
        coordinates[index] = (coordinates[index] + if is_up { 1 } else { length - 1 }) % length;
        format!("{here} -> {}", text(&coordinates))
    }
}
