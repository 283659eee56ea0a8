//! Regular trees: PEs of an innermost group have equal rows, then groups of the next level do, and so on.
//!
//! Two PEs are in the same innermost group exactly if they have the same distance to every other PE, as adjacent levels have different
//! distances. So rows are compared by random sums, and one row of each group is kept for the next level. Distances may be in any order:
//! groups may be nearer to each other than the PEs inside.
//!
//! O(n²) for the sums of all levels, and O(n log n) for each level and distinct distance.

use crate::base::rng::Rng;
use crate::base::types::PeId;
use crate::machine::Hierarchy;
use crate::machine::recognise::proposal::{Matrix, Recognised};

/// Most levels of more than one group: the numbers of PEs have 32 bits.
const MOST_LEVELS: usize = 32;

pub(super) fn recognise(matrix: &Matrix<'_>) -> Option<Recognised> {
    let n = matrix.size;
    let all: Vec<usize> = (0..n).collect();
    let offset = *matrix.distinct(0, &all, MOST_LEVELS)?.first()?.min(&0);
    let mut rng = Rng::new(0);
    let factors: Vec<i64> = (0..n).map(|_| rng.next_u64() as i64).collect();
    let (mut arities, mut distances) = (Vec::new(), Vec::new());
    // Groups, each with its rows in the order of their PEs.
    let mut groups: Vec<Vec<usize>> = all.into_iter().map(|row| vec![row]).collect();
    while groups.len() > 1 {
        let (merged, entry) = merge(matrix, &factors, &groups)?;
        arities.push((groups.len() / merged.len()) as u32);
        distances.push(entry.checked_sub(offset)?);
        groups = merged;
    }
    let mut pe_of = vec![0; n];
    for (pe, &row) in groups[0].iter().enumerate() {
        pe_of[row] = pe as PeId;
    }
    let machine = Box::new(Hierarchy::new(arities, distances).ok()?);
    Some(Recognised { machine, pe_of, factor: 1, offset })
}

/// The groups of the next level, all of one size, and the entry between two that are merged.
fn merge(matrix: &Matrix<'_>, factors: &[i64], groups: &[Vec<usize>]) -> Option<(Vec<Vec<usize>>, i64)> {
    let firsts: Vec<usize> = groups.iter().map(|group| group[0]).collect();
    let distinct = matrix.distinct(firsts[0], &firsts, MOST_LEVELS)?;
    let sum = |&k: &usize| {
        let others = firsts.iter().filter(|&&l| l != k);
        others.fold(0i64, |sum, &l| sum.wrapping_add(factors[l].wrapping_mul(matrix.at(k, l))))
    };
    let sums: Vec<i64> = firsts.iter().map(sum).collect();
    distinct.into_iter().find_map(|entry| {
        // With this entry on the diagonal, rows of a group have the same sum.
        let whole = |group: usize| sums[group].wrapping_add(factors[firsts[group]].wrapping_mul(entry));
        let mut order: Vec<(i64, usize)> = (0..groups.len()).map(|group| (whole(group), group)).collect();
        order.sort_unstable();
        let mut parts: Vec<&[(i64, usize)]> = order.chunk_by(|one, other| one.0 == other.0).collect();
        parts.sort_unstable_by_key(|part| part[0].1);
        let is_regular = parts.len() < groups.len() && parts.iter().all(|part| part.len() == parts[0].len());
        let join =
            |part: &[(i64, usize)]| part.iter().flat_map(|&(_, group)| groups[group].clone()).collect();
        is_regular.then(|| (parts.into_iter().map(join).collect(), entry))
    })
}
