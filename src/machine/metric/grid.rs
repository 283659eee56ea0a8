//! Grids of any number of dimensions, open (meshes) or closed (tori), whose vertices hold a PE or a tree of PEs.
//!
//! The distance between two vertices is the number of hops between them, summed over all dimensions, the shorter way round in closed
//! ones, times the length of a hop. PEs of one vertex are as far apart as in its tree. The first dimension varies fastest in the
//! numbers of vertices; the PEs of a vertex are consecutive.
//!
//! # Distances without a matrix
//!
//! A key holds the coordinates in a fixed number of lanes, so that vector instructions compare all lanes at once: the gap in a
//! lane, or the rest of the way round if that is less. Lanes of 16 bits serve up to eight dimensions of up to 2^14 vertices,
//! lanes of 32 bits the rest.

use super::hierarchy::{Hierarchy, HierarchyOnline};
use crate::base::types::{Distance, PeId};
use crate::machine::{Differences, Dimension, DistanceOracle as _, MachineError, Metric, Placed, key_memory};

/// Most vertices along a dimension: gaps, and their sum over all dimensions of a machine, fit 32 bits.
const MOST_VERTICES: u32 = 1 << 30;

/// A grid whose vertices are PEs or groups of PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    dimensions: Vec<Dimension>,
    /// The PEs of a vertex.
    vertex: Hierarchy,
    hop: Distance,
    pub(in crate::machine) num_pes: usize,
}

impl Grid {
    /// A grid of these dimensions, with the PEs of `vertex` at each vertex, and this length of a hop.
    pub fn new(dimensions: Vec<Dimension>, vertex: Hierarchy, hop: Distance) -> Result<Self, MachineError> {
        if dimensions.iter().any(|dimension| dimension.length == 0) {
            return Err(MachineError::NoPes);
        }
        if hop < 0 {
            return Err(MachineError::NegativeDistance { distance: hop });
        }
        if let Some(long) = dimensions.iter().find(|dimension| dimension.length > MOST_VERTICES) {
            return Err(MachineError::DimensionTooLong { length: long.length, most: MOST_VERTICES });
        }
        let num_pes = dimensions
            .iter()
            .try_fold(vertex.num_pes() as PeId, |product, dimension| product.checked_mul(dimension.length))
            .ok_or(MachineError::TooManyPes)? as usize;
        let grid = Self { dimensions, vertex, hop, num_pes };
        grid.most_hops().checked_mul(hop).ok_or(MachineError::DistanceOverflow)?;
        Ok(grid)
    }

    /// A mesh of these lengths, a PE at each vertex, hops of length 1.
    pub fn mesh(lengths: &[u32]) -> Result<Self, MachineError> {
        Self::of_lengths(lengths, false)
    }

    /// A torus of these lengths, a PE at each vertex, hops of length 1.
    ///
    /// ```
    /// use viem::machine::{Grid, Machine as _};
    ///
    /// let torus = Grid::torus(&[4, 4, 4])?;
    /// assert_eq!(torus.num_pes(), 64);
    /// # Ok::<(), viem::machine::MachineError>(())
    /// ```
    pub fn torus(lengths: &[u32]) -> Result<Self, MachineError> {
        Self::of_lengths(lengths, true)
    }

    fn of_lengths(lengths: &[u32], is_closed: bool) -> Result<Self, MachineError> {
        let dimensions = lengths.iter().map(|&length| Dimension { length, is_closed }).collect();
        Self::new(dimensions, Hierarchy::single(), 1)
    }

    /// The dimensions, the fastest varying first.
    pub fn dimensions(&self) -> &[Dimension] {
        &self.dimensions
    }

    /// The PEs of a vertex.
    pub fn vertex(&self) -> &Hierarchy {
        &self.vertex
    }

    /// The length of a hop.
    pub fn hop(&self) -> Distance {
        self.hop
    }

    fn most_hops(&self) -> Distance {
        let hops = |dimension: &Dimension| match dimension.is_closed {
            true => Distance::from(dimension.length / 2),
            false => Distance::from(dimension.length - 1),
        };
        self.dimensions.iter().map(hops).sum()
    }

    /// The dimensions that have more than one vertex, each with the difference between the numbers of two neighbours.
    pub(in crate::machine) fn strides(&self) -> Vec<(Dimension, u32)> {
        let mut stride = 1;
        let strides = self.dimensions.iter().map(|&dimension| {
            let own = stride;
            stride *= dimension.length;
            (dimension, own)
        });
        strides.filter(|(dimension, _)| dimension.length > 1).collect()
    }

    /// The distances of these PEs by the difference of two keys, if each vertex is a PE and that takes little memory.
    pub(in crate::machine) fn differences(
        &self,
        pes: Pes<'_>,
    ) -> Result<Option<Placed<Differences>>, MachineError> {
        let strides = self.strides();
        let dimensions: Vec<Dimension> = strides.iter().map(|&(dimension, _)| dimension).collect();
        let Some(metric) = Differences::new(&dimensions, self.hop).filter(|_| self.vertex.num_pes() == 1)
        else {
            return Ok(None);
        };
        let coordinates =
            |pe: PeId| strides.iter().map(move |&(dimension, stride)| pe / stride % dimension.length);
        Ok(Some(pes.placed(metric, |metric, pe| metric.key(coordinates(pe)))?))
    }

