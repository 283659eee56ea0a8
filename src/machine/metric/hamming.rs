//! The number of bits in which two numbers differ.

use crate::base::types::{Distance, PeId};
use crate::machine::Metric;

/// The Hamming distance.
#[derive(Clone, Copy, Debug)]
pub struct Hamming {
    pub(in crate::machine) dimension: u32,
}

impl Metric for Hamming {
    type Key = PeId;

    #[inline]
    fn between(&self, a: PeId, b: PeId) -> Distance {
        Distance::from((a ^ b).count_ones())
    }

    fn max_distance(&self) -> Distance {
        Distance::from(self.dimension)
    }

    fn has_triangle_inequality(&self) -> bool {
        true
    }
}
