//! Growing a mapping from one process (Müller-Merbach, "Optimale Reihenfolgen", 1970).
//!
//! The process with the largest communication volume goes first, to the PE with the smallest sum of distances
//! to all others. Then the process with the largest volume to the mapped ones goes to the free PE with the
//! smallest sum of distances to the PEs in use, until all are mapped. Ties go to the process with the larger
//! total volume, then to the smaller id. So each component of a disconnected graph starts where its volume is
//! largest, and isolated vertices come last. Fixed processes count as mapped from the start.
//!
//! # Cost
//!
//! Processes wait in a heap with lazy deletion: O((n + m) log n) time and O(m) memory. When a PE is taken,
//! each PE of its group of level l outside its group of level l - 1 becomes more expensive by `distances[l]`.
//! Groups are ranges of PEs, so with k levels these are 2k additions to ranges in a tree of minima, O(k log
//! n) each time. All PEs of a homogeneous hierarchy are equivalent, so the first is PE 0. On other machines
//! the sums of all free PEs are stored individually: O(n²) distances.

use std::ops::Range;

use super::central::most_central;
use super::process_queue::ProcessQueue;
use crate::base::observer::Observer;
use crate::base::types::{Distance, NodeId, PeId};
use crate::graph::CsrGraph;
use crate::machine::{DistanceOracle, Distances, Hierarchy};
use crate::mapping::Mapping;
use crate::mapping::construct::task::{ConstructionError, Task};
use crate::partition::FixedVertices;

/// Marks a process without a PE; no machine has this many PEs.
const UNPLACED: PeId = PeId::MAX;

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let Task { problem, machine, observer, .. } = *task;
    let fixed: Vec<(NodeId, PeId)> = problem.fixed().into_iter().flat_map(FixedVertices::iter).collect();
    Ok(match machine.hierarchy() {
        Some(hierarchy) => {
            let mut pes = FreePes::new(hierarchy);
            fixed.iter().for_each(|&(_, pe)| pes.take(pe));
            grow(problem.graph(), &fixed, observer, &mut || pes.take_nearest())
        }
        None => {
            // The sums of all free PEs are updated for each PE in use.
            let mut pes = ListedPes::new(problem.oracle(), observer);
            fixed.iter().for_each(|&(_, pe)| pes.take(pe));
            grow(problem.graph(), &fixed, observer, &mut || pes.take_nearest())
        }
    })
}

fn grow(
    graph: &CsrGraph,
    fixed: &[(NodeId, PeId)],
    observer: &dyn Observer,
    take_nearest: &mut dyn FnMut() -> PeId,
) -> Mapping {
    let mut processes = ProcessQueue::new(graph);
    let mut pe_of = vec![UNPLACED; graph.num_nodes()];
    let mut is_free = vec![true; graph.num_nodes()];
    for &(process, pe) in fixed {
        processes.map(process);
        (pe_of[process as usize], is_free[pe as usize]) = (pe, false);
    }
    while !observer.should_stop()
        && let Some(process) = processes.pop()
    {
        let pe = take_nearest();
        pe_of[process as usize] = pe;
        is_free[pe as usize] = false;
    }
    let mut free = (0..).zip(is_free).filter(|&(_, is_free)| is_free).map(|(pe, _)| pe);
    for pe in pe_of.iter_mut().filter(|pe| **pe == UNPLACED) {
        *pe = free.next().expect("as many processes as PEs");
    }
    Mapping::from_permutation(pe_of)
}

/// The free PEs of any machine, with the sums of their distances to those in use.
struct ListedPes<'a> {
    distances: &'a Distances,
    free: Vec<PeId>,
    sums: Vec<i128>,
    /// Distances to the free PEs, for a moment.
    row: Vec<Distance>,
    /// The position of the first PE, until it is taken.
    first: Option<usize>,
}

impl<'a> ListedPes<'a> {
    fn new(distances: &'a Distances, observer: &dyn Observer) -> Self {
        let free: Vec<PeId> = (0..distances.num_pes() as PeId).collect();
        let first = Some(most_central(distances, observer));
        Self { distances, sums: vec![0; free.len()], row: vec![0; free.len()], free, first }
    }

    /// Takes the free PE with the smallest sum, the lowest number on ties. On the first call, takes the PE
    /// with the smallest sum of distances to all PEs.
    fn take_nearest(&mut self) -> PeId {
        let by_sum = |&index: &usize| (self.sums[index], self.free[index]);
        let nearest = self.first.take().or_else(|| (0..self.free.len()).min_by_key(by_sum));
        self.take_at(nearest.expect("as many processes as PEs"))
    }

