//! The gains of exchanging one process with all others, on trees of many levels, by branch and bound.
//!
//! # Bounds
//!
//! Savings are those of [`partner_gains`](super::partner_gains): D is the greatest distance, and a process
//! saves Σ w (D - d(q, x)) on PE q, summed over its neighbours x. Let process v be on PE p, and let l be a
//! level. Consider the PEs whose innermost common group with p is of level l. The *bound* of v at level l is
//! how much more v would save on the best of them, if no neighbour came closer than two PEs of an innermost
//! group. An exchange of u and v at level l gains at most twice the gain of u there plus the bound of v. For
//! each level l and each group inside groups of level l, the largest bound of its processes is stored.
//!
//! A visit of u descends into the groups beside its own. It prunes a group if the largest saving of u there
//! plus the largest bound in the group is not a gain. After a good construction, that is almost immediately
//! the case.
//!
//! # Hubs
//!
//! The bounds of a process change when a neighbour moves. They are recomputed in O(deg k), where k is the
//! number of levels. That would be expensive for a hub. A hub has a table instead: the weight of its edges
//! into each group of each level. Its gain on any PE is looked up in O(k), and every visit tries all hubs.
//! The bounds of other processes exclude the largest hubs, which have [bounds of their own](hubs) for all
//! processes of a group.
//!
//! Memory: O(n k + m), where O(m) is for the tables of hubs. An exchange costs O(k) for each arc of the two
//! processes and of their neighbours that are not hubs.

mod hubs;
mod tree;
mod view;

use hubs::{HubGains, Hubs};
use tree::{Near, Tree, volume};
use view::View;

use super::partner_gains::Gains;
use super::swap::SwapSearch;
use super::task::sample;
use crate::base::observer::{Observer, Watch};
use crate::base::types::{Cost, NodeId, PeId, Weight};
use crate::graph::hubs::hubs_of;
use crate::machine::DistanceOracle;

/// Arcs that can be scanned in the time of one bound, in [`BoundedGains::are_tight`]. Tuned on trees of 4 to
/// 9 levels: 70 hubs of 1500 arcs at 5000 processes require at least 1; ten and 40 hubs adjacent to all of 20
/// 000 processes require at most 60.
const ARCS_PER_BOUND: usize = 4;

/// Smaller than the bound of every process that can gain.
const NEVER: Cost = Cost::MIN / 4;

/// The bounds of all processes, and the tables of hubs.
pub(super) struct BoundedGains {
    tree: Tree,
    /// Entry l - 1 is for level l: the bounds by PE, then the largest bound of each innermost group, and so
    /// on up to the groups directly inside a group of level l.
    bounds: Vec<Vec<Vec<Cost>>>,
    hubs: Hubs,
    improving: Vec<(NodeId, Cost)>,
}

impl BoundedGains {
    /// As [`on_tree`](Self::on_tree), if that is cheaper than scanning the PEs near a process.
    pub fn new<O: DistanceOracle>(search: &SwapSearch<'_, O>) -> Option<Self> {
        let tree = Tree::of(search.problem().oracle());
        let sizes: Vec<usize> = tree.levels.iter().map(|level| level.size as usize).collect();
        let &[innermost, .., near, _] = sizes.as_slice() else { return None };
        let members = innermost + sizes.windows(2).map(|pair| pair[1] / pair[0]).sum::<usize>();
        if near <= members {
            return None;
        }
        let gains = Self::on_tree(search)?;
        (gains.hubs.iter().next().is_none() || gains.are_tight(View::of(search), near)).then_some(gains)
    }

    /// Returns whether the bounds prune enough to make a visit cheaper than a scan of the PEs near a process and of
    /// the arcs of all hubs. If processes communicate with many hubs in different ways, almost nothing is
    /// pruned.
    fn are_tight(&self, view: View<'_>, near: usize) -> bool {
        let processes = sample(view.graph);
        let scanned = near + self.hubs.iter().map(|hub| view.graph.degree(hub)).sum::<usize>();
        let of_scans = processes.len() * scanned;
        processes.map(|process| self.candidates(view, process).1).sum::<usize>() * ARCS_PER_BOUND < of_scans
    }

