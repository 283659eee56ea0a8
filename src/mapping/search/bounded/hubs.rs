//! Hubs: the positions of their neighbours, and bounds on what hubs contribute to the gain of exchanging two
//! other processes.
//!
//! Let u on PE p and v on PE q be processes that are not hubs. A hub h on PE x contributes (w_vh - w_uh)
//! (n(p, x) - n(q, x)) to the gain of their exchange. Here w are the edge weights, and n(p, x) is the
//! greatest distance minus the distance of p and x. For a group of PEs q, this is bounded by the minimum and
//! maximum weight of its processes and the range of n. The bound is 0 if all of them have the same weight to
//! h, so visiting a process next to such a hub is cheap.
//!
//! Memory: O(m) for the tables, [`WEIGHTS`] weights, and less than twice as many pairs for the bounds.

use hashbrown::HashMap;

use super::tree::Tree;
use super::view::View;
use crate::base::types::{Cost, NodeId, PeId, Weight};

/// Upper limit on the edge weights to hubs stored for the bounds. Balances memory against hubs that are
/// covered only by the bounds of their neighbours: 41 hubs at 10^5 processes.
const WEIGHTS: usize = 1 << 22;

/// Upper limit on the hubs evaluated for each group: the work of a visit grows with them.
const MOST_HUBS: usize = 32;

/// The hubs of a graph, and the positions of their neighbours.
pub(super) struct Hubs {
    hubs: Vec<NodeId>,
    /// The weight of the edges into a group, by hub, level and group.
    volumes: HashMap<(NodeId, usize, PeId), Weight>,
    /// The hubs of largest degree, in ascending order, whose edges are covered by the bounds below.
    bounded: Vec<NodeId>,
    /// Row by row, for each process the weight of its edge to each bounded hub.
    weights: Vec<Weight>,
    /// For each level below the outermost, row by row for each group and bounded hub: the minimum and maximum
    /// weight over the non-hub processes in the group.
    extremes: Vec<Vec<(Weight, Weight)>>,
}

impl Hubs {
    pub fn new(tree: &Tree, view: View<'_>, hubs: Vec<NodeId>) -> Self {
        let n = view.graph.num_nodes();
        let mut bounded = hubs.clone();
        bounded.sort_by_key(|&hub| (std::cmp::Reverse(view.graph.degree(hub)), hub));
        bounded.truncate((WEIGHTS / n.max(1)).min(MOST_HUBS));
        bounded.sort_unstable();
        let mut weights = vec![0; n * bounded.len()];
        for (index, &hub) in bounded.iter().enumerate() {
            for (target, weight) in view.graph.arcs(hub) {
                weights[target as usize * bounded.len() + index] = weight;
            }
        }
        let groups = tree.levels[..tree.levels.len() - 1].iter().map(|level| n / level.size as usize);
        let extremes = groups.map(|groups| vec![NOTHING; groups * bounded.len()]).collect();
        let mut all = Self { hubs, volumes: HashMap::new(), bounded, weights, extremes };
        for hub in all.hubs.clone() {
            for (target, weight) in view.graph.arcs(hub) {
                all.add(tree, hub, view.pe_of[target as usize], weight);
            }
        }
        for level in 0..all.extremes.len() {
            for group in 0..n as PeId / tree.levels[level].size {
                all.refresh(tree, view, level, group);
            }
        }
        all
    }

