//! The multilevel scheme for several weights: coarsen, partition the coarsest graph, refine on every level on the way back.
//!
//! Bounds of several weights leave single moves little room. So each level is also refined within wider bounds and brought back, which counts only if
//! the partition is better then; and V-cycles follow, each of which coarsens within the blocks and refines again on all levels.

use std::borrow::Cow;

use super::balance;
use super::bisection::{Part, Recursion};
use super::packing::Packing;
use super::targets::VectorTargets;
use crate::base::observer::Observer;
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::{BlockId, Weight};
use crate::graph::VertexWeights;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::LoadBounds;
use crate::partition::coarsen::{self, Coarsening, overlay, overlay_any};
use crate::partition::compact::Stored;
use crate::partition::fixed::FREE;
use crate::partition::loads::{Excess, Loads, VectorBounds};
use crate::partition::objective::Objective;
use crate::partition::refine::flow::Flow;
use crate::partition::refine::k_way::{self, KWay};
use crate::partition::refine::two_way::TwoWay;
use crate::partition::scheme::initial::older::OlderPartition;
use crate::partition::scheme::initial::{Coarsest, InitialPartition};
use crate::partition::settings::PartitionConfig;

/// From this many arcs on, members run in parallel. Balances the cost of a task against its work; the result does not depend on it.
const LEAST_PARALLEL_ARCS: usize = 20_000;

/// The share of its size by which a block may exceed it on coarse levels, and the greatest such share where one vertex weighs more. Balances room
/// for coarse vertices against overload that finer levels have to take back, at a loss. Tuned with `cargo bench --bench weights`, from 0 to 0.02 and to 0.1.
const SLACK: (f64, f64) = (0.01, 0.05);

/// The excess over bounds that are widened, in multiples of the heaviest vertex of the level, and the share of the bound that it is at most, as a
/// fraction. Balances as [`SLACK`] does; tuned from 1 to 8 and from 0.05 to 0.2.
const WIDENED: (Weight, Weight) = (4, 10);

/// Where a wider search fails, one with this part of the excess follows, as long as that is a whole vertex. Balances cut against time.
const NARROWER: Weight = 4;

/// The greatest number of searches within wider bounds on each level. Balances cut against time.
const WIDER_SEARCHES: usize = 3;

/// V-cycles end when one gains less than one in this many of the cost. Balances cut against time.
const LEAST_GAIN: Weight = 1000;

/// What is partitioned, into what, and how.
pub(super) struct Task<'a, W, O> {
    pub level: Problem<'a, W, O>,
    pub weights: &'a VertexWeights,
    pub targets: &'a VectorTargets,
    /// As in [`Recursion`].
    pub depths: &'a [usize],
    pub settings: &'a PartitionConfig,
    /// The number of independent partitions, and the greatest number of V-cycles of each.
    pub effort: Effort,
    pub observer: &'a dyn Observer,
}

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub members: usize,
    pub cycles: usize,
}

impl<W, O> Clone for Task<'_, W, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, O> Copy for Task<'_, W, O> {}

