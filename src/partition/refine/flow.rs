//! Refinement of pairs of blocks by balanced minimum cuts.
//!
//! For two adjacent blocks, the vertices around their common boundary form a region; its outermost
//! layers are fixed to their blocks and act as sources and sinks. A maximum flow yields a minimum cut
//! of the region, which mostly is too unbalanced. So the lighter side is made a terminal as a whole,
//! one more vertex next to the cut is added to it (*piercing*), preferably one that opens no augmenting
//! path, and the flow is continued, until a cut is balanced or no better than the present one.
//! Pairs are visited as long as one of their blocks changes.
//!
//! The flow is never restarted: an augmenting search begins at the pierced vertex, since everything behind
//! it is saturated. A pair costs O(m' (f + p)) for a region of m' edges, flow f, p piercings, and mostly far
//! less; memory is linear in the region.
//!
//! Sanders, Schulz: Engineering multilevel graph partitioning algorithms. ESA 2011 (flows on regions).
//! Hamann, Strasser: Graph bisection with Pareto optimization. ACM JEA 2018 (piercing).

use super::k_way::{Assignment, Connection};
use crate::observer::{Observer, Watch};
use crate::partition::level::{Level, Stored};
use crate::partition::settings::FlowSettings;
use crate::types::{BlockId, NodeId, Weight};

const ABSENT: u32 = u32::MAX;

/// Arcs and candidates looked at for one pair of blocks, in multiples of the arcs of its region, before it is
/// given up: in graphs without small cuts, one flow can take a hundred times as long as all else.
const EFFORT: usize = 100;

/// The same for all pairs of a level, in multiples of its arcs: where small cuts exist, it takes half of that at
/// most.
const WHOLE_EFFORT: usize = 60;

/// A vertex of more arcs than this is a hub: it is next to most blocks, and each pair with it walks all its arcs.
const MANY_ARCS: usize = 1 << 10;

/// Arcs of hubs walked for all pairs of a level, in multiples of its arcs; afterwards pairs with hubs are left as they
/// are.
const HUB_EFFORT: usize = 20;

/// Which terminal a vertex of the region is merged with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminal {
    None,
    Source,
    Sink,
}

#[derive(Clone, Copy, Debug)]
struct FlowArc {
    target: u32,
    /// Position of the opposite arc.
    reverse: u32,
    residual: Weight,
}

/// Working memory of the refinement; local vertices are positions in `nodes`.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// Local vertex of each vertex of the graph, or `ABSENT`.
    local: Vec<u32>,
    nodes: Vec<NodeId>,
    weights: Vec<Weight>,
    /// Hops from the boundary, positive in the first block, negative in the second; never 0.
    depth: Vec<i32>,
    offsets: Vec<u32>,
    arcs: Vec<FlowArc>,
    terminal: Vec<Terminal>,
    /// Level of the breadth-first search from the sources, or `ABSENT`.
    level: Vec<u32>,
    /// The next arc to try in the depth-first search.
    next_arc: Vec<u32>,
    /// `mark[v] == round` if the sinks can be reached from `v`.
    mark: Vec<u32>,
    round: u32,
    /// Sources that flow may still leave, and what they reach.
    source_seeds: Vec<u32>,
    source_reach: Vec<u32>,
    source_reach_weight: Weight,
    /// Sinks that flow may still enter, and what reaches them.
    sink_seeds: Vec<u32>,
    sink_reach: Vec<u32>,
    sink_reach_weight: Weight,
    /// Candidates for piercing on each side.
    fronts: [Vec<u32>; 2],
    path: Vec<u32>,
    /// Arcs and candidates that may still be looked at for all pairs together,
    whole_budget: usize,
    /// arcs of hubs that may still be walked,
    hub_budget: usize,
    /// and for the pair at hand.
    budget: usize,
    connection: Connection,
    pairs: Vec<(BlockId, BlockId, NodeId)>,
}

/// Which side of the cut is taken as it is reached; the other one gets the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Source,
    Sink,
}

