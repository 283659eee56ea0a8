//! Pairs of processes that communicate heavily, and pairs of adjacent places.

use super::settings::MOST_MULTILEVEL;
use crate::base::observer::Watch;
use crate::base::rng::Rng;
use crate::base::types::{Distance, NodeId, PeId, Weight};
use crate::graph::CsrGraph;

/// Sets of one or two processes or places of a level. The first `num_full` sets contain the most processes of
/// the machine.
pub(super) type Sets = Vec<[Option<u32>; 2]>;

/// Upper limit on the arcs of a partner that are examined for an unmatched process, so that hubs take no
/// extra time.
const FEW_ARCS: usize = 64;

/// Number of following places that a place may be paired with. A larger number gives closer pairs, but
/// finding a place as close as an earlier pair takes longer. It includes all places of the machines for which
/// this construction is the default.
const NEXT_PLACES: usize = MOST_MULTILEVEL;

/// No partner.
const SINGLE: u32 = u32::MAX;

/// Pairs of the first `num_full` processes, of which at most one stays single; all others stay single. O(m
/// log m).
///
/// Edges are matched greedily, in descending order of their share of the volume of both ends. The remaining
/// processes are paired along augmenting paths, then with others that share a neighbour, then arbitrarily.
pub(super) fn processes(graph: &CsrGraph, num_full: usize, seed: u64) -> Sets {
    let mut matching = Matching { graph, num_full, partner_of: vec![SINGLE; num_full] };
    matching.match_heaviest(&mut Rng::new(seed));
    matching.augment();
    matching.match_over_two_hops();
    let mut left = (0..num_full as NodeId).filter(|&u| matching.is_single(u)).collect::<Vec<_>>().into_iter();
    while let (Some(u), Some(v)) = (left.next(), left.next()) {
        matching.join(u, v);
    }
    matching.sets()
}

/// The same where processes are fixed on places: a set is fixed if one of its processes is, and has the process of
/// each fixed place in the order of the places. Also returns the set of places that each set of processes is
/// fixed on.
///
/// Two processes on places of one set are a pair. A process on one of the two places of a set is paired with a free
/// one. So as many pairs of free processes are left as there are of free places, and edges are matched greedily
/// only as far as that allows.
pub(super) fn processes_around(
    graph: &CsrGraph,
    (num_full, places, fixed): (usize, &Sets, &[Option<PeId>]),
    seed: u64,
) -> (Sets, Vec<Option<PeId>>) {
    let mut process_on = vec![SINGLE; fixed.len()];
    for (process, place) in (0..).zip(fixed) {
        place.iter().for_each(|&place| process_on[place as usize] = process);
    }
    let on = |place: PeId| Some(process_on[place as usize]).filter(|&process| process != SINGLE);
    let mut matching = Matching { graph, num_full, partner_of: vec![SINGLE; num_full] };
    let mut roles = vec![Role::Free; num_full];
    let mut free_pairs = 0;
    for set in places.iter().filter(|set| set[0].is_some_and(|place| (place as usize) < num_full)) {
        match (set[0].and_then(on), set[1].and_then(on)) {
            (Some(u), Some(v)) => matching.join(u, v),
            (Some(u), None) if set[1].is_none() => roles[u as usize] = Role::Alone,
            (Some(u), None) | (None, Some(u)) => roles[u as usize] = Role::Half,
            (None, None) => free_pairs += usize::from(set[1].is_some()),
        }
    }
    let mut takes = |u: NodeId, v: NodeId| match (roles[u as usize], roles[v as usize]) {
        (Role::Free, Role::Free) => {
            let is_left = free_pairs > 0;
            free_pairs -= usize::from(is_left);
            is_left
        }
        (Role::Half, Role::Free) | (Role::Free, Role::Half) => true,
        _ => false,
    };
    matching.match_heaviest_if(&mut Rng::new(seed), &mut takes);
    let single = |role: Role| {
        let roles = &roles;
        move |u: &NodeId| roles[*u as usize] == role
    };
    let all: Vec<NodeId> = (0..num_full as NodeId).filter(|&u| matching.is_single(u)).collect();
    let mut free = all.iter().copied().filter(single(Role::Free));
    for u in all.iter().copied().filter(single(Role::Half)) {
        let v = free.next().expect("each of these has a free place beside it");
        matching.join(u, v);
    }
    while let (Some(u), Some(v)) = (free.next(), free.next()) {
        matching.join(u, v);
    }
    let sets = matching.sets();
    align(sets, places, fixed)
}

