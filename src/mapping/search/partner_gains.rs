//! The gains of exchanging one process with all others, at once.
//!
//! # Savings
//!
//! Let D be the greatest distance of the machine. The saving of process u on PE q is Σ w (D - d(q, x)),
//! summed over the neighbours x of u: its cost if everything were at distance D, minus its cost on q.
//! Exchanging u (on p) and v (on q) gains 2 (saving of u on q + saving of v on p - their present savings),
//! corrected for the edge between them.
//!
//! Savings are sparse. u saves something only on the PEs nearer than D to a neighbour of u, and only the
//! neighbours of processes on PEs nearer than D to p save something on p. So one pass over the PEs near the
//! neighbours of u, and one over the arcs of the processes near u, add up the savings of both sides for every
//! v that has any. Other processes v cannot gain. On a hierarchy whose second outermost groups have s PEs,
//! this takes O(s (deg u + mean degree)), where evaluating the exchanges individually takes O(n · mean
//! degree). With g innermost groups, at most g of the deg u passes are needed.
//!
//! # Hubs
//!
//! If u is near a hub h, all neighbours of h save something on p, and adding that up would take deg h at each
//! visit. So the arcs of hubs are skipped, and looked up for each v that is found otherwise. Any other
//! neighbour v of h gains only through the hubs, hence by its saving with them on p minus its present saving.
//! The largest such difference is stored for each list of hubs near a PE. As long as it does not exceed the
//! saving of u, no such v gains. It is updated for the processes at and next to an exchange, which takes time
//! proportional to their degrees.

use std::collections::BTreeMap;

use super::swap::SwapSearch;
use crate::base::types::{Cost, NodeId, PeId};
use crate::graph::CsrGraph;
use crate::graph::hubs::hubs_of;
use crate::machine::{DistanceOracle, Ultrametric};

/// Finds the improving exchanges of one process while exchanges are made.
pub(super) trait Gains<O: DistanceOracle> {
    /// The processes whose exchange with `u` is permitted and lowers J, in no particular order, each with the change of J.
    /// Empty if the search is stopped meanwhile.
    fn improving(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId) -> &[(NodeId, Cost)];

    /// Exchanges two processes; `delta` is the change of J.
    fn swap(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId, v: NodeId, delta: Cost);
}

/// The neighbours of a process with more arcs than this are summed by group.
const MANY_ARCS: usize = 256;

/// Hubs near a PE, in the order of their PEs. Each with the greatest distance minus its distance.
type NearHubs = Vec<(u32, Cost)>;

/// The arcs that lead to hubs, and bounds for the processes next to them.
struct Hubs {
    /// The number of each hub, by process, or [`NO_HUB`]; empty if there is no hub.
    number: Vec<u32>,
    /// The arcs to hubs of process v are `arcs[first[v]..first[v + 1]]`: number of the hub, weight.
    first: Vec<usize>,
    arcs: Vec<(u32, Cost)>,
    /// The nearness of each hub to the current process, by number of the hub.
    nearness: Vec<Cost>,
    /// For each list of hubs, no process that is not found otherwise saves more with these hubs, compared
    /// with its present saving.
    greatest: BTreeMap<NearHubs, Cost>,
}

const NO_HUB: u32 = u32::MAX;

impl Hubs {
    fn new(graph: &CsrGraph) -> Self {
        let hubs: Vec<NodeId> = hubs_of(graph).collect();
        let (mut number, mut first, mut arcs) = (Vec::new(), Vec::new(), Vec::new());
        if !hubs.is_empty() {
            number = vec![NO_HUB; graph.num_nodes()];
            for (index, &hub) in (0..).zip(&hubs) {
                number[hub as usize] = index;
            }
            first.push(0);
            for node in graph.nodes() {
                let to_hubs = graph.arcs(node).map(|(target, weight)| (number[target as usize], weight));
                arcs.extend(to_hubs.filter(|&(hub, _)| hub != NO_HUB));
                first.push(arcs.len());
            }
        }
        Self { number, first, arcs, nearness: vec![0; hubs.len()], greatest: BTreeMap::new() }
    }

