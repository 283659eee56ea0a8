//! Dimensions of grids.

use crate::base::types::Distance;

/// Vertices along a dimension, and whether its last vertex is next to its first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Number of vertices, at least 1.
    pub length: u32,
    /// True if the ends are joined.
    pub is_closed: bool,
}

impl Dimension {
    /// The hops between two vertices whose numbers along the dimension differ by this.
    pub(in crate::machine) fn hops(self, difference: u32) -> Distance {
        let hops = if self.is_closed { difference.min(self.length - difference) } else { difference };
        Distance::from(hops)
    }
}
