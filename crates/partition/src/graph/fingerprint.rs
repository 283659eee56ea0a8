//! Whether both ends of each edge list it with the same weight, by one number instead of one lookup for each arc.
//!
//! Each vertex `v` has two random numbers of 32 bits, `x(v)` and `y(v)`, and each weight `w` has one of 64, `g(w)`. An arc from `u` to `v` adds
//! `g(w) (x(u) y(v) - y(u) x(v))` to the fingerprint, modulo 2^64, and the arc back subtracts the same. What both ends agree on cancels out; if
//! anything is left over, they do not agree. Otherwise they do, but for a chance below 2^-50: as a polynomial in the random numbers, the sum is
//! not 0. These are hashes with a key that each run draws anew, so no file can be made to deceive it.
//! (Freivalds, "Probabilistic machines can use less running time", IFIP 1977, compares matrices in this way.)
//!
//! What disagrees is found by [`validation`](super::validation).

use std::hash::{BuildHasher, RandomState};

use crate::base::rng::derive;
use crate::base::threads;
use crate::base::types::{NodeId, Weight};

/// The number of rows that a thread looks at in one piece. Balances the cost of a task against idle threads.
const CHUNK: usize = 1 << 12;

/// The random numbers of vertices and weights.
///
/// ```
/// use viem::graph::fingerprint::Fingerprint;
///
/// // A path of three vertices, in two parts.
/// let fingerprint = Fingerprint::with_key(Fingerprint::draw_key());
/// let first = fingerprint.of_rows(0, 3, &[0, 1, 3], &[1, 0, 2], None);
/// let second = fingerprint.of_rows(2, 3, &[0, 1], &[1], None);
/// assert_eq!(Fingerprint::sum([first, second]), Some(0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint {
    /// The keys of vertices and of weights.
    of_nodes: u64,
    of_weights: u64,
}

impl Fingerprint {
    /// A key that nobody can foresee.
    pub fn draw_key() -> u64 {
        RandomState::new().hash_one(0)
    }

    /// The random numbers of a key. Those who add up fingerprints of parts of a graph need the same one.
    pub fn with_key(key: u64) -> Self {
        Self { of_nodes: derive(key, 0), of_weights: derive(key, 1) }
    }

    /// The fingerprint of the rows of some vertices that follow `first`, in a graph of `num_nodes` vertices. Fingerprints of all rows add up to
    /// 0, modulo 2^64, if both ends of each edge agree. `None` if a row is not in strictly ascending order, or lists its own vertex or one that
    /// does not exist, or if there are fewer arcs than `offsets` says.
    ///
    /// The arcs of row `i` are `offsets[i]..offsets[i + 1]` in `targets` and `weights`. O(n + m), by all threads of the pool that this runs in.
    pub fn of_rows(
        &self,
        first: NodeId,
        num_nodes: usize,
        offsets: &[usize],
        targets: &[NodeId],
        weights: Option<&[Weight]>,
    ) -> Option<u64> {
        let num_rows = offsets.len().saturating_sub(1);
        let of_row = |row: usize| {
            let (node, arcs) = (u64::from(first) + row as u64, offsets[row]..offsets[row + 1]);
            let targets = targets.get(arcs.clone())?;
            let (sum, end) = match weights {
                None => self.of_row(node, targets, |_| 1),
                Some(weights) => {
                    let weights = weights.get(arcs)?;
                    self.of_row(node, targets, |place| mixed(weights[place] as u64 ^ self.of_weights))
                }
            }?;
            (end <= num_nodes as u64).then_some(sum)
        };
        Self::sum(threads::map_ranges(num_rows, CHUNK, &|rows| Self::sum(rows.map(of_row))))
    }

    /// The fingerprint of several parts, if all have one.
    pub fn sum(parts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
        parts.into_iter().try_fold(0u64, |sum, part| Some(sum.wrapping_add(part?)))
    }