    /// Takes a free PE, next to which others then are.
    fn take(&mut self, pe: PeId) {
        self.first = None;
        if let Some(index) = self.free.iter().position(|&other| other == pe) {
            self.take_at(index);
        }
    }

    fn take_at(&mut self, nearest: usize) -> PeId {
        let pe = self.free.swap_remove(nearest);
        self.sums.swap_remove(nearest);
        self.distances.fill_row(pe, &self.free, &mut self.row);
        self.sums.iter_mut().zip(&self.row).for_each(|(sum, &distance)| *sum += i128::from(distance));
        pe
    }
}

/// The PEs not yet in use, by the sum of their distances to those that are.
///
/// A binary tree of minima over the sums. An addition to a range is stored at the roots of the O(log n)
/// subtrees that make up the range. Sums are 128 bits wide: n distances of 63 bits need not fit 64.
struct FreePes<'a> {
    hierarchy: &'a Hierarchy,
    /// Number of leaves: a power of two.
    width: usize,
    /// Smallest sum in the subtree of a node, without the additions stored above it. Node 1 is the root; the
    /// children of `i` are `2i` and `2i + 1`.
    least: Vec<i128>,
    /// The amount added to the whole subtree of an inner node; included in its `least`.
    added: Vec<i128>,
}

/// The sum of a PE in use: larger than any sum of distances, and far from overflow after further additions.
const IN_USE: i128 = i128::MAX / 4;

impl<'a> FreePes<'a> {
    fn new(hierarchy: &'a Hierarchy) -> Self {
        let num_pes = hierarchy.num_pes();
        let width = num_pes.next_power_of_two();
        let mut tree = Self { hierarchy, width, least: vec![0; 2 * width], added: vec![0; 2 * width] };
        tree.add(num_pes..width, IN_USE);
        tree
    }

    /// Takes the free PE with the smallest sum, the first on ties.
    fn take_nearest(&mut self) -> PeId {
        let mut node = 1;
        while node < self.width {
            let right_is_less = self.least[2 * node + 1] < self.least[2 * node];
            node = 2 * node + usize::from(right_is_less);
        }
        let pe = (node - self.width) as PeId;
        self.take(pe);
        pe
    }

    /// Takes a free PE.
    fn take(&mut self, pe: PeId) {
        let pe = pe as usize;
        self.add(pe..pe + 1, IN_USE);
        let (mut inner, mut size) = (pe..pe + 1, 1);
        for (&arity, &distance) in self.hierarchy.arities().iter().zip(self.hierarchy.distances()) {
            size *= arity as usize;
            let start = pe / size * size;
            self.add(start..inner.start, i128::from(distance));
            self.add(inner.end..start + size, i128::from(distance));
            inner = start..start + size;
        }
    }

    fn add(&mut self, range: Range<usize>, value: i128) {
        if range.is_empty() {
            return;
        }
        // Climb from both ends of the range, as in a bottom-up segment tree.
        let (mut low, mut high) = (range.start + self.width, range.end + self.width);
        let (first, last) = (low, high - 1);
        while low < high {
            if low & 1 == 1 {
                self.add_to_subtree(low, value);
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                self.add_to_subtree(high, value);
            }
            low /= 2;
            high /= 2;
        }
        self.refresh_above(first);
        self.refresh_above(last);
    }

    fn add_to_subtree(&mut self, node: usize, value: i128) {
        self.least[node] += value;
        self.added[node] += value;
    }

    fn refresh_above(&mut self, leaf: usize) {
        let mut node = leaf / 2;
        while node >= 1 {
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.added[node];
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each PE taken is the first with the smallest sum, recomputed from scratch.
    #[test]
    fn free_pes_agree_with_sums_from_scratch() {
        let shapes = [
            ("2:3:2", "1:10:100"),
            ("5", "3"),
            ("3:1:4", "7:0:2"),
            ("4:2:3", "9:5:1"),
            ("2:2:2:2:2", "0:4:4:1:9"),
            ("1", "1"),
            ("2:2:2", "9223372036854775807:1:9223372036854775807"),
        ];
        for (arities, distances) in shapes {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let mut pes = FreePes::new(&hierarchy);
            let mut used: Vec<PeId> = Vec::new();
            for _ in 0..hierarchy.num_pes() {
                let sum = |pe: PeId| -> i128 {
                    let levels = used.iter().filter_map(|&other| hierarchy.level(pe, other));
                    levels.map(|level| i128::from(hierarchy.distances()[level])).sum()
                };
                let free = (0..hierarchy.num_pes() as PeId).filter(|pe| !used.contains(pe));
                let expected = free.min_by_key(|&pe| (sum(pe), pe)).unwrap();
                assert_eq!(pes.take_nearest(), expected, "{arities} {distances} after {used:?}");
                used.push(expected);
            }
        }
    }
}
