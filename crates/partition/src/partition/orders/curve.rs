//! Orders along space-filling curves.
//!
//! A cube around the points is divided into cells, 2^bits in each dimension, and points are sorted by the position of their
//! cell on the curve. Points in the same cell are in the order of their numbers. Dimensions in which all points agree are
//! left out. The centre of the cube is the median of the points in each dimension, so that the first corners of the curve
//! have about equal numbers of points, even where a mesh is locally refined. O(n log n), 16 bytes per vertex.

use crate::base::threads;
use crate::base::types::NodeId;
use crate::graph::Coordinates;
use crate::partition::orders::input::{Method, PartitionAlgorithmError, PartitionInput};

/// A curve that visits all cells of a grid of 2^bits cells in each of D dimensions.
pub(super) trait Curve {
    /// The position of a cell on the curve, below 2^(D · bits).
    fn position<const D: usize>(cell: [u32; D], bits: u32) -> u64;
}

/// The method that cuts the order of a curve.
pub(super) fn method(
    order: fn(&PartitionInput<'_>) -> Result<Vec<NodeId>, PartitionAlgorithmError>,
) -> Method {
    Method { order, parts: None, is_recursive: false, needs_coordinates: true }
}

/// The vertices in the order of a curve.
pub(super) fn order<C: Curve>(
    input: &PartitionInput<'_>,
    algorithm: &'static str,
) -> Result<Vec<NodeId>, PartitionAlgorithmError> {
    let points = input.points(algorithm)?;
    let grid = Grid::around(points);
    Ok(match grid.axes[..] {
        [] => input.graph.nodes().collect(),
        [_] => along::<C, 1>(points, &grid),
        [_, _] => along::<C, 2>(points, &grid),
        [_, _, _] => along::<C, 3>(points, &grid),
        _ => along::<C, 4>(points, &grid),
    })
}

fn along<C: Curve, const D: usize>(points: &Coordinates, grid: &Grid) -> Vec<NodeId> {
    let bits = (u64::BITS / D as u32).min(u32::BITS);
    ordered_by(points.len(), &|node| C::position(grid.cell::<D>(points.point(node), bits), bits))
}

/// So many vertices in the order of their positions, those with the lesser number first where positions are equal.
fn ordered_by(count: usize, position: &(dyn Fn(NodeId) -> u64 + Sync)) -> Vec<NodeId> {
    let mut keys = vec![(0, 0); count];
    threads::fill(&mut keys, |node| (position(node as NodeId), node as NodeId));
    threads::sort_by_key(&mut keys, |&key| key);
    keys.into_iter().map(|(_, node)| node).collect()
}

/// The greatest number of points that the median is taken of, evenly chosen.
const SAMPLE: usize = 1 << 16;

/// The cells that points are in. All numbers are halved, so that no difference overflows.
struct Grid {
    /// The dimensions in which points differ.
    axes: Vec<usize>,
    /// The middle of the cube.
    centre: Vec<f64>,
    /// Half of its side.
    reach: f64,
}

impl Grid {
    fn around(points: &Coordinates) -> Self {
        let extent = points.extent().unwrap_or_default();
        let axes: Vec<usize> = (0..extent.len()).filter(|&axis| extent[axis].0 < extent[axis].1).collect();
        let centre: Vec<f64> = (0..extent.len()).map(|axis| median(points, axis) / 2.0).collect();
        let reach = |&axis: &usize| {
            let (least, most) = extent[axis];
            (most / 2.0 - centre[axis]).max(centre[axis] - least / 2.0)
        };
        Self { reach: axes.iter().map(reach).fold(0.0, f64::max), axes, centre }
    }

    /// The cell of a point among 2^bits in each dimension.
    fn cell<const D: usize>(&self, point: &[f64], bits: u32) -> [u32; D] {
        let half = 2f64.powi(bits as i32 - 1);
        let last = ((1u64 << bits) - 1) as u32;
        std::array::from_fn(|index| {
            let axis = self.axes[index];
            // Conversions saturate. The reach may be so small that it is 0 once halved: all points are in one cell then.
            let share = (point[axis] / 2.0 - self.centre[axis]) / self.reach;
            ((half + share * half) as u32).min(last)
        })
    }
}

/// The median of a coordinate, the higher one of two; there are points.
fn median(points: &Coordinates, axis: usize) -> f64 {
    let step = points.len().div_ceil(SAMPLE);
    let mut values: Vec<f64> = points.points().step_by(step).map(|point| point[axis]).collect();
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The bits of all coordinates interleaved, the highest bit of the first coordinate first.
pub(super) fn interleaved<const D: usize>(cell: [u32; D], bits: u32) -> u64 {
    let digits = (0..bits).rev().flat_map(|bit| cell.map(|coordinate| u64::from(coordinate >> bit & 1)));
    digits.fold(0, |key, digit| key << 1 | digit)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// All cells of a grid in the order of a curve; panics unless each position is that of one cell.
    pub fn cells_of<C: Curve, const D: usize>(bits: u32) -> Vec<[u32; D]> {
        let count = 1u64 << (bits * D as u32);
        let mut cells = vec![None; count as usize];
        for number in 0..count {
            let cell =
                std::array::from_fn(|axis| (number >> (bits * axis as u32)) as u32 & ((1 << bits) - 1));
            let before = cells[C::position(cell, bits) as usize].replace(cell);
            assert_eq!(before, None, "two cells at one position");
        }
        cells.into_iter().map(|cell| cell.expect("each position is taken")).collect()
    }

    #[test]
    fn points_are_quantised_to_cubes() {
        // The median is (1, 7), and the farthest point 4 away from it.
        let points = Coordinates::new(2, vec![-3.0, 7.0, 1.0, 7.0, 2.0, 8.0]).unwrap();
        let grid = Grid::around(&points);
        assert_eq!(grid.cell::<2>(points.point(0), 3), [0, 4]);
        assert_eq!(grid.cell::<2>(points.point(1), 3), [4, 4]);
        assert_eq!(grid.cell::<2>(points.point(2), 3), [5, 5]);
        let flat = Coordinates::new(3, vec![1.0, 5.0, 0.0, 2.0, 5.0, 0.0]).unwrap();
        assert_eq!(Grid::around(&flat).axes, [0]);
        for most in [f64::MAX, f64::MIN_POSITIVE] {
            let points = Coordinates::new(1, vec![-most, most, 0.0]).unwrap();
            let grid = Grid::around(&points);
            assert_eq!(grid.cell::<1>(points.point(0), 8), [0], "{most}");
            assert!(grid.cell::<1>(points.point(1), 8) >= [128], "{most}");
        }
    }
}
