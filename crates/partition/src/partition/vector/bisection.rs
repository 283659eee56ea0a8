//! The first partition: recursive bisection within the bounds of several weights.
//!
//! As for one weight: a bisection coarsens its graph, grows several bisections there, keeps the best one after refinement, and refines it on
//! the way back. Sides grow by the sizes of vertices; the refinement balances all weights, and compares bisections by the sum of relative
//! overloads first.

use std::cell::Cell;
use std::ops::Range;

use super::targets::VectorTargets;
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::{BlockId, NodeId, Weight};
use crate::graph::VertexWeights;
use crate::partition::coarsen::{self, Coarsening, Contraction};
use crate::partition::compact::{CompactGraph, Stored};
use crate::partition::fixed::FREE;
use crate::partition::refine::two_way::{Bisection, Goal, SideBounds, TwoWay};
use crate::partition::scheme::initial::bisection::bisection_bounds;
use crate::partition::settings::BisectionConfig;

/// From this many arcs on, the two halves run in parallel. Balances the cost of a task against its work; the result does not depend on it.
const LEAST_PARALLEL_ARCS: usize = 4_000;

/// The unit of relative overload in scores.
const WHOLE: f64 = (1u64 << 32) as f64;

/// Bisections are grown on graphs of at least this many vertices. Balances bounds of several weights, which few heavy vertices cannot meet,
/// against time.
const LEAST_COARSEST: usize = 120;

/// The number of bisections that are grown for each one that would be for one weight.
const TRIES: usize = 2;

/// What the sides of a bisection may weigh by all weights.
struct Sides<'a> {
    weights: &'a VertexWeights,
    /// The sizes that the sides should have.
    target: [Weight; 2],
    /// By side.
    most: [&'a [Weight]; 2],
    /// By weight: what a side may exceed its bound by on the way.
    slack: Vec<Weight>,
    /// By side.
    loads: [Vec<Cell<Weight>>; 2],
}

impl<'a> Sides<'a> {
    fn new(weights: &'a VertexWeights, limits: &'a SideLimits, total: Weight) -> Self {
        let first = (total as f64 * limits.share) as Weight;
        let zeros = || vec![Cell::new(0); weights.num_weights()];
        Self {
            weights,
            target: [first, total - first],
            most: [&limits.most[0], &limits.most[1]],
            slack: weights.greatest(),
            loads: [zeros(), zeros()],
        }
    }

    /// What the heaviest vertices weigh relative to the bounds: overload up to this counts as none on coarse levels.
    fn tolerance(&self) -> Weight {
        let of = |most: &[Weight]| {
            let relative = |(&slack, &bound): (&Weight, &Weight)| slack as f64 / bound.max(1) as f64;
            self.slack.iter().zip(most).map(relative).fold(0.0, f64::max)
        };
        (WHOLE * self.most.map(of).into_iter().fold(0.0, f64::max)) as Weight
    }

    /// The relative overload of a side if its load of each weight is changed by this.
    #[inline]
    fn overload_with(&self, side: usize, change: impl Fn(usize) -> Weight) -> f64 {
        let over = |(weight, (load, &bound)): (usize, (&Cell<Weight>, &Weight))| {
            (load.get() + change(weight) - bound).max(0) as f64 / bound.max(1) as f64
        };
        self.loads[side].iter().zip(self.most[side]).enumerate().map(over).sum()
    }
}