    #[inline]
    fn number_of(&self, process: NodeId) -> Option<u32> {
        self.number.get(process as usize).copied().filter(|&hub| hub != NO_HUB)
    }

    /// The saving of a process with the current hubs.
    #[inline]
    fn saving_of(&self, process: NodeId) -> Cost {
        let arcs = &self.arcs[self.first[process as usize]..self.first[process as usize + 1]];
        arcs.iter().map(|&(hub, weight)| weight * self.nearness[hub as usize]).sum()
    }

    /// Makes these hubs current until [`leave`](Self::leave).
    fn approach(&mut self, near: &NearHubs) {
        near.iter().for_each(|&(hub, nearness)| self.nearness[hub as usize] = nearness);
    }

    fn leave(&mut self, near: &NearHubs) {
        near.iter().for_each(|&(hub, _)| self.nearness[hub as usize] = 0);
    }

    /// Records the new saving of a process.
    fn follow(&mut self, process: NodeId, saving: Cost) {
        let mut greatest = std::mem::take(&mut self.greatest);
        for (near, greatest) in &mut greatest {
            self.approach(near);
            *greatest = (*greatest).max(self.saving_of(process) - saving);
            self.leave(near);
        }
        self.greatest = greatest;
    }
}

/// The present saving of every process, and memory to find the gains of one process after another; O(n).
pub(super) struct PartnerGains<O: DistanceOracle> {
    key_of_pe: Vec<O::Key>,
    /// The present saving of each process.
    saving: Vec<Cost>,
    after: Sums,
    improving: Vec<(NodeId, Cost)>,
    hubs: Hubs,
    /// The hubs near the current process.
    near_hubs: NearHubs,
}

/// A sum for each process, mostly 0.
struct Sums {
    sum: Vec<Cost>,
    /// The processes with a nonzero sum. A process whose sum has become 0 in between may be listed twice.
    candidates: Vec<NodeId>,
}

impl Sums {
    fn new(num_processes: usize) -> Self {
        Self { sum: vec![0; num_processes], candidates: Vec::new() }
    }

    #[inline]
    fn add(&mut self, process: NodeId, term: Cost) {
        let sum = &mut self.sum[process as usize];
        if *sum == 0 && term != 0 {
            self.candidates.push(process);
        }
        *sum += term;
    }

    /// Removes all sums; a process that is listed twice has sum 0 the second time.
    fn drain(&mut self) -> impl Iterator<Item = (NodeId, Cost)> {
        let Self { sum, candidates } = self;
        candidates.drain(..).map(|process| (process, std::mem::take(&mut sum[process as usize])))
    }
}

impl<O: DistanceOracle> PartnerGains<O> {
    pub fn new(search: &SwapSearch<'_, O>) -> Self {
        let n = search.problem().size();
        let oracle = search.problem().oracle();
        let mut gains = Self {
            key_of_pe: (0..n as u32).map(|pe| oracle.key(pe)).collect(),
            saving: vec![0; n],
            after: Sums::new(n),
            improving: Vec::new(),
            hubs: Hubs::new(search.problem().graph()),
            near_hubs: Vec::new(),
        };
        for process in search.problem().graph().nodes() {
            gains.refresh(search, process);
        }
        gains
    }

    /// Recomputes the present saving of a process.
    fn refresh(&mut self, search: &SwapSearch<'_, O>, process: NodeId) {
        let (graph, oracle, keys) = (search.problem().graph(), search.problem().oracle(), search.keys());
        let farthest = oracle.max_distance();
        let here = keys[process as usize];
        let terms = graph.arcs(process);
        let saving =
            terms.map(|(x, weight)| weight * (farthest - oracle.between(here, keys[x as usize]))).sum();
        self.saving[process as usize] = saving;
    }

