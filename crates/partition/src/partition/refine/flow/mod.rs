//! Refinement of pairs of blocks by balanced minimum cuts.
//!
//! For two adjacent blocks, the vertices around their common boundary form a region; its outermost
//! layers are fixed to their blocks and act as sources and sinks. A maximum flow yields a minimum cut of the region,
//! which usually is too unbalanced. The lighter side is then made a terminal as a whole, and one more vertex next to
//! the cut is added to it (*piercing*), preferably one that opens no augmenting path. The flow is continued until a
//! cut is balanced or no better than the present one. Pairs are visited as long as one of their blocks changes, at the same time where they
//! have no block in common.
//!
//! | part | what it does |
//! |---|---|
//! | `region` | the vertices around the boundary of two blocks |
//! | `network` | the flow network of a region and its terminals |
//! | `max_flow` | blocking flows, continued as the terminals grow |
//! | `piercing` | grows the terminals until a minimum cut is balanced |
//! | `several` | the bounds of a pair where vertices have several weights |
//!
//! Capacities are those of edges only. What vertices cost by themselves counts when a cut has been found: it is taken if the
//! cost of the whole partition falls. On meshes, networks with an arc to a terminal for each vertex away from home took twice
//! the time and led to worse partitions.
//!
//! A pair costs O(m' (f + p)) for a region of m' edges, flow f, p piercings, and mostly far
//! less; memory is linear in the region.
//!
//! Sanders, Schulz: Engineering multilevel graph partitioning algorithms. ESA 2011 (flows on regions).
//! Hamann, Strasser: Graph bisection with Pareto optimization. ACM JEA 2018 (piercing).

mod max_flow;
mod network;
mod piercing;
mod region;
mod several;

use std::cmp::Reverse;

use network::{Side, inward};
use piercing::{Balance, Piercing};
use region::{Positions, Region};
use several::PairLoads;

use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
use crate::base::threads::{self, Scratch};
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::affinities::BlockAffinities;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::LoadBounds;
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::loads::Loads;
use crate::partition::objective::Objective;
use crate::partition::settings::FlowConfig;

/// Arcs and candidates scanned for one pair of blocks, in multiples of the arcs of its region, before it is given up.
/// Balances cut against time in graphs without small cuts, where one flow can take a hundred times as long as the rest of a
/// run. Shows on social networks.
const EFFORT: usize = 100;

/// Arcs and candidates scanned for all pairs of a level, in multiples of its arcs. Balances as [`EFFORT`] does; where small
/// cuts exist, at most half of it is used. Shows on social networks and meshes.
const WHOLE_EFFORT: usize = 60;

/// The same after a level on which all of it was used in vain. Balances as [`EFFORT`] does; shows on a star joined to a
/// random graph.
const FUTILE_EFFORT: usize = 8;

/// Arcs of hubs scanned for all pairs of a level, in multiples of its arcs; after that, pairs with hubs are not refined: a
/// hub is adjacent to most blocks, and each pair with it scans all its arcs. Balances cut against time on graphs with hubs.
const HUB_EFFORT: usize = 20;

/// The least number of vertices whose neighbours a task looks at. Balances its cost against idle threads.
const LEAST_SCANNED: usize = 1 << 12;

/// Rounds end when one gains less than one in this many of the cut. Balances cut against time on the graphs of the
/// partition bench.
const LEAST_GAIN: Weight = 1000;

/// Working memory of the refinement.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    searches: Scratch<Search>,
    positions: Positions,
    affinities: BlockAffinities,
    /// For each pair of adjacent blocks, the vertices on their boundary.
    pairs: Vec<OnBoundary>,
    /// Arcs and candidates that may still be scanned for all pairs together.
    budget: Budget,
    /// Arcs of hubs that may still be scanned.
    hub_budget: Budget,
    /// True if the last refinement used up all of its effort in vain.
    is_futile: bool,
}

/// Two adjacent blocks, and a vertex of one that has a neighbour in the other.
type OnBoundary = (BlockId, BlockId, NodeId);

/// Working memory of the search for a lighter cut of a pair.
#[derive(Debug, Default)]
struct Search {
    region: Region,
    piercing: Piercing,
}