impl SideBounds for Sides<'_> {
    fn target(&self) -> [Weight; 2] {
        self.target
    }

    fn overload(&self, _: &[Weight; 2]) -> Weight {
        (WHOLE * (self.overload_with(0, |_| 0) + self.overload_with(1, |_| 0))) as Weight
    }

    fn is_over(&self, _: &[Weight; 2], side: usize) -> bool {
        self.loads[side].iter().zip(self.most[side]).any(|(load, &bound)| load.get() > bound)
    }

    #[inline]
    fn allow(&self, _: &[Weight; 2], from: usize, (node, _): (NodeId, Weight), _: Weight) -> bool {
        let (own, to) = (self.weights.of(node), 1 - from);
        let fits = |(weight, (load, &bound)): (usize, (&Cell<Weight>, &Weight))| {
            let load = load.get();
            own[weight] == 0
                || load <= bound && load + own[weight] <= bound.saturating_add(self.slack[weight])
        };
        if self.loads[to].iter().zip(self.most[to]).enumerate().all(fits) {
            return true;
        }
        let after =
            self.overload_with(from, |weight| -own[weight]) + self.overload_with(to, |weight| own[weight]);
        after < self.overload_with(from, |_| 0) + self.overload_with(to, |_| 0)
    }

    fn begin(&self, sides: &[BlockId]) {
        let sums = self.weights.loads(sides, 2);
        let c = self.weights.num_weights();
        for (at, sum) in sums.into_iter().enumerate() {
            self.loads[at / c][at % c].set(sum);
        }
    }

    #[inline]
    fn follow(&self, node: NodeId, from: BlockId) {
        let (left, taken) = (&self.loads[from as usize], &self.loads[1 - from as usize]);
        for ((left, taken), &own) in left.iter().zip(taken).zip(self.weights.of(node)) {
            left.set(left.get() - own);
            taken.set(taken.get() + own);
        }
    }
}

/// The bounds of the sides of a bisection, and the share of the size of the first.
struct SideLimits {
    share: f64,
    most: [Vec<Weight>; 2],
}

/// Recursive bisection along ranges of blocks.
pub(super) struct Recursion<'a> {
    pub targets: &'a VectorTargets,
    /// By block but the first: how deep in the tree of blocks the border before it lies. Ranges are divided at the least deep one next to their
    /// middle.
    pub depths: &'a [usize],
    pub contraction: Contraction,
    pub settings: &'a BisectionConfig,
    pub observer: &'a dyn Observer,
}

/// A part of the graph that is divided.
#[derive(Clone, Copy)]
pub(super) struct Part<'a, W> {
    pub graph: &'a CompactGraph<'a, W>,
    pub weights: &'a VertexWeights,
    /// The blocks that vertices are fixed to, or [`FREE`]; empty if none is.
    pub fixed: &'a [BlockId],
}