impl Flow {
    /// Refines all pairs of adjacent blocks until the observer asks to stop; no block that is within its bound
    /// leaves it. Returns whether the cut fell.
    pub fn refine<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &mut Assignment,
        bounds: &[Weight],
        settings: &FlowSettings,
        observer: &dyn Observer,
    ) -> bool {
        if self.local.len() < graph.num_nodes() {
            self.local.resize(graph.num_nodes(), ABSENT);
        }
        self.connection.resize(bounds.len());
        let before = assignment.cut;
        let mut active = vec![true; bounds.len()];
        self.whole_budget = WHOLE_EFFORT.saturating_mul(graph.num_arcs());
        self.hub_budget = HUB_EFFORT.saturating_mul(graph.num_arcs());
        let mut watch = Watch::new(observer);
        for _ in 0..settings.rounds {
            if observer.should_stop() {
                break;
            }
            let start = assignment.cut;
            let mut changed = vec![false; bounds.len()];
            let mut pairs = std::mem::take(&mut self.pairs);
            collect_pairs(graph, &assignment.blocks, &active, &mut pairs);
            for pair in pairs.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
                if self.whole_budget == 0 || observer.should_stop() {
                    break;
                }
                let (a, b, _) = pair[0];
                let seeds = pair.iter().map(|&(_, _, node)| node);
                let of_hubs = arcs_of_hubs(graph, seeds.clone());
                if of_hubs > self.hub_budget {
                    continue;
                }
                self.hub_budget -= of_hubs;
                if self.refine_pair(graph, assignment, bounds, [a, b], seeds, settings, &mut watch) {
                    changed[a as usize] = true;
                    changed[b as usize] = true;
                }
            }
            self.pairs = pairs;
            active = changed;
            if start - assignment.cut <= start / 1000 {
                break;
            }
        }
        assignment.cut < before
    }

    #[allow(clippy::too_many_arguments)] // a pair, where it is, and what may be spent on it
    fn refine_pair<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &mut Assignment,
        bounds: &[Weight],
        pair: [BlockId; 2],
        seeds: impl Iterator<Item = NodeId>,
        settings: &FlowSettings,
        watch: &mut Watch<'_>,
    ) -> bool {
        let region_weights = self.grow_region(graph, assignment, pair, seeds, settings);
        let improved = self.nodes.len() > 1 && {
            let old_cut = self.build_network(graph, assignment, pair);
            let outside = [0, 1].map(|side| assignment.weights[pair[side] as usize] - region_weights[side]);
            let bounds = pair.map(|block| bounds[block as usize]);
            let budget = EFFORT.saturating_mul(self.arcs.len()).min(self.whole_budget);
            self.budget = budget;
            let cut = self.balanced_cut(outside, bounds, old_cut, watch);
            self.whole_budget -= budget - self.budget;
            match cut {
                Some(side) => self.apply(graph, assignment, pair, side),
                None => false,
            }
        };
        for &node in &self.nodes {
            self.local[node as usize] = ABSENT;
        }
        improved
    }

    /// Collects the vertices near the boundary of two blocks, nearest first, up to a share of each block;
    /// returns the weight taken from each.
    fn grow_region<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &Assignment,
        pair: [BlockId; 2],
        seeds: impl Iterator<Item = NodeId>,
        settings: &FlowSettings,
    ) -> [Weight; 2] {
        self.nodes.clear();
        self.depth.clear();
        let mut taken = [0; 2];
        let mut take = |this: &mut Self, node: NodeId, side: usize, depth: i32| {
            this.local[node as usize] = this.nodes.len() as u32;
            this.nodes.push(node);
            this.depth.push(if side == 0 { depth } else { -depth });
            taken[side] += graph.node_weight(node);
            taken[side]
        };
        for node in seeds {
            let block = assignment.blocks[node as usize];
            let Some(side) = pair.iter().position(|&other| other == block) else { continue };
            let opposite = pair[1 - side];
            let touches = |target: NodeId| assignment.blocks[target as usize] == opposite;
            if self.local[node as usize] == ABSENT && graph.arcs(node).iter().any(|arc| touches(arc.target)) {
                take(self, node, side, 1);
            }
        }
        let limits =
            pair.map(|block| (assignment.weights[block as usize] as f64 * settings.region) as Weight);
        let mut full = [false; 2];
        let mut at = 0;
        while at < self.nodes.len() && full != [true; 2] {
            let node = self.nodes[at];
            let depth = self.depth[at].abs() + 1;
            let block = assignment.blocks[node as usize];
            let side = usize::from(block == pair[1]);
            at += 1;
            if depth > settings.depth as i32 {
                break;
            }
            for arc in graph.arcs(node) {
                if full[side] {
                    break;
                }
                if assignment.blocks[arc.target as usize] == block
                    && self.local[arc.target as usize] == ABSENT
                {
                    full[side] = take(self, arc.target, side, depth) >= limits[side];
                }
            }
        }
        taken
    }

    /// Builds the flow network of the region and its terminals; returns the weight of the present cut.
    fn build_network<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &Assignment,
        pair: [BlockId; 2],
    ) -> Weight {
        let n = self.nodes.len();
        self.offsets.clear();
        self.offsets.resize(n + 1, 0);
        self.terminal.clear();
        self.terminal.resize(n, Terminal::None);
        self.weights.clear();
        self.source_reach.clear();
        self.sink_reach.clear();
        self.source_seeds.clear();
        self.sink_seeds.clear();
        for index in 0..n {
            let node = self.nodes[index];
            self.weights.push(graph.node_weight(node));
            let block = assignment.blocks[node as usize];
            let mut degree = 0;
            let mut fixed = false;
            for arc in graph.arcs(node) {
                let inside = self.local[arc.target as usize] != ABSENT;
                degree += u32::from(inside);
                fixed |= !inside && assignment.blocks[arc.target as usize] == block;
            }
            self.offsets[index + 1] = degree;
            if fixed {
                self.fix(index as u32, block == pair[0]);
            }
        }
        // A block that lies in the region as a whole keeps its deepest vertex.
        if self.source_seeds.is_empty()
            && let Some(deepest) = (0..n).filter(|&v| self.depth[v] > 0).max_by_key(|&v| self.depth[v])
        {
            self.fix(deepest as u32, true);
        }
        if self.sink_seeds.is_empty()
            && let Some(deepest) = (0..n).filter(|&v| self.depth[v] < 0).min_by_key(|&v| self.depth[v])
        {
            self.fix(deepest as u32, false);
        }
        for index in 0..n {
            self.offsets[index + 1] += self.offsets[index];
        }
        self.next_arc.clear();
        self.next_arc.extend_from_slice(&self.offsets[..n]);
        let blank = FlowArc { target: 0, reverse: 0, residual: 0 };
        self.arcs.clear();
        self.arcs.resize(self.offsets[n] as usize, blank);
        let mut cut = 0;
        for (index, &node) in self.nodes.iter().enumerate() {
            for arc in graph.arcs(node) {
                let other = self.local[arc.target as usize];
                if other == ABSENT || other < index as u32 {
                    continue;
                }
                let (forward, backward) = (self.next_arc[index], self.next_arc[other as usize]);
                self.next_arc[index] += 1;
                self.next_arc[other as usize] += 1;
                let residual = arc.weight();
                self.arcs[forward as usize] = FlowArc { target: other, reverse: backward, residual };
                self.arcs[backward as usize] = FlowArc { target: index as u32, reverse: forward, residual };
                if (self.depth[index] > 0) != (self.depth[other as usize] > 0) {
                    cut += residual;
                }
            }
        }
        self.level.clear();
        self.level.resize(n, ABSENT);
        self.mark.clear();
        self.mark.resize(n, 0);
        self.round = 0;
        cut
    }

    fn fix(&mut self, node: u32, source: bool) {
        if source {
            self.terminal[node as usize] = Terminal::Source;
            self.source_seeds.push(node);
        } else {
            self.terminal[node as usize] = Terminal::Sink;
            self.sink_seeds.push(node);
        }
    }

    /// Looks for a cut lighter than `old_cut` whose sides meet the bounds, as long as the budget lasts and until the
    /// observer asks to stop; `outside` is what the blocks weigh outside the region.
    fn balanced_cut(
        &mut self,
        outside: [Weight; 2],
        bounds: [Weight; 2],
        old_cut: Weight,
        watch: &mut Watch<'_>,
    ) -> Option<Side> {
        if self.source_seeds.is_empty() || self.sink_seeds.is_empty() {
            return None;
        }
        let sum =
            |this: &Self, nodes: &[u32]| nodes.iter().map(|&v| this.weights[v as usize]).sum::<Weight>();
        let total = outside[0] + outside[1] + self.weights.iter().sum::<Weight>();
        let mut fixed =
            [outside[0] + sum(self, &self.source_seeds), outside[1] + sum(self, &self.sink_seeds)];
        for front in &mut self.fronts {
            front.clear();
        }
        for index in 0..self.source_seeds.len() {
            self.extend_front(self.source_seeds[index], Side::Source);
        }
        for index in 0..self.sink_seeds.len() {
            self.extend_front(self.sink_seeds[index], Side::Sink);
        }
        let mut flow = 0;
        // What the last piercing may have changed: the flow, the vertices that reach the sinks.
        let (mut open, mut stale) = (true, true);
        loop {
            if open {
                flow += self.augment(old_cut - flow, watch);
                if flow >= old_cut {
                    return None;
                }
            }
            if stale {
                self.search_from_sinks();
            }
            if self.budget == 0 || watch.stops_after(self.source_reach.len() + self.sink_reach.len()) {
                return None;
            }
            let reached = [fixed[0] + self.source_reach_weight, fixed[1] + self.sink_reach_weight];
            let fits =
                |side: usize| reached[side] <= bounds[side] && total - reached[side] <= bounds[1 - side];
            if fits(0) || fits(1) {
                // Of two good ones, the more even one.
                let heavier = |side: usize| reached[side].max(total - reached[side]);
                let source = fits(0) && (!fits(1) || heavier(0) <= heavier(1));
                return Some(if source { Side::Source } else { Side::Sink });
            }
            if reached[0] <= reached[1] {
                fixed[0] = reached[0];
                for index in 0..self.source_reach.len() {
                    let node = self.source_reach[index];
                    self.terminal[node as usize] = Terminal::Source;
                }
                for index in 0..self.source_reach.len() {
                    self.extend_front(self.source_reach[index], Side::Source);
                }
                let node = self.pierce(Side::Source)?;
                fixed[0] += self.weights[node as usize];
                self.terminal[node as usize] = Terminal::Source;
                self.extend_front(node, Side::Source);
                self.source_seeds.clear();
                self.source_seeds.push(node);
                open = true;
                stale = self.mark[node as usize] == self.round;
            } else {
                fixed[1] = reached[1];
                for index in 0..self.sink_reach.len() {
                    let node = self.sink_reach[index];
                    self.terminal[node as usize] = Terminal::Sink;
                }
                for index in 0..self.sink_reach.len() {
                    self.extend_front(self.sink_reach[index], Side::Sink);
                }
                let node = self.pierce(Side::Sink)?;
                fixed[1] += self.weights[node as usize];
                self.terminal[node as usize] = Terminal::Sink;
                self.extend_front(node, Side::Sink);
                self.sink_seeds.clear();
                self.sink_seeds.push(node);
                open = self.level[node as usize] != ABSENT;
                stale = true;
            }
        }
    }

    fn extend_front(&mut self, node: u32, side: Side) {
        let row = self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize;
        for arc in &self.arcs[row] {
            if self.terminal[arc.target as usize] == Terminal::None {
                self.fronts[side as usize].push(arc.target);
            }
        }
    }

    /// The best vertex to add to the terminal of one side: rather one that the other terminal cannot
    /// reach, then one deep in the block of this side.
    fn pierce(&mut self, side: Side) -> Option<u32> {
        let mut front = std::mem::take(&mut self.fronts[side as usize]);
        front.retain(|&node| self.terminal[node as usize] == Terminal::None);
        self.budget = self.budget.saturating_sub(front.len());
        let key = |node: u32| match side {
            Side::Source => (self.mark[node as usize] != self.round, self.depth[node as usize], node),
            Side::Sink => (self.level[node as usize] == ABSENT, -self.depth[node as usize], node),
        };
        let best = front.iter().copied().max_by_key(|&node| key(node));
        self.fronts[side as usize] = front;
        best
    }

    /// Sends flow from the source seeds to the sinks until it is maximal or reaches `limit` (Dinic);
    /// leaves in `source_reach` what the seeds reach in the end, in `level` how far it is.
    fn augment(&mut self, limit: Weight, watch: &mut Watch<'_>) -> Weight {
        let mut flow = 0;
        while self.budget > 0 && self.search_from_sources() && flow < limit {
            if watch.stops_after(self.arcs.len()) {
                break;
            }
            for index in 0..self.source_reach.len() {
                let node = self.source_reach[index] as usize;
                self.next_arc[node] = self.offsets[node];
            }
            for index in 0..self.source_seeds.len() {
                let seed = self.source_seeds[index];
                self.next_arc[seed as usize] = self.offsets[seed as usize];
                loop {
                    let sent = self.send_path(seed);
                    if sent == 0 {
                        break;
                    }
                    flow += sent;
                }
            }
        }
        flow
    }

    /// Breadth-first search from the source seeds; returns whether a sink was reached.
    fn search_from_sources(&mut self) -> bool {
        for &node in &self.source_reach {
            self.level[node as usize] = ABSENT;
        }
        self.source_reach.clear();
        self.source_reach_weight = 0;
        let mut found = ABSENT;
        let mut at = 0;
        loop {
            let (node, level) = match self.source_seeds.get(at) {
                Some(&seed) => (seed, 0),
                None => match self.source_reach.get(at - self.source_seeds.len()) {
                    Some(&node) => (node, self.level[node as usize]),
                    None => return found != ABSENT,
                },
            };
            at += 1;
            if level >= found {
                return true;
            }
            let row = self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize;
            self.budget = self.budget.saturating_sub(row.len());
            for arc in &self.arcs[row] {
                if arc.residual == 0 {
                    continue;
                }
                match self.terminal[arc.target as usize] {
                    Terminal::Sink => found = level,
                    Terminal::None if self.level[arc.target as usize] == ABSENT => {
                        self.level[arc.target as usize] = level + 1;
                        self.source_reach.push(arc.target);
                        self.source_reach_weight += self.weights[arc.target as usize];
                    }
                    _ => {}
                }
            }
        }
    }

    /// Sends flow along one path of ascending levels from a seed to a sink; returns how much.
    fn send_path(&mut self, seed: u32) -> Weight {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        let mut node = seed;
        let mut level = 0;
        let sent = 'search: loop {
            let end = self.offsets[node as usize + 1];
            while self.next_arc[node as usize] < end {
                let position = self.next_arc[node as usize];
                let arc = self.arcs[position as usize];
                if arc.residual > 0 {
                    match self.terminal[arc.target as usize] {
                        Terminal::Sink => {
                            path.push(position);
                            break 'search path
                                .iter()
                                .map(|&position| self.arcs[position as usize].residual)
                                .min()
                                .expect("a path has an arc");
                        }
                        Terminal::None if self.level[arc.target as usize] == level + 1 => {
                            path.push(position);
                            node = arc.target;
                            level += 1;
                            continue 'search;
                        }
                        _ => {}
                    }
                }
                self.next_arc[node as usize] += 1;
            }
            // A dead end: step back and try the next arc.
            let Some(position) = path.pop() else { break 0 };
            node = self.arcs[self.arcs[position as usize].reverse as usize].target;
            level -= 1;
            self.next_arc[node as usize] += 1;
        };
        self.budget = self.budget.saturating_sub(path.len());
        for &position in &path {
            let reverse = self.arcs[position as usize].reverse;
            self.arcs[position as usize].residual -= sent;
            self.arcs[reverse as usize].residual += sent;
        }
        self.path = path;
        sent
    }

    /// Marks what can reach the sink seeds.
    fn search_from_sinks(&mut self) {
        self.round += 1;
        self.sink_reach.clear();
        self.sink_reach_weight = 0;
        let mut at = 0;
        loop {
            let node = match self.sink_seeds.get(at) {
                Some(&seed) => seed,
                None => match self.sink_reach.get(at - self.sink_seeds.len()) {
                    Some(&node) => node,
                    None => return,
                },
            };
            at += 1;
            let row = self.offsets[node as usize] as usize..self.offsets[node as usize + 1] as usize;
            self.budget = self.budget.saturating_sub(row.len());
            for index in row {
                let FlowArc { target, reverse, .. } = self.arcs[index];
                if self.arcs[reverse as usize].residual > 0
                    && self.terminal[target as usize] == Terminal::None
                    && self.mark[target as usize] != self.round
                {
                    self.mark[target as usize] = self.round;
                    self.sink_reach.push(target);
                    self.sink_reach_weight += self.weights[target as usize];
                }
            }
        }
    }

    /// Gives the vertices of the region to the sides of the cut that was found; undoes it if the cut
    /// of the whole partition does not fall. Returns whether it fell.
    fn apply<W: Stored>(
        &mut self,
        graph: &Level<W>,
        assignment: &mut Assignment,
        pair: [BlockId; 2],
        side: Side,
    ) -> bool {
        let before = assignment.cut;
        let first = match side {
            Side::Source => {
                self.source_reach.iter().for_each(|&v| self.terminal[v as usize] = Terminal::Source);
                Terminal::Source
            }
            Side::Sink => {
                self.sink_reach.iter().for_each(|&v| self.terminal[v as usize] = Terminal::Sink);
                Terminal::Sink
            }
        };
        let mut changes = Vec::new();
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            let in_first = (self.terminal[index] == first) == (side == Side::Source);
            let to = if in_first { pair[0] } else { pair[1] };
            let from = assignment.blocks[node as usize];
            if from != to {
                self.connection.collect(graph, &assignment.blocks, node);
                let gain = self.connection.to(to) - self.connection.to(from);
                assignment.shift(node, graph.node_weight(node), to, gain);
                changes.push((node, from, gain));
            }
        }
        if assignment.cut < before {
            return true;
        }
        for (node, from, gain) in changes.into_iter().rev() {
            assignment.shift(node, graph.node_weight(node), from, -gain);
        }
        false
    }
}

