//! Homogeneous hierarchies such as `4:16:8` with distances `1:10:100`, innermost level first.
//!
//! # Distances without a matrix
//!
//! Number the PEs in mixed radix: digit i (base a_i) is the position inside the group of level i. Give
//! each digit a bit field of its own, wide enough for a_i - 1. The highest bit in which two such codes
//! differ lies in the field of the outermost digit in which the PEs differ, and that digit is the level
//! whose distance holds. So a distance is one exclusive or, one count of leading zeros, and one look-up
//! in a table that has the distance for each bit position.

use std::ops::Range;

use crate::base::number;
use crate::base::types::{Distance, PeId};
use crate::machine::parts::{Members, PartTree};
use crate::machine::{DistanceOracle, HierarchyError, Metric, Placed, Ultrametric};

/// A machine of nested groups: `arities[0]` PEs form a group of level 0, `arities[1]` of those a group
/// of level 1, and so on. Two PEs are `distances[l]` apart, where l is the innermost level whose group
/// holds both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    arities: Vec<u32>,
    distances: Vec<Distance>,
    num_pes: usize,
}

impl Hierarchy {
    /// A hierarchy from its arities (each at least 1) and distances (each at least 0), innermost first.
    pub fn new(arities: Vec<u32>, distances: Vec<Distance>) -> Result<Self, HierarchyError> {
        if arities.len() != distances.len() {
            let (levels, distances) = (arities.len(), distances.len());
            return Err(HierarchyError::LevelsDiffer { levels, distances });
        }
        if let Some(level) = arities.iter().position(|&arity| arity == 0) {
            return Err(HierarchyError::ZeroArity { level });
        }
        if let Some(level) = distances.iter().position(|&distance| distance < 0) {
            return Err(HierarchyError::NegativeDistance { level, distance: distances[level] });
        }
        let num_pes = arities
            .iter()
            .try_fold(1u32, |product, &arity| product.checked_mul(arity))
            .ok_or(HierarchyError::TooManyPes)? as usize;
        Ok(Self { arities, distances, num_pes })
    }

    /// A hierarchy from strings such as `4:16:8` and `1:10:100`.
    pub fn parse(arities: &str, distances: &str) -> Result<Self, HierarchyError> {
        Self::new(Self::parse_arities(arities)?, Self::parse_distances(distances)?)
    }

    /// Arities from a string such as `4:16:8`.
    pub(in crate::machine) fn parse_arities(text: &str) -> Result<Vec<u32>, HierarchyError> {
        let arities = parse_list("hierarchy", text, 1, u64::from(u32::MAX), "4:16:8")?;
        Ok(arities.into_iter().map(|arity| arity as u32).collect())
    }

    /// Distances from a string such as `1:10:100`.
    pub fn parse_distances(text: &str) -> Result<Vec<Distance>, HierarchyError> {
        let distances = parse_list("distances", text, 0, Distance::MAX as u64, "1:10:100")?;
        Ok(distances.into_iter().map(|distance| distance as Distance).collect())
    }

    /// A machine of one PE.
    pub fn single() -> Self {
        Self { arities: Vec::new(), distances: Vec::new(), num_pes: 1 }
    }

    /// Sizes of the parts of a group of `size` PEs; none if it is an innermost group.
    pub(in crate::machine) fn children_of(&self, size: usize) -> Vec<usize> {
        let mut inner = 1;
        for &arity in &self.arities {
            let outer = inner * arity as usize;
            if outer == size && inner > 1 && arity > 1 {
                return vec![inner; arity as usize];
            }
            inner = outer;
        }
        Vec::new()
    }

    /// The parts of some PEs of a simplified hierarchy; PEs of an innermost group stay together.
    pub(in crate::machine) fn tree_of(&self, members: &Members) -> PartTree {
        let innermost = self.arities.first().copied().unwrap_or(1);
        let outer = self.arities.iter().skip(1);
        let sizes = outer.scan(innermost, |size, &arity| {
            let group = *size;
            *size *= arity;
            Some(group)
        });
        members.divided_by(&sizes.collect::<Vec<PeId>>())
    }

    /// Members of a group, by level, innermost first.
    pub fn arities(&self) -> &[u32] {
        &self.arities
    }

    /// Distances, by level, innermost first.
    pub fn distances(&self) -> &[Distance] {
        &self.distances
    }

    /// Number of PEs: the product of the arities.
    pub fn num_pes(&self) -> usize {
        self.num_pes
    }

    /// The innermost level whose group holds both PEs, or `None` for a PE and itself.
    pub fn level(&self, p: PeId, q: PeId) -> Option<usize> {
        let (mut p, mut q) = (p, q);
        let mut level = None;
        for (index, &arity) in self.arities.iter().enumerate() {
            if p == q {
                break;
            }
            level = Some(index);
            p /= arity;
            q /= arity;
        }
        level
    }