    /// The bounds at the start of a search; O((n + m) k). `None` unless the machine is a tree of at least two
    /// levels with distances that grow outwards.
    pub fn on_tree<O: DistanceOracle>(search: &SwapSearch<'_, O>) -> Option<Self> {
        let tree = Tree::of(search.problem().oracle());
        let sizes: Vec<usize> = tree.levels.iter().map(|level| level.size as usize).collect();
        if sizes.len() < 2 {
            return None;
        }
        let view = View::of(search);
        let hubs = Hubs::new(&tree, view, hubs_of(view.graph).collect());
        let of_level = |level: usize| -> Vec<Vec<Cost>> {
            let n = view.pe_of.len();
            let by_group = sizes[..level].iter().map(|&size| vec![NEVER; n / size]);
            std::iter::once(vec![NEVER; n]).chain(by_group).collect()
        };
        let bounds = (1..sizes.len()).map(of_level).collect();
        let mut gains = Self { tree, bounds, hubs, improving: Vec::new() };
        gains.fill(view, search.observer());
        Some(gains)
    }

    /// The neighbours that are covered individually by the bounds.
    fn bounded_near(&self, view: View<'_>, process: NodeId) -> Vec<(PeId, Weight)> {
        view.near_if(process, |neighbour| !self.hubs.is_bounded(neighbour))
    }

    /// Computes all bounds, unless it is stopped.
    fn fill(&mut self, view: View<'_>, observer: &dyn Observer) {
        let mut watch = Watch::new(observer);
        for process in view.graph.nodes().filter(|&process| !self.hubs.is_hub(process)) {
            if watch.stops_after(view.graph.degree(process)) {
                return;
            }
            let pe = view.pe_of[process as usize];
            let bounds = self.tree.bounds(&self.bounded_near(view, process), pe);
            for (of_level, bound) in self.bounds.iter_mut().zip(bounds) {
                of_level[0][pe as usize] = bound;
            }
        }
        for of_level in &mut self.bounds {
            for index in 1..of_level.len() {
                let (inner, outer) = of_level.split_at_mut(index);
                let members = inner[index - 1].len() / outer[0].len();
                for (greatest, members) in outer[0].iter_mut().zip(inner[index - 1].chunks(members)) {
                    *greatest = members.iter().copied().max().unwrap_or(NEVER);
                }
            }
        }
    }

    /// Recomputes the bounds of a process and the largest bounds of its groups.
    fn refresh(&mut self, view: View<'_>, process: NodeId) {
        let pe = view.pe_of[process as usize];
        let bounds = match self.hubs.is_hub(process) {
            true => vec![NEVER; self.bounds.len()],
            false => self.tree.bounds(&self.bounded_near(view, process), pe),
        };
        for (of_level, bound) in self.bounds.iter_mut().zip(bounds) {
            of_level[0][pe as usize] = bound;
            for index in 1..of_level.len() {
                let (inner, outer) = of_level.split_at_mut(index);
                let members = inner[index - 1].len() / outer[0].len();
                let group = self.tree.group(index - 1, pe) as usize;
                let inside = &inner[index - 1][group * members..(group + 1) * members];
                let greatest = inside.iter().copied().max().unwrap_or(NEVER);
                if std::mem::replace(&mut outer[0][group], greatest) == greatest {
                    break;
                }
            }
        }
    }