    /// Records that a neighbour of a hub is on a PE, or, with a negative weight, that it has left.
    pub fn add(&mut self, tree: &Tree, hub: NodeId, pe: PeId, weight: Weight) {
        for level in 0..tree.levels.len() - 1 {
            *self.volumes.entry((hub, level, tree.group(level, pe))).or_default() += weight;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.hubs.iter().copied()
    }

    pub fn is_hub(&self, process: NodeId) -> bool {
        self.hubs.binary_search(&process).is_ok()
    }

    /// Returns whether the edges of a process are covered by [`HubGains`].
    pub fn is_bounded(&self, process: NodeId) -> bool {
        self.bounded.binary_search(&process).is_ok()
    }

    /// Returns the saving of a hub on a PE.
    pub fn saving(&self, tree: &Tree, hub: NodeId, pe: PeId) -> Cost {
        let levels = 0..tree.levels.len() - 1;
        let volume = |level| self.volumes.get(&(hub, level, tree.group(level, pe))).copied().unwrap_or(0);
        levels.map(|level| volume(level) * tree.step(level)).sum()
    }

    fn weights_of(&self, process: NodeId) -> &[Weight] {
        &self.weights[process as usize * self.bounded.len()..][..self.bounded.len()]
    }

    /// Records that the processes on two PEs have been exchanged.
    pub fn exchange(&mut self, tree: &Tree, view: View<'_>, p: PeId, q: PeId) {
        let [u, v] = [p, q].map(|pe| view.process_on[pe as usize]);
        if self.weights_of(u) == self.weights_of(v) && self.is_hub(u) == self.is_hub(v) {
            return;
        }
        for level in 0..tree.common(p, q) {
            for pe in [p, q] {
                self.refresh(tree, view, level, tree.group(level, pe));
            }
        }
    }

    /// Recomputes the extremes of a group from those of its subgroups or from its processes.
    fn refresh(&mut self, tree: &Tree, view: View<'_>, level: usize, group: PeId) {
        let count = self.bounded.len();
        let size = tree.levels[level].size;
        for index in 0..count {
            let extremes = if level == 0 {
                let processes = (group * size..(group + 1) * size).map(|pe| view.process_on[pe as usize]);
                let ordinary = processes.filter(|&process| !self.is_hub(process));
                join(ordinary.map(|process| self.weights_of(process)[index]).map(|weight| (weight, weight)))
            } else {
                let members = (size / tree.levels[level - 1].size) as usize;
                let inner = &self.extremes[level - 1][group as usize * members * count..][..members * count];
                join(inner.iter().skip(index).step_by(count).copied())
            };
            self.extremes[level][group as usize * count + index] = extremes;
        }
    }

    /// The gains of exchanges of a process due to the bounded hubs.
    pub fn gains<'a>(&'a self, tree: &'a Tree, view: View<'a>, process: NodeId) -> HubGains<'a> {
        let pe = view.pe_of[process as usize];
        // A hub that is the process itself is as far from its neighbours' ends as before.
        let hubs = (0..).zip(&self.bounded).filter(|&(_, &hub)| hub != process).map(|(index, &hub)| {
            let at = view.pe_of[hub as usize];
            Hub {
                index,
                at,
                weight: self.weights_of(process)[index],
                nearness: tree.nearness(tree.common(pe, at)),
            }
        });
        HubGains { hubs: hubs.collect(), all: self, tree }
    }
}

/// Minimum and maximum of an empty set of weights.
const NOTHING: (Weight, Weight) = (Weight::MAX, Weight::MIN);

/// The smallest minimum and the largest maximum.
fn join(ranges: impl Iterator<Item = (Weight, Weight)>) -> (Weight, Weight) {
    ranges.fold(NOTHING, |(least, greatest), (low, high)| (least.min(low), greatest.max(high)))
}

/// A bounded hub, seen from a process.
struct Hub {
    index: usize,
    /// Its PE.
    at: PeId,
    /// The weight of the edge between the two.
    weight: Weight,
    /// The greatest distance minus the distance of the two.
    nearness: Cost,
}

/// The gains of exchanges of one process, called u above, due to the bounded hubs.
pub(super) struct HubGains<'a> {
    hubs: Vec<Hub>,
    all: &'a Hubs,
    tree: &'a Tree,
}

impl HubGains<'_> {
    /// Number of hubs that each bound evaluates.
    pub fn len(&self) -> usize {
        self.hubs.len()
    }

    /// An upper bound for all processes in a group.
    pub fn at_most(&self, level: usize, group: PeId) -> Cost {
        let extremes = &self.all.extremes[level][group as usize * self.all.bounded.len()..];
        let of_hub = |hub: &Hub| {
            let (least, greatest) = extremes[hub.index];
            if least >= hub.weight && greatest <= hub.weight || least > greatest {
                return 0;
            }
            let (farthest, nearest) = self.nearness(level, group, hub.at);
            let products = [least, greatest].map(|weight| {
                let more = weight - hub.weight;
                (more * (hub.nearness - farthest)).max(more * (hub.nearness - nearest))
            });
            products[0].max(products[1])
        };
        self.hubs.iter().map(of_hub).sum()
    }

    /// The gain of an exchange with a process of an innermost group.
    pub fn with(&self, process: NodeId, group: PeId) -> Cost {
        let weights = self.all.weights_of(process);
        let of_hub = |hub: &Hub| match weights[hub.index] - hub.weight {
            0 => 0,
            more => more * (hub.nearness - self.nearness(0, group, hub.at).0),
        };
        self.hubs.iter().map(of_hub).sum()
    }

    /// The minimum and maximum nearness of a PE to those of a group.
    fn nearness(&self, level: usize, group: PeId, pe: PeId) -> (Cost, Cost) {
        if self.tree.group(level, pe) == group {
            return (self.tree.nearness(level), self.tree.nearness(0));
        }
        let nearness = self.tree.nearness(self.tree.common(group * self.tree.levels[level].size, pe));
        (nearness, nearness)
    }
}
