//! Hypercubes: `hypercube:10`.

use super::grid::grid_hops;
use super::shape::{Result, Route, Written, fault, number};

pub(crate) struct Cube {
    dimension: u64,
}

impl Cube {
    pub(crate) fn new(dimension: u64) -> Result<Self> {
        if dimension < 64 { Ok(Self { dimension }) } else { fault("the hypercube has too many dimensions") }
    }
}

pub(super) fn read(text: &str, _distances: Vec<u64>) -> Result<Box<dyn Written>> {
    Ok(Box::new(Cube::new(number(text)?)?))
}

impl Written for Cube {
    fn num_pes(&self) -> u64 {
        1 << self.dimension
    }

    fn distance(&self, p: u64, q: u64) -> u64 {
        (0..self.dimension).map(|bit| (p >> bit & 1).abs_diff(q >> bit & 1)).sum()
    }

    fn route(&self, p: u64, q: u64) -> Route {
        Route { hops: grid_hops(p, q, &vec![2; self.dimension as usize], false, 1), is_worm: true }
    }
}
