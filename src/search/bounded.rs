//! The gains of exchanging one process with all others, on trees of many levels: by branch and bound.
//!
//! # Bounds
//!
//! Savings are those of [`partner_gains`](super::partner_gains): D is the greatest distance, and a process saves Σ w (D - d(q, x))
//! on PE q, over its neighbours x. Let process v sit on PE p, and let l be a level. Its *bound* at level l is by how much
//! more it would save on the best PE whose innermost common group with p is of level l, if no neighbour were nearer than two
//! PEs of an innermost group are. An exchange of u and v at level l gains at most twice the gain of u there plus the
//! bound of v. For each level l and each group inside groups of level l, the greatest bound of its processes is kept.
//!
//! A visit of u goes down from the groups beside its own. It leaves a group out as soon as what u saves there at most, and the
//! greatest bound in the group, do not gain together. After a good construction that is so almost at once.
//!
//! # Hubs
//!
//! The bounds of a process change when a neighbour moves, and are computed again in O(deg k), k being the levels. For a hub that
//! would be dear. A hub has a table instead: the weight of its edges into each group of each level. Its gain on any PE is
//! looked up in O(k), and every visit tries all hubs.
//!
//! Memory: O(n k + m), the second for tables of hubs. An exchange costs O(k) for each arc of the two processes, and for
//! each arc of their neighbours that are no hubs.

use std::collections::HashMap;

use super::partner_gains::{Gains, is_hub};
use super::swap::SwapSearch;
use crate::graph::CsrGraph;
use crate::topology::DistanceOracle;
use crate::types::{Cost, Distance, NodeId, PeId, Weight};

/// Below the bound of every process that can gain.
const NEVER: Cost = Cost::MIN / 4;

/// A level of the tree.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// PEs of a group.
    size: PeId,
    /// Distance of two PEs whose innermost common group is of this level.
    distance: Distance,
}

/// The levels, innermost first; none if the distances are no ultrametric.
fn levels<O: DistanceOracle>(oracle: &O) -> Vec<Level> {
    let Some(innermost) = oracle.ultrametric() else { return Vec::new() };
    let mut level = Level { size: oracle.num_pes() as PeId, distance: oracle.max_distance() };
    let mut levels = vec![level];
    while level.size as usize > innermost.group_size {
        let size = oracle.nearer_than(0, level.distance).len() as PeId;
        level = Level { size, distance: oracle.distance(0, size - 1) };
        levels.push(level);
    }
    levels.reverse();
    levels
}

/// Neighbours of a process: the PE that each is on, in ascending order, and the weight of the edge.
type Near = [(PeId, Weight)];

fn volume(near: &Near) -> Weight {
    near.iter().map(|&(_, weight)| weight).sum()
}

/// Processes, where they are, and the other way round.
#[derive(Clone, Copy)]
struct View<'a> {
    graph: &'a CsrGraph,
    pe_of: &'a [PeId],
    process_on: &'a [NodeId],
}

impl<'a> View<'a> {
    fn of<O: DistanceOracle>(search: &'a SwapSearch<'_, O>) -> Self {
        Self { graph: search.problem().graph(), pe_of: search.pe_of(), process_on: search.process_on() }
    }

    fn near(self, process: NodeId) -> Vec<(PeId, Weight)> {
        let arcs = self.graph.arcs(process);
        let mut near: Vec<(PeId, Weight)> =
            arcs.map(|(target, weight)| (self.pe_of[target as usize], weight)).collect();
        near.sort_unstable();
        near
    }
}

/// The bounds of all processes, and the tables of hubs.
pub(super) struct BoundedGains {
    tree: Tree,
    /// Entry l - 1 is of level l: the bounds by PE, then the greatest of each innermost group, and so on up to the groups beside
    /// each other in a group of level l.
    bounds: Vec<Vec<Vec<Cost>>>,
    hubs: Hubs,
    improving: Vec<(NodeId, Cost)>,
}

struct Tree {
    levels: Vec<Level>,
}

impl Tree {
    /// The group of a level that holds a PE.
    fn group(&self, level: usize, pe: PeId) -> PeId {
        pe / self.levels[level].size
    }

    /// The level of the innermost group that holds both PEs.
    fn common(&self, p: PeId, q: PeId) -> usize {
        let outermost = self.levels.len() - 1;
        (0..outermost).find(|&level| self.group(level, p) == self.group(level, q)).unwrap_or(outermost)
    }

    /// How much nearer than the next level a level is; 0 for the outermost.
    fn step(&self, level: usize) -> Distance {
        let outer = (level + 1).min(self.levels.len() - 1);
        self.levels[outer].distance - self.levels[level].distance
    }