    /// The greatest distance of two PEs: that of the levels where there is more than one group.
    pub fn max_distance(&self) -> Distance {
        let levels = self.arities.iter().zip(&self.distances);
        levels.filter(|&(&arity, _)| arity > 1).map(|(_, &distance)| distance).max().unwrap_or(0)
    }

    /// The same machine without levels that make no difference: levels of one member are dropped, and
    /// neighbouring levels of equal distance become one. PE numbers and distances stay the same.
    pub fn simplified(&self) -> Self {
        let (mut arities, mut distances): (Vec<u32>, Vec<Distance>) = (Vec::new(), Vec::new());
        for (&arity, &distance) in self.arities.iter().zip(&self.distances) {
            match (arities.last_mut(), distances.last()) {
                _ if arity == 1 => {}
                (Some(inner), Some(&last)) if last == distance => *inner *= arity,
                _ => {
                    arities.push(arity);
                    distances.push(distance);
                }
            }
        }
        Self { arities, distances, num_pes: self.num_pes }
    }

    /// Returns the fewest outermost groups that suffice for this many PEs. `None` if those are all, or if distances fall from the inside out, as PEs of
    /// different groups are nearer to each other then.
    pub(in crate::machine) fn first_groups(&self, least: usize) -> Option<Self> {
        if !self.simplified().distances.is_sorted() {
            return None;
        }
        let mut part = self.clone();
        let mut size = self.num_pes;
        for arity in part.arities.iter_mut().rev() {
            let inner = size / *arity as usize;
            *arity = (*arity).min(least.div_ceil(inner).max(1) as u32);
            size = inner;
        }
        part.num_pes = part.arities.iter().map(|&arity| arity as usize).product();
        (part.num_pes < self.num_pes).then_some(part)
    }

    /// The group of `pe` at the outermost level with less than this distance: a range that holds every PE
    /// nearer to `pe` than that.
    pub(in crate::machine) fn nearer_than(&self, pe: PeId, distance: Distance) -> Range<PeId> {
        let mut size = self.num_pes as PeId;
        for (&arity, &of_level) in self.arities.iter().zip(&self.distances).rev() {
            if of_level < distance {
                break;
            }
            size /= arity;
        }
        let start = pe / size * size;
        start..start + size
    }

    /// The innermost groups, for a simplified hierarchy whose distances grow from the inside out.
    pub(in crate::machine) fn ultrametric(&self) -> Option<Ultrametric> {
        let inside = self.distances.first().copied().unwrap_or(0);
        self.distances.is_sorted().then(|| Ultrametric {
            group_size: self.arities.first().map_or(1, |&arity| arity as usize),
            inside,
            outside: self.distances.get(1).copied().unwrap_or(inside),
        })
    }

    /// Number of bits of a padded code.
    fn code_bits(&self) -> u32 {
        self.arities.iter().map(|&arity| field_width(arity)).sum()
    }

    /// The online oracle with 32-bit keys, if the padded digits fit into them.
    pub fn online32(&self) -> Option<HierarchyOnline<u32>> {
        (self.code_bits() <= u32::BITS).then(|| HierarchyOnline::new(self))
    }

    /// The online oracle with 64-bit keys, which fit every hierarchy: a field wastes less than one bit,
    /// and at most 32 fields are wider than zero.
    pub fn online64(&self) -> HierarchyOnline<u64> {
        HierarchyOnline::new(self)
    }
}

fn parse_list(
    what: &'static str,
    text: &str,
    least: u64,
    greatest: u64,
    example: &'static str,
) -> Result<Vec<u64>, HierarchyError> {
    if text.trim().is_empty() {
        return Err(HierarchyError::Empty { what, text: text.to_string(), example });
    }
    let mut column = 1;
    let mut numbers = Vec::new();
    for token in text.split(':') {
        let digits = token.trim();
        let number = number::unsigned(digits).filter(|number| (least..=greatest).contains(number));
        numbers.push(number.ok_or_else(|| HierarchyError::BadNumber {
            what,
            text: text.to_string(),
            token: token.to_string(),
            column,
            least,
            greatest,
            example,
        })?);
        column += token.chars().count() + 1;
    }
    Ok(numbers)
}

/// Bits that the digits `0..arity` need.
pub(in crate::machine) fn field_width(arity: u32) -> u32 {
    u32::BITS - (arity - 1).leading_zeros()
}

/// An unsigned integer that holds the padded digits of a PE.
pub trait Code: Copy + Eq + Send + Sync + std::fmt::Debug + 'static {
    /// The code with these bits; they fit.
    fn from_bits(bits: u64) -> Self;
    /// Leading zeros of the bits in which two codes differ; the full width if they are equal.
    fn common_prefix(self, other: Self) -> usize;
    /// Width in bits.
    const BITS: usize;
}