/// A pair of adjacent blocks, and the vertices that were on their boundary.
#[derive(Clone, Copy)]
struct Pair<'a> {
    blocks: [BlockId; 2],
    boundary: &'a [OnBoundary],
}

impl Pair<'_> {
    fn boundary(&self) -> impl Iterator<Item = NodeId> {
        self.boundary.iter().map(|&(_, _, node)| node)
    }
}

/// What all pairs of a level have in common.
struct Task<'a, W, O> {
    level: Problem<'a, W, O>,
    bounds: LoadBounds<'a>,
    /// The loads by all weights, if vertices have several.
    several: Option<&'a Loads<'a>>,
    settings: &'a FlowConfig,
    observer: &'a dyn Observer,
}

impl Flow {
    /// Refines all pairs of adjacent blocks until the observer asks to stop; no block that is within its bounds
    /// leaves them. Returns whether the cost fell.
    pub fn refine<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: LoadBounds<'_>,
        settings: &FlowConfig,
        observer: &dyn Observer,
    ) -> bool {
        self.refine_several(level, assignment, (bounds, None), settings, observer)
    }

    /// The same where vertices may have several weights, whose bounds hold, too. The loads follow all moves.
    pub fn refine_several<W: Stored, O: Objective>(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        (bounds, several): (LoadBounds<'_>, Option<&Loads<'_>>),
        settings: &FlowConfig,
        observer: &dyn Observer,
    ) -> bool {
        self.positions.resize(level.num_nodes());
        self.affinities.resize(bounds.num_blocks());
        let effort = if self.is_futile { FUTILE_EFFORT } else { WHOLE_EFFORT };
        self.budget = Budget::new(effort.saturating_mul(level.num_arcs()));
        self.hub_budget = Budget::new(HUB_EFFORT.saturating_mul(level.num_arcs()));
        let before = assignment.cost;
        let task = Task { level, bounds, several, settings, observer };
        let mut active = vec![true; bounds.num_blocks()];
        for _ in 0..settings.rounds {
            if observer.should_stop() {
                break;
            }
            let start = assignment.cost;
            active = self.round(&task, assignment, &active);
            if start - assignment.cost <= start / LEAST_GAIN {
                break;
            }
        }
        let has_gained = assignment.cost < before;
        self.is_futile = self.budget.is_spent() && !has_gained;
        has_gained
    }

    /// Returns whether the last refinement used up all of its effort in vain: there are no small cuts then, and the next level has
    /// none either.
    pub fn is_futile(&self) -> bool {
        self.is_futile
    }

    /// Refines all pairs with an active block; returns by block whether it changed.
    fn round<W: Stored, O: Objective>(
        &mut self,
        task: &Task<'_, W, O>,
        assignment: &mut Assignment,
        active: &[bool],
    ) -> Vec<bool> {
        let mut changed = vec![false; active.len()];
        let mut pairs = std::mem::take(&mut self.pairs);
        collect_pairs(task.level.graph, &assignment.blocks, active, &mut pairs);
        for wave in waves(&pairs, active.len()) {
            if self.budget.is_spent() || task.observer.should_stop() {
                break;
            }
            for block in self.refine_wave(task, assignment, wave).into_iter().flatten() {
                changed[block as usize] = true;
            }
        }
        self.pairs = pairs;
        changed
    }

    /// Replaces the cuts between pairs of blocks by lighter ones, where there are any; returns those pairs. No two pairs have a block in common,
    /// so the cuts are found at the same time. Each is given an equal share of the budget.
    fn refine_wave<W: Stored, O: Objective>(
        &mut self,
        task: &Task<'_, W, O>,
        assignment: &mut Assignment,
        mut wave: Vec<Pair<'_>>,
    ) -> Vec<[BlockId; 2]> {
        let hub_degrees =
            |pair: &Pair<'_>| pair.boundary().map(|node| task.level.graph.hub_degree(node)).sum();
        wave.retain(|pair| self.hub_budget.pays_for(hub_degrees(pair)));
        let share = self.budget.share(wave.len());
        let (before, positions, searches) = (&*assignment, &self.positions, &self.searches);
        let better_cut = |pair: Pair<'_>| {
            let mut budget = share;
            let movers =
                searches.with(|search| search.better_cut(task, before, (pair, positions), &mut budget));
            (pair.blocks, movers, budget)
        };
        let found = threads::map_each(wave, &better_cut);
        let mut changed = Vec::new();
        for (pair, movers, left) in found {
            self.budget.settle(share, left);
            if movers.is_some_and(|movers| self.apply(task, assignment, pair, &movers)) {
                changed.push(pair);
            }
        }
        changed
    }

    /// Moves vertices of a pair of blocks to the other one. Undoes it if the cost of the whole partition does not fall, or if other pairs of the
    /// wave have filled a group of blocks. Returns whether it fell.
    fn apply<W: Stored, O: Objective>(
        &mut self,
        &Task { level, several, .. }: &Task<'_, W, O>,
        assignment: &mut Assignment,
        pair: [BlockId; 2],
        movers: &[NodeId],
    ) -> bool {
        let before = assignment.cost;
        let mut changes = Vec::with_capacity(movers.len());
        for &node in movers {
            let from = assignment.blocks[node as usize];
            let to = if from == pair[0] { pair[1] } else { pair[0] };
            self.affinities.collect(level.graph, &assignment.blocks, node);
            let gain = level.gain(node, &self.affinities, from, to);
            assignment.shift(node, level.node_weight(node), to, gain);
            changes.push((node, from, gain));
        }
        let are_followed = |loads: &Loads<'_>| {
            let moves: Vec<(NodeId, [BlockId; 2])> = changes
                .iter()
                .map(|&(node, from, _)| (node, [from, assignment.blocks[node as usize]]))
                .collect();
            loads.follow_unless_groups_overflow(&moves, pair)
        };
        if assignment.cost < before && several.is_none_or(are_followed) {
            return true;
        }
        for (node, from, gain) in changes.into_iter().rev() {
            assignment.shift(node, level.node_weight(node), from, -gain);
        }
        false
    }
}

