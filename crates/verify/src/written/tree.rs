//! Regular trees: `4:16:8`, and those of one level: `complete:64`.

use super::shape::{Lane, Result, Route, Written, number, numbers, product};
use crate::error::AuditError;

/// Levels innermost first.
pub(crate) struct Tree {
    arities: Vec<u64>,
    distances: Vec<u64>,
}

impl Tree {
    pub(crate) fn new(arities: Vec<u64>, distances: Vec<u64>) -> Result<Self> {
        if arities.len() != distances.len() {
            return Err(AuditError::Levels { levels: arities.len(), distances: distances.len() });
        }
        Ok(Self { arities, distances })
    }
}

pub(super) fn read(text: &str, distances: Vec<u64>) -> Result<Box<dyn Written>> {
    Ok(Box::new(Tree::new(numbers(text, ':')?, distances)?))
}

pub(super) fn read_complete(text: &str, distances: Vec<u64>) -> Result<Box<dyn Written>> {
    let distance = distances.first().copied().unwrap_or(1);
    Ok(Box::new(Tree { arities: vec![number(text)?], distances: vec![distance] }))
}

impl Written for Tree {
    fn num_pes(&self) -> u64 {
        product(&self.arities)
    }

    fn distance(&self, p: u64, q: u64) -> u64 {
        tree_distance(p, q, &self.arities, &self.distances)
    }

    fn route(&self, p: u64, q: u64) -> Route {
        Route { hops: tree_hops(0, p, q, &self.arities, &self.distances), is_worm: false }
    }
}

/// The distance of the innermost level whose group contains both PEs; 0 for a PE and itself.
pub(super) fn tree_distance(p: u64, q: u64, arities: &[u64], distances: &[u64]) -> u64 {
    let (mut group_of_p, mut group_of_q, mut distance) = (p, q, 0);
    for (arity, of_level) in arities.iter().zip(distances) {
        if group_of_p != group_of_q {
            distance = *of_level;
        }
        group_of_p /= arity;
        group_of_q /= arity;
    }
    distance
}

/// Up to the smallest common group, and down, in the tree of a vertex.
pub(super) fn tree_hops(vertex: u64, p: u64, q: u64, arities: &[u64], distances: &[u64]) -> Vec<(Lane, u64)> {
    let group = |pe: u64, level: usize| pe / product(&arities[..level]);
    let lane = |pe, level, is_up| Lane::Tree { vertex, level, group: group(pe, level), is_up };
    hops_in_groups(p, q, distances, &|level| group(p, level) != group(q, level), &lane)
}

/// The hops over the groups of levels, given whether the PEs are in different groups of a level, and its lanes.
pub(crate) fn hops_in_groups(
    p: u64,
    q: u64,
    distances: &[u64],
    differ: &dyn Fn(usize) -> bool,
    lane: &dyn Fn(u64, usize, bool) -> Lane,
) -> Vec<(Lane, u64)> {
    let Some(top) = (0..distances.len()).rev().find(|&level| differ(level)) else {
        return Vec::new();
    };
    // Skip levels with a larger distance than one outside them.
    let passed: Vec<usize> = (0..=top)
        .filter(|&level| distances[level..=top].iter().all(|&outside| distances[level] <= outside))
        .collect();
    let (mut up, mut down, mut so_far) = (Vec::new(), Vec::new(), 0);
    for level in passed {
        let cost = distances[level] - so_far;
        so_far = distances[level];
        up.push((lane(p, level, true), cost.div_ceil(2)));
        down.insert(0, (lane(q, level, false), cost / 2));
    }
    up.extend(down);
    up
}