    /// What the process with these neighbours saves on a PE, by level: the share of neighbours in its group of that level and outward.
    fn savings_outward(&self, near: &Near, pe: PeId) -> Vec<Cost> {
        let mut savings = vec![0; self.levels.len()];
        let mut inside = near;
        let mut sum = 0;
        for level in (0..self.levels.len()).rev() {
            let group = self.group(level, pe);
            let from = inside.partition_point(|&(there, _)| self.group(level, there) < group);
            let to = inside.partition_point(|&(there, _)| self.group(level, there) <= group);
            inside = &inside[from..to];
            sum += volume(inside) * self.step(level);
            savings[level] = sum;
        }
        savings
    }

    /// The bounds of the process with these neighbours on a PE, from level 1 on.
    fn bounds(&self, near: &Near, pe: PeId) -> Vec<Cost> {
        let outward = self.savings_outward(near, pe);
        let now = outward[0];
        // Beside all neighbours that are in none of the groups nearer to it,
        let mut best = outward;
        // or next to a neighbour.
        let mut savings = vec![0; near.len()];
        for level in 0..self.levels.len() - 1 {
            let runs = near.chunk_by(|a, b| self.group(level, a.0) == self.group(level, b.0));
            let mut rest = savings.as_mut_slice();
            for run in runs {
                let saving = volume(run) * self.step(level);
                let (here, later) = rest.split_at_mut(run.len());
                here.iter_mut().for_each(|sum| *sum += saving);
                rest = later;
            }
        }
        for (&(there, _), &saving) in near.iter().zip(&savings) {
            let level = self.common(pe, there);
            best[level] = best[level].max(saving);
        }
        best[1..].iter().map(|&saving| saving - now).collect()
    }
}

/// Where the neighbours of hubs are.
struct Hubs {
    hubs: Vec<NodeId>,
    /// By hub, level and group: the weight of the edges into the group.
    volumes: HashMap<(NodeId, usize, PeId), Weight>,
}

impl Hubs {
    fn add(&mut self, tree: &Tree, hub: NodeId, pe: PeId, weight: Weight) {
        for level in 0..tree.levels.len() - 1 {
            *self.volumes.entry((hub, level, tree.group(level, pe))).or_default() += weight;
        }
    }

    fn is_hub(&self, process: NodeId) -> bool {
        self.hubs.binary_search(&process).is_ok()
    }

    /// What a hub saves on a PE.
    fn saving(&self, tree: &Tree, hub: NodeId, pe: PeId) -> Cost {
        let levels = 0..tree.levels.len() - 1;
        let volume = |level| self.volumes.get(&(hub, level, tree.group(level, pe))).copied().unwrap_or(0);
        levels.map(|level| volume(level) * tree.step(level)).sum()
    }
}

impl BoundedGains {
    /// As [`on_tree`](Self::on_tree), where that is cheaper than scanning the PEs near a process.
    pub fn new<O: DistanceOracle>(search: &SwapSearch<'_, O>) -> Option<Self> {
        let levels = levels(search.problem().oracle());
        let sizes: Vec<usize> = levels.iter().map(|level| level.size as usize).collect();
        let &[innermost, .., near, _] = sizes.as_slice() else { return None };
        let members = innermost + sizes.windows(2).map(|pair| pair[1] / pair[0]).sum::<usize>();
        if near > members { Self::on_tree(search) } else { None }
    }

    /// The bounds at the beginning of a search; O((n + m) k). `None` unless the machine is a tree of at least two levels
    /// whose distances grow from the inside out.
    pub fn on_tree<O: DistanceOracle>(search: &SwapSearch<'_, O>) -> Option<Self> {
        let tree = Tree { levels: levels(search.problem().oracle()) };
        let sizes: Vec<usize> = tree.levels.iter().map(|level| level.size as usize).collect();
        if sizes.len() < 2 {
            return None;
        }
        let view = View::of(search);
        let hubs: Vec<NodeId> = view.graph.nodes().filter(|&node| is_hub(view.graph, node)).collect();
        let mut hubs = Hubs { hubs, volumes: HashMap::new() };
        for hub in hubs.hubs.clone() {
            for (target, weight) in view.graph.arcs(hub) {
                hubs.add(&tree, hub, view.pe_of[target as usize], weight);
            }
        }
        let of_level = |level: usize| -> Vec<Vec<Cost>> {
            let n = view.pe_of.len();
            let by_group = sizes[..level].iter().map(|&size| vec![NEVER; n / size]);
            std::iter::once(vec![NEVER; n]).chain(by_group).collect()
        };
        let bounds = (1..sizes.len()).map(of_level).collect();
        let mut gains = Self { tree, bounds, hubs, improving: Vec::new() };
        gains.fill(view);
        Some(gains)
    }

