//! Partitions by the coordinates of the vertices.
//!
//! *Problem.* Divide points that are distributed over the ranks into parts of equal numbers that are compact, without any graph.
//!
//! *Algorithm.* Recursive coordinate bisection: a set of points is halved along the dimension in which it is longest, and so on. All sets of a level are halved
//! together. The border is found byte by byte: all ranks count the points of a set by the next byte of their coordinate, and of their number where
//! coordinates are equal.
//!
//! *Cost.* log k levels of at most 12 passes over the points of a rank, with a reduction of 256 numbers for each set in each pass.
//!
//! Kaddoura, Ou, Ranka: Mapping unstructured computational graphs for adaptive and nonuniform computational environments. IEEE Parallel and Distributed
//! Technology, 1996.

use std::ops::Range;

use viem::base::error::{ErrorKind, HasKind};
use viem::base::types::{BlockId, NodeId};

use crate::alike;
use crate::comm::{Comm, Ranges, Reduction};
use crate::error::{DistError, agree};

/// The reason why points are not divided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the messages are the documentation of the fields
pub enum PointsError {
    #[error("points have at least one dimension")]
    NoDimension,
    #[error("{found} numbers are not the coordinates of points in {dimensions} dimensions")]
    Length { found: usize, dimensions: usize },
    #[error("coordinate {dimension} of point {point} is not a number")]
    NotANumber { point: NodeId, dimension: usize },
    #[error("there are {count} points; at most {} are supported", NodeId::MAX - 1)]
    TooMany { count: u64 },
    #[error("points are divided into 1 to {} parts, not {found}", u32::MAX)]
    Parts { found: usize },
}

impl HasKind for PointsError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoDimension | Self::Parts { .. } => ErrorKind::Usage,
            Self::Length { .. } | Self::NotANumber { .. } | Self::TooMany { .. } => ErrorKind::BadData,
        }
    }
}

/// The part of each point of this rank; `coordinates` has those of one point after the other. Parts have equally many points, or one more. The result is the same
/// for any number of ranks. Collective.
///
/// ```
/// use viem_distributed::comm::Comm;
/// use viem_distributed::{coordinates, threads};
///
/// // Eight points on a line, every second one on each rank.
/// let parts = threads::run(2, |comm| {
///     let points: Vec<f64> = (0..4).map(|place| (2 * place + comm.rank()) as f64).collect();
///     coordinates::bisect(comm, &points, 1, 4)
/// });
/// assert_eq!(parts, [Ok(vec![0, 1, 2, 3]), Ok(vec![0, 1, 2, 3])]);
/// ```
pub fn bisect(
    comm: &impl Comm,
    coordinates: &[f64],
    dimensions: usize,
    num_parts: usize,
) -> Result<Vec<BlockId>, DistError> {
    agree(comm, check(coordinates, dimensions, num_parts))?;
    alike::check(
        comm,
        &[("number of dimensions", dimensions as u64), ("number of parts", num_parts as u64)],
    )?;
    let count = coordinates.len() / dimensions;
    let total: u64 = comm.all_gather(&[count as u64]).words.iter().sum();
    let few = total < u64::from(NodeId::MAX);
    agree(comm, if few { Ok(()) } else { Err(PointsError::TooMany { count: total }) })?;
    let first = Ranges::gather(comm, count as NodeId).own().start;
    agree(comm, check_numbers(coordinates, dimensions, first))?;
    let coordinates = coordinates.iter().map(|&number| ordered(number)).collect();
    let mut points =
        Points { comm, coordinates, dimensions, first, total, num_parts, set_of: vec![0; count] };
    let mut sets: Vec<Range<BlockId>> = std::iter::once(0..num_parts as BlockId).collect();
    while sets.iter().any(|set| set.len() > 1) {
        sets = points.halve(&sets);
    }
    Ok(points.set_of)
}

fn check(coordinates: &[f64], dimensions: usize, num_parts: usize) -> Result<(), PointsError> {
    if dimensions == 0 {
        return Err(PointsError::NoDimension);
    }
    if num_parts == 0 || num_parts > u32::MAX as usize {
        return Err(PointsError::Parts { found: num_parts });
    }
    let found = coordinates.len();
    if found.is_multiple_of(dimensions) { Ok(()) } else { Err(PointsError::Length { found, dimensions }) }
}