impl<W: Stored, O: Objective> Task<'_, W, O> {
    /// What partitions are compared by: the bounds first, then the cost.
    pub fn score(&self, bounds: &VectorBounds, member: &Assignment) -> (Excess, Weight) {
        (Loads::new(self.weights, bounds, &member.blocks).excess(), member.cost)
    }

    /// The best of several partitions, each of which is combined with the best so far. One of them improves a start, if there is one.
    pub fn best(self, seed: u64, start: Option<&[BlockId]>) -> Assignment {
        let bounds = self.targets.bounds();
        let seeds: Vec<u64> = (0..self.effort.members as u64).map(|index| derive(seed, index)).collect();
        let member = |seed| self.member(&bounds, None, seed);
        let mut members: Vec<Assignment> = if self.level.num_arcs() >= LEAST_PARALLEL_ARCS {
            threads::map_each(seeds, &member)
        } else {
            seeds.into_iter().map(member).collect()
        };
        members.extend(start.map(|start| self.member(&bounds, Some(start), derive(seed, u64::MAX - 1))));
        members.sort_by_key(|member| self.score(&bounds, member));
        let mut members = members.into_iter();
        let mut best = members.next().expect("at least one member");
        for (index, other) in (0..).zip(members) {
            if self.observer.should_stop() {
                break;
            }
            let classes = overlay(&best.blocks, &other.blocks);
            let mut rng = Rng::new(derive(derive(seed, u64::MAX), index));
            let child = Multilevel::new(self).run(Some((&classes, best.clone())), &mut rng);
            if self.score(&bounds, &child) < self.score(&bounds, &best) {
                best = child;
            }
        }
        best
    }

    /// A partition from scratch or from a start, after all V-cycles.
    fn member(self, bounds: &VectorBounds, start: Option<&[BlockId]>, seed: u64) -> Assignment {
        let start = start
            .map(|start| (start, Assignment::new(self.level, start.to_vec(), self.targets.num_blocks())));
        let mut best = Multilevel::new(self).run(start, &mut Rng::new(seed));
        for cycle in 0..self.effort.cycles as u64 {
            if self.observer.should_stop() {
                break;
            }
            let start = Some((&best.blocks[..], best.clone()));
            let next = Multilevel::new(self).run(start, &mut Rng::new(derive(seed, cycle)));
            let ((before, old), (after, new)) = (self.score(bounds, &best), self.score(bounds, &next));
            let is_worth = after < before || (after == before && old - new > old / LEAST_GAIN);
            if (after, new) < (before, old) {
                best = next;
            }
            if !is_worth {
                break;
            }
        }
        best
    }

    /// Partitions without regard to edges, each followed by itself refined, for one that misses bounds by this excess. `stream` has the random stream of
    /// each. Refinement may exceed one bound by more to exceed all of them by less.
    pub fn packed(
        self,
        bounds: &VectorBounds,
        excess: Excess,
        stream: impl Fn(u64) -> u64,
    ) -> Vec<Assignment> {
        let (level, weights) = (self.level, self.weights);
        let fixed = |node| level.objective.fixed_block(node);
        let packing = Packing { weights, bounds, fixed: &fixed };
        let better = packing.better(excess);
        let with_refined = |(index, packed): (u64, Vec<BlockId>)| {
            let refined = self.refined(packed.clone(), stream(index));
            [Assignment::new(level, packed, bounds.num_blocks()), refined]
        };
        (0..).zip(packing.first_fits().into_iter().chain(better)).flat_map(with_refined).collect()
    }

    /// A partition refined on all levels.
    pub fn resumed(self, start: Assignment, seed: u64) -> Assignment {
        Multilevel::new(self).run(Some((&start.blocks.clone(), start)), &mut Rng::new(seed))
    }

    /// A partition refined on the finest level.
    pub fn refined(self, blocks: Vec<BlockId>, seed: u64) -> Assignment {
        let mut assignment = Assignment::new(self.level, blocks, self.targets.num_blocks());
        let level = Level { problem: self.level, weights: self.weights };
        Multilevel::new(self).refine(level, &mut assignment, &self.targets.bounds(), &mut Rng::new(seed));
        assignment
    }
}

/// A level, and the weights of its vertices.
struct Level<'a, W, O> {
    problem: Problem<'a, W, O>,
    weights: &'a VertexWeights,
}

impl<W, O> Clone for Level<'_, W, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, O> Copy for Level<'_, W, O> {}

/// A run down and up the levels, and the working memory of its phases.
struct Multilevel<'a, W, O> {
    task: Task<'a, W, O>,
    k_way: KWay,
    flow: Flow,
    two_way: TwoWay,
}

impl<'a, W: Stored, O: Objective> Multilevel<'a, W, O> {
    fn new(task: Task<'a, W, O>) -> Self {
        Self { task, k_way: KWay::default(), flow: Flow::default(), two_way: TwoWay::default() }
    }

