//! Distributed graphs that are generated where they are, for tests and measurements.

use viem::base::error::{ErrorKind, HasKind};
use viem::base::types::NodeId;

use crate::alike;
use crate::comm::{Comm, Ranges};
use crate::error::{DistError, agree};
use crate::graph::{DistGraph, Rows};

/// A grid with too many vertices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a grid of {lengths:?} has no vertex or more than {}", NodeId::MAX - 1)]
pub struct GridError {
    /// The number of vertices along each dimension.
    pub lengths: Vec<u32>,
}

impl HasKind for GridError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Usage
    }
}

/// A grid with these lengths and edges of weight 1, in which vertices next to each other in any dimension are neighbours. The first dimension
/// is numbered first.
pub fn grid(comm: &impl Comm, lengths: &[u32]) -> Result<DistGraph, DistError> {
    let count = lengths.iter().try_fold(1, |count: NodeId, &length| count.checked_mul(length));
    let error = || GridError { lengths: lengths.to_vec() };
    let count = agree(comm, count.filter(|&count| count > 0 && count < NodeId::MAX).ok_or_else(error))?;
    alike::check(comm, &[("grid", alike::digest(lengths.iter().map(|&length| length.into())))])?;
    let ranges = Ranges::equal(count, comm);
    let mut rows = Rows { offsets: vec![0], ..Rows::default() };
    for vertex in ranges.own() {
        let mut strides = Vec::with_capacity(lengths.len());
        let mut stride = 1;
        for &length in lengths {
            strides.push((stride, length));
            stride *= length;
        }
        let lower = strides.iter().rev().filter(|&&(stride, length)| vertex / stride % length > 0);
        rows.targets.extend(lower.map(|&(stride, _)| vertex - stride));
        let higher = strides.iter().filter(|&&(stride, length)| vertex / stride % length + 1 < length);
        rows.targets.extend(higher.map(|&(stride, _)| vertex + stride));
        rows.offsets.push(rows.targets.len());
    }
    DistGraph::of_symmetric(comm, ranges, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::gather;
    use crate::threads;

    #[test]
    fn grids_are_those_of_the_library() {
        for size in [1, 2, 5, 16] {
            for (width, height) in [(1, 1), (1, 7), (4, 3)] {
                let wholes = threads::run(size, |comm| {
                    gather(comm, &grid(comm, &[width, height]).unwrap(), size).unwrap().unwrap()
                });
                let expected = viem::graph::generate::grid(width as usize, height as usize);
                assert!(wholes.iter().all(|whole| *whole == expected));
            }
        }
        let errors = threads::run(2, |comm| grid(comm, &[1 << 16, 1 << 16]).map(|_| ()));
        assert!(errors.iter().all(|error| error.as_ref().is_err_and(|error| error.kind == ErrorKind::Usage)));
    }

    #[test]
    fn cubes_have_six_neighbours_inside() {
        let wholes = threads::run(3, |comm| {
            let graph = grid(comm, &[4, 5, 6]).unwrap();
            (graph.num_arcs(), DistGraph::new(comm, crate::testing::rows_of(&graph)).is_ok())
        });
        assert_eq!(wholes.iter().map(|&(arcs, _)| arcs).sum::<usize>(), 2 * (3 * 30 + 4 * 24 + 5 * 20));
        assert!(wholes.iter().all(|&(_, is_valid)| is_valid));
    }
}
