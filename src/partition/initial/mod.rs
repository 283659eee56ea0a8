//! Initial partitions: recursive multilevel bisection.
//!
//! A bisection coarsens its graph to a few dozen vertices, grows several bisections there, keeps the
//! best one after refinement, and refines it on the way back. Blocks are halved until each stands alone.
//! O((n + m) log k).

use super::coarsen::{self, Contraction, Hierarchy};
use super::level::{Level, Stored};
use super::refine::two_way::{Bisection, Bounds, Effort, TwoWay};
use super::settings::BisectionSettings;
use crate::observer::Observer;
use crate::rng::{Rng, derive};
use crate::types::{BlockId, NodeId, Weight};

/// From this many arcs on, the two halves are worth a thread each.
const LEAST_PARALLEL_ARCS: usize = 4_000;

/// Partitions `graph` into blocks of the given sizes, none above its bound if that can be had.
///
/// `sizes` must have a positive length. With vertices of weight 1 and `bounds == sizes` summing up to
/// the weight of the graph the result is exact. Halves may run in parallel; each draws from a stream of its own, so
/// that the result does not depend on it. What is left once the observer asks to stop is divided in the order of the
/// vertices.
#[allow(clippy::too_many_arguments)] // a graph, what its blocks may weigh, and how to divide it
pub(crate) fn recursive_bisection<W: Stored>(
    graph: &Level<W>,
    sizes: &[Weight],
    bounds: &[Weight],
    tolerance: Weight,
    contraction: Contraction,
    settings: &BisectionSettings,
    seed: u64,
    observer: &dyn Observer,
) -> Vec<BlockId> {
    let recursion = Recursion { contraction, settings, tolerance, observer };
    recursion.run(graph, sizes, bounds, seed, &mut TwoWay::default())
}

/// Bisections that are nested in each other until each of `num_blocks`, at least 1, stands alone: log2, rounded up.
pub(crate) fn depth(num_blocks: usize) -> u32 {
    usize::BITS - (num_blocks - 1).leading_zeros()
}

/// A partition that costs nothing: each block gets the next vertices until it has its size; O(n).
pub(crate) fn in_order<W: Stored>(graph: &Level<W>, sizes: &[Weight]) -> Vec<BlockId> {
    let (mut block, mut weight) = (0, 0);
    let mut next = |node: NodeId| {
        while weight >= sizes[block] && block + 1 < sizes.len() {
            block += 1;
            weight = 0;
        }
        weight += graph.node_weight(node);
        block as BlockId
    };
    graph.nodes().map(&mut next).collect()
}

struct Recursion<'a> {
    contraction: Contraction,
    settings: &'a BisectionSettings,
    tolerance: Weight,
    observer: &'a dyn Observer,
}

impl Recursion<'_> {
    fn run<W: Stored>(
        &self,
        graph: &Level<W>,
        sizes: &[Weight],
        bounds: &[Weight],
        seed: u64,
        two_way: &mut TwoWay,
    ) -> Vec<BlockId> {
        if sizes.len() == 1 {
            return vec![0; graph.num_nodes()];
        }
        if self.observer.should_stop() {
            return in_order(graph, sizes);
        }
        let half = sizes.len().div_ceil(2);
        let halves = bisection_bounds(graph.total_node_weight(), sizes, bounds, half);
        let mut blocks = self.bisect(graph, &halves, two_way, &mut Rng::new(seed)).sides;
        if sizes.len() == 2 {
            return blocks;
        }
        let [left, right] = graph.split(&blocks);
        let first = |two_way: &mut TwoWay| {
            self.run(&left.0, &sizes[..half], &bounds[..half], derive(seed, 0), two_way)
        };
        let second = |two_way: &mut TwoWay| {
            self.run(&right.0, &sizes[half..], &bounds[half..], derive(seed, 1), two_way)
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

    /// Multilevel bisection.
    fn bisect<W: Stored>(
        &self,
        graph: &Level<W>,
        bounds: &Bounds,
        two_way: &mut TwoWay,
        rng: &mut Rng,
    ) -> Bisection {
        let (settings, observer) = (self.settings, self.observer);
        let effort = Effort { passes: settings.passes, patience: settings.patience };
        let hierarchy = Hierarchy::build(graph, self.contraction, settings.coarsest, None, observer, rng);
        let coarsest = hierarchy.steps.last().map_or(graph, |step| &step.1);
        let tolerance_of = |level: &Level<W>, finest: bool| {
            if finest { self.tolerance } else { self.tolerance.max(level.max_node_weight()) }
        };
        let coarsest_tolerance = tolerance_of(coarsest, hierarchy.steps.is_empty());
        let mut best: Option<Bisection> = None;
        for _ in 0..settings.tries.max(1) {
            let mut candidate = two_way.grow(coarsest, bounds, rng);
            two_way.refine(coarsest, &mut candidate, bounds, coarsest_tolerance, effort, observer);
            let better = best.as_ref().is_none_or(|best| {
                candidate.score(bounds, coarsest_tolerance) < best.score(bounds, coarsest_tolerance)
            });
            if better {
                best = Some(candidate);
            }
            if observer.should_stop() {
                break;
            }
        }
        let mut bisection = best.expect("there was at least one try");
        for index in (0..hierarchy.steps.len()).rev() {
            let (coarse_of, _) = &hierarchy.steps[index];
            let level = if index == 0 { graph } else { &hierarchy.steps[index - 1].1 };
            bisection.sides = coarsen::project(&bisection.sides, coarse_of);
            two_way.refine(level, &mut bisection, bounds, tolerance_of(level, index == 0), effort, observer);
        }
        bisection
    }
}

/// What the two halves of the blocks may weigh so that the later bisections still have room.
///
/// Of the room that all bounds leave together, each of the remaining levels of the recursion gets an
/// equal factor.
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
