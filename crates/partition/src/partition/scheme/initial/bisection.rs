//! Initial partitions: recursive multilevel bisection.
//!
//! A bisection coarsens its graph to a few dozen vertices, grows several bisections there, keeps the
//! best one after refinement, and refines it on the way back. The set of blocks is halved until one is left.
//! O((n + m) log k).

use super::interface::{Coarsest, InitialPartition};
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::types::{BlockId, NodeId, Weight};
use crate::partition::coarsen::{self, Coarsening, Contraction};
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::fixed::FREE;
use crate::partition::objective::Objective;
use crate::partition::refine::two_way::{Bisection, Bounds, Goal, TwoWay};
use crate::partition::settings::{BisectionConfig, PartitionConfig};
use crate::partition::targets::in_order;

/// From this many arcs on, the two halves run in parallel. Balances the cost of a task against its work; the result does not
/// depend on it.
const LEAST_PARALLEL_ARCS: usize = 4_000;

/// Recursive bisection.
///
/// With vertices of weight 1 and bounds equal to the sizes, which sum up to the weight of the graph, the result is exact. Halves may
/// run in parallel: each draws from a random stream of its own, so the result does not depend on it. Once the observer asks to stop,
/// the remaining parts are divided in the order of their vertices.
pub(crate) struct RecursiveBisection;

impl<W: Stored, O: Objective> InitialPartition<W, O> for RecursiveBisection {
    fn blocks(&self, coarsest: &Coarsest<'_, W, O>, seed: u64) -> Vec<BlockId> {
        let Coarsest { level, sizes, bounds, settings, observer, .. } = *coarsest;
        let tolerance = if level.max_node_weight() > 1 { level.max_node_weight() } else { 0 };
        let PartitionConfig { contraction, bisection: settings, .. } = settings;
        let recursion =
            Recursion { contraction: contraction.of_coarse_levels(), settings, tolerance, observer };
        let fixed_block = |node| level.objective.fixed_block(node).unwrap_or(FREE);
        let fixed =
            if level.objective.has_fixed() { level.nodes().map(fixed_block).collect() } else { Vec::new() };
        recursion.run((level.graph, &fixed), (sizes, bounds.most), seed, &mut TwoWay::default())
    }
}

/// The depth of the recursion for `num_blocks` blocks, at least 1: log2, rounded up.
pub(in crate::partition::scheme) fn depth(num_blocks: usize) -> u32 {
    usize::BITS - (num_blocks - 1).leading_zeros()
}

struct Recursion<'a> {
    contraction: Contraction,
    settings: &'a BisectionConfig,
    tolerance: Weight,
    observer: &'a dyn Observer,
}

