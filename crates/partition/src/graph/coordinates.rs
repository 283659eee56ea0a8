//! Where the vertices of a graph lie: points in one to four dimensions.

use crate::base::error::{ErrorKind, HasKind};
use crate::base::types::NodeId;

/// The greatest number of dimensions.
pub const MOST_DIMENSIONS: usize = 4;

/// A point for each vertex. All coordinates are finite.
///
/// ```
/// use viem::graph::Coordinates;
///
/// let points = Coordinates::new(2, vec![0.0, 0.0, 1.0, 0.5])?;
/// assert_eq!((points.len(), points.point(1)), (2, &[1.0, 0.5][..]));
/// # Ok::<(), viem::graph::CoordinatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    dimension: usize,
    values: Vec<f64>,
}

/// The reason why coordinates were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the messages are the documentation of the fields
#[non_exhaustive]
pub enum CoordinatesError {
    #[error("points have 1 to {MOST_DIMENSIONS} dimensions, not {dimension}")]
    Dimension { dimension: usize },
    #[error("{count} numbers are no points of {dimension} dimensions")]
    Length { count: usize, dimension: usize },
    #[error("coordinate {axis} of vertex {node} is {value}, not a finite number")]
    NotFinite { node: usize, axis: usize, value: f64 },
}

impl HasKind for CoordinatesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Dimension { .. } | Self::Length { .. } | Self::NotFinite { .. } => ErrorKind::BadData,
        }
    }
}

impl Coordinates {
    /// Points of some dimension, one after the other: `values[dimension * u..][..dimension]` is that of vertex `u`.
    pub fn new(dimension: usize, values: Vec<f64>) -> Result<Self, CoordinatesError> {
        if !(1..=MOST_DIMENSIONS).contains(&dimension) {
            return Err(CoordinatesError::Dimension { dimension });
        }
        if !values.len().is_multiple_of(dimension) {
            return Err(CoordinatesError::Length { count: values.len(), dimension });
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let (node, axis, value) = (place / dimension, place % dimension, values[place]);
            return Err(CoordinatesError::NotFinite { node, axis, value });
        }
        // Adding 0 makes -0 equal 0 wherever numbers are compared by their bits.
        Ok(Self { dimension, values: values.into_iter().map(|value| value + 0.0).collect() })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Returns whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Number of dimensions.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The point of a vertex.
    #[inline]
    pub fn point(&self, node: NodeId) -> &[f64] {
        &self.values[node as usize * self.dimension..][..self.dimension]
    }

    /// All points, by vertex.
    pub fn points(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.dimension)
    }

    /// The least and the greatest coordinate of each dimension; nothing if there are no points.
    pub fn extent(&self) -> Option<Vec<(f64, f64)>> {
        let first = self.points().next()?;
        let mut extent: Vec<(f64, f64)> = first.iter().map(|&value| (value, value)).collect();
        for point in self.points() {
            for ((least, most), &value) in extent.iter_mut().zip(point) {
                *least = least.min(value);
                *most = most.max(value);
            }
        }
        Some(extent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_point_is_refused() {
        assert_eq!(Coordinates::new(5, vec![]), Err(CoordinatesError::Dimension { dimension: 5 }));
        assert_eq!(Coordinates::new(0, vec![]), Err(CoordinatesError::Dimension { dimension: 0 }));
        assert_eq!(
            Coordinates::new(2, vec![1.0; 3]),
            Err(CoordinatesError::Length { count: 3, dimension: 2 })
        );
        let error = Coordinates::new(2, vec![0.0, 1.0, 2.0, f64::INFINITY]).unwrap_err();
        assert_eq!(error.to_string(), "coordinate 1 of vertex 1 is inf, not a finite number");
        assert_eq!(Coordinates::new(3, vec![]).unwrap().extent(), None);
        let points = Coordinates::new(2, vec![0.0, 5.0, -2.0, 1.0]).unwrap();
        assert_eq!(points.extent(), Some(vec![(-2.0, 0.0), (1.0, 5.0)]));
    }
}