fn check_numbers(coordinates: &[f64], dimensions: usize, first: NodeId) -> Result<(), PointsError> {
    match coordinates.iter().position(|number| number.is_nan()) {
        None => Ok(()),
        Some(place) => {
            let (point, dimension) = (first + (place / dimensions) as NodeId, place % dimensions);
            Err(PointsError::NotANumber { point, dimension })
        }
    }
}

/// A whole number for each number, ordered as these are; 0 and -0 are the same.
fn ordered(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number that [`ordered`] was given.
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// The points of a rank, and the set that each is in.
struct Points<'a, C> {
    comm: &'a C,
    coordinates: Vec<u64>,
    dimensions: usize,
    /// The number of the first point.
    first: NodeId,
    /// The number of all points.
    total: u64,
    num_parts: usize,
    set_of: Vec<BlockId>,
}

/// A set that is halved: those whose key is below the border go into the first half.
struct Border {
    axis: usize,
    /// The number of points below the border that are still to be found.
    left: u64,
    /// A coordinate and the number of a point, as far as they are known.
    key: u128,
}

/// The bytes of a key: eight of a coordinate, four of a number.
const BYTES: u32 = 12;

impl<C: Comm> Points<'_, C> {
    /// Halves each set that has several parts; the sets after that.
    fn halve(&mut self, sets: &[Range<BlockId>]) -> Vec<Range<BlockId>> {
        let mut borders = self.borders(sets);
        for byte in (0..BYTES).rev() {
            self.extend(&mut borders, sets.len(), byte);
        }
        let (mut halves, mut first_of) = (Vec::new(), Vec::new());
        for set in sets {
            first_of.push(halves.len() as BlockId);
            let middle = set.start + (set.len() / 2) as BlockId;
            match set.len() {
                1 => halves.push(set.clone()),
                _ => halves.extend([set.start..middle, middle..set.end]),
            }
        }
        for point in 0..self.set_of.len() {
            let set = self.set_of[point] as usize;
            let is_second =
                borders[set].as_ref().is_some_and(|border| self.key(point, border.axis) >= border.key);
            self.set_of[point] = first_of[set] + BlockId::from(is_second);
        }
        halves
    }

    /// The number of points before the first of a part.
    fn before(&self, part: BlockId) -> u64 {
        (u128::from(self.total) * u128::from(part)).div_ceil(self.num_parts as u128) as u64
    }

    /// The longest axis of each set that has several parts, and how many points its first half gets.
    fn borders(&self, sets: &[Range<BlockId>]) -> Vec<Option<Border>> {
        // The least number of each dimension of each set, and that of the complements, which is the greatest.
        let mut extents = vec![u64::MAX; 2 * sets.len() * self.dimensions];
        for (set, point) in self.set_of.iter().zip(self.coordinates.chunks_exact(self.dimensions)) {
            let extents = &mut extents[2 * *set as usize * self.dimensions..][..2 * self.dimensions];
            for (pair, &coordinate) in extents.chunks_exact_mut(2).zip(point) {
                (pair[0], pair[1]) = (pair[0].min(coordinate), pair[1].min(!coordinate));
            }
        }
        self.comm.all_reduce(&mut extents, Reduction::Least);
        let extents = extents.chunks_exact(2 * self.dimensions);
        let border = |(set, extents): (&Range<BlockId>, &[u64])| {
            let length = |axis: usize| number(!extents[2 * axis + 1]) - number(extents[2 * axis]);
            let longest = |&a: &usize, &b: &usize| length(a).total_cmp(&length(b)).then(b.cmp(&a));
            let axis = (0..self.dimensions).max_by(longest).unwrap_or(0);
            let middle = set.start + (set.len() / 2) as BlockId;
            let left = self.before(middle) - self.before(set.start);
            (set.len() > 1).then_some(Border { axis, left, key: 0 })
        };
        sets.iter().zip(extents).map(border).collect()
    }

    /// Finds the next byte of each border.
    fn extend(&self, borders: &mut [Option<Border>], num_sets: usize, byte: u32) {
        let shift = 8 * byte;
        let mut counts = vec![0u64; 256 * num_sets];
        for (point, &set) in self.set_of.iter().enumerate() {
            let Some(border) = &borders[set as usize] else { continue };
            let key = self.key(point, border.axis);
            if (key ^ border.key) >> (shift + 8) == 0 {
                counts[256 * set as usize + (key >> shift) as usize % 256] += 1;
            }
        }
        self.comm.all_reduce(&mut counts, Reduction::Sum);
        for (border, counts) in borders.iter_mut().zip(counts.chunks_exact(256)) {
            let Some(border) = border else { continue };
            let mut digit = 0;
            while digit < 255 && counts[digit] <= border.left {
                border.left -= counts[digit];
                digit += 1;
            }
            border.key |= (digit as u128) << shift;
        }
    }

    /// The coordinate of a point, then its number.
    fn key(&self, point: usize, axis: usize) -> u128 {
        let coordinate = self.coordinates[point * self.dimensions + axis];
        u128::from(coordinate) << 32 | u128::from(self.first + point as NodeId)
    }
}