    /// The non-hub processes for which an exchange with `u` may gain, and the work of finding them.
    fn candidates(&self, view: View<'_>, u: NodeId) -> (Vec<NodeId>, usize) {
        let (near, pe) = (self.bounded_near(view, u), view.pe_of[u as usize]);
        let outward = self.tree.savings_outward(&near, pe);
        let hub_gains = self.hubs.gains(&self.tree, view, u);
        let (mut candidates, mut work) = (Vec::new(), view.graph.degree(u));
        for level in 1..self.tree.levels.len() {
            let size = self.tree.levels[level].size;
            let first = pe / size * size;
            let from = near.partition_point(|&(there, _)| there < first);
            let to = near.partition_point(|&(there, _)| there < first + size);
            let candidates = &mut candidates;
            let mut descent =
                Descent { gains: self, hub_gains: &hub_gains, view, level, beside: pe, candidates, work: 0 };
            descent.go_down(level - 1, first, &near[from..to], outward[level] - outward[0]);
            work += descent.work;
        }
        (candidates, work)
    }

    /// The reduction of the cost of `moved` by an exchange with `partner`: half of its contribution to the
    /// gain.
    fn gain_of(&self, view: View<'_>, moved: NodeId, partner: NodeId, weight: Weight) -> Cost {
        let tree = &self.tree;
        let (from, to) = (view.pe_of[moved as usize], view.pe_of[partner as usize]);
        let distance = tree.levels[tree.common(from, to)].distance;
        let savings = if self.hubs.is_hub(moved) {
            self.hubs.saving(tree, moved, to) - self.hubs.saving(tree, moved, from)
        } else {
            let near = view.near(moved);
            tree.savings_outward(&near, to)[0] - tree.savings_outward(&near, from)[0]
        };
        // The partner is counted as if it stayed on the target PE, but ends as far away as before.
        savings - weight * (distance - tree.levels[0].distance)
    }

    /// The change of J by an exchange of two processes, one of them a hub.
    fn delta_with_hub(&self, view: View<'_>, u: NodeId, v: NodeId) -> Cost {
        if self.tree.common(view.pe_of[u as usize], view.pe_of[v as usize]) == 0 {
            return 0;
        }
        let (fewer, other) = if view.graph.degree(u) <= view.graph.degree(v) { (u, v) } else { (v, u) };
        let edge = view.graph.arcs(fewer).find(|&(target, _)| target == other);
        let weight = edge.map_or(0, |(_, weight)| weight);
        -2 * (self.gain_of(view, u, v, weight) + self.gain_of(view, v, u, weight))
    }
}

/// The descent into the groups beside a process.
struct Descent<'a> {
    gains: &'a BoundedGains,
    hub_gains: &'a HubGains<'a>,
    view: View<'a>,
    /// The level of the exchanges.
    level: usize,
    /// The PE of the process; its own group is skipped.
    beside: PeId,
    candidates: &'a mut Vec<NodeId>,
    /// Bounds evaluated so far.
    work: usize,
}

impl Descent<'_> {
    /// Visits the groups of level `inner` in the group of the next level that begins at PE `first`. `near`
    /// are the neighbours of the process in that group. `gain` is how much more the process saves there if it
    /// is beside none of them.
    fn go_down(&mut self, inner: usize, first: PeId, near: &Near, gain: Cost) {
        let tree = &self.gains.tree;
        let size = tree.levels[inner].size;
        let groups = first / size..(first + tree.levels[inner + 1].size) / size;
        let own = tree.group(inner, self.beside);
        let bounds = &self.gains.bounds[self.level - 1][inner + 1];
        let greatest_nearness = tree.levels[inner + 1].distance - tree.levels[0].distance;
        let mut rest = near;
        for group in groups {
            let here = rest.partition_point(|&(there, _)| there / size == group);
            let (inside, later) = rest.split_at(here);
            rest = later;
            let volume = volume(inside);
            let by_hubs = self.hub_gains.at_most(inner, group);
            self.work += 1 + self.hub_gains.len();
            let at_most = gain + volume * greatest_nearness + bounds[group as usize] + by_hubs;
            if at_most <= 0 || group == own {
                continue;
            }
            let gain = gain + volume * tree.step(inner);
            if inner > 0 {
                self.go_down(inner - 1, group * size, inside, gain);
            } else {
                self.look_at(group, size, gain);
            }
        }
    }

    /// Visits the processes of an innermost group.
    fn look_at(&mut self, group: PeId, size: PeId, gain: Cost) {
        let bounds = &self.gains.bounds[self.level - 1][0];
        self.work += size as usize * (1 + self.hub_gains.len());
        for pe in group * size..(group + 1) * size {
            let (process, gain) = (self.view.process_on[pe as usize], bounds[pe as usize] + gain);
            if gain + self.hub_gains.with(process, group) > 0 {
                self.candidates.push(process);
            }
        }
    }
}

