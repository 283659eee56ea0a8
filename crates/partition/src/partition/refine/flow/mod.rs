//! Refinement of pairs of blocks by balanced minimum cuts.
//!
//! For two adjacent blocks, the vertices around their common boundary form a region; its outermost
//! layers are fixed to their blocks and act as sources and sinks. A maximum flow yields a minimum cut of the region,
//! which usually is too unbalanced. The lighter side is then made a terminal as a whole, and one more vertex next to
//! the cut is added to it (*piercing*), preferably one that opens no augmenting path. The flow is continued until a
//! cut is balanced or no better than the present one. Pairs are visited as long as one of their blocks changes.
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

use network::Side;
use piercing::{Balance, Piercing};
use region::Region;
use several::PairLoads;

use crate::base::budget::Budget;
use crate::base::observer::{Observer, Watch};
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

/// Rounds end when one gains less than one in this many of the cut. Balances cut against time on the graphs of the
/// partition bench.
const LEAST_GAIN: Weight = 1000;

/// Working memory of the refinement.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    region: Region,
    piercing: Piercing,
    affinities: BlockAffinities,
    /// For each pair of adjacent blocks, the vertices on their boundary.
    pairs: Vec<(BlockId, BlockId, NodeId)>,
    /// Arcs and candidates that may still be scanned for all pairs together.
    budget: Budget,
    /// Arcs of hubs that may still be scanned.
    hub_budget: Budget,
    /// True if the last refinement used up all of its effort in vain.
    is_futile: bool,
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
        self.region.resize(level.num_nodes());
        self.affinities.resize(bounds.num_blocks());
        self.piercing.flow.network.resize(bounds.num_blocks());
        let effort = if self.is_futile { FUTILE_EFFORT } else { WHOLE_EFFORT };
        self.budget = Budget::new(effort.saturating_mul(level.num_arcs()));
        self.hub_budget = Budget::new(HUB_EFFORT.saturating_mul(level.num_arcs()));
        let before = assignment.cost;
        let task = Task { level, bounds, several, settings, observer };
        let mut watch = Watch::new(observer);
        let mut active = vec![true; bounds.num_blocks()];
        for _ in 0..settings.rounds {
            if observer.should_stop() {
                break;
            }
            let start = assignment.cost;
            active = self.round(&task, assignment, &active, &mut watch);
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
        watch: &mut Watch<'_>,
    ) -> Vec<bool> {
        let mut changed = vec![false; active.len()];
        let mut pairs = std::mem::take(&mut self.pairs);
        collect_pairs(task.level.graph, &assignment.blocks, active, &mut pairs);
        for pair in pairs.chunk_by(|p, q| (p.0, p.1) == (q.0, q.1)) {
            if self.budget.is_spent() || task.observer.should_stop() {
                break;
            }
            let (a, b, _) = pair[0];
            let boundary = pair.iter().map(|&(_, _, node)| node);
            let of_hubs = boundary.clone().map(|node| task.level.graph.hub_degree(node)).sum();
            if !self.hub_budget.pays_for(of_hubs) {
                continue;
            }
            if self.refine_pair(task, assignment, [a, b], boundary, watch) {
                changed[a as usize] = true;
                changed[b as usize] = true;
            }
        }
        self.pairs = pairs;
        changed
    }

    /// Replaces the cut between two blocks by a lighter one, if there is one; returns whether there was.
    fn refine_pair<W: Stored, O: Objective>(
        &mut self,
        task: &Task<'_, W, O>,
        assignment: &mut Assignment,
        pair: [BlockId; 2],
        boundary: impl Iterator<Item = NodeId>,
        watch: &mut Watch<'_>,
    ) -> bool {
        let Self { region, piercing, .. } = self;
        region.clear();
        region.grow(task.level.graph, assignment, pair, boundary, task.settings);
        if region.nodes.len() < 2 {
            return false;
        }
        let network = &mut piercing.flow.network;
        let old_cut = network.build(task.level, assignment, region, pair);
        let budget = self.budget.take(EFFORT.saturating_mul(network.arcs.len()));
        piercing.flow.start(budget);
        let weights = pair.map(|block| assignment.weights[block as usize]);
        let balance = Balance {
            outside: [0, 1].map(|side| weights[side] - region.weights[side]),
            most: pair.map(|block| task.bounds.most[block as usize]),
            least: [0, 1].map(|side| task.bounds.least(pair[side]).min(weights[side])),
        };
        let mut loads = task.several.map(|loads| PairLoads::new(loads, pair, region));
        let side = piercing.balanced_cut(&region.depth, (&balance, loads.as_mut()), old_cut, watch);
        self.budget.put_back(piercing.flow.budget);
        side.is_some_and(|side| self.apply(task, assignment, pair, side))
    }

    /// Gives the vertices of the region to the sides of the cut that was found: what the terminal of `side` reaches
    /// to that side, all others to the opposite one. Undoes it if the cost of the whole partition does not fall. Returns
    /// whether it fell.
    fn apply<W: Stored, O: Objective>(
        &mut self,
        &Task { level, several, .. }: &Task<'_, W, O>,
        assignment: &mut Assignment,
        pair: [BlockId; 2],
        side: Side,
    ) -> bool {
        let before = assignment.cost;
        let mut changes = Vec::new();
        for (local, &node) in self.region.nodes.iter().enumerate() {
            let belongs = if self.piercing.flow.takes(side, local as u32) { side } else { side.opposite() };
            let to = pair[belongs as usize];
            let from = assignment.blocks[node as usize];
            if from != to {
                self.affinities.collect(level.graph, &assignment.blocks, node);
                let gain = level.gain(node, &self.affinities, from, to);
                assignment.shift(node, level.node_weight(node), to, gain);
                changes.push((node, from, gain));
            }
        }
        if assignment.cost < before {
            let follow = |loads: &Loads<'_>| {
                changes.iter().for_each(|&(node, from, _)| {
                    loads.follow(node, [from, assignment.blocks[node as usize]]);
                });
            };
            several.into_iter().for_each(follow);
            return true;
        }
        for (node, from, gain) in changes.into_iter().rev() {
            assignment.shift(node, level.node_weight(node), from, -gain);
        }
        false
    }
}

/// For each pair of adjacent blocks of which one is active, the vertices on their boundary, sorted.
fn collect_pairs<W: Stored>(
    graph: &CompactGraph<'_, W>,
    blocks: &[BlockId],
    active: &[bool],
    pairs: &mut Vec<(BlockId, BlockId, NodeId)>,
) {
    pairs.clear();
    // By block: the last vertex found next to it. This keeps a vertex of many arcs from being listed for each.
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