impl Recursion<'_> {
    /// The block of each vertex of a part, of this range.
    pub fn run<W: Stored>(
        &self,
        part: Part<'_, W>,
        range: Range<usize>,
        seed: u64,
        two_way: &mut TwoWay,
    ) -> Vec<BlockId> {
        if range.len() == 1 || part.graph.num_nodes() == 0 {
            return vec![range.start as BlockId; part.graph.num_nodes()];
        }
        let middle = self.middle(&range);
        let limits = self.limits(part, &range, middle);
        let side = |&block: &BlockId| {
            if block == FREE { FREE } else { BlockId::from(block as usize >= middle) }
        };
        let held: Vec<BlockId> = part.fixed.iter().map(side).collect();
        let sides = self.bisect(Part { fixed: &held, ..part }, &limits, two_way, &mut Rng::new(seed));
        let pieces: [_; 2] = part.graph.split(&sides, 2).try_into().ok().expect("two halves");
        let divide = |half: usize, two_way: &mut TwoWay| {
            let (graph, nodes) = &pieces[half];
            let weights = &part.weights.of_vertices(nodes);
            let fixed: Vec<BlockId> =
                nodes.iter().filter_map(|&node| part.fixed.get(node as usize).copied()).collect();
            let range = if half == 0 { range.start..middle } else { middle..range.end };
            self.run(Part { graph, weights, fixed: &fixed }, range, derive(seed, half as u64), two_way)
        };
        let halves = if part.graph.num_arcs() >= LEAST_PARALLEL_ARCS {
            let (first, second) = threads::join(|| divide(0, two_way), || divide(1, &mut TwoWay::default()));
            [first, second]
        } else {
            [divide(0, two_way), divide(1, two_way)]
        };
        let mut blocks = sides;
        for ((_, nodes), of_half) in pieces.iter().zip(halves) {
            nodes.iter().zip(of_half).for_each(|(&node, block)| blocks[node as usize] = block);
        }
        blocks
    }

    /// The first block of the second half of a range.
    fn middle(&self, range: &Range<usize>) -> usize {
        let center = range.start + range.len().div_ceil(2);
        let inner = range.start + 1..range.end;
        let key = |&block: &usize| (self.depths[block - 1], block.abs_diff(center));
        inner.min_by_key(key).expect("a range of several blocks")
    }

    /// The bounds of two halves, so that later bisections still have room.
    fn limits<W>(&self, part: Part<'_, W>, range: &Range<usize>, middle: usize) -> SideLimits {
        let mut most = [Vec::new(), Vec::new()];
        let mut share = (0.0, 0.0);
        for (weight, &total) in part.weights.totals().iter().enumerate() {
            let (sizes, bounds) = self.targets.of_range(range.clone(), weight);
            let limits = bisection_bounds(total, &sizes, &bounds, middle - range.start);
            (0..2).for_each(|side| most[side].push(limits.max[side]));
            if total > 0 {
                share.0 += limits.target[0] as f64 / total as f64;
                share.1 += 1.0;
            }
        }
        SideLimits { share: if share.1 > 0.0 { share.0 / share.1 } else { 0.5 }, most }
    }

    /// Multilevel bisection.
    fn bisect<W: Stored>(
        &self,
        part: Part<'_, W>,
        limits: &SideLimits,
        two_way: &mut TwoWay,
        rng: &mut Rng,
    ) -> Vec<BlockId> {
        let enough = self.settings.coarsest.max(LEAST_COARSEST);
        let classes = Some(part.fixed).filter(|held| !held.is_empty());
        let coarsening = Coarsening::build(part.graph, self.contraction, enough, classes, self.observer, rng);
        let mut levels: Vec<(VertexWeights, Vec<BlockId>)> = Vec::new();
        for (coarse_of, coarse) in &coarsening.steps {
            let finer = levels.last().map_or((part.weights, part.fixed), |(weights, held)| (weights, held));
            let held = match finer.1 {
                [] => Vec::new(),
                held => coarsen::restrict(held, coarse_of, coarse.num_nodes()),
            };
            levels.push((finer.0.contracted(coarse_of, coarse.num_nodes()), held));
        }
        let level = |steps: usize| match steps {
            0 => part,
            _ => {
                let (weights, fixed) = &levels[steps - 1];
                Part { graph: coarsening.level(part.graph, steps), weights, fixed }
            }
        };
        let mut bisection = self.grown(level(levels.len()), limits, two_way, rng);
        for steps in (0..levels.len()).rev() {
            bisection.sides = coarsen::project(&bisection.sides, &coarsening.steps[steps].0);
            let level = level(steps);
            let bounds = Sides::new(level.weights, limits, level.graph.total_node_weight());
            let goal = self.goal(&bounds, steps == 0);
            two_way.refine((level.graph, level.fixed), &mut bisection, goal, self.observer);
        }
        bisection.sides
    }

    fn goal<'b, 'w>(&self, bounds: &'b Sides<'w>, is_finest: bool) -> Goal<'b, Sides<'w>> {
        let BisectionConfig { passes, patience, .. } = *self.settings;
        let tolerance = if is_finest { 0 } else { bounds.tolerance() };
        Goal { bounds, tolerance, passes, patience }
    }

    /// The best of several bisections that are grown and refined.
    fn grown<W: Stored>(
        &self,
        level: Part<'_, W>,
        limits: &SideLimits,
        two_way: &mut TwoWay,
        rng: &mut Rng,
    ) -> Bisection {
        let bounds = Sides::new(level.weights, limits, level.graph.total_node_weight());
        let goal = self.goal(&bounds, false);
        let mut best: Option<((Weight, Weight), Bisection)> = None;
        for _ in 0..TRIES * self.settings.tries {
            let mut grown = two_way.grow((level.graph, level.fixed), &bounds, rng);
            two_way.refine((level.graph, level.fixed), &mut grown, goal, self.observer);
            bounds.begin(&grown.sides);
            let score = goal.score(&grown);
            if best.as_ref().is_none_or(|(best, _)| score < *best) {
                best = Some((score, grown));
            }
            if self.observer.should_stop() {
                break;
            }
        }
        best.expect("at least one try").1
    }
}
