//! Hypercubes: a neighbour of PE 0 is nearer than PE 0 to exactly those PEs that have the bit in which the two differ. O(n log n).

use super::hops::Hops;
use crate::base::types::PeId;
use crate::machine::Hypercube;
use crate::machine::recognise::proposal::{Matrix, Recognised};

pub(super) fn recognise(matrix: &Matrix<'_>) -> Option<Recognised> {
    let n = matrix.size;
    if !n.is_power_of_two() {
        return None;
    }
    let hops = Hops::of(matrix)?;
    let near: Vec<usize> = hops.near(0).collect();
    if near.len() != n.ilog2() as usize {
        return None;
    }
    let bit = |k: usize, (place, &other): (usize, &usize)| {
        PeId::from(hops.between(k, other) < hops.between(k, 0)) << place
    };
    let pe_of = (0..n).map(|k| near.iter().enumerate().map(|near| bit(k, near)).sum()).collect();
    let (factor, offset) = hops.factor_and_offset();
    Some(Recognised { machine: Box::new(Hypercube::new(n.ilog2()).ok()?), pe_of, factor, offset })
}
