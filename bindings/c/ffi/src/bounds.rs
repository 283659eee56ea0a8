//! The limits of the loads of parts, as other partitioners define them.

use viem::Targets;
use viem::base::types::Weight;
use viem::graph::CsrGraph;
use viem::partition::TargetsError;

/// The least load of a part with any imbalance, as a part of its share. On motorBike (353 525 cells) in 256 parts it costs nothing in cut (77 153
/// instead of 77 233), where a part had one cell without it.
const LEAST: f64 = 0.9;

/// A part may always be so far below its share. Balances the loads of parts against their cut: for five meshes of OpenFOAM in 8 to 128 parts that may be 1 % above their
/// shares, the cut is 1.3 % larger with least loads of 0.99 than without any, 0.5 % with 0.97, and 0.1 % with 0.95 (`viem partition MESH -k 128 -i 1 --least-load 95`).
const ROOM: f64 = 0.05;

/// Exact balance remains exact: a part is at most so many times as far below its share as it may be above.
const WIDER: f64 = 5.0;

/// What is added to an imbalance: METIS adds half a digit, so that 1.03 as a float is 1.03.
pub const HALF_A_DIGIT: f64 = 0.0000499;

/// The least part of its share that a part weighs, where it may weigh so much more: it may be as far below as above, and [`ROOM`], but not below [`LEAST`].
pub fn least_load(imbalance: f64) -> f64 {
    (1.0 - imbalance.max(ROOM.min(WIDER * imbalance))).clamp(LEAST, 1.0)
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

/// The targets of parts with these shares, of any sum. `greatest` returns the greatest load of each part from the fair ones; it is not rounded up, but a part may
/// have a whole vertex of its fair share. The least load is that of [`least_load`]. O(k) for k parts.
///
/// # Errors
///
/// There are no parts or too many.
pub fn targets_of_shares(
    divided: impl Into<Divided>,
    shares: &[f64],
    greatest: impl FnOnce(&[f64]) -> Vec<f64>,
) -> Result<Targets, TargetsError> {
    let Divided { total, num_vertices } = divided.into();
    let sum: f64 = shares.iter().sum();
    let mut sizes = Vec::with_capacity(shares.len());
    let (mut before, mut given) = (0.0, 0);
    for (part, share) in shares.iter().enumerate() {
        before += share;
        let is_last = part + 1 == shares.len();
        let until = if is_last { total } else { (total as f64 * before / sum).round() as Weight };
        sizes.push(until.clamp(given, total) - given);
        given = until.clamp(given, total);
    }
    let sizes = with_one_each(sizes, num_vertices);
    let fair: Vec<f64> = shares.iter().map(|share| share / sum * total as f64).collect();
    let most = greatest(&fair);
    let bound = |(&size, &most): (&Weight, &f64)| size.max((most + 1e-9 * most.abs()).floor() as Weight);
    let bounds = sizes.iter().zip(&most).map(bound).collect();
    let least = |((&size, &most), &fair): ((&Weight, &f64), &f64)| {
        let imbalance = if fair > 0.0 { (most / fair - 1.0).max(0.0) } else { 0.0 };
        size.min((least_load(imbalance) * fair).floor() as Weight)
    };
    let least = sizes.iter().zip(&most).zip(&fair).map(least).collect();
    Targets::of_sizes(sizes)?.with_bounds(bounds)?.with_least_loads(least)
}

/// The same where all parts may be heavier than their share by the same factor: 1.03 lets them be 3 % heavier.
///
/// # Errors
///
/// There are no parts or too many.
pub fn targets_within(
    divided: impl Into<Divided>,
    shares: &[f64],
    imbalance: f64,
) -> Result<Targets, TargetsError> {
    targets_of_shares(divided, shares, |fair| {
        fair.iter().map(|fair| (imbalance + HALF_A_DIGIT) * fair).collect()
    })
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
