//! The processes on a range of places, to be rearranged while all others stay where they are.

use std::ops::Range;

use super::Site;
use crate::graph::CsrGraph;
use crate::topology::Metric;
use crate::types::{Cost, NodeId, PeId, Weight};

/// Processes on a range of places. They are numbered by the places they are on at the beginning; numbers beyond
/// theirs are ends of arcs that lead out of the region and do not move.
pub(super) struct Region<K, W> {
    places: Range<PeId>,
    offsets: Vec<u32>,
    arcs: Vec<(NodeId, W)>,
    /// The key of each process, and of each end outside.
    keys: Vec<K>,
    /// The place of each process.
    pub place_of: Vec<PeId>,
    /// The places of the ends outside.
    outside: Vec<PeId>,
    /// The process on each place of the range.
    process_on: Vec<NodeId>,
    /// The kind of each place of the range, if there are several.
    kinds: Vec<u32>,
}

impl<K: Copy + Eq, W: Copy + TryFrom<Weight> + Into<Weight>> Region<K, W> {
    /// The processes on `places`, where process u is on place `place_of[u]`, and `process_on` is the inverse of that.
    /// Weights must fit `W`. O(size of the region and its arcs).
    pub fn new<M: Metric<Key = K>>(
        graph: &CsrGraph,
        site: &Site<'_, M>,
        place_of: &[PeId],
        process_on: &[NodeId],
        places: Range<PeId>,
    ) -> Self {
        let processes = &process_on[places.start as usize..places.end as usize];
        let n = processes.len();
        let mut offsets = Vec::with_capacity(n + 1);
        offsets.push(0);
        let mut arcs = Vec::with_capacity(processes.iter().map(|&process| graph.degree(process)).sum());
        let mut outside = Vec::new();
        for &process in processes {
            for (target, weight) in graph.arcs(process) {
                let place = place_of[target as usize];
                let weight = W::try_from(weight).unwrap_or_else(|_| unreachable!("weights fit"));
                if places.contains(&place) {
                    arcs.push((place - places.start, weight));
                } else {
                    arcs.push(((n + outside.len()) as NodeId, weight));
                    outside.push(place);
                }
            }
            offsets.push(arcs.len() as u32);
        }
        let all = places.clone().chain(outside.iter().copied());
        let keys = all.map(|place| site.key_of[place as usize]).collect();
        let place_of = places.clone().collect();
        let process_on = (0..n as NodeId).collect();
        let kinds = match site.kinds {
            [] => Vec::new(),
            kinds => kinds[places.start as usize..places.end as usize].to_vec(),
        };
        Self { places, offsets, arcs, keys, place_of, outside, process_on, kinds }
    }

    /// Whether processes may be exchanged between two places.
    #[inline]
    pub fn may_exchange(&self, p: PeId, q: PeId) -> bool {
        let kind = |place: PeId| self.kinds[(place - self.places.start) as usize];
        self.kinds.is_empty() || kind(p) == kind(q)
    }

    /// Number of processes of the region.
    pub fn num_processes(&self) -> usize {
        self.place_of.len()
    }

    /// Number of arcs from processes of the region.
    pub fn num_arcs(&self) -> usize {
        self.arcs.len()
    }

    /// The head of an arc.
    #[inline]
    pub fn head(&self, arc: usize) -> NodeId {
        self.arcs[arc].0
    }

    #[inline]
    pub fn arcs(&self, process: NodeId) -> &[(NodeId, W)] {
        &self.arcs[self.offsets[process as usize] as usize..self.offsets[process as usize + 1] as usize]
    }

    /// The place of a process, or of an end outside.
    #[inline]
    pub fn place(&self, process: NodeId) -> PeId {
        match self.place_of.get(process as usize) {
            Some(&place) => place,
            None => self.outside[process as usize - self.place_of.len()],
        }
    }

    /// The process on a place, if that is of the region.
    #[inline]
    pub fn process_on(&self, place: PeId) -> Option<NodeId> {
        self.process_on.get(place.wrapping_sub(self.places.start) as usize).copied()
    }

    /// By how much half of J changes at least when two processes exchange their places; O(deg u + deg v) distances. Exact
    /// unless they are adjacent.
    #[inline]
    pub fn least_delta<M: Metric<Key = K>>(&self, metric: &M, u: NodeId, v: NodeId) -> Cost {
        let (at_u, at_v) = (self.keys[u as usize], self.keys[v as usize]);
        metric.detour(at_v, at_u, self.arcs(u), &self.keys)
            + metric.detour(at_u, at_v, self.arcs(v), &self.keys)
    }

    /// By how much half of J changes more than [`least_delta`](Self::least_delta) tells: that lets each of two adjacent
    /// processes come to where the other one is, while they stay as far apart as they are.
    pub fn of_edge<M: Metric<Key = K>>(&self, metric: &M, u: NodeId, v: NodeId) -> Cost {
        let (a, b) = if self.arcs(u).len() <= self.arcs(v).len() { (u, v) } else { (v, u) };
        let distance = metric.between(self.keys[u as usize], self.keys[v as usize]);
        let edge = self.arcs(a).iter().filter(|&&(head, _)| head == b);
        edge.map(|&(_, weight)| 2 * weight.into() * distance).sum()
    }

    /// Whether an exchange of two processes cannot change J.
    #[inline]
    pub fn are_interchangeable<M: Metric<Key = K>>(&self, metric: &M, u: NodeId, v: NodeId) -> bool {
        metric.interchangeable(self.keys[u as usize], self.keys[v as usize])
    }

    /// Exchanges the places of two processes.
    #[inline]
    pub fn swap(&mut self, u: NodeId, v: NodeId) {
        self.place_of.swap(u as usize, v as usize);
        self.keys.swap(u as usize, v as usize);
        for moved in [u, v] {
            self.process_on[(self.place_of[moved as usize] - self.places.start) as usize] = moved;
        }
    }

    /// Puts the processes on these places, which are a permutation of those of the region.
    pub fn restore(&mut self, key_of: &[K], place_of: Vec<PeId>) {
        for (process, &place) in place_of.iter().enumerate() {
            self.keys[process] = key_of[place as usize];
            self.process_on[(place - self.places.start) as usize] = process as NodeId;
        }
        self.place_of = place_of;
    }
}