impl Search {
    /// The vertices that change sides in a lighter cut between two blocks, if there is one. Takes what it scans from the budget.
    fn better_cut<W: Stored, O: Objective>(
        &mut self,
        task: &Task<'_, W, O>,
        assignment: &Assignment,
        (pair, positions): (Pair<'_>, &Positions),
        budget: &mut Budget,
    ) -> Option<Vec<NodeId>> {
        let Self { region, piercing } = self;
        let blocks = pair.blocks;
        region.grow(task.level.graph, assignment, blocks, (pair.boundary(), positions), task.settings);
        if region.nodes.len() < 2 {
            return None;
        }
        let network = &mut piercing.flow.network;
        network.resize(assignment.weights.len());
        let old_cut = network.build(task.level, assignment, (region, positions), blocks);
        let part = budget.take(EFFORT.saturating_mul(network.arcs.len()));
        piercing.flow.start(part);
        let weights = blocks.map(|block| assignment.weights[block as usize]);
        let balance = Balance {
            outside: [0, 1].map(|side| weights[side] - region.weights[side]),
            most: blocks.map(|block| task.bounds.most[block as usize]),
            least: [0, 1].map(|side| task.bounds.least(blocks[side]).min(weights[side])),
        };
        let mut loads = task.several.map(|loads| PairLoads::new(loads, blocks, region));
        let mut watch = Watch::new(task.observer);
        let side = piercing.balanced_cut(&region.depth, (&balance, loads.as_mut()), old_cut, &mut watch);
        budget.put_back(piercing.flow.budget);
        side.map(|side| self.movers(side))
    }

    /// The vertices that are not on their sides of the cut that was found: what the terminal of `side` reaches belongs to that side, all
    /// others to the opposite one.
    fn movers(&self, side: Side) -> Vec<NodeId> {
        let Self { region, piercing } = self;
        let moves = |local: usize| {
            let belongs = if piercing.flow.takes(side, local as u32) { side } else { side.opposite() };
            inward(belongs, region.depth[local]) < 0
        };
        region.nodes.iter().enumerate().filter(|&(local, _)| moves(local)).map(|(_, &node)| node).collect()
    }
}

/// Divides the pairs into waves, in each of which no two have a block in common: each pair is in the first wave that has neither of its
/// blocks. Pairs of long boundaries come first, so that those of a wave take about the same time. `all` is sorted.
fn waves(all: &[OnBoundary], num_blocks: usize) -> Vec<Vec<Pair<'_>>> {
    // By block, a bit for each wave that it is in.
    let mut waves_of: Vec<Vec<u64>> = vec![Vec::new(); num_blocks];
    let mut waves: Vec<Vec<Pair<'_>>> = Vec::new();
    let mut pairs: Vec<&[OnBoundary]> = all.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)).collect();
    pairs.sort_by_key(|boundary| Reverse(boundary.len()));
    for boundary in pairs {
        let blocks = [boundary[0].0, boundary[0].1];
        let word = |block: BlockId, at: usize| waves_of[block as usize].get(at).copied().unwrap_or(0);
        let taken = |at: usize| word(blocks[0], at) | word(blocks[1], at);
        let at = (0..).find(|&at| taken(at) != u64::MAX).expect("blocks are in finitely many waves");
        let bit = taken(at).trailing_ones();
        for block in blocks {
            let words = &mut waves_of[block as usize];
            words.resize(words.len().max(at + 1), 0);
            words[at] |= 1 << bit;
        }
        let wave = at * u64::BITS as usize + bit as usize;
        waves.resize_with(waves.len().max(wave + 1), Vec::new);
        waves[wave].push(Pair { blocks, boundary });
    }
    waves
}

