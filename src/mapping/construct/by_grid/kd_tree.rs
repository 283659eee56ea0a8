//! A k-d tree of the grid: every cuboid is cut in half across the dimension that is longest in steps of the stencil, down to single cells.

use super::grid::{Cuboid, GridTask};
use crate::base::types::NodeId;

pub(super) fn orders(task: &GridTask<'_>) -> Vec<Vec<NodeId>> {
    let stencil = task.stencil;
    // The number of offsets that leave a cell along each dimension. Along one that none leaves, cuts are free.
    let crossing =
        |dimension: usize| stencil.offsets().iter().filter(|offset| offset.steps[dimension] != 0).count();
    let crossings: Vec<usize> = (0..stencil.lengths().len()).map(crossing).collect();
    let mut order = Vec::with_capacity(stencil.num_cells());
    let mut waiting = vec![Cuboid::whole(stencil)];
    while let Some(cuboid) = waiting.pop() {
        // The first of those with the greatest quotient of length and crossings, compared without division.
        let longer = |best: usize, next: usize| {
            let [of_best, of_next] = [best, next].map(|dimension| cuboid.0[dimension].len());
            let is_longer = of_next * crossings[best] > of_best * crossings[next]
                || crossings[best] + crossings[next] == 0 && of_next > of_best;
            if is_longer { next } else { best }
        };
        let divisible = (0..crossings.len()).filter(|&dimension| cuboid.0[dimension].len() > 1);
        match divisible.reduce(longer) {
            None => {
                let cell: usize = (0..crossings.len()).map(|d| cuboid.0[d].start * stencil.stride(d)).sum();
                order.extend(Some(cell as NodeId).filter(|_| cell < stencil.num_cells()));
            }
            Some(dimension) => {
                let half = cuboid.0[dimension].len() / 2;
                let [first, second] = cuboid.split(dimension, half);
                waiting.extend([second, first]);
            }
        }
    }
    vec![order]
}
