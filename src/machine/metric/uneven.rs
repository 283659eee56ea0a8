//! Trees that are not regular: nodes of different sizes, switches with different numbers of nodes.
//!
//! Every PE has a digit for each level: the position of the PE, or of the group it is in, among the members of its group of that level.
//! If a PE has no group of a level, its digit is 0. So the tree is part of the regular one in which all groups of a level are as large
//! as the largest, and distances are computed as there ([`Prefixes`]). The number of PEs of the regular tree does not matter.
//!
//! Memory: 8 bytes per PE.

use super::hierarchy::{Prefixes, field_width};
use crate::base::types::{Distance, PeId};
use crate::machine::{MachineError, Parts};

/// A tree whose groups have any number of members. The distance between two PEs is that of the innermost level at which they are in the same
/// group.
///
/// ```
/// use viem::machine::{Machine as _, UnevenTree};
///
/// // Two nodes, of two cores and of one.
/// let tree = UnevenTree::new(&[1, 10], &[0, 0, 1, 0, 0, 1])?;
/// assert_eq!(tree.num_pes(), 3);
/// # Ok::<(), viem::machine::MachineError>(())
/// ```
#[derive(Clone, Debug)]
pub struct UnevenTree {
    /// Width of the digit, and distance, by level, innermost first.
    fields: Vec<(u32, Distance)>,
    /// The digits of each PE packed into one number, innermost lowest.
    codes: Vec<u64>,
}

impl UnevenTree {
    /// A tree of levels with these distances, innermost first. `digits` holds those of the first PE, innermost first, then those
    /// of the next, and so on; no two PEs have the same.
    pub fn new(distances: &[Distance], digits: &[u32]) -> Result<Self, MachineError> {
        let levels = distances.len();
        if levels == 0 || digits.is_empty() {
            return Err(MachineError::NoPes);
        }
        if let Some(&distance) = distances.iter().find(|&&distance| distance < 0) {
            return Err(MachineError::NegativeDistance { distance });
        }
        let mut greatest = vec![0; levels];
        for pe in digits.chunks_exact(levels) {
            greatest.iter_mut().zip(pe).for_each(|(greatest, &digit)| *greatest = digit.max(*greatest));
        }
        let arity = |&digit: &u32| digit.checked_add(1).ok_or(MachineError::TooManyPes);
        let widths = greatest.iter().map(|digit| arity(digit).map(field_width));
        let widths: Vec<u32> = widths.collect::<Result<_, MachineError>>()?;
        let fields: Vec<(u32, Distance)> = widths.into_iter().zip(distances.iter().copied()).collect();
        if fields.iter().map(|&(width, _)| width).sum::<u32>() > u64::BITS {
            return Err(MachineError::TooUneven);
        }
        let code = |digits: &[u32]| {
            let outermost_first = digits.iter().zip(&fields).rev();
            outermost_first.fold(0u64, |code, (&digit, &(width, _))| {
                code.checked_shl(width).unwrap_or(0) | u64::from(digit)
            })
        };
        let codes: Vec<u64> = digits.chunks_exact(levels).map(code).collect();
        let mut sorted: Vec<(u64, usize)> = codes.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(MachineError::SameDigits { first: pair[0].1, second: pair[1].1 }),
            None => Ok(Self { fields, codes }),
        }
    }

    /// The number of levels.
    pub fn num_levels(&self) -> usize {
        self.fields.len()
    }

    /// The distance of each level, innermost first.
    pub fn level_distances(&self) -> Vec<Distance> {
        self.fields.iter().map(|&(_, distance)| distance).collect()
    }

    /// The group of each PE whose members differ at levels inside of this one only; groups are numbered from 0, and at level 0 they are single
    /// PEs. O(n log n).
    pub fn groups(&self, level: usize) -> Vec<u32> {
        let below: u32 = self.fields[..level].iter().map(|&(width, _)| width).sum();
        let group = |code: u64| code.checked_shr(below).unwrap_or(0);
        let mut all: Vec<u64> = self.codes.iter().map(|&code| group(code)).collect();
        all.sort_unstable();
        all.dedup();
        self.codes.iter().map(|&code| all.partition_point(|&other| other < group(code)) as u32).collect()
    }

    /// The metric of the codes.
    pub fn prefixes(&self) -> Prefixes<u64> {
        Prefixes::new(&self.fields)
    }

    /// The code of each PE.
    pub fn codes(&self) -> &[u64] {
        &self.codes
    }

    /// The groups as parts; the innermost stay whole.
    pub fn parts(&self) -> Parts {
        let mut order: Vec<PeId> = (0..self.codes.len() as PeId).collect();
        order.sort_unstable_by_key(|&pe| self.codes[pe as usize]);
        Parts::divide(order, |pes| {
            let sizes = self.sizes(pes);
            if sizes.iter().all(|&size| size == 1) { Vec::new() } else { sizes }
        })
    }

    /// Sizes of the parts into which a group falls. Its PEs are sorted by code.
    pub(in crate::machine) fn sizes(&self, pes: &[PeId]) -> Vec<usize> {
        let code = |pe: PeId| self.codes[pe as usize];
        let differing = code(pes[0]) ^ code(pes[pes.len() - 1]);
        let (mut low, mut end) = (0, 0);
        for &(width, _) in &self.fields {
            if differing.checked_shr(end).unwrap_or(0) == 0 {
                break;
            }
            (low, end) = (end, end + width);
        }
        let above = |pe: PeId| code(pe).checked_shr(low).unwrap_or(0);
        pes.chunk_by(|&p, &q| above(p) == above(q)).map(<[PeId]>::len).collect()
    }
}