    /// Adds, for every process, its saving with the hubs near `u` on the PE of `u`, unless no process that
    /// has not been found otherwise can gain; returns whether it did.
    fn add_savings_near_hubs(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId) -> bool {
        let own = self.saving[u as usize];
        if self.hubs.greatest.get(&self.near_hubs).is_some_and(|&greatest| greatest <= own) {
            return false;
        }
        let graph = search.problem().graph();
        let Self { hubs, near_hubs, saving, after, .. } = self;
        let mut greatest = Cost::MIN;
        hubs.approach(near_hubs);
        for process in
            graph.nodes().filter(|&process| hubs.first[process as usize] < hubs.first[process as usize + 1])
        {
            greatest = greatest.max(hubs.saving_of(process) - saving[process as usize]);
        }
        search.stops_after(hubs.arcs.len());
        let can_gain = greatest > own;
        if can_gain {
            for process in graph.nodes() {
                after.add(process, hubs.saving_of(process));
            }
        }
        hubs.leave(near_hubs);
        hubs.greatest.insert(near_hubs.clone(), greatest);
        can_gain
    }

    /// Adds, for every process, the saving of `u` on its PE after the exchange.
    fn add_savings_elsewhere(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId) {
        let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
        let here = search.keys()[u as usize];
        let machine = oracle.ultrametric().filter(|_| graph.degree(u) > MANY_ARCS);
        if let Some(machine) = &machine {
            self.add_savings_by_group(search, u, machine);
        }
        let farthest = oracle.max_distance();
        for (x, weight) in graph.arcs(u) {
            let at_x = search.keys()[x as usize];
            match &machine {
                // On the PE of x itself, x is nearer than on the others of its group.
                Some(machine) => self.after.add(x, weight * machine.inside),
                None => {
                    let near = oracle.nearer_than(search.pe_of()[x as usize], farthest);
                    if search.stops_after(near.len()) {
                        return;
                    }
                    for q in near {
                        let distance = oracle.between(self.key_of_pe[q as usize], at_x);
                        self.after.add(search.process_on()[q as usize], weight * (farthest - distance));
                    }
                }
            }
            // After an exchange with x itself, x is not at distance 0 but where u was.
            self.after.add(x, -weight * oracle.between(here, at_x));
        }
    }

    /// Adds, for every process, the saving of `u` on its PE, as if the neighbours of `u` in its group were
    /// next to it.
    ///
    /// The PEs of a group are equivalent, so the neighbours of a hub are first summed by group.
    fn add_savings_by_group(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId, machine: &Ultrametric) {
        let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
        let farthest = oracle.max_distance();
        let group_of = |pe: PeId| pe / machine.group_size as PeId;
        let mut volumes = vec![0; self.key_of_pe.len().div_ceil(machine.group_size)];
        for (x, weight) in graph.arcs(u) {
            volumes[group_of(search.pe_of()[x as usize]) as usize] += weight;
        }
        for (group, &volume) in (0..).zip(&volumes).filter(|&(_, &volume)| volume != 0) {
            let first = group * machine.group_size as PeId;
            let near = oracle.nearer_than(first, farthest);
            if search.stops_after(near.len()) {
                return;
            }
            for q in near {
                let distance = oracle.between(self.key_of_pe[q as usize], self.key_of_pe[first as usize]);
                let distance = if q == first { machine.inside } else { distance };
                self.after.add(search.process_on()[q as usize], volume * (farthest - distance));
            }
        }
    }

    /// Adds, for every process, its saving on the PE of `u` after the exchange. Savings with hubs are
    /// excluded; the hubs are collected instead.
    fn add_savings_of_others(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId) {
        let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
        let farthest = oracle.max_distance();
        let here = search.keys()[u as usize];
        self.near_hubs.clear();
        for q in oracle.nearer_than(search.pe_of()[u as usize], farthest) {
            let nearness = farthest - oracle.between(self.key_of_pe[q as usize], here);
            let process = search.process_on()[q as usize];
            if let Some(hub) = self.hubs.number_of(process) {
                if nearness > 0 {
                    self.near_hubs.push((hub, nearness));
                }
                continue;
            }
            if search.stops_after(graph.degree(process)) {
                return;
            }
            for (v, weight) in graph.arcs(process) {
                self.after.add(v, weight * nearness);
            }
        }
        for (x, weight) in graph.arcs(u) {
            self.after.add(x, -weight * oracle.between(here, search.keys()[x as usize]));
        }
    }
}

