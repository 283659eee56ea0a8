//! Hypercubes: the distance of two PEs is the number of bits in which their numbers differ.

use super::parts::Parts;
use super::{Distances, Division, Grid, Interconnect, Machine, MachineError, Metric, Placed, memory};
use crate::types::{Distance, PeId};

/// A hypercube of `2^dimension` PEs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypercube {
    dimension: u32,
}

impl Hypercube {
    /// A hypercube of a dimension from 0 to 31.
    pub fn new(dimension: u32) -> Result<Self, MachineError> {
        if dimension >= PeId::BITS { Err(MachineError::TooManyPes) } else { Ok(Self { dimension }) }
    }
}

impl Machine for Hypercube {
    fn num_pes(&self) -> usize {
        1 << self.dimension
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        let mut keys = memory::room_for_keys(self.num_pes())?;
        keys.extend(0..self.num_pes() as PeId);
        Ok(Distances::Cube(Placed::new(BitsThatDiffer { dimension: self.dimension }, keys)))
    }

    /// A mesh with two vertices along each dimension.
    fn interconnect(&self) -> Interconnect {
        let mesh = Grid::mesh(&vec![2; self.dimension as usize]);
        Interconnect::Grid(mesh.expect("a mesh of as many PEs"))
    }

    /// Subcubes: the highest bit that is not fixed yet divides a part.
    fn division(&self) -> Division {
        let order = (0..self.num_pes() as PeId).collect();
        Division::Parts(Parts::divide(order, |pes| match pes.len() {
            1 => Vec::new(),
            n => vec![n / 2; 2],
        }))
    }

    fn describe(&self) -> String {
        format!("hypercube of dimension {}", self.dimension)
    }
}

/// The Hamming distance.
#[derive(Clone, Copy, Debug)]
pub struct BitsThatDiffer {
    dimension: u32,
}

impl Metric for BitsThatDiffer {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        Distance::from((a ^ b).count_ones())
    }

    fn max_distance(&self) -> Distance {
        Distance::from(self.dimension)
    }

    fn has_triangle_inequality(&self) -> bool {
        true
    }
}
