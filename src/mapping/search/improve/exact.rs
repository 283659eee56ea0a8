//! The optimum of a problem small enough to enumerate all distinct mappings.
//!
//! Permuting the members of a group changes no distance. Of all mappings that differ only in such
//! permutations, the first one is visited: processes are placed one after another, and a group is used only
//! if the preceding sibling is in use. This leaves n! / (product over all groups of arity!) mappings: 315 of
//! 40320 for eight processes on `2:2:2`. Branches that already cost as much as the best mapping are pruned.
//! On a machine that is not a regular tree, all permutations are distinct.
//!
//! Fixed processes make members of a group distinct. So problems with fixed processes are enumerated only if
//! few others are left, and these are placed in all orders.
//!
//! Processes without neighbours take the places that are left. So a few processes on many places are enumerated too.

use std::cmp::Reverse;

use crate::base::types::{Cost, NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::{DistanceOracle, Hierarchy};
use crate::mapping::problem::Problem;
use crate::partition::FixedVertices;

/// Marks a process without a PE; no machine has this many PEs.
const NOWHERE: PeId = PeId::MAX;

/// Upper limit on the mappings enumerated: less than a millisecond.
const GREATEST_COUNT: f64 = 2000.0;

/// Returns whether the problem is so small that [`optimum`] is found in negligible time.
pub(super) fn is_small(hierarchy: &Hierarchy) -> bool {
    let log_factorial = |n: u32| (2..=n).map(|i| f64::from(i).ln()).sum::<f64>();
    let n = hierarchy.num_pes();
    if n > 64 {
        return false;
    }
    let mut groups = n as f64;
    let mut log_count = log_factorial(n as u32);
    for &arity in hierarchy.arities() {
        groups /= f64::from(arity);
        log_count -= groups * log_factorial(arity);
    }
    log_count <= GREATEST_COUNT.ln()
}

/// Largest number of places for which all permutations are enumerated if the machine is not a regular tree:
/// at most 40320, and far fewer with pruning. That takes no longer than annealing.
const MOST_PLACES: usize = 8;

/// Upper limit on the distances of an enumeration on more places: those of eight processes that all communicate.
const MOST_WORK: usize = 40320 * 8 * 7;

/// The same for a machine that is not a regular tree, or for a problem with fixed processes. O(n), or less.
pub(super) fn is_small_around(fixed: Option<&FixedVertices>, graph: &CsrGraph) -> bool {
    let mut places = graph.num_nodes() - fixed.map_or(0, FixedVertices::count);
    if places <= MOST_PLACES {
        return true;
    }
    let (mut mappings, mut arcs) = (1usize, 0);
    for process in talking(fixed, graph) {
        mappings = mappings.saturating_mul(places);
        arcs += graph.degree(process);
        if mappings.saturating_mul(arcs) > MOST_WORK {
            return false;
        }
        places -= 1;
    }
    true
}

/// Returns whether the problem is.
pub(super) fn is_small_problem(problem: &Problem<'_>, hierarchy: Option<&Hierarchy>) -> bool {
    match (problem.fixed(), hierarchy) {
        (None, Some(hierarchy)) => is_small(hierarchy),
        (fixed, _) => is_small_around(fixed, problem.graph()),
    }
}

/// The processes that are not fixed and have neighbours.
fn talking(fixed: Option<&FixedVertices>, graph: &CsrGraph) -> impl Iterator<Item = NodeId> {
    let may_move = move |process: NodeId| fixed.is_none_or(|fixed| fixed.of(process).is_none());
    graph.nodes().filter(move |&process| graph.degree(process) > 0 && may_move(process))
}

/// The mapping of minimal J, if J is less than `bound`; the PE of each process.
///
/// `hierarchy` is the machine if it is a regular tree; otherwise no two PEs are treated as equivalent.
pub(super) fn optimum(
    problem: &Problem<'_>,
    hierarchy: Option<&Hierarchy>,
    bound: Cost,
) -> Option<(Cost, Vec<PeId>)> {
    let fixed = problem.fixed();
    let arities = hierarchy.filter(|_| fixed.is_none()).map_or(&[][..], Hierarchy::arities);
    let sizes = arities.iter().scan(1, |size, &arity| {
        let inner = *size;
        *size *= arity;
        Some((inner, arity))
    });
    let talking = by_communication(problem);
    let mut search = Search {
        problem,
        levels: sizes.collect(),
        left: least_costs_left(problem, &talking),
        talking,
        free: Vec::new(),
        pe_of: vec![NOWHERE; problem.size()],
        taken: vec![false; problem.size()],
        best: None,
        bound,
    };
    let mut so_far = 0;
    for (process, pe) in fixed.into_iter().flat_map(FixedVertices::iter) {
        so_far += search.cost_of(process, pe);
        search.pe_of[process as usize] = pe;
        search.taken[pe as usize] = true;
    }
    search.free = (0..problem.size() as PeId).filter(|&pe| !search.taken[pe as usize]).collect();
    search.place(0, so_far);
    let Search { best, bound, .. } = search;
    best.map(|placed| (bound, completed(problem, &placed)))
}

/// The processes that are not fixed and have neighbours: each next one communicates most with those before it and the fixed ones.
fn by_communication(problem: &Problem<'_>) -> Vec<NodeId> {
    let (graph, fixed) = (problem.graph(), problem.fixed());
    let mut left: Vec<NodeId> = talking(fixed, graph).collect();
    let mut is_placed = vec![false; problem.size()];
    fixed
        .into_iter()
        .flat_map(FixedVertices::iter)
        .for_each(|(process, _)| is_placed[process as usize] = true);
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let with_placed = |process: NodeId| -> Weight {
            graph
                .arcs(process)
                .filter(|&(other, _)| is_placed[other as usize])
                .map(|(_, weight)| weight)
                .sum()
        };
        let key =
            |&process: &NodeId| (with_placed(process), graph.weighted_degree(process), Reverse(process));
        let next = (0..left.len()).max_by_key(|&at| key(&left[at])).expect("some are left");
        let process = left.swap_remove(next);
        is_placed[process as usize] = true;
        order.push(process);
    }
    order
}

