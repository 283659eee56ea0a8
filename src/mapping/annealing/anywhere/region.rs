//! The processes on a range of places, rearranged while all others stay where they are.

use std::ops::{Deref, Range};

use super::context::{AnnealingContext, FIXED};
use crate::base::order;
use crate::base::types::{Cost, Distance, NodeId, PeId, Weight};
use crate::graph::CsrGraph;
use crate::machine::Metric;

/// Processes on a range of places. They are numbered by their initial places. Higher numbers are external
/// ends of arcs that leave the region; they do not move.
///
/// Everything independent of the metric is kept in [`Placement`], which is compiled once for all metrics.
pub(super) struct Region<K, W> {
    placement: Placement<W>,
    /// The key of each process, and of each external end.
    keys: Vec<K>,
}

/// The places of the processes of a region, and their arcs.
pub(super) struct Placement<W> {
    places: Range<PeId>,
    offsets: Vec<u32>,
    arcs: Vec<(NodeId, W)>,
    /// The place of each process.
    pub place_of: Vec<PeId>,
    /// The places of the external ends.
    outside: Vec<PeId>,
    /// The process on each place of the range.
    process_on: Vec<NodeId>,
    /// The kind of each place of the range, if there are several.
    kinds: Vec<u32>,
}

impl<W: Copy + TryFrom<Weight> + Into<Weight>> Placement<W> {
    /// The processes on `places`. Process u is on place `place_of[u]`, and `process_on` is the inverse.
    /// Weights must fit `W`. O(size of the region and its arcs).
    fn new(
        graph: &CsrGraph,
        kinds: &[u32],
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
        let kinds = match kinds {
            [] => Vec::new(),
            kinds => kinds[places.start as usize..places.end as usize].to_vec(),
        };
        let (place_of, process_on) = (places.clone().collect(), (0..n as NodeId).collect());
        Self { places, offsets, arcs, place_of, outside, process_on, kinds }
    }

    /// Returns whether processes may be exchanged between two places.
    #[inline]
    pub fn may_exchange(&self, p: PeId, q: PeId) -> bool {
        let kind = |place: PeId| self.kinds[(place - self.places.start) as usize];
        self.kinds.is_empty() || kind(p) == kind(q)
    }

    /// Returns whether a process must stay where it is.
    pub fn is_fixed(&self, process: NodeId) -> bool {
        self.kinds.get(process as usize) == Some(&FIXED)
    }

    /// Number of processes of the region.
    pub fn num_processes(&self) -> usize {
        self.place_of.len()
    }

    /// Number of arcs of the processes of the region.
    pub fn num_arcs(&self) -> usize {
        self.arcs.len()
    }

    #[inline]
    pub fn arcs(&self, process: NodeId) -> &[(NodeId, W)] {
        &self.arcs[self.offsets[process as usize] as usize..self.offsets[process as usize + 1] as usize]
    }

    /// The place of a process, or of an external end.
    #[inline]
    pub fn place(&self, process: NodeId) -> PeId {
        match self.place_of.get(process as usize) {
            Some(&place) => place,
            None => self.outside[process as usize - self.place_of.len()],
        }
    }

    /// The process on a place, if the place belongs to the region.
    #[inline]
    pub fn process_on(&self, place: PeId) -> Option<NodeId> {
        self.process_on.get(place.wrapping_sub(self.places.start) as usize).copied()
    }

    /// A lower bound on the communication cost of each process wherever the processes are, given that the
    /// i-th nearest place is nowhere nearer than `nearest[i]`: the heaviest edge goes to the nearest place,
    /// and so on.
    pub fn least_payments(&self, nearest: &[Distance]) -> Vec<Cost> {
        let mut weights: Vec<Weight> = Vec::new();
        let mut least = |process: NodeId| {
            weights.clear();
            weights.extend(self.arcs(process).iter().map(|&(_, weight)| weight.into()));
            order::descending(&mut weights);
            let distances = nearest.iter().chain(std::iter::repeat(nearest.last().unwrap_or(&0)));
            weights.iter().zip(distances).map(|(weight, distance)| weight * distance).sum()
        };
        (0..self.num_processes() as NodeId).map(&mut least).collect()
    }
}

impl<K, W> Deref for Region<K, W> {
    type Target = Placement<W>;

    #[inline]
    fn deref(&self) -> &Placement<W> {
        &self.placement
    }
}