    /// Computes all bounds.
    fn fill(&mut self, view: View<'_>) {
        for process in view.graph.nodes().filter(|&process| !self.hubs.is_hub(process)) {
            let pe = view.pe_of[process as usize];
            let bounds = self.tree.bounds(&view.near(process), pe);
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

    /// Computes the bounds of a process again, and the greatest ones of its groups.
    fn refresh(&mut self, view: View<'_>, process: NodeId) {
        let pe = view.pe_of[process as usize];
        let bounds = match self.hubs.is_hub(process) {
            true => vec![NEVER; self.bounds.len()],
            false => self.tree.bounds(&view.near(process), pe),
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

    /// The processes that may gain by an exchange with `u`, hubs aside.
    fn candidates(&self, view: View<'_>, u: NodeId) -> Vec<NodeId> {
        let (near, pe) = (view.near(u), view.pe_of[u as usize]);
        let outward = self.tree.savings_outward(&near, pe);
        let mut candidates = Vec::new();
        for level in 1..self.tree.levels.len() {
            let size = self.tree.levels[level].size;
            let first = pe / size * size;
            let from = near.partition_point(|&(there, _)| there < first);
            let to = near.partition_point(|&(there, _)| there < first + size);
            let mut descent = Descent { gains: self, view, level, beside: pe, candidates: &mut candidates };
            descent.go_down(level - 1, first, &near[from..to], outward[level] - outward[0]);
        }
        candidates
    }

    /// How much less `moved` pays after an exchange with `partner`, half of what J falls by on its account.
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
        // The partner counts as moved to, but ends as far away as it is.
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

/// A way down from the groups beside a process.
struct Descent<'a> {
    gains: &'a BoundedGains,
    view: View<'a>,
    /// The level of the exchanges.
    level: usize,
    /// The PE of the process; its own group is passed over.
    beside: PeId,
    candidates: &'a mut Vec<NodeId>,
}

impl Descent<'_> {
    /// Looks at the groups of level `inner` in the group that begins at PE `first` and is of the level above. `near` are the
    /// neighbours in there, `gain` is how much more the process saves there where it is beside none of them.
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
            let at_most = gain + volume * greatest_nearness + bounds[group as usize];
            if at_most <= 0 || group == own {
                continue;
            }
            let gain = gain + volume * tree.step(inner);
            if inner > 0 {
                self.go_down(inner - 1, group * size, inside, gain);
            } else {
                self.look_at(group * size..(group + 1) * size, gain);
            }
        }
    }

    fn look_at(&mut self, pes: std::ops::Range<PeId>, gain: Cost) {
        let bounds = &self.gains.bounds[self.level - 1][0];
        let may_gain = pes.filter(|&pe| bounds[pe as usize] + gain > 0);
        self.candidates.extend(may_gain.map(|pe| self.view.process_on[pe as usize]));
    }
}

impl<O: DistanceOracle> Gains<O> for BoundedGains {
    fn improving(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId) -> &[(NodeId, Cost)] {
        let mut improving = std::mem::take(&mut self.improving);
        improving.clear();
        let graph = search.problem().graph();
        let candidates = self.candidates(View::of(search), u);
        let u_is_hub = self.hubs.is_hub(u);
        let hubs = self.hubs.hubs.iter().copied().filter(|&hub| hub != u);
        for v in candidates.into_iter().chain(hubs) {
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
        search.stops_after(graph.degree(u) + self.tree.levels.len());
        self.improving = improving;
        &self.improving
    }

    fn swap(&mut self, search: &mut SwapSearch<'_, O>, u: NodeId, v: NodeId, delta: Cost) {
        let (at_u, at_v) = (search.pe_of()[u as usize], search.pe_of()[v as usize]);
        search.swap(u, v, delta);
        let graph = search.problem().graph();
        for (moved, from, to) in [(u, at_u, at_v), (v, at_v, at_u)] {
            self.refresh(View::of(search), moved);
            for (neighbour, weight) in graph.arcs(moved) {
                if self.hubs.is_hub(neighbour) {
                    self.hubs.add(&self.tree, neighbour, from, -weight);
                    self.hubs.add(&self.tree, neighbour, to, weight);
                } else {
                    search.stops_after(graph.degree(neighbour));
                    self.refresh(View::of(search), neighbour);
                }
            }
        }
    }
}
