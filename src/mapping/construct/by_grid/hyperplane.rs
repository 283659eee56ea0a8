//! Hyperplanes between parts: every cuboid of more than two parts is cut where a part ends, across the dimension along which least is sent, as near to
//! the middle as possible. Where no hyperplane is between parts, and inside of two parts, cells are numbered along the same dimensions.

use std::cmp::Reverse;

use super::grid::{Cuboid, GridTask};
use crate::base::types::NodeId;
use crate::graph::stencil::Stencil;

pub(super) fn orders(task: &GridTask<'_>) -> Vec<Vec<NodeId>> {
    let stencil = task.stencil;
    // The sum of the squares of the cosines of the angles between a dimension and the offsets.
    let alignment = |dimension: usize| -> f64 {
        let square = |steps: &[i64]| steps.iter().map(|step| step * step).sum::<i64>();
        let offsets = stencil.offsets().iter();
        offsets.map(|offset| offset.steps[dimension].pow(2) as f64 / square(&offset.steps) as f64).sum()
    };
    let alignments: Vec<f64> = (0..stencil.lengths().len()).map(alignment).collect();
    let boundaries = task.boundaries();
    let mut order = Vec::with_capacity(stencil.num_cells());
    let mut waiting = vec![(Cuboid::whole(stencil), 0)];
    while let Some((cuboid, begin)) = waiting.pop() {
        let mut preferred: Vec<usize> = (0..alignments.len()).collect();
        preferred.sort_by(|&a, &b| {
            let lengths = || Reverse(cuboid.0[a].len()).cmp(&Reverse(cuboid.0[b].len()));
            alignments[a].total_cmp(&alignments[b]).then_with(lengths)
        });
        match cut(stencil, &cuboid, (begin, &boundaries), &preferred) {
            None => cuboid.append(stencil, &preferred, &mut order),
            Some((dimension, layers)) => {
                let [first, second] = cuboid.split(dimension, layers);
                let middle = begin + first.num_cells(stencil);
                waiting.extend([(second, middle), (first, begin)]);
            }
        }
    }
    vec![order]
}

/// The dimension and the number of layers before the cut of a cuboid whose cells begin at a position of the order. None if there is no cut between
/// parts, or if it has only two parts.
fn cut(
    stencil: &Stencil,
    cuboid: &Cuboid,
    (begin, boundaries): (usize, &[usize]),
    preferred: &[usize],
) -> Option<(usize, usize)> {
    let size = cuboid.num_cells(stencil);
    let inside =
        boundaries.partition_point(|&at| at <= begin)..boundaries.partition_point(|&at| at < begin + size);
    if inside.len() < 2 {
        return None;
    }
    preferred.iter().find_map(|&dimension| {
        let length = cuboid.0[dimension].len();
        let is_between = |&layers: &usize| {
            let [first, _] = cuboid.clone().split(dimension, layers);
            boundaries.binary_search(&(begin + first.num_cells(stencil))).is_ok()
        };
        Some((dimension, (1..=length / 2).rev().find(is_between)?))
    })
}