/// For each index, a lower bound of what all processes from there on add to J. Zero where there are many places: enumerations are then of
/// few processes.
fn least_costs_left(problem: &Problem<'_>, order: &[NodeId]) -> Vec<Cost> {
    let n = problem.size() as PeId;
    if problem.size() > MOST_PLACES {
        return vec![0; order.len() + 1];
    }
    let pairs = (0..n).flat_map(|pe| (0..pe).map(move |other| (pe, other)));
    let mut distances: Vec<Cost> = pairs.map(|(pe, other)| problem.oracle().distance(pe, other)).collect();
    distances.sort_unstable();
    let mut weights: Vec<Weight> = Vec::new();
    let mut is_left = vec![false; problem.size()];
    let mut costs = vec![0];
    for &process in order.iter().rev() {
        let earlier = problem.graph().arcs(process).filter(|&(other, _)| !is_left[other as usize]);
        weights.extend(earlier.map(|(_, weight)| weight));
        is_left[process as usize] = true;
        weights.sort_unstable_by_key(|&weight| Reverse(weight));
        costs.push(weights.iter().zip(&distances).map(|(weight, distance)| 2 * weight * distance).sum());
    }
    costs.reverse();
    costs
}

/// All PEs, given those of the fixed processes and of those with neighbours: the others take the rest, in order.
fn completed(problem: &Problem<'_>, placed: &[(NodeId, PeId)]) -> Vec<PeId> {
    let mut pe_of = vec![NOWHERE; problem.size()];
    let mut is_taken = vec![false; problem.size()];
    let fixed = problem.fixed().into_iter().flat_map(FixedVertices::iter);
    for (process, pe) in fixed.chain(placed.iter().copied()) {
        pe_of[process as usize] = pe;
        is_taken[pe as usize] = true;
    }
    let mut rest = (0..).zip(is_taken).filter(|&(_, is_taken)| !is_taken).map(|(pe, _)| pe);
    for pe in pe_of.iter_mut().filter(|pe| **pe == NOWHERE) {
        *pe = rest.next().expect("as many PEs as processes are left");
    }
    pe_of
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    /// The PEs per member of a group, and the members per group, by level.
    levels: Vec<(PeId, u32)>,
    /// The processes that are not fixed and have neighbours, in the order in which they are placed.
    talking: Vec<NodeId>,
    /// A lower bound of what all of these processes from an index on add to J.
    left: Vec<Cost>,
    /// The PEs without fixed processes.
    free: Vec<PeId>,
    /// The PE of each process, or [`NOWHERE`].
    pe_of: Vec<PeId>,
    taken: Vec<bool>,
    /// The best places of these processes.
    best: Option<Vec<(NodeId, PeId)>>,
    bound: Cost,
}