#[cfg(test)]
mod tests {
    use viem::base::rng::Rng;

    use super::*;
    use crate::threads;

    /// The same by sorting all points.
    fn by_sorting(
        points: &[[f64; 2]],
        sets: Range<BlockId>,
        mut members: Vec<usize>,
        parts: &mut [BlockId],
        k: usize,
    ) {
        if sets.len() == 1 {
            members.into_iter().for_each(|point| parts[point] = sets.start);
            return;
        }
        let length = |axis: usize| {
            let of = || members.iter().map(|&point| points[point][axis]);
            of().fold(f64::NEG_INFINITY, f64::max) - of().fold(f64::INFINITY, f64::min)
        };
        let axis = usize::from(length(1) > length(0));
        members.sort_by(|&a, &b| points[a][axis].total_cmp(&points[b][axis]).then(a.cmp(&b)));
        let before = |part: BlockId| (points.len() * part as usize).div_ceil(k);
        let middle = sets.start + (sets.len() / 2) as BlockId;
        let second = members.split_off(before(middle) - before(sets.start));
        by_sorting(points, sets.start..middle, members, parts, k);
        by_sorting(points, middle..sets.end, second, parts, k);
    }

    #[test]
    fn parts_are_those_by_sorting_on_any_number_of_ranks() {
        let mut rng = Rng::new(3);
        for round in 0..60 {
            let (n, k) = (rng.below(40), 1 + rng.below(9) as usize);
            // Few different coordinates, or many; some below 0.
            let most = [3, 1000][round % 2];
            let mut coordinate = || f64::from(rng.below(most)) / 4.0 - 100.0 * f64::from(rng.below(2));
            let points: Vec<[f64; 2]> = (0..n).map(|_| [coordinate(), coordinate()]).collect();
            let mut expected = vec![0; n as usize];
            by_sorting(&points, 0..k as BlockId, (0..n as usize).collect(), &mut expected, k);
            for size in [1, 2, 5] {
                let parts = threads::run(size, |comm| {
                    let own = Ranges::equal(n, comm).own();
                    bisect(comm, points[own.start as usize..own.end as usize].as_flattened(), 2, k).unwrap()
                });
                assert_eq!(parts.concat(), expected, "round {round}, {size} ranks, {k} parts");
            }
            let counts: Vec<usize> = (0..k as BlockId)
                .map(|part| expected.iter().filter(|&&other| other == part).count())
                .collect();
            assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
        }
    }

    #[test]
    fn numbers_keep_their_order_and_come_back() {
        let numbers = [f64::NEG_INFINITY, -7.5, -7.25, 0.0, 1e-300, 3.0, f64::INFINITY];
        assert!(numbers.map(ordered).is_sorted_by(|a, b| a < b));
        assert_eq!(numbers.map(|each| number(ordered(each))), numbers);
        assert_eq!(ordered(-0.0), ordered(0.0));
    }

    #[test]
    fn a_fault_of_one_rank_is_that_of_all() {
        let of = |wrong: Vec<f64>, dimensions: usize, parts: usize| {
            threads::run(3, move |comm| {
                let points = if comm.rank() == 1 { wrong.clone() } else { vec![0.0; 4] };
                bisect(comm, &points, dimensions, parts).map(|_| ()).map_err(|error| error.message)
            })
        };
        let is_said = |results: Vec<Result<(), String>>, text: &str| {
            results.iter().all(|result| result.as_ref().is_err_and(|error| error.contains(text)))
        };
        assert!(is_said(of(vec![0.0; 3], 2, 2), "3 numbers are not"));
        assert!(is_said(of(vec![0.0, 1.0, 2.0, f64::NAN], 2, 2), "coordinate 1 of point 3"));
        assert!(is_said(of(vec![], 0, 2), "dimension"));
        assert!(is_said(of(vec![], 2, 0), "not 0"));
    }
}
