//! Hypercubes: the distance of two PEs is the number of bits in which their numbers differ.

use crate::base::types::PeId;
use crate::machine::parts::{Members, Parts};
use crate::machine::spec::MachineKind;
use crate::machine::{
    Differences, Dimension, Distances, Division, Grid, Hamming, Interconnect, Machine, MachineError, Placed,
    key_memory,
};

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

    /// The dimensions of a torus with the same distances: two bits are a ring of four, and a last bit a ring of two.
    fn rings(&self) -> Vec<Dimension> {
        let length = |bit: u32| if bit + 1 < self.dimension { 4 } else { 2 };
        (0..self.dimension).step_by(2).map(|bit| Dimension { length: length(bit), is_closed: true }).collect()
    }

    /// The coordinates of a PE in that torus. The order along a ring of four is 00, 01, 11, 10.
    fn coordinates(&self, pe: PeId) -> impl Iterator<Item = u32> {
        (0..self.dimension).step_by(2).map(move |bit| [0, 1, 3, 2][(pe >> bit & 3) as usize])
    }
}

impl Machine for Hypercube {
    fn num_pes(&self) -> usize {
        1 << self.dimension
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        let mut keys = key_memory::room_for_keys(self.num_pes())?;
        if let Some(metric) = Differences::new(&self.rings(), 1) {
            keys.extend((0..self.num_pes() as PeId).map(|pe| metric.key(self.coordinates(pe))));
            return Ok(Distances::Differences(Placed::new(metric, keys)));
        }
        keys.extend(0..self.num_pes() as PeId);
        Ok(Distances::Hamming(Placed::new(Hamming { dimension: self.dimension }, keys)))
    }

    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        Ok(match Differences::new(&self.rings(), 1) {
            Some(metric) => {
                let key = |metric: &Differences, pe| metric.key(self.coordinates(pe));
                Distances::Differences(Placed::at(metric, list, key))
            }
            None => Distances::Hamming(Placed::at(Hamming { dimension: self.dimension }, list, |_, pe| pe)),
        })
    }

    fn division_among(&self, list: &[PeId]) -> Division {
        let sizes: Vec<PeId> = (0..self.dimension).map(|bit| 1 << bit).collect();
        Division::Parts(Parts::from_tree(&Members::all_of(list).divided_by(&sizes)))
    }

    /// A mesh with two vertices along each dimension.
    fn interconnect(&self) -> Interconnect {
        let mesh = Grid::mesh(&vec![2; self.dimension as usize]);
        Interconnect::Grid(mesh.expect("a mesh with the same number of PEs"))
    }

    /// Subcubes: a part is divided by the highest bit in which its PEs differ.
    fn division(&self) -> Division {
        let order = (0..self.num_pes() as PeId).collect();
        Division::Parts(Parts::divide(order, |pes| match pes.len() {
            1 => Vec::new(),
            n => vec![n / 2; 2],
        }))
    }

    fn room(&self) -> u64 {
        1 << self.dimension
    }

    /// A subcube.
    fn first_pes(&self, least: usize) -> Option<Box<dyn Machine>> {
        let dimension = least.checked_next_power_of_two()?.trailing_zeros();
        (dimension < self.dimension).then(|| Box::new(Self { dimension }) as Box<dyn Machine>)
    }

    fn describe(&self) -> String {
        format!("hypercube of dimension {}", self.dimension)
    }
}

pub(super) const KINDS: &[MachineKind] = &[MachineKind {
    name: "hypercube",
    example: "hypercube:10",
    distances: None,
    about: "2 to the power of 10 processing elements; the distance is the number of bits that differ",
    make: |request| {
        request.no_distances()?;
        let dimension = request.number(request.rest, "a dimension", 0, u32::BITS - 1, "hypercube:10")?;
        request.machine(Hypercube::new(dimension))
    },
}];