/// The arcs of those vertices that have many.
fn arcs_of_hubs<W: Stored>(graph: &Level<W>, nodes: impl Iterator<Item = NodeId>) -> usize {
    nodes.map(|node| graph.degree(node)).filter(|&degree| degree > MANY_ARCS).sum()
}

/// For each pair of adjacent blocks of which one is active, the vertices on their boundary, sorted.
fn collect_pairs<W: Stored>(
    graph: &Level<W>,
    blocks: &[BlockId],
    active: &[bool],
    pairs: &mut Vec<(BlockId, BlockId, NodeId)>,
) {
    pairs.clear();
    // The last vertex that was found next to each block: one with many arcs has few blocks next to it.
    let mut last = vec![NodeId::MAX; active.len()];
    for node in graph.nodes() {
        let own = blocks[node as usize];
        for arc in graph.arcs(node) {
            let other = blocks[arc.target as usize];
            let is_relevant = other != own && (active[own as usize] || active[other as usize]);
            if is_relevant && std::mem::replace(&mut last[other as usize], node) != node {
                pairs.push((own.min(other), own.max(other), node));
            }
        }
    }
    pairs.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::partition::{Preset, Settings};

    #[test]
    fn a_crooked_boundary_becomes_the_minimum_cut() {
        // A grid of 12 x 6, cut along a saw tooth; the straight cut has 6 edges.
        let level = Level::<i32>::new(&generate::grid(12, 6));
        let blocks = level.nodes().map(|node| u32::from(node % 12 >= 4 + 3 * (node / 12 % 2))).collect();
        let mut assignment = Assignment::new(&level, blocks, 2);
        let settings = FlowSettings { rounds: 4, region: 0.9, depth: 10 };
        assert!(Flow::default().refine(&level, &mut assignment, &[38, 38], &settings, &()));
        assert_eq!(assignment.cut, 6);
        assert_eq!(assignment.overload(&[38, 38]), 0);
    }

    #[test]
    fn bounds_are_kept_and_sums_agree_with_recomputation() {
        let level = Level::<i32>::new(&generate::random_geometric(500, 9.0, 2));
        let settings = Settings::of(Preset::Strong).flow;
        for k in [2u32, 5, 9] {
            let blocks = level.nodes().map(|node| node * k / 500).collect();
            let mut assignment = Assignment::new(&level, blocks, k as usize);
            let before = assignment.cut;
            let bounds = vec![Weight::from(500 / k + 12); k as usize];
            assert!(Flow::default().refine(&level, &mut assignment, &bounds, &settings, &()));
            let fresh = Assignment::new(&level, assignment.blocks.clone(), k as usize);
            assert_eq!((assignment.cut, &assignment.weights), (fresh.cut, &fresh.weights));
            assert!(assignment.cut < before);
            assert_eq!(assignment.overload(&bounds), 0);
        }
    }
}