impl Code for u32 {
    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits as u32
    }
    #[inline]
    fn common_prefix(self, other: Self) -> usize {
        (self ^ other).leading_zeros() as usize
    }
    const BITS: usize = 32;
}

impl Code for u64 {
    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits
    }
    #[inline]
    fn common_prefix(self, other: Self) -> usize {
        (self ^ other).leading_zeros() as usize
    }
    const BITS: usize = 64;
}

/// Distances between codes whose digits have bit fields of their own, by the length of the common prefix; the module explains how.
#[derive(Clone, Debug)]
pub struct Prefixes<C: Code> {
    max_distance: Distance,
    /// Least length of the common prefix of two PEs in the same innermost group.
    innermost_prefix: usize,
    /// True if distances grow from the inside out.
    are_sorted: bool,
    /// Distance by length of the common prefix; the last entry is 0, for equal codes. Longer than
    /// necessary, so that the index needs no bounds check.
    by_prefix: Box<[Distance; 128]>,
    code: std::marker::PhantomData<C>,
}

impl<C: Code> Prefixes<C> {
    /// Makes the codes from the width of the digit and the distance of each level, innermost first. Levels whose digits take no bits are ignored.
    pub(in crate::machine) fn new(fields: &[(u32, Distance)]) -> Self {
        let mut by_prefix = Box::new([0; 128]);
        let mut bit = 0;
        let fields: Vec<(u32, Distance)> = fields.iter().copied().filter(|&(width, _)| width > 0).collect();
        for &(width, distance) in &fields {
            for _ in 0..width {
                by_prefix[C::BITS - 1 - bit] = distance;
                bit += 1;
            }
        }
        let inside = fields.first().map(|&(_, distance)| distance);
        let innermost = fields.iter().take_while(|&&(_, distance)| Some(distance) == inside);
        Self {
            max_distance: fields.iter().map(|&(_, distance)| distance).max().unwrap_or(0),
            innermost_prefix: C::BITS - innermost.map(|&(width, _)| width as usize).sum::<usize>(),
            are_sorted: fields.is_sorted_by_key(|&(_, distance)| distance),
            by_prefix,
            code: std::marker::PhantomData,
        }
    }
}

impl<C: Code> Metric for Prefixes<C> {
    type Key = C;

    #[inline]
    fn between(&self, a: C, b: C) -> Distance {
        self.by_prefix[a.common_prefix(b) & 127]
    }

    fn max_distance(&self) -> Distance {
        self.max_distance
    }

    #[inline]
    fn interchangeable(&self, a: C, b: C) -> bool {
        a.common_prefix(b) >= self.innermost_prefix
    }

    fn has_triangle_inequality(&self) -> bool {
        self.are_sorted
    }
}

/// Distances in a [`Hierarchy`], computed from padded codes; the module explains how.
#[derive(Clone, Debug)]
pub struct HierarchyOnline<C: Code> {
    /// The machine without levels that do not matter.
    hierarchy: Hierarchy,
    prefixes: Prefixes<C>,
}

impl<C: Code> HierarchyOnline<C> {
    fn new(hierarchy: &Hierarchy) -> Self {
        let hierarchy = hierarchy.simplified();
        let levels = hierarchy.arities.iter().zip(&hierarchy.distances);
        let fields: Vec<_> = levels.map(|(&arity, &distance)| (field_width(arity), distance)).collect();
        Self { prefixes: Prefixes::new(&fields), hierarchy }
    }

    /// The same with keys of 64 bits.
    pub(in crate::machine) fn widened(&self) -> HierarchyOnline<u64> {
        self.hierarchy.online64()
    }

    /// The distances between listed PEs. The list may name a PE more than once.
    pub(in crate::machine) fn placed(&self, list: &[PeId]) -> Placed<Prefixes<C>> {
        Placed::at(self.prefixes.clone(), list, |_, pe| self.key(pe))
    }
}

impl<C: Code> Metric for HierarchyOnline<C> {
    type Key = C;

    #[inline]
    fn between(&self, a: C, b: C) -> Distance {
        self.prefixes.between(a, b)
    }

    fn max_distance(&self) -> Distance {
        self.prefixes.max_distance()
    }

    #[inline]
    fn interchangeable(&self, a: C, b: C) -> bool {
        self.prefixes.interchangeable(a, b)
    }

    fn has_triangle_inequality(&self) -> bool {
        self.prefixes.has_triangle_inequality()
    }
}

impl<C: Code> DistanceOracle for HierarchyOnline<C> {
    fn num_pes(&self) -> usize {
        self.hierarchy.num_pes
    }

