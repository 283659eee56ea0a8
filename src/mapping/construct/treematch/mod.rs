//! TreeMatch (Jeannot, Mercier and Tessier, "Process placement in multicore clusters: algorithmic issues and
//! practical techniques", 2014): processes are grouped level by level, from the leaves of the machine to its
//! root.
//!
//! A level of arity k groups the processes by k such that little traffic leaves the groups. The groups are
//! the processes of the next level. Levels of high arity are first divided into several levels ([`divided`]),
//! because there are too many groups of k processes. If there are at most [`MOST_GROUPS`] groups, all are
//! listed and the best are chosen ([`listed`]); otherwise groups grow along the heaviest edges ([`buckets`]).
//! Distances do not matter, only the shape of the tree.
//!
//! If the number of processes is not a multiple of the arity, artificial processes without traffic are added.
//! Their places stay free.
//!
//! # Departures from the source
//!
//! - Processes without traffic are treated as artificial, too. They take the remaining places.
//! - Very small cases are solved exactly by enumerating all divisions into groups.
//!
//! Takes O(m log m) for each level with growing groups. Memory: O(n + m), and up to 30 000 groups of a level
//! if they are listed.

mod buckets;
mod listed;

use listed::binomial;

use crate::base::observer::Observer;
use crate::base::rng::derive;
use crate::base::types::{BlockId, PeId};
use crate::graph::{CsrGraph, quotient, subgraph};
use crate::mapping::Mapping;
use crate::mapping::construct::task::{ConstructionError, Task};

/// Upper limit on the groups listed, as in the source, which chose it to balance time and quality.
const MOST_GROUPS: u128 = 30_000;

/// Marks a leaf without a process.
const NO_PLACE: PeId = PeId::MAX;

pub(super) fn construct(task: &Task<'_>) -> Result<Mapping, ConstructionError> {
    let graph = task.problem.graph();
    let arities = divided(task.hierarchy()?.arities());
    let is_silent: Vec<BlockId> = graph.nodes().map(|node| BlockId::from(graph.degree(node) == 0)).collect();
    let (talking, members) = subgraph::split(graph, &is_silent, 2).swap_remove(0);
    let mut place_of = vec![NO_PLACE; graph.num_nodes()];
    for (&node, place) in members.iter().zip(places(talking, &arities, task.seed, task.observer)) {
        place_of[node as usize] = place;
    }
    Ok(Mapping::from_permutation(filled(place_of)))
}

/// The leaf of each process.
fn places(mut graph: CsrGraph, arities: &[usize], seed: u64, observer: &dyn Observer) -> Vec<PeId> {
    let mut groupings = Vec::with_capacity(arities.len());
    for (level, &arity) in arities.iter().enumerate() {
        let num_groups = graph.num_nodes().div_ceil(arity);
        let group_of = groups(&graph, arity, derive(seed, level as u64), observer);
        graph = quotient::contract(&graph, &group_of, num_groups);
        groupings.push(group_of);
    }
    let root: Vec<PeId> = graph.nodes().collect();
    groupings.iter().zip(arities).rev().fold(root, |place_of_group, (group_of, &arity)| {
        let mut next: Vec<PeId> = place_of_group.iter().map(|&place| place * arity as PeId).collect();
        let take = |&group: &BlockId| {
            let slot = &mut next[group as usize];
            *slot += 1;
            *slot - 1
        };
        group_of.iter().map(take).collect()
    })
}

/// The group of each vertex: `arity` vertices per group, possibly fewer in some.
fn groups(graph: &CsrGraph, arity: usize, seed: u64, observer: &dyn Observer) -> Vec<BlockId> {
    let (count, num_groups) = (graph.num_nodes(), graph.num_nodes().div_ceil(arity));
    let in_order = || (0..count).map(|node| (node / arity) as BlockId).collect();
    if arity == 1 || num_groups <= 1 || observer.should_stop() {
        return in_order();
    }
    let mut group_of = match binomial(num_groups * arity, arity) {
        ..MOST_GROUPS => listed::groups(graph, arity, observer),
        MOST_GROUPS.. => buckets::groups(graph, arity, seed, observer),
    };
    number_by_first_member(&mut group_of, num_groups);
    group_of
}

/// Numbers the groups in the order of their first members.
fn number_by_first_member(group_of: &mut [BlockId], num_groups: usize) {
    let mut number = vec![BlockId::MAX; num_groups];
    let mut next = 0;
    for group in group_of {
        let number = &mut number[*group as usize];
        if *number == BlockId::MAX {
            *number = next;
            next += 1;
        }
        *group = *number;
    }
}