/// For each pair of adjacent blocks of which one is active, the vertices on their boundary, sorted.
fn collect_pairs<W: Stored>(
    graph: &CompactGraph<'_, W>,
    blocks: &[BlockId],
    active: &[bool],
    pairs: &mut Vec<OnBoundary>,
) {
    // Each range has an array for the blocks.
    let length = LEAST_SCANNED.max(active.len());
    let found = threads::map_ranges(graph.num_nodes(), length, &|nodes| {
        // By block: the last vertex found next to it. This keeps a vertex of many arcs from being listed for each.
        let mut last = vec![NodeId::MAX; active.len()];
        let mut pairs = Vec::new();
        for node in nodes.start as NodeId..nodes.end as NodeId {
            let own = blocks[node as usize];
            for arc in graph.arcs(node) {
                let other = blocks[arc.target as usize];
                let is_relevant = other != own && (active[own as usize] || active[other as usize]);
                if is_relevant && std::mem::replace(&mut last[other as usize], node) != node {
                    pairs.push((own.min(other), own.max(other), node));
                }
            }
        }
        pairs
    });
    pairs.clear();
    pairs.extend(found.into_iter().flatten());
    threads::sort_by_key(pairs, |&pair| pair);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate;
    use crate::partition::objective::tests::{Matrix, matrices};
    use crate::partition::objective::{Cut, StoredCost};
    use crate::partition::{PartitionConfig, PartitionPreset};

    #[test]
    fn a_crooked_boundary_becomes_the_minimum_cut() {
        // A grid of 12 x 6, cut along a saw tooth; the straight cut has 6 edges.
        let graph = generate::grid(12, 6);
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let blocks = level.nodes().map(|node| u32::from(node % 12 >= 4 + 3 * (node / 12 % 2))).collect();
        let mut assignment = Assignment::new(level, blocks, 2);
        let settings = FlowConfig { rounds: 4, region: 0.9, depth: 10 };
        assert!(Flow::default().refine(level, &mut assignment, (&[38, 38][..]).into(), &settings, &()));
        assert_eq!(assignment.cost, 6);
        assert_eq!(assignment.overload(&[38, 38]), 0);
    }

    /// Refines k stretches of the 500 vertices of a level: the objective falls, sums agree with recomputation, and bounds are
    /// kept.
    fn check_refinement<W: Stored, O: Objective>(level: Problem<'_, W, O>, k: u32) {
        let settings = PartitionConfig::preset(PartitionPreset::Strong).flow;
        let blocks = level.nodes().map(|node| node * k / 500).collect();
        let mut assignment = Assignment::new(level, blocks, k as usize);
        let before = assignment.cost;
        let bounds = vec![Weight::from(500 / k + 12); k as usize];
        assert!(Flow::default().refine(level, &mut assignment, bounds[..].into(), &settings, &()));
        let fresh = Assignment::new(level, assignment.blocks.clone(), k as usize);
        assert_eq!((assignment.cost, &assignment.weights), (fresh.cost, &fresh.weights));
        assert!(assignment.cost < before);
        assert_eq!(assignment.overload(&bounds), 0);
    }

    #[test]
    fn each_pair_is_in_one_wave_and_no_block_is_twice_in_one() {
        let mut pairs: Vec<OnBoundary> = (0..90).flat_map(|a| (a + 1..90).map(move |b| (a, b, a))).collect();
        pairs.retain(|&(a, b, _)| (a + b) % 3 > 0 || a == 0);
        let waves = waves(&pairs, 90);
        for wave in &waves {
            let mut blocks: Vec<BlockId> = wave.iter().flat_map(|pair| pair.blocks).collect();
            blocks.sort_unstable();
            assert!(blocks.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let mut found: Vec<OnBoundary> =
            waves.iter().flatten().flat_map(|pair| pair.boundary).copied().collect();
        found.sort_unstable();
        assert_eq!(found, pairs);
        // Block 0 is in 89 pairs, so there are more waves than bits in a word.
        assert!((89..2 * 89).contains(&waves.len()));
    }

    #[test]
    fn threads_find_the_same_cuts() {
        let graph = generate::random_geometric(2000, 9.0, 2);
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        let settings = PartitionConfig::preset(PartitionPreset::Strong).flow;
        let refined = |threads: usize| {
            let mut assignment = Assignment::new(level, level.nodes().map(|node| node / 100).collect(), 20);
            let refine =
                || Flow::default().refine(level, &mut assignment, (&[110; 20][..]).into(), &settings, &());
            assert!(threads::run(threads, refine).unwrap());
            assignment.blocks
        };
        assert_eq!(refined(1), refined(4));
    }

    #[test]
    fn bounds_are_kept_and_sums_agree_with_recomputation() {
        let graph = generate::random_geometric(500, 9.0, 2);
        let graph = CompactGraph::<i32>::new(&graph);
        let level = Problem { graph: &graph, objective: &Cut };
        for k in [2u32, 5, 9] {
            check_refinement(level, k);
        }
    }

    #[test]
    fn flows_lower_j_on_every_machine_and_keep_the_bounds() {
        let graph = generate::random_geometric(500, 9.0, 2);
        let graph = CompactGraph::<i32>::new(&graph);
        for matrix in matrices() {
            let objective = StoredCost::new(&matrix).unwrap();
            let level = Problem { graph: &graph, objective: &objective };
            let k = matrix.num_blocks as u32;
            check_refinement(level, k);
        }
    }

    #[test]
    fn edges_to_third_blocks_pull_the_boundary() {
        // A path; its first vertex must stay with the third block, which is near to the first block only.
        let mut builder = crate::graph::GraphBuilder::new(7);
        (0..6).for_each(|node| builder.add_edge(node, node + 1, 1));
        for node in 1..5 {
            builder.add_edge(6, node, 3);
        }
        let graph = builder.build().unwrap();
        let graph = CompactGraph::<i32>::new(&graph);
        let distances = vec![0, 1, 1, 1, 0, 9, 1, 9, 0];
        let matrix = Matrix { num_blocks: 3, distances, has_triangle_inequality: false };
        let objective = StoredCost::new(&matrix).unwrap();
        let level = Problem { graph: &graph, objective: &objective };
        let mut assignment = Assignment::new(level, vec![0, 0, 0, 1, 1, 1, 2], 3);
        let settings = FlowConfig { rounds: 4, region: 1.0, depth: 10 };
        assert!(Flow::default().refine(level, &mut assignment, (&[5, 5, 1][..]).into(), &settings, &()));
        assert_eq!(assignment.blocks, [0, 0, 0, 0, 0, 1, 2]);
    }
}