    fn key(&self, pe: PeId) -> C {
        let (mut rest, mut bits, mut shift) = (pe, 0u64, 0);
        for &arity in &self.hierarchy.arities {
            bits |= u64::from(rest % arity) << shift;
            rest /= arity;
            shift += field_width(arity);
        }
        C::from_bits(bits)
    }

    fn nearer_than(&self, pe: PeId, distance: Distance) -> Range<PeId> {
        self.hierarchy.nearer_than(pe, distance)
    }

    fn ultrametric(&self) -> Option<Ultrametric> {
        self.hierarchy.ultrametric()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    const SHAPES: [(&str, &str); 9] = [
        ("4:16:8", "1:10:100"),
        ("2:2", "10:100"),
        ("1:1", "3:4"),
        ("5", "7"),
        ("3:1:5:2", "1:50:10:100"),
        ("7:3:5", "9:4:1"),
        ("2:3:2:3:2:1", "0:1:1:2:3:100"),
        ("1:6:1", "1000:5:9"),
        ("3:3:3", "0:0:0"),
    ];

    fn check_all_pairs<O: DistanceOracle>(hierarchy: &Hierarchy, oracle: &O) {
        let n = hierarchy.num_pes() as PeId;
        let mut greatest = 0;
        for p in 0..n {
            for &distance in hierarchy.distances() {
                let near = oracle.nearer_than(p, distance);
                let mut nearer = (0..n).filter(|&q| oracle.distance(p, q) < distance);
                assert!(nearer.all(|q| near.contains(&q)), "{hierarchy:?} {p} {distance} {near:?}");
            }
            for q in 0..n {
                let expected = hierarchy.level(p, q).map_or(0, |level| hierarchy.distances()[level]);
                assert_eq!(oracle.distance(p, q), expected, "{hierarchy:?} {p} {q}");
                greatest = greatest.max(expected);
                if oracle.interchangeable(oracle.key(p), oracle.key(q)) {
                    for r in (0..n).filter(|&r| r != p && r != q) {
                        assert_eq!(oracle.distance(p, r), oracle.distance(q, r));
                    }
                }
            }
        }
        assert_eq!(oracle.max_distance(), greatest);
        if let Some(Ultrametric { group_size, inside, outside }) = oracle.ultrametric() {
            let mut rng = Rng::new(1);
            for _ in 0..1000 {
                let [p, q, r] = [(); 3].map(|()| rng.below(n));
                let distance = oracle.distance(p, q);
                assert!(distance <= oracle.distance(p, r).max(oracle.distance(q, r)));
                if p / group_size as PeId == q / group_size as PeId {
                    assert!(p == q || distance == inside);
                } else {
                    assert!(distance >= outside && distance > inside);
                }
            }
        }
        assert_eq!(oracle.num_pes(), n as usize);
    }

    #[test]
    fn every_oracle_agrees_with_the_definition() {
        for (arities, distances) in SHAPES {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            check_all_pairs(&hierarchy, &hierarchy.online32().unwrap());
            check_all_pairs(&hierarchy, &hierarchy.online64());
            check_all_pairs(&hierarchy, &crate::machine::StoredDistances::new(&hierarchy).unwrap());
        }
    }

    #[test]
    fn wide_hierarchies_fall_back_to_64_bit_codes() {
        let arities = vec![5; 13];
        let hierarchy = Hierarchy::new(arities, (1..=13).collect()).unwrap();
        assert!(hierarchy.online32().is_none());
        let oracle = hierarchy.online64();
        let last = hierarchy.num_pes() as PeId - 1;
        for pe in [0, 1, 4, 5, 624, 625, last / 2, last - 5, last] {
            let expected = hierarchy.level(pe, last).map_or(0, |level| hierarchy.distances()[level]);
            assert_eq!(oracle.distance(pe, last), expected);
        }
    }

    #[test]
    fn strings_are_checked() {
        let refused = |arities, distances| Hierarchy::parse(arities, distances).unwrap_err().to_string();
        assert!(refused("4:0:2", "1:2:3").contains("`0` at column 3"));
        assert!(refused("4:x", "1:2").contains("`x` at column 3"));
        assert!(refused("4::2", "1:2:3").contains("column 3"));
        assert!(refused("", "1").contains("empty"));
        assert!(refused("4:+2", "1:2").contains("`+2`"));
        assert!(refused("4:2", "1:-2").contains("`-2` at column 3"));
        assert!(refused("4:2", "1:9223372036854775808").contains("9223372036854775807"));
        assert!(refused("4:2", "1").contains("2 levels, but 1 distance;"));
        assert!(refused("65536:65536", "1:2").contains("more than"));
        assert_eq!(Hierarchy::parse("4:2", "0:9223372036854775807").unwrap().max_distance(), i64::MAX);
    }
}