impl<O: DistanceOracle> Gains<O> for PartnerGains<O> {
    fn improving(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId) -> &[(NodeId, Cost)] {
        if search.is_fixed(u) {
            return &[];
        }
        self.add_savings_elsewhere(search, u);
        self.add_savings_of_others(search, u);
        let is_complete = self.near_hubs.is_empty() || self.add_savings_near_hubs(search, u);
        let Self { saving, after, improving, hubs, .. } = self;
        hubs.approach(&self.near_hubs);
        improving.clear();
        let mut tried = 0;
        for (v, after) in after.drain().filter(|&(_, after)| after != 0) {
            tried += 1;
            let with_hubs = if is_complete { 0 } else { hubs.saving_of(v) };
            let gain = after + with_hubs - saving[v as usize] - saving[u as usize];
            if gain > 0 && !search.is_fixed(v) {
                improving.push((v, -2 * gain));
            }
        }
        hubs.leave(&self.near_hubs);
        if search.is_stopped() {
            improving.clear();
        }
        search.count_tried(tried);
        improving
    }

    /// O(their degrees).
    fn swap(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId, v: NodeId, delta: Cost) {
        let (at_u, at_v) = (search.keys()[u as usize], search.keys()[v as usize]);
        let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
        search.swap(u, v, delta);
        for (moved, partner, from, to) in [(u, v, at_u, at_v), (v, u, at_v, at_u)] {
            self.refresh(search, moved);
            for (neighbour, weight) in graph.arcs(moved) {
                // The partner has moved too, and is as far away as before.
                if neighbour != partner {
                    let there = search.keys()[neighbour as usize];
                    let nearer = oracle.between(from, there) - oracle.between(to, there);
                    self.saving[neighbour as usize] += weight * nearer;
                }
            }
        }
        if self.hubs.number_of(u).or(self.hubs.number_of(v)).is_some() {
            self.hubs.greatest.clear();
        } else if !self.hubs.greatest.is_empty() {
            for moved in [u, v] {
                for &process in graph.neighbours(moved).iter().chain([&moved]) {
                    self.hubs.follow(process, self.saving[process as usize]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::GraphBuilder;
    use crate::machine::{Hierarchy, StoredDistances};
    use crate::mapping::Mapping;
    use crate::mapping::objective::swap_delta;
    use crate::mapping::problem::Problem;
    use crate::mapping::search::bounded::BoundedGains;
    use crate::testing::{random_graph, random_mapping};

    /// All methods that apply to such a machine.
    fn all_gains<'a, O: DistanceOracle + 'a>(search: &SwapSearch<'_, O>) -> Vec<Box<dyn Gains<O> + 'a>> {
        let mut all: Vec<Box<dyn Gains<O> + 'a>> = vec![Box::new(PartnerGains::new(search))];
        if let Some(gains) = BoundedGains::on_tree(search) {
            all.push(Box::new(gains));
        }
        all
    }

    /// Compares the gains of a process with individual evaluations; returns the first partner that gains.
    fn check_visit<O: DistanceOracle>(
        search: &mut SwapSearch<'_, O>,
        gains: &mut dyn Gains<O>,
        u: NodeId,
    ) -> Option<NodeId> {
        let (graph, oracle) = (search.problem().graph(), search.problem().oracle());
        let delta = |v| swap_delta(graph, oracle, search.keys(), u, v);
        let pairs = graph.nodes().filter(|&v| v != u).map(|v| (v, delta(v)));
        let expected: Vec<_> = pairs.filter(|&(_, delta)| delta < 0).collect();
        let mut found = gains.improving(search, u).to_vec();
        found.sort_unstable();
        assert_eq!(found, expected, "{u}");
        expected.first().map(|&(v, _)| v)
    }

    fn exchange<O: DistanceOracle>(
        search: &mut SwapSearch<'_, O>,
        gains: &mut dyn Gains<O>,
        u: NodeId,
        v: NodeId,
    ) {
        let delta = swap_delta(search.problem().graph(), search.problem().oracle(), search.keys(), u, v);
        gains.swap(search, u, v, delta);
    }

    /// Compares the gains of every process with individual evaluations, at the start and after exchanges.
    fn check<O: DistanceOracle>(oracle: &O, rng: &mut Rng) {
        let n = oracle.num_pes();
        for mean_degree in [0, 2, 12] {
            let graph = random_graph(n, mean_degree, 9, rng);
            let problem = Problem::new(&graph, oracle).unwrap();
            let start = random_mapping(n, rng);
            for mut gains in all_gains(&SwapSearch::new(&problem, &start, &())) {
                let mut search = SwapSearch::new(&problem, &start, &());
                for _ in 0..4 {
                    for u in graph.nodes() {
                        check_visit(&mut search, &mut *gains, u);
                    }
                    if n > 1 {
                        let (u, v) = (rng.below(n as u32 - 1), n as NodeId - 1);
                        exchange(&mut search, &mut *gains, u, v);
                    }
                }
            }
        }
    }

    #[test]
    fn gains_agree_with_single_evaluations() {
        let mut rng = Rng::new(2);
        let shapes = [
            ("3:4:3", "1:10:100"),
            ("2:2:2:2:2", "0:4:4:1:9"),
            ("2:3:2:1:4", "1:2:5:7:9"),
            ("1:6:1:4", "7:3:1:5"),
            ("4:3:2", "9:5:1"),
            ("20", "3"),
            ("4:5", "0:0"),
            ("1", "1"),
        ];
        for (arities, distances) in shapes {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            check(&hierarchy.online32().unwrap(), &mut rng);
            check(&StoredDistances::new(&hierarchy).unwrap(), &mut rng);
        }
    }

    #[test]
    fn gains_around_hubs_agree_with_single_evaluations() {
        let mut rng = Rng::new(3);
        let n = 1200;
        for (arities, distances) in
            [("4:3:100", "1:10:100"), ("2:2:300", "3:5:9"), ("3:4:100", "9:4:5"), ("5:4:3:4:5", "0:1:3:4:9")]
        {
            let hierarchy = Hierarchy::parse(arities, distances).unwrap();
            let oracle = hierarchy.online32().unwrap();
            let mut pairs = std::collections::BTreeSet::new();
            for node in 0..n as NodeId {
                for hub in [0, 7].into_iter().filter(|&hub| hub != node && rng.below(20) > 0) {
                    pairs.insert((hub.min(node), hub.max(node)));
                }
                let other = rng.below(n);
                if other != node && rng.below(3) > 0 {
                    pairs.insert((other.min(node), other.max(node)));
                }
            }
            let mut builder = GraphBuilder::new(n as usize);
            for (u, v) in pairs {
                builder.add_edge(u, v, i64::from(rng.below(3)) + 1);
            }
            let graph = builder.build().unwrap();
            let problem = Problem::new(&graph, &oracle).unwrap();
            let mut pe_of: Vec<PeId> = (0..n as PeId).collect();
            rng.shuffle(&mut pe_of);
            let start = Mapping::from_pes(pe_of).unwrap();
            assert!(hubs_of(&graph).eq([0, 7]));
            for mut gains in all_gains(&SwapSearch::new(&problem, &start, &())) {
                let mut search = SwapSearch::new(&problem, &start, &());
                for round in 0..60 {
                    // Either a hub, a process next to a hub, or any process.
                    let near_hub = search.process_on()[(search.pe_of()[7] ^ 1) as usize % n as usize];
                    let u = [0, near_hub, rng.below(n)][round % 3];
                    let partner = check_visit(&mut search, &mut *gains, u);
                    let other = if round % 10 == 9 { 7 } else { rng.below(n) };
                    let v = partner.unwrap_or(other);
                    if u != v {
                        exchange(&mut search, &mut *gains, u, v);
                    }
                }
            }
        }
    }
}