    /// Coarsens, partitions, refines. `start` is a classification of the vertices and a partition that separates no class: it is then refined on
    /// all levels.
    fn run(&mut self, start: Option<(&[u32], Assignment)>, rng: &mut Rng) -> Assignment {
        let Task { level: finest, weights, settings, observer, .. } = self.task;
        let (classes, start) = start.unzip();
        let own = finest.objective.classes().map(Cow::Borrowed);
        let classes = overlay_any(classes.map(Cow::Borrowed), own);
        let enough = self.enough(start.is_none());
        let contraction = settings.contraction;
        let mut coarsening =
            Coarsening::build(finest.graph, contraction, enough, classes.as_deref(), observer, rng);
        let mut coarse: Vec<(VertexWeights, O)> = Vec::with_capacity(coarsening.steps.len());
        for (coarse_of, graph) in &coarsening.steps {
            let (finer, objective) = coarse
                .last()
                .map_or((weights, finest.objective), |(weights, objective)| (weights, objective));
            let (weights, objective) = (
                finer.contracted(coarse_of, graph.num_nodes()),
                objective.contracted(coarse_of, graph.num_nodes()),
            );
            coarse.push((weights, objective));
        }
        let mut first = start;
        if let Some(assignment) = &mut first {
            for (coarse_of, graph) in &coarsening.steps {
                assignment.blocks = coarsen::restrict(&assignment.blocks, coarse_of, graph.num_nodes());
            }
        }
        let mut assignment = None;
        loop {
            let (weights, objective) = coarse
                .last()
                .map_or((weights, finest.objective), |(weights, objective)| (weights, objective));
            let level =
                Level { problem: Problem { graph: coarsening.coarsest(finest.graph), objective }, weights };
            let bounds = self.bounds(level, coarse.is_empty());
            let mut own = match assignment.take().or_else(|| first.take()) {
                Some(own) => own,
                None => self.first_partition(level, &bounds, rng),
            };
            self.refine(level, &mut own, &bounds, rng);
            let Some((coarse_of, _)) = coarsening.steps.pop() else { return own };
            coarse.pop();
            own.blocks = coarsen::project(&own.blocks, &coarse_of);
            assignment = Some(own);
        }
    }

    /// The number of vertices that the coarsest graph should have, as for one weight.
    fn enough(&self, from_scratch: bool) -> usize {
        let settings = &self.task.settings.initial;
        let least = settings.coarsest_per_block.saturating_mul(self.task.targets.num_blocks());
        let n = self.task.level.num_nodes();
        if from_scratch { least.max(settings.coarsest.min(n / 4)) } else { least }
    }

    /// The bounds on a level: relaxed on coarse ones, since coarse vertices cannot meet tight bounds and the search needs room.
    fn bounds(&self, level: Level<'_, W, O>, is_finest: bool) -> VectorBounds {
        if is_finest {
            return self.task.targets.bounds();
        }
        let greatest = level.weights.greatest();
        let share = |size: Weight, share: f64| (size as f64 * share) as Weight;
        self.task
            .targets
            .relaxed(&|weight, size| share(size, SLACK.0).max(greatest[weight].min(share(size, SLACK.1))))
    }

    /// The first partition of the coarsest graph: the best of several attempts, refined.
    fn first_partition(
        &mut self,
        level: Level<'_, W, O>,
        bounds: &VectorBounds,
        rng: &mut Rng,
    ) -> Assignment {
        let mut best: Option<((Excess, Weight), Assignment)> = None;
        for _ in 0..self.num_attempts(level) {
            let mut next = self.attempt(level, rng.next_u64());
            self.refine_boundary(level, &mut next, bounds, rng);
            let excess = Loads::new(level.weights, bounds, &next.blocks).excess();
            let score = (excess, next.cost);
            if best.as_ref().is_none_or(|(best, _)| score < *best) {
                best = Some((score, next));
            }
            if self.task.observer.should_stop() {
                break;
            }
        }
        best.expect("at least one attempt").1
    }

    /// The number of attempts. Each bisects all vertices log k times, and all together should not cost more than the refinement.
    fn num_attempts(&self, level: Level<'_, W, O>) -> usize {
        if level.problem.objective.homes().is_some() {
            return 1;
        }
        let depth = usize::BITS - (self.task.targets.num_blocks() - 1).leading_zeros();
        let affordable = self.task.level.num_nodes() / level.problem.num_nodes().max(1);
        (self.task.settings.initial.bisections / depth.max(1) as usize).min(affordable).max(1)
    }