/// Brings the processes of each set into the order of the places on which they are fixed.
fn align(mut sets: Sets, places: &Sets, fixed: &[Option<PeId>]) -> (Sets, Vec<Option<PeId>>) {
    let mut slot_of = vec![(0, 0); fixed.len()];
    for (index, set) in (0..).zip(places) {
        for (slot, place) in set.iter().enumerate() {
            place.iter().for_each(|&place| slot_of[place as usize] = (index, slot));
        }
    }
    let slot = |process: Option<u32>| {
        process.and_then(|process| fixed[process as usize]).map(|place| slot_of[place as usize])
    };
    let mut fixed_sets = Vec::with_capacity(sets.len());
    for set in &mut sets {
        let is_reversed = slot(set[0]).is_some_and(|(_, slot)| slot == 1)
            || slot(set[1]).is_some_and(|(_, slot)| slot == 0);
        if is_reversed {
            set.swap(0, 1);
        }
        fixed_sets.push(slot(set[0]).or(slot(set[1])).map(|(index, _)| index));
    }
    (sets, fixed_sets)
}

/// What a process can be paired with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is free.
    Free,
    /// It is fixed beside a free place.
    Half,
    /// It is fixed on a place that stays single.
    Alone,
}

struct Matching<'a> {
    graph: &'a CsrGraph,
    num_full: usize,
    partner_of: Vec<u32>,
}

impl Matching<'_> {
    fn is_single(&self, u: NodeId) -> bool {
        self.partner_of.get(u as usize) == Some(&SINGLE)
    }

    fn join(&mut self, u: NodeId, v: NodeId) {
        self.partner_of[u as usize] = v;
        self.partner_of[v as usize] = u;
    }

    /// Edges between processes that may be paired.
    fn arcs(&self, u: NodeId) -> impl Iterator<Item = (NodeId, Weight)> {
        self.graph.arcs(u).filter(move |&(v, _)| (v as usize) < self.num_full && v != u)
    }

    /// The pairs first, then what is single.
    fn sets(&self) -> Sets {
        let Self { graph, num_full, ref partner_of } = *self;
        let pairs = (0..num_full as u32).filter(|&u| u < partner_of[u as usize]);
        let pair = |u: u32| [Some(u), Some(partner_of[u as usize]).filter(|&v| v != SINGLE)];
        let singles = (num_full..graph.num_nodes()).map(|u| [Some(u as u32), None]);
        let (pairs, single): (Sets, Sets) = pairs.map(pair).partition(|set| set[1].is_some());
        pairs.into_iter().chain(single).chain(singles).collect()
    }

    fn match_heaviest(&mut self, rng: &mut Rng) {
        self.match_heaviest_if(rng, &mut |_, _| true);
    }

    /// Matches edges with single ends that may be matched.
    fn match_heaviest_if(&mut self, rng: &mut Rng, may_match: &mut dyn FnMut(NodeId, NodeId) -> bool) {
        let weights: Vec<f64> = (0..self.num_full as NodeId)
            .map(|u| self.graph.arcs(u).map(|(_, weight)| weight as f64).sum())
            .collect();
        let mut edges: Vec<(f64, u64, NodeId, NodeId)> = Vec::with_capacity(self.graph.num_edges());
        for u in 0..self.num_full as NodeId {
            for (v, weight) in self.arcs(u).filter(|&(v, _)| u < v) {
                let others = weights[u as usize] + weights[v as usize] - 2.0 * weight as f64;
                edges.push((others / weight as f64, rng.next_u64(), u, v));
            }
        }
        edges.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, _, u, v) in edges {
            if self.is_single(u) && self.is_single(v) && may_match(u, v) {
                self.join(u, v);
            }
        }
    }

    /// Augments along paths u, x, y, v, where u and v are single and x and y are a pair: u is paired with x,
    /// and y with v.
    fn augment(&mut self) {
        for u in 0..self.num_full as NodeId {
            if !self.is_single(u) {
                continue;
            }
            let mut best: Option<(Weight, [NodeId; 3])> = None;
            for (x, near) in self.arcs(u) {
                let y = self.partner_of[x as usize];
                if y == SINGLE {
                    continue;
                }
                let few = self.arcs(y).take(FEW_ARCS);
                for (v, far) in few.filter(|&(v, _)| v != u && self.is_single(v)) {
                    best = best.max(Some((near.saturating_add(far), [x, y, v])));
                }
            }
            if let Some((_, [x, y, v])) = best {
                self.join(u, x);
                self.join(y, v);
            }
        }
    }

    /// Pairs single processes that share a neighbour.
    fn match_over_two_hops(&mut self) {
        let graph = self.graph;
        for middle in graph.nodes() {
            let mut waiting = None;
            for (u, _) in graph.arcs(middle) {
                if self.is_single(u) {
                    match waiting.take() {
                        Some(other) => self.join(other, u),
                        None => waiting = Some(u),
                    }
                }
            }
        }
    }
}

