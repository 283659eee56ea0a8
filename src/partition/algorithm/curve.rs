//! Orders along space-filling curves.
//!
//! The box around the points is divided into cubes, 2^bits along its longest side, and points are sorted by the position on the curve of the cube
//! that they are in. Points in the same cube are in the order of their numbers. Dimensions in which all points agree
//! are left out. O(n log n), 16 bytes a vertex.

use rayon::prelude::*;

use super::{Algorithm, AlgorithmError, Input};
use crate::graph::Coordinates;
use crate::types::NodeId;

/// Points whose cubes one task finds. The result does not depend on it.
const GRAIN_SIZE: usize = 1 << 14;

/// A curve that visits all cells of a grid of 2^bits cells in each of D dimensions.
pub(super) trait Curve {
    /// The position of a cell on the curve, below 2^(D · bits).
    fn position<const D: usize>(cell: [u32; D], bits: u32) -> u64;
}

/// The vertices in the order of a curve.
pub(super) fn order<C: Curve>(
    input: &Input<'_>,
    algorithm: Algorithm,
) -> Result<Vec<NodeId>, AlgorithmError> {
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
    let key = |node: NodeId| (C::position(grid.cell::<D>(points.point(node), bits), bits), node);
    let nodes = (0..points.len() as NodeId).into_par_iter().with_min_len(GRAIN_SIZE);
    let mut keys: Vec<(u64, NodeId)> = nodes.map(key).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|(_, node)| node).collect()
}

/// The cubes that points are in. All numbers are halved, so that no difference overflows.
struct Grid {
    /// The dimensions in which points differ.
    axes: Vec<usize>,
    least: Vec<f64>,
    /// The longest side.
    side: f64,
}

impl Grid {
    fn around(points: &Coordinates) -> Self {
        let extent = points.extent().unwrap_or_default();
        let axes = (0..extent.len()).filter(|&axis| extent[axis].0 < extent[axis].1).collect();
        let side = extent.iter().map(|&(least, most)| most / 2.0 - least / 2.0).fold(0.0, f64::max);
        Self { axes, least: extent.iter().map(|&(least, _)| least / 2.0).collect(), side }
    }

    /// The cell of a point among 2^bits in each dimension.
    fn cell<const D: usize>(&self, point: &[f64], bits: u32) -> [u32; D] {
        let scale = 2f64.powi(bits as i32);
        let last = ((1u64 << bits) - 1) as u32;
        std::array::from_fn(|index| {
            let axis = self.axes[index];
            // Conversions saturate; the side may be so small that it is 0 once halved.
            let share = (point[axis] / 2.0 - self.least[axis]) / self.side;
            ((share * scale) as u32).min(last)
        })
    }
}

/// The bits of all coordinates by turns, the highest of the first coordinate first.
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
        let points = Coordinates::new(2, vec![-1.0, 7.0, 3.0, 7.5, 1.0, 7.0]).unwrap();
        let grid = Grid::around(&points);
        assert_eq!(grid.cell::<2>(points.point(0), 2), [0, 0]);
        assert_eq!(grid.cell::<2>(points.point(1), 2), [3, 0]);
        assert_eq!(grid.cell::<2>(points.point(1), 4), [15, 2]);
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