/// The same places; processes without a place take the remaining ones in order.
fn filled(mut place_of: Vec<PeId>) -> Vec<PeId> {
    let mut is_free = vec![true; place_of.len()];
    for &place in place_of.iter().filter(|&&place| place != NO_PLACE) {
        is_free[place as usize] = false;
    }
    let mut free = (0..).zip(is_free).filter(|&(_, is_free)| is_free).map(|(place, _)| place);
    for place in place_of.iter_mut().filter(|place| **place == NO_PLACE) {
        *place = free.next().expect("as many places as processes");
    }
    place_of
}

/// The levels of a tree, innermost first. Levels with too many groups of their arity are divided.
///
/// A level of arity k with p nodes is divided if p is at least p\*. It becomes two levels, of arity d\* and
/// of arity k / d\* below it. Both may be divided further. Table 2 of the source lists p\* and d\*; see
/// [`division`].
fn divided(arities: &[u32]) -> Vec<usize> {
    let mut levels = Vec::new();
    let mut above: u128 = 1;
    for &arity in arities.iter().rev() {
        divide(arity as usize, &mut above, &mut levels);
    }
    levels.reverse();
    levels
}

/// Appends the levels that a level of this arity is divided into, outermost first. `above` is the number of
/// nodes above; it is updated.
fn divide(arity: usize, above: &mut u128, levels: &mut Vec<usize>) {
    let nodes = *above * arity as u128;
    match division(arity) {
        Some((least, outer)) if nodes >= least as u128 => {
            divide(outer, above, levels);
            divide(arity / outer, above, levels);
        }
        _ => {
            levels.push(arity);
            *above = nodes;
        }
    }
}

/// The number of nodes p\* from which a level of arity k should be divided, and the arity d\* of the outer of
/// the two resulting levels; `None` for primes.
///
/// d\* is the largest proper divisor of k. p\* is the smallest p such that p nodes have more groups of k than
/// d\* times their groups of k / d\*.
fn division(arity: usize) -> Option<(usize, usize)> {
    let inner =
        (2..).take_while(|factor| factor * factor <= arity).find(|&factor| arity.is_multiple_of(factor))?;
    let outer = arity / inner;
    // The ratio of the two numbers of groups of p nodes, as a logarithm. It grows by (p + 1 - k / d) / (p + 1
    // - k) from p to p + 1. The numbers themselves soon exceed 128 bits.
    let mut times: f64 = (0..inner).map(|i| ((i + 1) as f64 / (arity - i) as f64).ln()).sum();
    let mut nodes = arity;
    while times <= (outer as f64).ln() {
        nodes += 1;
        times += ((nodes - inner) as f64 / (nodes - arity) as f64).ln();
    }
    Some((nodes, outer))
}

#[cfg(test)]
mod tests {
    use super::buckets::edges;
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::GraphBuilder;
    use crate::testing::random_graph;

    /// The matrix of Figure 5 of the source.
    fn figure_5() -> CsrGraph {
        let mut builder = GraphBuilder::new(8);
        for u in 0..8u32 {
            for v in u + 1..8 {
                let weight = match (u, v) {
                    (0, 2) | (4, 6) => 10,
                    _ if v == u + 4 => 100,
                    _ if v == u + 1 && u != 3 => 1000,
                    _ => 1,
                };
                builder.add_edge(u, v, weight);
            }
        }
        builder.build().unwrap()
    }

    #[test]
    fn figure_5_gets_the_leaves_of_the_source() {
        let found = places(figure_5(), &divided(&[2, 3, 2]), 0, &());
        // There, the leaves of the left half of the tree have even numbers, those of the right half odd ones.
        let number = |leaf: PeId| if leaf < 6 { 2 * leaf } else { 2 * (leaf - 6) + 1 };
        assert_eq!(found.into_iter().map(number).collect::<Vec<_>>(), [0, 2, 4, 6, 1, 3, 5, 7]);
    }

    #[test]
    fn the_groups_of_figure_5_have_the_traffic_of_figure_6() {
        let pairs = groups(&figure_5(), 2, 0, &());
        assert_eq!(pairs, [0, 0, 1, 1, 2, 2, 3, 3]);
        let quotient = quotient::contract(&figure_5(), &pairs, 4);
        let found: Vec<_> = edges(&quotient).collect();
        assert_eq!(found, [(0, 1, 1012), (0, 2, 202), (0, 3, 4), (1, 2, 4), (1, 3, 202), (2, 3, 1012)]);
        assert_eq!(groups(&quotient, 3, 0, &()), [0, 0, 1, 1]);
    }