/// Pairs of the first `num_full` places, of which at most one stays single; all others stay single. Each
/// place is paired with the first of the nearest among the next [`NEXT_PLACES`] unmatched places. O(n)
/// distances if adjacent places are near. Once the observer asks to stop, the rest is paired in order.
pub(super) fn places(
    count: usize,
    num_full: usize,
    watch: &mut Watch<'_>,
    distance: &dyn Fn(PeId, PeId) -> Distance,
) -> Sets {
    let mut left: Vec<PeId> = (0..num_full as PeId).rev().collect();
    let mut pairs = Sets::with_capacity(count.div_ceil(2));
    // The smallest distance between two places seen so far.
    let mut least: Option<Distance> = None;
    let mut most = NEXT_PLACES;
    while let Some(p) = left.pop() {
        let mut best: Option<(Distance, usize)> = None;
        let mut looked_at = 0;
        for (index, &q) in left.iter().enumerate().rev().take(most) {
            looked_at += 1;
            let distance = distance(p, q);
            if best.is_none_or(|(nearest, _)| distance < nearest) {
                best = Some((distance, index));
            }
            if least.is_some_and(|least| distance <= least) {
                break;
            }
        }
        least = least.into_iter().chain(best.map(|(nearest, _)| nearest)).min();
        pairs.push([Some(p), best.map(|(_, index)| left.remove(index))]);
        if watch.stops_after(looked_at) {
            most = 1;
        }
    }
    let singles = (num_full..count).map(|place| [Some(place as PeId), None]);
    pairs.into_iter().chain(singles).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::base::observer::Observer;
    use crate::testing::Stops;

    /// The pairs of places in a row whose first two places are closest, and the number of distances read.
    fn pairs_in_row(count: usize, observer: &dyn Observer) -> (Sets, usize) {
        let asked = Cell::new(0);
        let at = |p: PeId| Distance::from(if p == 0 { 1 } else { 2 * p });
        let distance = |p: PeId, q: PeId| {
            asked.set(asked.get() + 1);
            (at(p) - at(q)).abs()
        };
        (places(count, count, &mut Watch::new(observer), &distance), asked.get())
    }

    #[test]
    fn no_more_places_are_examined_than_documented() {
        let count = 2 * NEXT_PLACES;
        let in_order = (0..count as PeId / 2).map(|pair| [Some(2 * pair), Some(2 * pair + 1)]);
        let (pairs, asked) = pairs_in_row(count, &());
        assert!(pairs.iter().copied().eq(in_order.clone()));
        assert!(asked <= count / 2 * NEXT_PLACES);
        let (pairs, asked) = pairs_in_row(count, &Stops);
        assert!(pairs.into_iter().eq(in_order));
        assert!(asked < 20 * NEXT_PLACES, "{asked}");
    }
}
