//! Groups chosen from a list of all possible ones.
//!
//! Two groups are incompatible if they share a member. The goal is an independent set in the graph of
//! incompatible groups with a small weight, where the weight of a group is its traffic to other groups. As in
//! the source, three greedy orders are tried, and the best result is taken: lightest first; lightest first
//! such that the heaviest group needed comes early; and groups with heavy incompatible groups first. If there
//! are few ways to divide all members into groups, all are tried.
//!
//! Takes O(L (k + log L)) for L groups of k; memory O(L k + p²) for p members.

use crate::base::observer::{Observer, Watch};
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::CsrGraph;

/// Upper limit on the divisions into groups that are enumerated: 12 members in pairs are 10 395 divisions. A
/// case takes less than a millisecond.
const MOST_DIVISIONS: u128 = 20_000;

/// The group of each vertex. The graph is padded with isolated vertices to a multiple of `arity`.
pub(super) fn groups(graph: &CsrGraph, arity: usize, observer: &dyn Observer) -> Vec<BlockId> {
    let list = List::new(graph, arity);
    let by_weight = list.lightest_first();
    let chosen = [
        list.greedy(by_weight.iter().copied()),
        list.lightest_range(&by_weight),
        list.greedy(list.heaviest_neighbours_first().into_iter()),
    ];
    let chosen = chosen.into_iter().flatten().min_by_key(|groups| list.weight_of(groups));
    let chosen = chosen.expect("every greedy choice from all groups can be completed");
    let chosen = if num_divisions(list.count, arity) <= MOST_DIVISIONS {
        Enumeration::new(&list, chosen, observer).best
    } else {
        chosen
    };
    let mut group_of = vec![0; list.count];
    for (number, &group) in chosen.iter().enumerate() {
        list.members(group).iter().for_each(|&member| group_of[member as usize] = number as BlockId);
    }
    group_of.truncate(graph.num_nodes());
    group_of
}

/// The number of ways to divide `count` members, a multiple of `arity`, into groups.
fn num_divisions(count: usize, arity: usize) -> u128 {
    // The first member without a group chooses the others of its group.
    let choices = (0..count).step_by(arity).map(|grouped| binomial(count - grouped - 1, arity - 1));
    choices.fold(1, u128::saturating_mul)
}

/// All groups of a number of members, in lexicographic order.
struct List {
    arity: usize,
    /// A multiple of the arity.
    count: usize,
    /// The members of the groups, one group after the other.
    members: Vec<NodeId>,
    /// The traffic of each group to others.
    weights: Vec<Weight>,
    /// The traffic of each member.
    volumes: Vec<Weight>,
}

impl List {
    fn new(graph: &CsrGraph, arity: usize) -> Self {
        let count = graph.num_nodes().next_multiple_of(arity);
        let mut matrix = vec![0; count * count];
        let mut volumes = vec![0; count];
        for node in graph.nodes() {
            volumes[node as usize] = graph.weighted_degree(node);
            for (target, weight) in graph.arcs(node) {
                matrix[node as usize * count + target as usize] = weight;
            }
        }
        let mut list = Self { arity, count, members: Vec::new(), weights: Vec::new(), volumes };
        let mut group: Vec<NodeId> = (0..arity as NodeId).collect();
        loop {
            let inside: Weight = group
                .iter()
                .flat_map(|&u| group.iter().map(move |&v| u as usize * count + v as usize))
                .map(|entry| matrix[entry])
                .sum();
            list.weights.push(list.volume_of(&group) - inside);
            list.members.extend_from_slice(&group);
            if !advance(&mut group, count) {
                return list;
            }
        }
    }

    fn members(&self, group: usize) -> &[NodeId] {
        &self.members[group * self.arity..(group + 1) * self.arity]
    }

    fn volume_of(&self, group: &[NodeId]) -> Weight {
        group.iter().map(|&member| self.volumes[member as usize]).sum()
    }

    fn weight_of(&self, groups: &[usize]) -> Weight {
        groups.iter().map(|&group| self.weights[group]).sum()
    }

