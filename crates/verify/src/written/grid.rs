//! Meshes and tori, whose vertices may hold trees: `mesh:8x8`, `torus:4x4x2/4:16`.

use super::shape::{Lane, Result, Route, Written, numbers, product};
use super::tree::{tree_distance, tree_hops};
use crate::error::AuditError;

pub(crate) struct Grid {
    lengths: Vec<u64>,
    is_closed: bool,
    /// The tree of each vertex.
    arities: Vec<u64>,
    distances: Vec<u64>,
    hop: u64,
}

impl Grid {
    /// A PE on each vertex, and hops of length 1.
    pub(crate) fn plain(lengths: Vec<u64>, is_closed: bool) -> Self {
        Self { lengths, is_closed, arities: Vec::new(), distances: Vec::new(), hop: 1 }
    }
}

pub(super) fn read_mesh(text: &str, distances: Vec<u64>) -> Result<Box<dyn Written>> {
    read(text, distances, false)
}

pub(super) fn read_torus(text: &str, distances: Vec<u64>) -> Result<Box<dyn Written>> {
    read(text, distances, true)
}

fn read(text: &str, distances: Vec<u64>, is_closed: bool) -> Result<Box<dyn Written>> {
    let (lengths, tree) = text.split_once('/').map_or((text, None), |(grid, tree)| (grid, Some(tree)));
    let arities = tree.map_or(Ok(Vec::new()), |tree| numbers(tree, ':'))?;
    let mut distances = if distances.is_empty() && tree.is_none() { vec![1] } else { distances };
    if distances.len() != arities.len() + 1 {
        return Err(AuditError::Levels { levels: arities.len() + 1, distances: distances.len() });
    }
    let hop = distances.pop().unwrap_or(1);
    Ok(Box::new(Grid { lengths: numbers(lengths, 'x')?, is_closed, arities, distances, hop }))
}

impl Written for Grid {
    fn num_pes(&self) -> u64 {
        product(&self.lengths).saturating_mul(product(&self.arities))
    }

    fn distance(&self, p: u64, q: u64) -> u64 {
        let size = product(&self.arities);
        let (mut from, mut to, mut hops) = (p / size, q / size, 0);
        if from == to {
            return tree_distance(p % size, q % size, &self.arities, &self.distances);
        }
        for length in &self.lengths {
            let gap = (from % length).abs_diff(to % length);
            hops += if self.is_closed { gap.min(length - gap) } else { gap };
            from /= length;
            to /= length;
        }
        hops.saturating_mul(self.hop)
    }

    fn route(&self, p: u64, q: u64) -> Route {
        let size = product(&self.arities);
        let (at, target) = (p / size, q / size);
        if at == target {
            let hops = tree_hops(at, p % size, q % size, &self.arities, &self.distances);
            Route { hops, is_worm: false }
        } else {
            let hops = grid_hops(at, target, &self.lengths, self.is_closed, self.hop.max(1));
            Route { hops, is_worm: true }
        }
    }
}

/// The first dimension first, the shorter way round, upwards on ties. After crossing from one end of a closed
/// dimension to the other, a message uses the second lane.
pub(super) fn grid_hops(
    from: u64,
    to: u64,
    lengths: &[u64],
    is_closed: bool,
    cycles: u64,
) -> Vec<(Lane, u64)> {
    let (mut hops, mut stride, mut vertex) = (Vec::new(), 1, from);
    for (dimension, &length) in lengths.iter().enumerate() {
        let coordinate = |vertex: u64| vertex / stride % length;
        let there = coordinate(to);
        let ahead = (there + length - coordinate(from)) % length;
        let is_up = if is_closed { 2 * ahead <= length } else { there > coordinate(from) };
        let mut is_second = false;
        while coordinate(vertex) != there {
            let here = coordinate(vertex);
            let next = (here + if is_up { 1 } else { length - 1 }) % length;
            is_second |= here.abs_diff(next) != 1 || (is_closed && length == 2 && is_up != (next > here));
            hops.push((Lane::Grid { vertex, dimension, is_up, is_second }, cycles));
            vertex = vertex - here * stride + next * stride;
        }
        stride *= length;
    }
    hops
}