impl<O: DistanceOracle> Gains<O> for BoundedGains {
    fn improving(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId) -> &[(NodeId, Cost)] {
        if search.is_fixed(u) {
            return &[];
        }
        let mut improving = std::mem::take(&mut self.improving);
        improving.clear();
        let graph = search.problem().graph();
        let (candidates, work) = self.candidates(View::of(search), u);
        let u_is_hub = self.hubs.is_hub(u);
        let problem = search.problem();
        let hubs = self.hubs.iter().filter(|&hub| hub != u);
        for v in candidates.into_iter().chain(hubs).filter(|&v| !problem.is_fixed(v)) {
            let delta = if u_is_hub || self.hubs.is_hub(v) {
                search.count_tried(1);
                search.stops_after(graph.degree(u).min(graph.degree(v)));
                self.delta_with_hub(View::of(search), u, v)
            } else {
                search.delta(u, v)
            };
            if delta < 0 {
                improving.push((v, delta));
            }
            if search.is_stopped() {
                improving.clear();
                break;
            }
        }
        search.stops_after(work);
        self.improving = improving;
        &self.improving
    }

    fn swap(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId, v: NodeId, delta: Cost) {
        let (at_u, at_v) = (search.pe_of()[u as usize], search.pe_of()[v as usize]);
        search.swap(u, v, delta);
        let graph = search.problem().graph();
        for (moved, from, to) in [(u, at_u, at_v), (v, at_v, at_u)] {
            self.refresh(View::of(search), moved);
            let is_bounded = self.hubs.is_bounded(moved);
            for (neighbour, weight) in graph.arcs(moved) {
                if self.hubs.is_hub(neighbour) {
                    self.hubs.add(&self.tree, neighbour, from, -weight);
                    self.hubs.add(&self.tree, neighbour, to, weight);
                } else if !is_bounded {
                    search.stops_after(graph.degree(neighbour));
                    self.refresh(View::of(search), neighbour);
                }
            }
        }
        self.hubs.exchange(&self.tree, View::of(search), at_u, at_v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;
    use crate::graph::GraphBuilder;
    use crate::machine::Hierarchy;
    use crate::mapping::Mapping;
    use crate::mapping::problem::Problem;

    /// Returns whether bounds are used around `hubs` hubs of 2400 processes, where each hub skips one neighbour in
    /// `left_out`.
    fn is_bounded(hubs: NodeId, left_out: u32) -> bool {
        let mut rng = Rng::new(4);
        let mut builder = GraphBuilder::new(2400);
        for (hub, node) in (0..hubs).flat_map(|hub| (hub + 1..2400).map(move |node| (hub, node))) {
            if rng.below(left_out) > 0 {
                builder.add_edge(hub, node, 1);
            }
        }
        let graph = builder.build().unwrap();
        assert_eq!(hubs_of(&graph).count(), hubs as usize);
        let oracle = Hierarchy::parse("4:5:5:6:4", "1:2:4:8:16").unwrap().online32().unwrap();
        let problem = Problem::new(&graph, &oracle).unwrap();
        BoundedGains::new(&SwapSearch::new(&problem, &Mapping::identity(2400), &())).is_some()
    }

    #[test]
    fn bounds_are_used_where_they_are_tight() {
        assert!(is_bounded(0, 2));
        assert!(is_bounded(20, 10_000));
        assert!(!is_bounded(40, 2));
    }
}