    /// The groups by weight; ties go to groups with members of smaller numbers.
    fn lightest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by_key(|&group| self.weights[group]);
        order
    }

    /// The groups by the total weight of the groups they are incompatible with. Each group has the same
    /// number of those.
    fn heaviest_neighbours_first(&self) -> Vec<usize> {
        // A group is compatible with every group of the other members. Their total weight follows from the
        // volumes and the traffic of these members, because each member, and each pair, is in the same number
        // of groups.
        let rest = self.count - self.arity;
        let with_member = binomial(rest.saturating_sub(1), self.arity - 1) as i128;
        let with_pair =
            if self.arity < 2 { 0 } else { binomial(rest.saturating_sub(2), self.arity - 2) as i128 };
        let total: i128 = self.volumes.iter().map(|&volume| i128::from(volume)).sum();
        let compatible = |group: usize| {
            let (volume, weight) =
                (i128::from(self.volume_of(self.members(group))), i128::from(self.weights[group]));
            let inside_the_rest = total - volume - weight;
            with_member * (total - volume) - with_pair * inside_the_rest
        };
        let mut order = self.lightest_first();
        order.sort_by_cached_key(|&group| compatible(group) + i128::from(self.weights[group]));
        order
    }

    /// Takes each group compatible with those taken before; `None` if a member is left over.
    fn greedy(&self, order: impl Iterator<Item = usize>) -> Option<Vec<usize>> {
        let mut is_taken = vec![false; self.count];
        let mut chosen = Vec::with_capacity(self.count / self.arity);
        for group in order {
            let members = self.members(group);
            if members.iter().all(|&member| !is_taken[member as usize]) {
                members.iter().for_each(|&member| is_taken[member as usize] = true);
                chosen.push(group);
            }
        }
        (chosen.len() * self.arity == self.count).then_some(chosen)
    }

    /// A choice whose heaviest group comes as early in the order as binary search finds. Within a range, the
    /// heaviest groups are taken first, because the lighter ones remain available to the other members.
    fn lightest_range(&self, by_weight: &[usize]) -> Option<Vec<usize>> {
        let within = |length: usize| self.greedy(by_weight[..length].iter().rev().copied());
        let (mut short, mut long) = (0, by_weight.len());
        let mut best = within(long);
        while short + 1 < long {
            let middle = short.midpoint(long);
            match within(middle) {
                Some(chosen) => (long, best) = (middle, Some(chosen)),
                None => short = middle,
            }
        }
        best
    }
}

/// Advances to the next group in lexicographic order; returns whether there is one.
fn advance(group: &mut [NodeId], count: usize) -> bool {
    let arity = group.len();
    let Some(at) = (0..arity).rev().find(|&at| (group[at] as usize) < count - arity + at) else {
        return false;
    };
    let first = group[at] + 1;
    group[at..].iter_mut().zip(first..).for_each(|(member, next)| *member = next);
    true
}

/// Enumerates all divisions into groups.
struct Enumeration<'a> {
    list: &'a List,
    watch: Watch<'a>,
    /// For each member, the start in the list of the groups whose first member it is.
    begin: Vec<usize>,
    is_taken: Vec<bool>,
    chosen: Vec<usize>,
    best: Vec<usize>,
    least: Weight,
}

impl<'a> Enumeration<'a> {
    fn new(list: &'a List, best: Vec<usize>, observer: &'a dyn Observer) -> Self {
        let mut begin = vec![0; list.count + 1];
        (0..list.weights.len()).for_each(|group| begin[list.members(group)[0] as usize + 1] += 1);
        (0..list.count).for_each(|member| begin[member + 1] += begin[member]);
        let least = list.weight_of(&best);
        let watch = Watch::new(observer);
        let mut all =
            Self { list, watch, begin, is_taken: vec![false; list.count], chosen: Vec::new(), best, least };
        all.go_on(0);
        all
    }

    /// Completes the groups chosen so far, of total weight `weight`, in all ways that may improve the best.
    fn go_on(&mut self, weight: Weight) {
        let Some(first) = self.is_taken.iter().position(|&is_taken| !is_taken) else {
            if weight < self.least {
                (self.least, self.best) = (weight, self.chosen.clone());
            }
            return;
        };
        for group in self.begin[first]..self.begin[first + 1] {
            let (list, heavier) = (self.list, weight + self.list.weights[group]);
            let members = list.members(group);
            let is_free = members.iter().all(|&member| !self.is_taken[member as usize]);
            if is_free && heavier < self.least && !self.watch.stops_after(list.arity) {
                members.iter().for_each(|&member| self.is_taken[member as usize] = true);
                self.chosen.push(group);
                self.go_on(heavier);
                self.chosen.pop();
                members.iter().for_each(|&member| self.is_taken[member as usize] = false);
            }
        }
    }
}