impl Search<'_> {
    /// Places all of these processes from this index on; those before and the fixed ones cost `so_far`.
    fn place(&mut self, index: usize, so_far: Cost) {
        if so_far + self.left[index] >= self.bound {
            return;
        }
        let Some(&process) = self.talking.get(index) else {
            let placed = self.talking.iter().map(|&process| (process, self.pe_of[process as usize]));
            (self.bound, self.best) = (so_far, Some(placed.collect()));
            return;
        };
        for at in 0..self.free.len() {
            let pe = self.free[at];
            if self.taken[pe as usize] || !self.opens_in_order(pe) {
                continue;
            }
            let added = self.cost_of(process, pe);
            self.pe_of[process as usize] = pe;
            self.taken[pe as usize] = true;
            self.place(index + 1, so_far + added);
            self.taken[pe as usize] = false;
            self.pe_of[process as usize] = NOWHERE;
        }
    }

    /// Returns the cost that a process adds to J on a PE, given the processes placed so far.
    fn cost_of(&self, process: NodeId, pe: PeId) -> Cost {
        let oracle = self.problem.oracle();
        let placed = |&(other, _): &(NodeId, Weight)| self.pe_of[other as usize] != NOWHERE;
        let arcs = self.problem.graph().arcs(process).filter(placed);
        arcs.map(|(other, weight)| 2 * weight * oracle.distance(pe, self.pe_of[other as usize])).sum()
    }

    /// Returns whether no enclosing group of the PE is empty with the preceding sibling also empty.
    fn opens_in_order(&self, pe: PeId) -> bool {
        let occupied =
            |first: PeId, size: PeId| self.taken[first as usize..(first + size) as usize].contains(&true);
        self.levels.iter().all(|&(size, arity)| {
            let member = pe / size;
            member.is_multiple_of(arity)
                || occupied(member * size, size)
                || occupied((member - 1) * size, size)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::machine::Distances;
    use crate::mapping::Mapping;
    use crate::mapping::objective::cost;
    use crate::testing;

    #[test]
    fn nothing_is_missed() {
        let mut rng = Rng::new(2);
        for (arities, distances) in
            [("2:2", "1:10"), ("3:2", "4:1"), ("2:3", "0:5"), ("7", "3"), ("2:1:3", "1:2:3")]
        {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap().simplified();
            let oracle = Distances::Tree(hierarchy.online32().unwrap());
            let n = hierarchy.num_pes();
            for _ in 0..3 {
                let graph = testing::random_graph(n, 4, 9, &mut rng);
                let problem = Problem::new(&graph, &oracle).unwrap();
                let (found, pe_of) = optimum(&problem, Some(&hierarchy), Cost::MAX).unwrap();
                assert_eq!(i128::from(found), testing::optimum(&graph, &hierarchy));
                assert_eq!(cost(&problem, &Mapping::from_pes(pe_of).unwrap()), found);
                assert!(optimum(&problem, Some(&hierarchy), found).is_none());
                // Without knowing which PEs are equivalent.
                assert_eq!(optimum(&problem, None, Cost::MAX).map(|(cost, _)| cost), Some(found));
            }
        }
    }

    #[test]
    fn eight_processes_are_always_few() {
        for arities in ["8", "2:4", "4:2", "2:2:2", "2:1:2:2"] {
            assert!(is_small(&Hierarchy::parse(arities, &arities.replace(['2', '4', '8'], "1")).unwrap()));
        }
        assert!(!is_small(&Hierarchy::parse("4:4:4", "1:10:100").unwrap()));
        assert!(!is_small(&Hierarchy::parse("2:2:2:2", "1:2:3:4").unwrap()));
    }
}