    /// The fingerprint of the arcs of a vertex, and what exceeds all heads; `None` if these are not in strictly ascending order, or the vertex is
    /// one of them.
    #[inline(always)]
    fn of_row(&self, node: u64, targets: &[NodeId], factor: impl Fn(usize) -> u64) -> Option<(u64, u64)> {
        let (mut sum_x, mut sum_y, mut end, mut is_right) = (0u64, 0u64, 0u64, true);
        for (place, &target) in targets.iter().enumerate() {
            let target = u64::from(target);
            is_right &= (target >= end) & (target != node);
            end = target + 1;
            let ([x, y], factor) = (self.numbers(target), factor(place));
            sum_x = sum_x.wrapping_add(x.wrapping_mul(factor));
            sum_y = sum_y.wrapping_add(y.wrapping_mul(factor));
        }
        let [x, y] = self.numbers(node);
        let sum = x.wrapping_mul(sum_y).wrapping_sub(y.wrapping_mul(sum_x));
        is_right.then_some((sum, end))
    }

    /// The two random numbers of a vertex.
    #[inline(always)]
    fn numbers(&self, node: u64) -> [u64; 2] {
        let number = mixed(node ^ self.of_nodes);
        [number & u64::from(u32::MAX), number >> 32]
    }
}

/// Returns whether both ends of each edge of a graph agree. `false` may also mean that it is not sure: if a row is not in strictly ascending order, or
/// lists its own vertex or one without a row.
pub fn is_surely_symmetric(offsets: &[usize], targets: &[NodeId], weights: Option<&[Weight]>) -> bool {
    let fingerprint = Fingerprint::with_key(Fingerprint::draw_key());
    fingerprint.of_rows(0, offsets.len().saturating_sub(1), offsets, targets, weights) == Some(0)
}

/// A hash of 64 bits.
#[inline(always)]
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::generate;

    #[test]
    fn parts_add_up_to_nothing_unless_an_arc_or_a_weight_is_changed() {
        let mut rng = Rng::new(1);
        for round in 0..100 {
            let graph = generate::random_geometric(60, 7.0, round);
            let (n, offsets) = (graph.num_nodes(), graph.offsets());
            let mut targets: Vec<NodeId> =
                graph.nodes().flat_map(|node| graph.neighbours(node).to_vec()).collect();
            let weight = |(u, v): (NodeId, NodeId)| Weight::from(1 + (u + v) % 3);
            let arcs = graph.nodes().flat_map(|u| graph.neighbours(u).iter().map(move |&v| (u, v)));
            let mut weights: Vec<Weight> = arcs.map(weight).collect();
            let fingerprint = Fingerprint::with_key(u64::from(rng.below(1 << 31)));
            let cut = rng.below(n as u32 + 1) as usize;
            let all = |targets: &[NodeId], weights: Option<&[Weight]>| {
                let first = fingerprint.of_rows(0, n, &offsets[..=cut], targets, weights);
                let second = fingerprint.of_rows(cut as NodeId, n, &offsets[cut..], targets, weights);
                Fingerprint::sum([first, second])
            };
            assert_eq!((all(&targets, None), all(&targets, Some(&weights))), (Some(0), Some(0)));
            assert_eq!((all(&targets[1..], None), all(&targets, Some(&weights[1..]))), (None, None));
            let arc = rng.below(targets.len() as u32) as usize;
            weights[arc] += 1;
            assert_ne!(all(&targets, Some(&weights)), Some(0));
            targets[arc] = rng.below(n as u32);
            let is_same = all(&targets, None) == Some(0);
            let row = offsets.partition_point(|&offset| offset <= arc) - 1;
            assert_eq!(
                is_same,
                graph.neighbours(row as NodeId).get(arc - offsets[row]) == Some(&targets[arc])
            );
            targets[arc] = n as NodeId;
            assert_eq!(all(&targets, None), None);
        }
    }
}
