//! What METIS, ParMETIS and Scotch say about the weights of the parts.

use viem::base::types::Weight;
use viem::partition::TargetsError;
use viem::{CsrGraph, Targets};

/// The least load of a part with any imbalance, as a part of its share. On motorBike (353 525 cells) in 256 parts it costs nothing in cut (77 153
/// instead of 77 233), where a part had one cell without it.
const LEAST: f64 = 0.9;

/// What is added to an imbalance: METIS adds half a digit, so that 1.03 as a float is 1.03.
pub const HALF_A_DIGIT: f64 = 0.0000499;

/// The shares of the weight that parts get.
pub struct Shares<'a> {
    /// The number of parts.
    pub num_parts: usize,
    /// In proportion to each other; all equal without.
    pub shares: Option<&'a [f64]>,
}

/// The weights of a graph of which parts get their shares.
#[derive(Clone, Copy)]
pub struct Divided {
    /// Their sum.
    pub total: Weight,
    /// The number of vertices.
    pub num_vertices: usize,
}

impl From<&CsrGraph> for Divided {
    fn from(graph: &CsrGraph) -> Self {
        Self { total: graph.total_node_weight(), num_vertices: graph.num_nodes() }
    }
}

impl Shares<'_> {
    fn share(&self, part: usize) -> f64 {
        self.shares.map_or(1.0 / self.num_parts as f64, |shares| shares[part])
    }

    /// The load of each part if weights could be divided at will.
    pub fn fair(&self, total: Weight) -> Vec<f64> {
        let sum: f64 = (0..self.num_parts).map(|part| self.share(part)).sum();
        (0..self.num_parts).map(|part| self.share(part) / sum * total as f64).collect()
    }

    /// The loads of parts that may weigh `greatest`, not rounded up, but never less than a whole vertex of their fair share. METIS keeps parts from 0.94 of
    /// their share on; here a part is as far below as it may be above, but not below [`LEAST`].
    pub fn targets(&self, divided: Divided, greatest: &[f64]) -> Result<Targets, TargetsError> {
        let total = divided.total;
        let sum: f64 = (0..self.num_parts).map(|part| self.share(part)).sum();
        let mut sizes = Vec::with_capacity(self.num_parts);
        let (mut before, mut given) = (0.0, 0);
        for part in 0..self.num_parts {
            before += self.share(part);
            let until = if part + 1 == self.num_parts {
                total
            } else {
                (total as f64 * before / sum).round() as Weight
            };
            sizes.push(until.clamp(given, total) - given);
            given = until.clamp(given, total);
        }
        let sizes = with_one_each(sizes, divided.num_vertices);
        let bound = |(&size, &most): (&Weight, &f64)| size.max((most + 1e-9 * most.abs()).floor() as Weight);
        let bounds = sizes.iter().zip(greatest).map(bound).collect();
        let least = |((&size, &most), &fair): ((&Weight, &f64), &f64)| {
            size.min((2.0 * fair - most).max(LEAST * fair).floor() as Weight)
        };
        let least = sizes.iter().zip(greatest).zip(&self.fair(total)).map(least).collect();
        Targets::of_sizes(sizes)?.with_bounds(bounds)?.with_least_loads(least)
    }

    /// The same where all parts may be heavier than their share by the same factor: 1.03 lets them be 3 % heavier.
    pub fn targets_within(&self, divided: Divided, imbalance: f64) -> Result<Targets, TargetsError> {
        let most = |fair| (imbalance + HALF_A_DIGIT) * fair;
        let greatest: Vec<f64> = self.fair(divided.total).into_iter().map(most).collect();
        self.targets(divided, &greatest)
    }
}

/// No part is meant to be empty if there are vertices for all: the largest gives up the deficit of the smallest.
fn with_one_each(mut sizes: Vec<Weight>, num_nodes: usize) -> Vec<Weight> {
    let total: Weight = sizes.iter().sum();
    if num_nodes < sizes.len() || total < sizes.len() as Weight {
        return sizes;
    }
    let mut lacking = sizes.iter().filter(|&&size| size == 0).count() as Weight;
    sizes.iter_mut().filter(|size| **size == 0).for_each(|size| *size = 1);
    while lacking > 0 {
        let Some(largest) = sizes.iter_mut().max_by_key(|size| **size) else { break };
        *largest -= 1;
        lacking -= 1;
    }
    sizes
}
