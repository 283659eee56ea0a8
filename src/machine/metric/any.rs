//! Distances of any kind, where few are asked for: what kind they are is found out anew each time.
//!
//! What asks for many is compiled for each kind instead ([`with_oracle`](super::super::with_oracle)).

use std::ops::Range;

use crate::ground::types::{Distance, PeId};
use crate::machine::{DistanceOracle, Distances, Metric, Ultrametric, with_oracle};

impl Metric for Distances {
    type Key = PeId;

    fn between(&self, a: PeId, b: PeId) -> Distance {
        with_oracle!(self, |oracle| oracle.distance(a, b))
    }

    fn max_distance(&self) -> Distance {
        with_oracle!(self, |oracle| oracle.max_distance())
    }

    fn interchangeable(&self, a: PeId, b: PeId) -> bool {
        with_oracle!(self, |oracle| oracle.interchangeable(oracle.key(a), oracle.key(b)))
    }

    fn has_triangle_inequality(&self) -> bool {
        with_oracle!(self, |oracle| oracle.has_triangle_inequality())
    }
}

impl DistanceOracle for Distances {
    fn num_pes(&self) -> usize {
        with_oracle!(self, |oracle| oracle.num_pes())
    }

    fn key(&self, pe: PeId) -> PeId {
        pe
    }

    fn row(&self, pe: PeId) -> Option<&[u8]> {
        with_oracle!(self, |oracle| oracle.row(pe))
    }

    fn nearer_than(&self, pe: PeId, distance: Distance) -> Range<PeId> {
        with_oracle!(self, |oracle| oracle.nearer_than(pe, distance))
    }

    fn ultrametric(&self) -> Option<Ultrametric> {
        with_oracle!(self, |oracle| oracle.ultrametric())
    }
}