    pub(in crate::machine) fn metric<T: Lane, const N: usize>(
        &self,
        pes: Pes<'_>,
    ) -> Result<Placed<Hops<T, N>>, MachineError> {
        let strides = self.strides();
        let mut way_round = [T::OPEN; N];
        for (lane, (dimension, _)) in way_round.iter_mut().zip(&strides) {
            if dimension.is_closed {
                *lane = T::of(dimension.length);
            }
        }
        let size = self.vertex.num_pes() as PeId;
        let key = |hops: &Hops<T, N>, pe: PeId| {
            let mut at = [T::of(0); N];
            for (lane, &(dimension, stride)) in at.iter_mut().zip(&strides) {
                *lane = T::of(pe / size / stride % dimension.length);
            }
            GridKey { at, inside: hops.vertex.key(pe % size) }
        };
        let vertex = self.vertex.online64();
        let max_distance = (self.most_hops() * self.hop).max(self.vertex.max_distance());
        // A detour through another vertex is at least two hops long.
        let has_triangle_inequality =
            vertex.has_triangle_inequality() && self.vertex.max_distance() <= self.hop.saturating_mul(2);
        let hops = Hops { way_round, hop: self.hop, vertex, max_distance, has_triangle_inequality };
        pes.placed(hops, key)
    }
}

/// PEs of a machine.
#[derive(Clone, Copy)]
pub(in crate::machine) enum Pes<'a> {
    /// This number, from 0 on.
    All(usize),
    Listed(&'a [PeId]),
}

impl Pes<'_> {
    /// Their keys, if there is memory for them.
    fn placed<M: Metric>(
        self,
        metric: M,
        key: impl Fn(&M, PeId) -> M::Key,
    ) -> Result<Placed<M>, MachineError> {
        match self {
            Self::Listed(list) => {
                key_memory::room_for_keys::<M::Key>(list.len())?;
                Ok(Placed::at(metric, list, key))
            }
            Self::All(count) => {
                let mut keys = key_memory::room_for_keys(count)?;
                keys.extend((0..count as PeId).map(|pe| key(&metric, pe)));
                Ok(Placed::new(metric, keys))
            }
        }
    }
}

/// A coordinate, or a gap between two.
pub trait Lane: Copy + Eq + Send + Sync + std::fmt::Debug + 'static {
    /// The length of a way round that is never the shorter one.
    const OPEN: Self;
    /// The lane with this value; it fits.
    fn of(value: u32) -> Self;
    /// A sum of gaps over all dimensions.
    type Sum: Copy + Default + std::ops::Add<Output = Self::Sum> + Into<Distance>;
    /// The hops between two coordinates of a dimension with this way round.
    fn gap(self, other: Self, way_round: Self) -> Self::Sum;
}

impl Lane for i16 {
    const OPEN: i16 = i16::MAX;
    type Sum = i32;
    #[inline]
    fn of(value: u32) -> i16 {
        value as i16
    }
    #[inline]
    fn gap(self, other: i16, way_round: i16) -> i32 {
        let gap = (self - other).max(other - self);
        i32::from(gap.min(way_round - gap))
    }
}

impl Lane for i32 {
    const OPEN: i32 = i32::MAX;
    type Sum = i32;
    #[inline]
    fn of(value: u32) -> i32 {
        value as i32
    }
    #[inline]
    fn gap(self, other: i32, way_round: i32) -> i32 {
        let gap = (self - other).max(other - self);
        gap.min(way_round - gap)
    }
}

/// The position of a PE in a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridKey<T, const N: usize> {
    at: [T; N],
    /// Its code in the tree of its vertex.
    inside: u64,
}

/// Hops between vertices, and the distances of a tree inside.
#[derive(Clone, Debug)]
pub struct Hops<T, const N: usize> {
    way_round: [T; N],
    hop: Distance,
    vertex: HierarchyOnline<u64>,
    max_distance: Distance,
    has_triangle_inequality: bool,
}

impl<T: Lane, const N: usize> Metric for Hops<T, N> {
    type Key = GridKey<T, N>;

    #[inline]
    fn between(&self, a: Self::Key, b: Self::Key) -> Distance {
        let mut hops = T::Sum::default();
        for lane in 0..N {
            hops = hops + a.at[lane].gap(b.at[lane], self.way_round[lane]);
        }
        let hops: Distance = hops.into();
        if hops == 0 { self.vertex.between(a.inside, b.inside) } else { hops * self.hop }
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    #[inline]
    fn interchangeable(&self, a: Self::Key, b: Self::Key) -> bool {
        a.at == b.at && self.vertex.interchangeable(a.inside, b.inside)
    }

    fn has_triangle_inequality(&self) -> bool {
        self.has_triangle_inequality
    }
}