impl Recursion<'_> {
    /// The block of each vertex of a graph. `fixed` are the blocks that vertices are fixed to, empty if none is.
    fn run<W: Stored>(
        &self,
        (graph, fixed): (&CompactGraph<'_, W>, &[BlockId]),
        (sizes, bounds): (&[Weight], &[Weight]),
        seed: u64,
        two_way: &mut TwoWay,
    ) -> Vec<BlockId> {
        if sizes.len() == 1 {
            return vec![0; graph.num_nodes()];
        }
        if self.observer.should_stop() {
            let fixed =
                graph.nodes().map(|node| fixed.get(node as usize).copied().filter(|&block| block != FREE));
            return in_order(graph.node_weights(), fixed, sizes);
        }
        let half = sizes.len().div_ceil(2);
        let halves = bisection_bounds(graph.total_node_weight(), sizes, bounds, half);
        let side =
            |&block: &BlockId| if block == FREE { FREE } else { BlockId::from(block as usize >= half) };
        let held: Vec<BlockId> = fixed.iter().map(side).collect();
        let mut blocks = self.bisect((graph, &held), &halves, two_way, &mut Rng::new(seed)).sides;
        if sizes.len() == 2 {
            return blocks;
        }
        let parts: [_; 2] = graph.split(&blocks, 2).try_into().ok().expect("two halves");
        let [left, right] = parts;
        // The blocks of a half are numbered from its first one.
        let within = |nodes: &[NodeId], first: usize| -> Vec<BlockId> {
            let own = |&node: &NodeId| fixed.get(node as usize).copied();
            let number = |block: BlockId| if block == FREE { FREE } else { block - first as BlockId };
            nodes.iter().filter_map(own).map(number).collect()
        };
        let first = |two_way: &mut TwoWay| {
            let part = (&left.0, &within(&left.1, 0)[..]);
            self.run(part, (&sizes[..half], &bounds[..half]), derive(seed, 0), two_way)
        };
        let second = |two_way: &mut TwoWay| {
            let part = (&right.0, &within(&right.1, half)[..]);
            self.run(part, (&sizes[half..], &bounds[half..]), derive(seed, 1), two_way)
        };
        let (first, second) = if graph.num_arcs() >= LEAST_PARALLEL_ARCS {
            rayon::join(|| first(two_way), || second(&mut TwoWay::default()))
        } else {
            (first(two_way), second(two_way))
        };
        for (&node, block) in left.1.iter().zip(first) {
            blocks[node as usize] = block;
        }
        for (&node, block) in right.1.iter().zip(second) {
            blocks[node as usize] = half as BlockId + block;
        }
        blocks
    }

    /// Multilevel bisection. `held` are the sides that vertices are fixed to, empty if none is.
    fn bisect<W: Stored>(
        &self,
        (graph, held): (&CompactGraph<'_, W>, &[BlockId]),
        bounds: &Bounds,
        two_way: &mut TwoWay,
        rng: &mut Rng,
    ) -> Bisection {
        let (settings, observer) = (self.settings, self.observer);
        let classes = Some(held).filter(|held| !held.is_empty());
        let coarsening =
            Coarsening::build(graph, self.contraction, settings.coarsest, classes, observer, rng);
        let mut held_on = vec![held.to_vec()];
        for (coarse_of, coarse) in coarsening.steps.iter().filter(|_| classes.is_some()) {
            let finer = held_on.last().expect("there is a level");
            held_on.push(coarsen::restrict(finer, coarse_of, coarse.num_nodes()));
        }
        let held = |steps: usize| held_on.get(steps).map_or(&[][..], Vec::as_slice);
        let goal = |level: &CompactGraph<'_, W>, is_finest: bool| {
            let least = if is_finest { 0 } else { level.max_node_weight() };
            let (passes, patience) = (settings.passes, settings.patience);
            Goal { bounds, tolerance: self.tolerance.max(least), passes, patience }
        };
        let coarsest = (coarsening.coarsest(graph), held(coarsening.steps.len()));
        let mut bisection =
            self.best_bisection(coarsest, goal(coarsest.0, coarsening.steps.is_empty()), two_way, rng);
        for index in (0..coarsening.steps.len()).rev() {
            let level = coarsening.level(graph, index);
            bisection.sides = coarsen::project(&bisection.sides, &coarsening.steps[index].0);
            two_way.refine((level, held(index)), &mut bisection, goal(level, index == 0), observer);
        }
        bisection
    }

    /// The best of several bisections, grown and refined.
    fn best_bisection<W: Stored>(
        &self,
        (graph, held): (&CompactGraph<'_, W>, &[BlockId]),
        goal: Goal<'_>,
        two_way: &mut TwoWay,
        rng: &mut Rng,
    ) -> Bisection {
        let mut best: Option<Bisection> = None;
        for _ in 0..self.settings.tries.max(1) {
            let mut candidate = two_way.grow((graph, held), goal.bounds, rng);
            two_way.refine((graph, held), &mut candidate, goal, self.observer);
            if best.as_ref().is_none_or(|best| goal.score(&candidate) < goal.score(best)) {
                best = Some(candidate);
            }
            if self.observer.should_stop() {
                break;
            }
        }
        best.expect("there was at least one try")
    }
}

/// What the two halves of the blocks may weigh so that later bisections still have room.
///
/// Of the room that all bounds leave together, each remaining level of the recursion gets an equal factor.
fn bisection_bounds(total: Weight, sizes: &[Weight], bounds: &[Weight], half: usize) -> Bounds {
    let sum = |weights: &[Weight]| weights.iter().map(|&weight| i128::from(weight)).sum::<i128>();
    let size = [sum(&sizes[..half]), sum(&sizes[half..])];
    let bound = [sum(&bounds[..half]), sum(&bounds[half..])];
    let total = i128::from(total);
    // Half of no size at all is half of the total.
    let scale = (size[0] + size[1]).max(1);
    let target0 = (total * size[0] + scale / 2) / scale;
    let target = [target0 as Weight, (total - target0) as Weight];
    let room = (bound[0] + bound[1]) as f64 / total.max(1) as f64;
    let levels = f64::from(depth(sizes.len()));
    let factor = if room > 1.0 { room.powf(1.0 / levels) } else { 1.0 };
    let max = [0, 1].map(|side| {
        let relaxed = (target[side] as f64 * factor) as Weight;
        let own = bound[side].min(i128::from(Weight::MAX)) as Weight;
        relaxed.max(target[side]).min(own.max(target[side]))
    });
    Bounds { target, max }
}
