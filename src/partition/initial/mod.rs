//! Initial partitions: recursive multilevel bisection.
//!
//! A bisection coarsens its graph to a few dozen vertices, grows several bisections there, keeps the
//! best one after refinement, and refines it on the way back. Blocks are halved until each stands alone.
//! O((n + m) log k).

use super::coarsen::{self, Contraction, Hierarchy};
use super::level::{Level, Stored};
use super::refine::two_way::{Bisection, Bounds, Effort, TwoWay};
use super::settings::BisectionSettings;
use crate::rng::Rng;
use crate::types::{BlockId, NodeId, Weight};

/// Partitions `graph` into blocks of the given sizes, none above its bound if that can be had.
///
/// `sizes` must have a positive length. With vertices of weight 1 and `bounds == sizes` summing up to
/// the weight of the graph the result is exact.
pub(crate) fn recursive_bisection<W: Stored>(
    graph: &Level<W>,
    sizes: &[Weight],
    bounds: &[Weight],
    tolerance: Weight,
    contraction: Contraction,
    settings: &BisectionSettings,
    rng: &mut Rng,
) -> Vec<BlockId> {
    let mut blocks = vec![0; graph.num_nodes()];
    let mut state =
        Recursion { contraction, settings, tolerance, rng, two_way: TwoWay::default(), blocks: &mut blocks };
    let nodes: Vec<NodeId> = Vec::new();
    state.run(graph, &nodes, 0, sizes, bounds);
    blocks
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
    rng: &'a mut Rng,
    two_way: TwoWay,
    blocks: &'a mut [BlockId],
}

impl Recursion<'_> {
    /// Partitions a subgraph whose vertex `u` is vertex `nodes[u]` of the whole (`u` itself if `nodes`
    /// is empty) into the blocks from `first` on.
    fn run<W: Stored>(
        &mut self,
        graph: &Level<W>,
        nodes: &[NodeId],
        first: BlockId,
        sizes: &[Weight],
        bounds: &[Weight],
    ) {
        let whole = |node: usize| nodes.get(node).map_or(node, |&whole| whole as usize);
        if sizes.len() == 1 {
            for node in 0..graph.num_nodes() {
                self.blocks[whole(node)] = first;
            }
            return;
        }
        let half = sizes.len().div_ceil(2);
        let halves = bisection_bounds(graph.total_node_weight(), sizes, bounds, half);
        let sides = bisect(
            graph,
            &halves,
            self.tolerance,
            self.contraction,
            self.settings,
            &mut self.two_way,
            self.rng,
        )
        .sides;
        if sizes.len() == 2 {
            for (node, &side) in sides.iter().enumerate() {
                self.blocks[whole(node)] = first + side;
            }
            return;
        }
        let parts = graph.split(&sides);
        for (side, (part, mut members)) in parts.into_iter().enumerate() {
            for node in &mut members {
                *node = whole(*node as usize) as NodeId;
            }
            let range = if side == 0 { 0..half } else { half..sizes.len() };
            self.run(&part, &members, first + range.start as BlockId, &sizes[range.clone()], &bounds[range]);
        }
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

/// Multilevel bisection.
pub(crate) fn bisect<W: Stored>(
    graph: &Level<W>,
    bounds: &Bounds,
    tolerance: Weight,
    contraction: Contraction,
    settings: &BisectionSettings,
    two_way: &mut TwoWay,
    rng: &mut Rng,
) -> Bisection {
    let effort = Effort { passes: settings.passes, patience: settings.patience };
    let hierarchy = Hierarchy::build(graph, contraction, settings.coarsest, None, &(), rng);
    let coarsest = hierarchy.steps.last().map_or(graph, |step| &step.1);
    let tolerance_of = |level: &Level<W>, finest: bool| {
        if finest { tolerance } else { tolerance.max(level.max_node_weight()) }
    };
    let coarsest_tolerance = tolerance_of(coarsest, hierarchy.steps.is_empty());
    let mut best: Option<Bisection> = None;
    for _ in 0..settings.tries.max(1) {
        let mut candidate = two_way.grow(coarsest, bounds, rng);
        two_way.refine(coarsest, &mut candidate, bounds, coarsest_tolerance, effort);
        let better = best.as_ref().is_none_or(|best| {
            candidate.score(bounds, coarsest_tolerance) < best.score(bounds, coarsest_tolerance)
        });
        if better {
            best = Some(candidate);
        }
    }
    let mut bisection = best.expect("there was at least one try");
    for index in (0..hierarchy.steps.len()).rev() {
        let (coarse_of, _) = &hierarchy.steps[index];
        let level = if index == 0 { graph } else { &hierarchy.steps[index - 1].1 };
        bisection.sides = coarsen::project(&bisection.sides, coarse_of);
        two_way.refine(level, &mut bisection, bounds, tolerance_of(level, index == 0), effort);
    }
    bisection
}