    /// k, p\* and d\* as printed.
    #[rustfmt::skip]
    const TABLE_2: [(usize, usize, usize); 96] = [
        (4, 8, 2), (6, 10, 3), (8, 12, 4), (9, 14, 3), (10, 14, 5), (12, 16, 6), (14, 18, 7), (15, 20, 5),
        (16, 20, 8), (18, 22, 9), (20, 24, 10), (21, 26, 7), (22, 26, 11), (24, 28, 12), (25, 32, 5), (26, 30, 13),
        (27, 32, 9), (28, 32, 14), (30, 34, 15), (32, 36, 16), (33, 38, 11), (34, 38, 17), (35, 42, 7), (36, 40, 18),
        (38, 42, 19), (39, 44, 13), (40, 44, 20), (42, 46, 21), (44, 48, 22), (45, 50, 15), (46, 50, 23), (48, 52, 24),
        (49, 58, 7), (50, 54, 25), (51, 56, 17), (52, 56, 26), (54, 58, 27), (55, 62, 11), (56, 60, 28), (57, 62, 19),
        (58, 62, 29), (60, 64, 30), (62, 66, 31), (63, 68, 21), (64, 68, 32), (65, 72, 13), (66, 70, 33), (68, 72, 34),
        (69, 74, 23), (70, 74, 35), (72, 76, 36), (74, 78, 37), (75, 80, 25), (76, 80, 38), (77, 86, 11), (78, 82, 39),
        (80, 84, 40), (81, 86, 27), (82, 86, 41), (84, 88, 42), (85, 92, 17), (86, 90, 43), (87, 92, 29), (88, 92, 44),
        (90, 94, 45), (91, 100, 13), (92, 96, 46), (93, 98, 31), (94, 98, 47), (95, 102, 19), (96, 100, 48), (98, 102, 49),
        (99, 104, 33), (100, 104, 50), (102, 106, 51), (104, 108, 52), (105, 110, 35), (106, 110, 53), (108, 112, 54), (110, 114, 55),
        (111, 116, 37), (112, 116, 56), (114, 118, 57), (115, 122, 23), (116, 120, 58), (117, 122, 39), (118, 122, 59), (119, 128, 17),
        (120, 124, 60), (121, 134, 11), (122, 126, 61), (123, 128, 41), (124, 128, 62), (125, 132, 25), (126, 130, 63), (128, 132, 64),
    ];

    #[test]
    fn table_2_is_reproduced() {
        for (arity, least, outer) in TABLE_2 {
            assert_eq!(division(arity), Some((least, outer)), "{arity}");
        }
        let is_prime = |arity: usize| (2..arity).all(|factor| !arity.is_multiple_of(factor));
        let without: Vec<usize> =
            (1..=128).filter(|arity| TABLE_2.iter().all(|row| row.0 != *arity)).collect();
        assert!(without.iter().all(|&arity| is_prime(arity) && division(arity).is_none()), "{without:?}");
    }

    #[test]
    fn levels_are_divided_as_in_the_example_of_the_source() {
        assert_eq!(divided(&[1, 4, 4]), [1, 2, 2, 4]);
        assert_eq!(divided(&[16, 8]), [2, 2, 2, 2, 8]);
        assert_eq!(divided(&[12, 2, 5]), [2, 2, 3, 2, 5]);
        assert_eq!(divided(&[7]), [7]);
        for arities in [vec![4, 16, 8], vec![128, 1 << 12], vec![30, 1, 77], vec![1009 * 1013]] {
            let product: usize = divided(&arities).iter().product();
            assert_eq!(product, arities.iter().product::<u32>() as usize);
        }
    }

    #[test]
    fn binomials_are_those_of_pascal() {
        for n in 1..40 {
            for k in 1..=n {
                assert_eq!(binomial(n, k), binomial(n - 1, k - 1) + binomial(n - 1, k));
            }
        }
        assert_eq!((binomial(3, 4), binomial(0, 0), binomial(1000, 500)), (0, 1, u128::MAX));
    }

    /// Both grouping algorithms, on either side of the threshold.
    #[test]
    fn groups_are_full_but_for_artificial_members() {
        let mut rng = Rng::new(3);
        for (count, arity) in
            [(2, 3), (7, 2), (30, 2), (31, 4), (299, 2), (300, 3), (301, 7), (1000, 2), (40, 37)]
        {
            let graph = random_graph(count, 5, 9, &mut rng);
            let num_groups = count.div_ceil(arity);
            let mut sizes = vec![0; num_groups];
            groups(&graph, arity, 1, &()).iter().for_each(|&group| sizes[group as usize] += 1);
            assert!(sizes.iter().all(|&size| size <= arity), "{count} by {arity}: {sizes:?}");
            assert_eq!(sizes.iter().sum::<usize>(), count);
        }
    }
}