    fn attempt(&mut self, level: Level<'_, W, O>, seed: u64) -> Assignment {
        let Task { targets, depths, settings, observer, .. } = self.task;
        let problem = level.problem;
        if problem.objective.homes().is_some() {
            let (sizes, most) = (targets.sizes(), targets.scalar_bounds());
            let bounds: LoadBounds<'_> = most[..].into();
            let coarsest =
                Coarsest { level: problem, sizes: &sizes, bounds, relaxed: bounds, settings, observer };
            return Assignment::new(problem, OlderPartition.blocks(&coarsest, seed), targets.num_blocks());
        }
        let fixed_block = |node| problem.objective.fixed_block(node).unwrap_or(FREE);
        let fixed: Vec<BlockId> = match problem.objective.has_fixed() {
            true => problem.nodes().map(fixed_block).collect(),
            false => Vec::new(),
        };
        let contraction = settings.contraction.of_coarse_levels();
        let recursion = Recursion { targets, depths, contraction, settings: &settings.bisection, observer };
        let part = Part { graph: problem.graph, weights: level.weights, fixed: &fixed };
        let blocks = recursion.run(part, 0..targets.num_blocks(), seed, &mut self.two_way);
        Assignment::new(problem, blocks, targets.num_blocks())
    }

    fn refine(
        &mut self,
        level: Level<'_, W, O>,
        assignment: &mut Assignment,
        bounds: &VectorBounds,
        rng: &mut Rng,
    ) {
        self.refine_boundary(level, assignment, bounds, rng);
        let Task { settings, observer, .. } = self.task;
        let is_finest = level.problem.num_nodes() == self.task.level.num_nodes();
        // On coarse levels, vertices of several weights leave flows no room.
        if !is_finest || settings.flow.rounds == 0 || observer.should_stop() {
            return;
        }
        let loads = Loads::new(level.weights, bounds, &assignment.blocks);
        let sizes = vec![Weight::MAX / 4; bounds.num_blocks()];
        let both = ((&sizes[..]).into(), Some(&loads));
        if self.flow.refine_several(level.problem, assignment, both, &settings.flow, observer) {
            self.refine_boundary(level, assignment, bounds, rng);
        }
    }

    /// Refines all blocks at once: within the bounds, and within wider ones and back.
    fn refine_boundary(
        &mut self,
        level: Level<'_, W, O>,
        assignment: &mut Assignment,
        bounds: &VectorBounds,
        rng: &mut Rng,
    ) {
        self.settle(level, assignment, bounds, rng);
        let greatest = level.weights.greatest();
        let score =
            |blocks: &Assignment| (Loads::new(level.weights, bounds, &blocks.blocks).excess(), blocks.cost);
        let mut factor = WIDENED.0;
        for _ in 0..WIDER_SEARCHES {
            if factor == 0 || self.task.observer.should_stop() {
                break;
            }
            let excess = |at: usize| greatest[at % greatest.len()].saturating_mul(factor);
            let mut next = assignment.clone();
            self.settle(level, &mut next, &bounds.widened(excess, WIDENED.1), rng);
            self.settle(level, &mut next, bounds, rng);
            if score(&next) < score(assignment) {
                *assignment = next;
            } else {
                factor /= NARROWER;
            }
        }
    }

    /// Brings blocks within their bounds, and refines all of them by FM searches.
    fn settle(
        &mut self,
        level: Level<'_, W, O>,
        assignment: &mut Assignment,
        bounds: &VectorBounds,
        rng: &mut Rng,
    ) {
        let Task { settings, observer, .. } = self.task;
        let loads = Loads::new(level.weights, bounds, &assignment.blocks);
        let is_finest = level.problem.num_nodes() == self.task.level.num_nodes();
        balance::rebalance(level.problem, assignment, &loads, is_finest, observer);
        let goal = k_way::Goal { bounds: &loads, settings: &settings.k_way, observer };
        self.k_way.refine(level.problem, assignment, goal, rng);
    }
}