impl<K: Copy + Eq, W: Copy + TryFrom<Weight> + Into<Weight>> Region<K, W> {
    /// The processes on `places`: see [`Placement::new`].
    pub fn new<M: Metric<Key = K>>(
        graph: &CsrGraph,
        site: &AnnealingContext<'_, M>,
        place_of: &[PeId],
        process_on: &[NodeId],
        places: Range<PeId>,
    ) -> Self {
        let placement = Placement::new(graph, site.kinds, place_of, process_on, places);
        let all = placement.places.clone().chain(placement.outside.iter().copied());
        let keys = all.map(|place| site.key_of[place as usize]).collect();
        Self { placement, keys }
    }

    /// The communication cost of each process; they add up to 2J. O(arcs) distances.
    pub fn payments<M: Metric<Key = K>>(&self, metric: &M) -> Vec<Cost> {
        let pays = |process: NodeId| {
            let [cost] = metric.costs([self.keys[process as usize]], self.arcs(process), &self.keys);
            cost
        };
        (0..self.num_processes() as NodeId).map(pays).collect()
    }

    /// The cost of a process on each of several places if no other process moved.
    #[inline(always)]
    pub fn costs<M: Metric<Key = K>, const N: usize>(
        &self,
        metric: &M,
        process: NodeId,
        at: [K; N],
    ) -> [Cost; N] {
        metric.costs(at, self.arcs(process), &self.keys)
    }

    /// The cost of the edge between two processes, if they are adjacent.
    pub fn of_edge<M: Metric<Key = K>>(&self, metric: &M, u: NodeId, v: NodeId) -> Cost {
        let (a, b) = if self.arcs(u).len() <= self.arcs(v).len() { (u, v) } else { (v, u) };
        let distance = metric.between(self.keys[u as usize], self.keys[v as usize]);
        let edge = self.arcs(a).iter().filter(|&&(head, _)| head == b);
        edge.map(|&(_, weight)| weight.into() * distance).sum()
    }

    /// The key of the place of a process.
    #[inline]
    pub fn key(&self, process: NodeId) -> K {
        self.keys[process as usize]
    }

    /// Updates the `payments` of the neighbours of a process that moves from one place to another.
    #[inline]
    pub fn add_move<M: Metric<Key = K>>(
        &self,
        metric: &M,
        process: NodeId,
        [from, to]: [K; 2],
        payments: &mut [Cost],
    ) {
        for &(head, weight) in self.arcs(process) {
            // External ends have no payment.
            if let Some(pays) = payments.get_mut(head as usize) {
                let there = self.keys[head as usize];
                *pays += weight.into() * (metric.between(to, there) - metric.between(from, there));
            }
        }
    }

    /// Returns whether an exchange of two processes cannot change J.
    #[inline]
    pub fn are_interchangeable<M: Metric<Key = K>>(&self, metric: &M, u: NodeId, v: NodeId) -> bool {
        metric.interchangeable(self.keys[u as usize], self.keys[v as usize])
    }

    /// Exchanges the places of two processes.
    #[inline]
    pub fn swap(&mut self, u: NodeId, v: NodeId) {
        self.keys.swap(u as usize, v as usize);
        let Placement { place_of, process_on, places, .. } = &mut self.placement;
        place_of.swap(u as usize, v as usize);
        for moved in [u, v] {
            process_on[(place_of[moved as usize] - places.start) as usize] = moved;
        }
    }

