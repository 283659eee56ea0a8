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

use super::hierarchy::{Hierarchy, HierarchyOnline, location_in};
use crate::ground::types::{Distance, PeId};
use crate::machine::parts::{Members, PartTree, Parts};
use crate::machine::spec::{MachineKind, Request, SpecError, distance};
use crate::machine::{
    Differences, Dimension, DistanceOracle as _, Distances, Division, Interconnect, Located, Location,
    Machine, MachineError, Metric, Placed, key_memory,
};

/// Most vertices along a dimension: gaps, and their sum over all dimensions of a machine, fit 32 bits.
const MOST_VERTICES: u32 = 1 << 30;

/// Fewer processes than places are mapped to a box if that is at most one part in so many of the machine: a mapping may need another shape.
const LEAST_SHARE: usize = 2;

/// Longer lists than one part in so many of the machine are divided as the whole is. Balances the time for the whole against J, which is the
/// same within 0.3 percent, on 36 lists.
const FEW_PES_SHARE: usize = 64;

/// A grid whose vertices are PEs or groups of PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    dimensions: Vec<Dimension>,
    /// The PEs of a vertex.
    vertex: Hierarchy,
    hop: Distance,
    num_pes: usize,
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
    fn strides(&self) -> Vec<(Dimension, u32)> {
        let mut stride = 1;
        let strides = self.dimensions.iter().map(|&dimension| {
            let own = stride;
            stride *= dimension.length;
            (dimension, own)
        });
        strides.filter(|(dimension, _)| dimension.length > 1).collect()
    }

    /// The distances of these PEs by the difference of two keys, if each vertex is a PE and that takes little memory.
    fn differences(&self, pes: Pes<'_>) -> Result<Option<Placed<Differences>>, MachineError> {
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

    fn metric<T: Lane, const N: usize>(&self, pes: Pes<'_>) -> Result<Placed<Hops<T, N>>, MachineError> {
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

    fn distances_of(&self, pes: Pes<'_>) -> Result<Distances, MachineError> {
        if let Some(differences) = self.differences(pes)? {
            return Ok(Distances::Differences(differences));
        }
        let strides = self.strides();
        let is_narrow =
            strides.len() <= 8 && strides.iter().all(|(dimension, _)| dimension.length <= 1 << 14);
        Ok(if is_narrow {
            Distances::Hops(self.metric(pes)?)
        } else {
            Distances::WideHops(self.metric(pes)?)
        })
    }

    /// The parts of some PEs: the least box around them is halved across its longest side. If that is odd, the larger half is the first one
    /// or the second one, and in the two halves the other way round, so that no look at the rest of the machine is needed. O(n) for n
    /// PEs, for each halving.
    fn boxes_among(&self, sides: &[(Dimension, u32)], members: Members, is_first_larger: bool) -> PartTree {
        let size = self.vertex.num_pes() as PeId;
        let coordinate =
            |pe: PeId, (dimension, stride): (Dimension, u32)| pe / size / stride % dimension.length;
        let span = |&side| {
            let span = members.span(|pe| coordinate(pe, side));
            span.map(|(least, greatest)| (greatest - least, least, side))
        };
        // Among equals that of the longest step.
        let longest = sides.iter().filter_map(span).max_by_key(|&(steps, ..)| steps);
        let Some((steps, least, side)) = longest.filter(|&(steps, ..)| steps > 0) else {
            return self.vertex.tree_of(&members.renumbered(|pe| pe % size));
        };
        let half = if is_first_larger { (steps + 1).div_ceil(2) } else { steps.div_ceil(2) };
        let turn = is_first_larger ^ (steps % 2 == 0);
        let [first, second] = members.separated(|pe| coordinate(pe, side) - least < half);
        PartTree::Divided(vec![self.boxes_among(sides, first, turn), self.boxes_among(sides, second, !turn)])
    }

    /// Boxes, halved across their longest side. If that is odd, the larger half is alternately the first and the second.
    fn boxes(&self) -> Parts {
        let size = self.vertex.num_pes();
        let strides = self.strides();
        let mut is_first_larger = true;
        let mut rest = Vec::new();
        // Every part is a box of vertices, or the PEs of a group of one.
        Parts::divide((0..self.num_pes as PeId).collect(), |pes| {
            if pes.len() <= size {
                return self.vertex.children_of(pes.len());
            }
            // The order inside a box is that of the numbers, so its first and last PE are its corners.
            let [first, last] = [pes[0], pes[pes.len() - 1]].map(|pe| pe / size as PeId);
            // The longest side, and how many PEs a step along it goes over; among equals that of the longest step.
            let (mut longest, mut step, mut volume) = (0, size, size);
            for &(dimension, stride) in &strides {
                let coordinate = |vertex: u32| vertex / stride % dimension.length;
                let length = (coordinate(last) - coordinate(first) + 1) as usize;
                if length >= longest {
                    (longest, step) = (length, volume);
                }
                volume *= length;
            }
            let half = if is_first_larger { longest.div_ceil(2) } else { longest / 2 };
            is_first_larger ^= longest % 2 == 1;
            bring_forward(pes, longest * step, half * step, &mut rest);
            let first = pes.len() / longest * half;
            vec![first, pes.len() - first]
        })
    }
}

/// PEs of a machine.
#[derive(Clone, Copy)]
enum Pes<'a> {
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

/// Moves the first `run` of each `row` PEs before all others, which are buffered in `rest`; the order is otherwise kept. O(n), and O(1) for a
/// single row.
fn bring_forward(pes: &mut [PeId], row: usize, run: usize, rest: &mut Vec<PeId>) {
    if row == pes.len() {
        return;
    }
    rest.clear();
    let mut end = 0;
    for begin in (0..pes.len()).step_by(row) {
        rest.extend_from_slice(&pes[begin + run..begin + row]);
        pes.copy_within(begin..begin + run, end);
        end += run;
    }
    pes[end..].copy_from_slice(rest);
}

impl Machine for Grid {
    fn num_pes(&self) -> usize {
        self.num_pes
    }

    fn distances(&self) -> Result<Distances, MachineError> {
        self.distances_of(Pes::All(self.num_pes))
    }

    fn distances_among(&self, list: &[PeId]) -> Result<Distances, MachineError> {
        self.distances_of(Pes::Listed(list))
    }

    fn room(&self) -> u64 {
        self.num_pes as u64
    }

    fn interconnect(&self) -> Interconnect {
        Interconnect::Grid(self.clone())
    }

    fn division(&self) -> Division {
        Division::Parts(self.boxes())
    }

    fn division_among(&self, list: &[PeId]) -> Division {
        if self.num_pes / FEW_PES_SHARE <= list.len() {
            return self.division().listed(list);
        }
        let tree = self.boxes_among(&self.strides(), Members::all_of(list), true);
        Division::Parts(Parts::from_tree(&tree))
    }

    /// A box whose sides are equal, or as long as the machine where that is narrower.
    fn compact_pes(&self, least: usize) -> Option<Vec<PeId>> {
        let size = self.vertex.num_pes();
        let volume = |side: u32| -> usize {
            let lengths = self.dimensions.iter().map(|dimension| dimension.length.min(side) as usize);
            lengths.product()
        };
        let most = self.num_pes / size / LEAST_SHARE;
        let side = (1..).find(|&side| volume(side) >= least.div_ceil(size).min(most + 1))?;
        if volume(side) > most {
            return None;
        }
        let mut pes: Vec<PeId> = (0..size as PeId).collect();
        let mut stride = size as PeId;
        for dimension in &self.dimensions {
            let steps = 0..dimension.length.min(side);
            pes = steps.flat_map(|step| pes.iter().map(move |pe| pe + step * stride)).collect();
            stride *= dimension.length;
        }
        Some(pes)
    }

    fn describe(&self) -> String {
        let lengths: Vec<String> = self.dimensions.iter().map(|side| side.length.to_string()).collect();
        let kind = match self.dimensions.iter().filter(|side| side.is_closed).count() {
            0 => "mesh",
            closed if closed == self.dimensions.len() => "torus",
            _ => "grid",
        };
        match self.vertex.num_pes() {
            1 => format!("{kind} of {}", lengths.join(" x ")),
            pes => format!("{kind} of {} vertices with {pes} processing elements each", lengths.join(" x ")),
        }
    }

    fn located(&self) -> Option<&dyn Located> {
        Some(self)
    }
}

impl Located for Grid {
    /// Vertices are nodes.
    fn location(&self, pe: PeId) -> Location {
        location_in(self.vertex.arities(), pe)
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

/// Where a PE is in a grid.
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

pub(super) const KINDS: &[MachineKind] = &[
    MachineKind {
        name: "mesh",
        example: "mesh:8x8",
        distances: None,
        about: "a grid of any number of dimensions; /4:16 behind it puts a tree on each vertex",
        make: |request| written(request, false),
    },
    MachineKind {
        name: "torus",
        example: "torus:16x8x8",
        distances: None,
        about: "the same, with the ends of each dimension joined",
        make: |request| written(request, true),
    },
];

fn written(request: &Request<'_>, is_closed: bool) -> Result<Box<dyn Machine>, SpecError> {
    let (grid, tree) = match request.rest.split_once('/') {
        Some((grid, tree)) => (grid, Some(tree)),
        None => (request.rest, None),
    };
    let mut dimensions = Vec::new();
    for token in grid.split('x') {
        let length = request.number(token, "a length", 1, u32::MAX, "torus:16x8x8")?;
        dimensions.push(Dimension { length, is_closed });
    }
    let (vertex, hop) = match tree {
        Some(tree) => vertex(request, tree)?,
        None => (Hierarchy::single(), request.only_distance()?),
    };
    request.machine(Grid::new(dimensions, vertex, hop))
}

/// The tree of a vertex and the length of a hop, which is the last distance.
fn vertex(request: &Request<'_>, tree: &str) -> Result<(Hierarchy, i64), SpecError> {
    for token in tree.split(':') {
        request.number(token, "a number of members", 1, u32::MAX, "torus:4x4x2/4:16")?;
    }
    let distances = request.distances(tree.split(':').count() + 1)?;
    let (inside, hop) = distances.rsplit_once(':').expect("there are two or more");
    Ok((request.valid(Hierarchy::parse(tree, inside))?, distance(hop)?))
}