/// The binomial coefficient n over k, saturating.
pub(super) fn binomial(n: usize, k: usize) -> u128 {
    let mut result: u128 = 1;
    for i in 0..k.min(n.saturating_sub(k)) {
        // The product of i + 1 factors in a row is a multiple of (i + 1)!, so this division leaves no
        // remainder.
        match result.checked_mul((n - i) as u128) {
            Some(product) => result = product / (i as u128 + 1),
            None => return u128::MAX,
        }
    }
    if k > n { 0 } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::testing::random_graph;

    /// The smallest traffic between groups, by a recursion over the members, independent of lists.
    fn least_outside(graph: &CsrGraph, arity: usize, group_of: &mut Vec<usize>) -> Weight {
        let (count, num_groups) = (graph.num_nodes(), graph.num_nodes() / arity);
        if group_of.len() == count {
            let pairs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
            let cut = pairs.filter(|&(u, v, _)| group_of[u as usize] != group_of[v as usize]);
            return cut.map(|(.., weight)| weight).sum();
        }
        let mut least = Weight::MAX;
        let opened = group_of.iter().max().map_or(0, |group| group + 1);
        for group in 0..num_groups.min(opened + 1) {
            if group_of.iter().filter(|&&other| other == group).count() < arity {
                group_of.push(group);
                least = least.min(least_outside(graph, arity, group_of));
                group_of.pop();
            }
        }
        least
    }

    fn outside(graph: &CsrGraph, group_of: &[BlockId]) -> Weight {
        let of = |node: NodeId| group_of[node as usize];
        graph
            .nodes()
            .flat_map(|u| graph.arcs(u).filter(move |&(v, _)| of(u) != of(v)))
            .map(|(_, weight)| weight)
            .sum()
    }

    #[test]
    fn small_cases_are_solved_exactly() {
        let mut rng = Rng::new(1);
        for (count, arity) in [(4, 2), (6, 2), (8, 2), (6, 3), (9, 3), (8, 4), (10, 5)] {
            for _ in 0..5 {
                let graph = random_graph(count, 4, 20, &mut rng);
                let found = groups(&graph, arity, &());
                assert_eq!(outside(&graph, &found), least_outside(&graph, arity, &mut Vec::new()));
            }
        }
    }

    /// Compares the formula with the definition.
    #[test]
    fn groups_are_ordered_by_the_mean_weight_of_incompatible_ones() {
        let mut rng = Rng::new(7);
        for (count, arity) in [(6, 2), (7, 2), (9, 3), (12, 4), (5, 5)] {
            let list = List::new(&random_graph(count, 3, 9, &mut rng), arity);
            let shares =
                |a: usize, b: usize| list.members(a).iter().any(|member| list.members(b).contains(member));
            let neighbours = |group: usize| -> Weight {
                let others = (0..list.weights.len()).filter(|&other| other != group && shares(group, other));
                others.map(|other| list.weights[other]).sum()
            };
            let sums: Vec<Weight> = list.heaviest_neighbours_first().into_iter().map(neighbours).collect();
            assert!(sums.is_sorted_by(|a, b| a >= b), "{count} by {arity}: {sums:?}");
        }
    }

    #[test]
    fn all_groups_are_listed_once() {
        for (count, arity) in [(4, 1), (4, 4), (9, 3), (14, 7)] {
            let list = List::new(&random_graph(count, 2, 3, &mut Rng::new(1)), arity);
            assert_eq!(list.weights.len() as u128, binomial(count, arity));
            let groups: Vec<&[NodeId]> = (0..list.weights.len()).map(|group| list.members(group)).collect();
            assert!(groups.is_sorted_by(|a, b| a < b));
            assert!(groups.iter().all(|group| group.is_sorted_by(|a, b| a < b)));
        }
    }

    #[test]
    fn the_range_of_the_lightest_groups_that_suffices_is_short() {
        let graph = random_graph(16, 6, 50, &mut Rng::new(5));
        let list = List::new(&graph, 2);
        let by_weight = list.lightest_first();
        let last = |chosen: &[usize]| {
            let rank = |group: &usize| by_weight.iter().position(|other| other == group).unwrap();
            chosen.iter().map(rank).max().unwrap()
        };
        let greedy = list.greedy(by_weight.iter().copied()).unwrap();
        let short = list.lightest_range(&by_weight).unwrap();
        assert!(last(&short) <= last(&greedy), "{} {}", last(&short), last(&greedy));
    }
}