    /// Puts the processes on these places, a permutation of the places of the region.
    pub fn restore(&mut self, key_of: &[K], place_of: &[PeId]) {
        for (process, &place) in place_of.iter().enumerate() {
            self.keys[process] = key_of[place as usize];
            let place = (place - self.placement.places.start) as usize;
            self.placement.process_on[place] = process as NodeId;
        }
        self.placement.place_of.copy_from_slice(place_of);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::machine::{DistanceOracle, with_oracle};
    use crate::mapping::annealing::Near;
    use crate::mapping::annealing::near::tests::every_kind;
    use crate::mapping::process_on_each;
    use crate::testing::{in_halves, random_graph, random_mapping};

    /// The change of J/2 by an exchange that is about to be made. Also updates all payments.
    fn exchange<O: DistanceOracle, W: Copy + TryFrom<Weight> + Into<Weight>>(
        region: &Region<O::Key, W>,
        oracle: &O,
        pays: &mut [Cost],
        u: NodeId,
        v: NodeId,
    ) -> Cost {
        let (p, q) = (region.key(u), region.key(v));
        let edge = region.of_edge(oracle, u, v);
        let ([of_u], [of_v]) = (region.costs(oracle, u, [q]), region.costs(oracle, v, [p]));
        let delta = of_u - pays[u as usize] + of_v - pays[v as usize] + 2 * edge;
        region.add_move(oracle, u, [p, q], pays);
        region.add_move(oracle, v, [q, p], pays);
        (pays[u as usize], pays[v as usize]) = (of_u + edge, of_v + edge);
        delta
    }

    fn half_of_cost<O: DistanceOracle>(graph: &CsrGraph, oracle: &O, place_of: &[PeId]) -> i128 {
        let arcs = graph.nodes().flat_map(|u| graph.arcs(u).map(move |(v, weight)| (u, v, weight)));
        let cost = |(u, v, weight): (NodeId, NodeId, Weight)| {
            i128::from(weight) * i128::from(oracle.distance(place_of[u as usize], place_of[v as usize]))
        };
        arcs.map(cost).sum::<i128>() / 2
    }

    /// Exchanges random processes in several ranges of places and recomputes J of the whole mapping before and after each exchange; regions keep
    /// weights as `W`.
    fn exchange_all<O: DistanceOracle, W>(oracle: &O, graph: &CsrGraph, rng: &mut Rng)
    where
        W: Copy + TryFrom<Weight> + Into<Weight>,
    {
        let n = graph.num_nodes() as PeId;
        let parts = in_halves(n as usize);
        let key_of: Vec<O::Key> = (0..n).map(|place| oracle.key(place)).collect();
        let near = Near::new(oracle, &key_of, Some(&parts), &());
        let site =
            AnnealingContext { metric: oracle, key_of: &key_of, near: &near, kinds: &[], observer: &() };
        for places in [0..n, 0..n / 2, n / 3..n, n / 3..2 * n / 3] {
            let start = random_mapping(n as usize, rng);
            let process_on = process_on_each(start.pes());
            let mut region = Region::<O::Key, W>::new(graph, &site, start.pes(), &process_on, places.clone());
            let mapping = |region: &Region<O::Key, W>| {
                let mut place_of = start.pes().to_vec();
                let moved = &process_on[places.start as usize..places.end as usize];
                for (&process, &place) in moved.iter().zip(&region.place_of) {
                    place_of[process as usize] = place;
                }
                place_of
            };
            let initial = region.place_of.clone();
            let mut pays = region.payments(oracle);
            let least = region.least_payments(near.least());
            let half_at_start = half_of_cost(graph, oracle, start.pes());
            let mut half = half_at_start;
            for _ in 0..200 {
                let count = region.num_processes() as u32;
                let (u, v) = (rng.below(count), rng.below(count));
                if u == v {
                    continue;
                }
                let delta = exchange(&region, oracle, &mut pays, u, v);
                if region.are_interchangeable(oracle, u, v) {
                    assert_eq!(delta, 0);
                }
                region.swap(u, v);
                let after = half_of_cost(graph, oracle, &mapping(&region));
                assert_eq!(after - half, i128::from(delta));
                half = after;
                assert_eq!(pays, region.payments(oracle));
                assert!(least.iter().zip(&pays).all(|(least, pays)| least <= pays));
                for process in [u, v] {
                    assert_eq!(region.process_on(region.place(process)), Some(process));
                }
            }
            region.restore(&key_of, &initial);
            assert_eq!(half_of_cost(graph, oracle, &mapping(&region)), half_at_start);
            // The keys match the places again, so the changes are right.
            if region.num_processes() > 1 {
                let delta = exchange(&region, oracle, &mut region.payments(oracle), 0, 1);
                region.swap(0, 1);
                let after = half_of_cost(graph, oracle, &mapping(&region));
                assert_eq!(after - half_at_start, i128::from(delta));
            }
        }
    }

    #[test]
    fn changes_are_those_of_the_sum_over_all_edges() {
        let mut rng = Rng::new(1);
        for distances in every_kind(&mut rng) {
            let n = distances.num_pes();
            for degree in [1, 4, 12] {
                let graph = random_graph(n, degree, 9, &mut rng);
                with_oracle!(&distances, |oracle| exchange_all::<_, i32>(oracle, &graph, &mut rng));
                let heavy = heavier(&graph, 3 << 40);
                with_oracle!(&distances, |oracle| exchange_all::<_, Weight>(oracle, &heavy, &mut rng));
            }
        }
    }

    /// The same graph with `times` the weights, less their squares.
    fn heavier(graph: &CsrGraph, times: Weight) -> CsrGraph {
        let mut builder = crate::graph::GraphBuilder::new(graph.num_nodes());
        for u in graph.nodes() {
            for (v, weight) in graph.arcs(u).filter(|&(v, _)| u < v) {
                builder.add_edge(u, v, weight * times - weight * weight);
            }
        }
        builder.build().unwrap()
    }
}
