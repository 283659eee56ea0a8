//! What cuts of a grid have in common.

use std::ops::Range;

use crate::base::types::NodeId;
use crate::graph::stencil::Stencil;

/// A grid, and the parts that take ranges of an order of its cells.
#[derive(Clone, Copy, Debug)]
pub struct GridTask<'a> {
    /// The grid.
    pub stencil: &'a Stencil,
    /// The number of cells of each part, in order; their sum is the number of cells.
    pub sizes: &'a [usize],
    /// About how many orders are proposed at most; one always is.
    pub most: usize,
}

impl GridTask<'_> {
    /// The mean number of cells of a part.
    pub(super) fn mean_size(&self) -> f64 {
        self.stencil.num_cells() as f64 / self.sizes.len().max(1) as f64
    }

    /// The number of cells before each part, and at last that of all cells.
    pub(super) fn boundaries(&self) -> Vec<usize> {
        let sums = self.sizes.iter().scan(0, |sum, size| {
            *sum += size;
            Some(*sum)
        });
        std::iter::once(0).chain(sums).collect()
    }
}

/// By dimension, the weight that leaves a cell along it, times the steps.
pub(super) fn pulls(stencil: &Stencil) -> Vec<f64> {
    let dimensions = 0..stencil.lengths().len();
    let pull = |dimension: usize| -> f64 {
        let offsets = stencil.offsets().iter();
        offsets.map(|offset| offset.weight as f64 * offset.steps[dimension].abs() as f64).sum()
    };
    dimensions.map(pull).collect()
}

/// A cuboid of cells: a range of coordinates for each dimension.
#[derive(Clone, Debug)]
pub(super) struct Cuboid(pub(super) Vec<Range<usize>>);

impl Cuboid {
    /// All cells.
    pub(super) fn whole(stencil: &Stencil) -> Self {
        Self(stencil.lengths().iter().map(|&length| 0..length).collect())
    }

    /// The number of its cells; those that are missing at the end of the grid do not count. O(dimensions).
    pub(super) fn num_cells(&self, stencil: &Stencil) -> usize {
        let (mut num_cells, mut left) = (0, stencil.num_cells());
        for (dimension, range) in self.0.iter().enumerate() {
            // All layers before that of the first missing cell, and of this one the cells before it.
            let inside: usize = self.0[dimension + 1..].iter().map(ExactSizeIterator::len).product();
            let layer = left / stencil.stride(dimension);
            num_cells += inside * layer.min(range.end).saturating_sub(range.start);
            if !range.contains(&layer) {
                break;
            }
            left %= stencil.stride(dimension);
        }
        num_cells
    }

    /// The layers of cells before a position along a dimension, and the others.
    pub(super) fn split(self, dimension: usize, layers: usize) -> [Self; 2] {
        let (mut first, mut second) = (self.clone(), self);
        let at = first.0[dimension].start + layers;
        first.0[dimension].end = at;
        second.0[dimension].start = at;
        [first, second]
    }

    /// Appends its cells: the coordinate of the first of these dimensions changes most slowly.
    pub(super) fn append(&self, stencil: &Stencil, dimensions: &[usize], order: &mut Vec<NodeId>) {
        let strides: Vec<usize> = dimensions.iter().map(|&dimension| stencil.stride(dimension)).collect();
        for number in 0..self.0.iter().map(ExactSizeIterator::len).product() {
            let (mut left, mut cell) = (number, 0);
            for (&dimension, stride) in dimensions.iter().zip(&strides).rev() {
                let Range { start, end } = self.0[dimension];
                cell += (start + left % (end - start)) * stride;
                left /= end - start;
            }
            if cell < stencil.num_cells() {
                order.push(cell as NodeId);
            }
        }
    }
}
