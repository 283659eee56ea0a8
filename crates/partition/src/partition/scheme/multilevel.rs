//! The multilevel scheme: coarsen, partition the coarsest graph, refine on every level on the way back.

use std::borrow::Cow;

use super::initial::{Coarsest, InitialPartition, bisection};
use crate::base::observer::Observer;
use crate::base::rng::Rng;
use crate::base::span;
use crate::base::types::{BlockId, Weight};
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::{BoundViolation, LoadBounds, WiderBounds};
use crate::partition::coarsen::{self, Coarsening, overlay_any};
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;
use crate::partition::refine::cycles::Moves;
use crate::partition::refine::flow::Flow;
use crate::partition::refine::k_way::{self, KWay};
use crate::partition::refine::unconstrained::{self, Unconstrained};
use crate::partition::refine::{balance, fill};
use crate::partition::settings::PartitionConfig;
use crate::partition::targets::{Targets, in_order};

/// The levels on which flows refine pairs of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowLevels {
    All,
    Finest,
}

/// What is partitioned, into what, and how.
pub(crate) struct Task<'a, W, O> {
    pub level: Problem<'a, W, O>,
    pub targets: &'a Targets,
    /// How the coarsest graph gets its first partition.
    pub first: &'a dyn InitialPartition<W, O>,
    pub flow_levels: FlowLevels,
    pub settings: &'a PartitionConfig,
    pub observer: &'a dyn Observer,
}

impl<W, O> Clone for Task<'_, W, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W, O> Copy for Task<'_, W, O> {}

/// A graph with its targets, and the working memory of all phases.
pub(crate) struct Multilevel<'a, W, O> {
    finest: Problem<'a, W, O>,
    sizes: &'a [Weight],
    bounds: LoadBounds<'a>,
    first: &'a dyn InitialPartition<W, O>,
    flow_levels: FlowLevels,
    settings: &'a PartitionConfig,
    observer: &'a dyn Observer,
    k_way: KWay,
    flow: Flow,
    unconstrained: Unconstrained,
    /// The best first partition of the finest graph that kept all bounds: refinement within relaxed bounds may lose it.
    within_bounds: Option<Assignment>,
}

impl<'a, W: Stored, O: Objective> Multilevel<'a, W, O> {
    pub fn new(task: Task<'a, W, O>) -> Self {
        let Task { level: finest, targets, first, flow_levels, settings, observer } = task;
        let (sizes, bounds) = (targets.block_sizes(), targets.load_bounds());
        let flow = Flow::default();
        Self {
            finest,
            sizes,
            bounds,
            first,
            flow_levels,
            settings,
            observer,
            k_way: KWay::default(),
            flow,
            unconstrained: Unconstrained::default(),
            within_bounds: None,
        }
    }

    /// Coarsens, partitions, refines.
    ///
    /// `start` is a classification of the vertices and a partition that separates no class. Only vertices of the same class
    /// are then contracted, so that the partition exists on all levels and is refined there. Once the observer asks to stop,
    /// the partition is only balanced.
    pub fn run(&mut self, start: Option<(&[u32], Assignment)>, rng: &mut Rng) -> Assignment {
        let (classes, start) = start.unzip();
        let enough = self.enough(start.is_none());
        let classes = self.classes(classes);
        let mut coarsening = Coarsening::build(
            self.finest.graph,
            self.settings.contraction,
            enough,
            classes.as_deref(),
            self.observer,
            rng,
        );
        let mut objectives = self.objectives(&coarsening);
        let coarsest = Problem {
            graph: coarsening.coarsest(self.finest.graph),
            objective: objectives.last().unwrap_or(self.finest.objective),
        };
        let mut assignment = match start {
            Some(mut assignment) => {
                for (coarse_of, coarse) in &coarsening.steps {
                    assignment.blocks = coarsen::restrict(&assignment.blocks, coarse_of, coarse.num_nodes());
                }
                self.refine(coarsest, &mut assignment, rng);
                assignment
            }
            None => self.first_partition(coarsest, rng),
        };
        // A level is dropped once it is refined: each takes up to the memory of the graph.
        while let Some((coarse_of, coarse)) = coarsening.steps.pop() {
            drop((coarse, objectives.pop()));
            let level = Problem {
                graph: coarsening.coarsest(self.finest.graph),
                objective: objectives.last().unwrap_or(self.finest.objective),
            };
            assignment.blocks = coarsen::project(&assignment.blocks, &coarse_of);
            self.refine(level, &mut assignment, rng);
        }
        span::named("final bounds", || self.finish(&mut assignment, rng));
        fill::fill_empty(self.finest, &mut assignment, self.bounds);
        let first = self.within_bounds.take();
        first.filter(|first| first.score(self.bounds) < assignment.score(self.bounds)).unwrap_or(assignment)
    }

    /// A first partition of the whole graph, unrefined, if it is better than another one by the bounds of refinement.
    pub fn better_first(&mut self, other: &Assignment, rng: &mut Rng) -> Option<Assignment> {
        let relaxed = self.relaxed(self.finest);
        let first = self.unrefined(self.finest, relaxed.as_bounds(), rng);
        (first.score(relaxed.as_bounds()) < other.score(relaxed.as_bounds())).then_some(first)
    }

    /// The classes within which vertices may be contracted, refined by those of the objective.
    fn classes<'c>(&self, classes: Option<&'c [u32]>) -> Option<Cow<'c, [u32]>>
    where
        'a: 'c,
    {
        let own = self.finest.objective.classes();
        overlay_any(classes.map(Cow::Borrowed), own.map(Cow::Borrowed))
    }

    /// The objective on each coarser level, finest first.
    fn objectives(&self, coarsening: &Coarsening<W>) -> Vec<O> {
        let mut objectives: Vec<O> = Vec::with_capacity(coarsening.steps.len());
        for (coarse_of, coarse) in &coarsening.steps {
            let finer = objectives.last().unwrap_or(self.finest.objective);
            objectives.push(finer.contracted(coarse_of, coarse.num_nodes()));
        }
        objectives
    }

    /// The number of vertices that the coarsest graph should have.
    ///
    /// If an initial partition is to be found on it, it must be large enough to have many different ones, and small
    /// enough for several attempts.
    fn enough(&self, from_scratch: bool) -> usize {
        if from_scratch && self.first.coarsens() {
            return self.finest.num_nodes();
        }
        let settings = &self.settings.initial;
        let least = settings.coarsest_per_block.saturating_mul(self.sizes.len());
        if from_scratch { least.max(settings.coarsest.min(self.finest.num_nodes() / 4)) } else { least }
    }

    /// The first partition of the coarsest graph: the best of several attempts, refined.
    fn first_partition(&mut self, coarsest: Problem<'_, W, O>, rng: &mut Rng) -> Assignment {
        if self.observer.should_stop() {
            let blocks = in_order_around(coarsest, self.sizes);
            return Assignment::new(coarsest, blocks, self.sizes.len());
        }
        let relaxed = self.relaxed(coarsest);
        let relaxed = relaxed.as_bounds();
        if self.first.is_refined() {
            return self.unrefined(coarsest, relaxed, rng);
        }
        let mut best = self.attempt(coarsest, relaxed, rng);
        for _ in 1..self.num_attempts(coarsest) {
            if self.observer.should_stop() {
                break;
            }
            let next = self.attempt(coarsest, relaxed, rng);
            if next.score(relaxed) < best.score(relaxed) {
                best = next;
            }
        }
        self.refine_pairs(coarsest, &mut best, relaxed, rng);
        best
    }

    /// The number of attempts. Each bisects all vertices log k times, and all together should not cost more than the
    /// refinement.
    fn num_attempts(&self, coarsest: Problem<'_, W, O>) -> usize {
        let depth = bisection::depth(self.sizes.len()) as usize;
        let affordable = self.finest.num_nodes() / coarsest.num_nodes().max(1);
        (self.settings.initial.bisections / depth.max(1)).min(affordable).max(1)
    }

    /// A first partition of the coarsest graph, refined.
    fn attempt(&mut self, coarsest: Problem<'_, W, O>, relaxed: LoadBounds<'_>, rng: &mut Rng) -> Assignment {
        let mut assignment = self.unrefined(coarsest, relaxed, rng);
        self.rebalance(coarsest, &mut assignment, relaxed);
        self.refine_all(coarsest, &mut assignment, relaxed, rng);
        assignment
    }

    /// A first partition of the coarsest graph as it was found.
    fn unrefined(
        &mut self,
        coarsest: Problem<'_, W, O>,
        relaxed: LoadBounds<'_>,
        rng: &mut Rng,
    ) -> Assignment {
        let Self { sizes, bounds, settings, observer, .. } = *self;
        let request = Coarsest { level: coarsest, sizes, bounds, relaxed, settings, observer };
        let blocks = span::named("initial partition", || self.first.blocks(&request, rng.next_u64()));
        let found = Assignment::new(coarsest, blocks, sizes.len());
        let is_best = |found: &Assignment| {
            found.violation(bounds) == BoundViolation::NONE
                && self.within_bounds.as_ref().is_none_or(|best| found.cost < best.cost)
        };
        if coarsest.num_nodes() == self.finest.num_nodes() && is_best(&found) {
            let mut kept = found.clone();
            fill::fill_empty(coarsest, &mut kept, bounds);
            self.within_bounds = Some(kept);
        }
        found
    }

    /// The bounds on a level. They are relaxed, since coarse vertices cannot meet tight bounds and the search needs room;
    /// but blocks that must stay empty do.
    fn relaxed(&self, level: Problem<'_, W, O>) -> WiderBounds {
        let nodes = level.max_node_weight().saturating_mul(self.settings.balance.slack_nodes);
        self.with_slack(|size, bound| {
            if bound == 0 {
                return 0;
            }
            let slack = nodes.min((size as f64 * self.settings.balance.slack) as Weight);
            slack.max(level.max_node_weight())
        })
    }

    /// Bounds that allow for some slack above and below the sizes.
    fn with_slack(&self, slack: impl Fn(Weight, Weight) -> Weight) -> WiderBounds {
        let pairs = || self.sizes.iter().zip(self.bounds.most);
        let above = |(&size, &bound): (&Weight, &Weight)| bound.max(size.saturating_add(slack(size, bound)));
        let below = |((&size, &bound), &least): ((&Weight, &Weight), &Weight)| {
            least.min(size - slack(size, bound).min(size))
        };
        WiderBounds {
            most: pairs().map(above).collect(),
            least: pairs().zip(self.bounds.least).map(below).collect(),
        }
    }

    fn refine(&mut self, level: Problem<'_, W, O>, assignment: &mut Assignment, rng: &mut Rng) {
        if self.observer.should_stop() {
            return;
        }
        let relaxed = self.relaxed(level);
        let relaxed = relaxed.as_bounds();
        if self.settings.unconstrained.begins_within_bounds() {
            self.rebalance(level, assignment, relaxed);
        }
        self.refine_all(level, assignment, relaxed, rng);
        self.refine_pairs(level, assignment, relaxed, rng);
    }

    /// Refines all blocks at once.
    fn refine_all(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: LoadBounds<'_>,
        rng: &mut Rng,
    ) {
        if self.settings.unconstrained.patience > 0 {
            let goal = unconstrained::Goal {
                bounds,
                settings: &self.settings.unconstrained,
                observer: self.observer,
            };
            span::named("unconstrained moves", || self.unconstrained.refine(level, assignment, goal));
        }
        if !self.settings.unconstrained.begins_within_bounds() {
            self.rebalance(level, assignment, bounds);
        }
        self.refine_boundary(level, assignment, bounds, rng);
    }

    /// Brings blocks back within bounds.
    fn rebalance(&self, level: Problem<'_, W, O>, assignment: &mut Assignment, bounds: LoadBounds<'_>) {
        span::named("balancing", || {
            balance::rebalance(level, assignment, bounds.most, self.observer);
            fill::fill_short(level, assignment, bounds, self.observer);
        });
    }

    /// Returns whether flows refine pairs of blocks on a level. They always refine the finest level, where their gains are final.
    fn has_flows(&self, level: Problem<'_, W, O>) -> bool {
        let only_finest = self.flow.is_futile() || self.flow_levels == FlowLevels::Finest;
        self.settings.flow.rounds > 0 && (!only_finest || level.num_nodes() == self.finest.num_nodes())
    }

    fn refine_pairs(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: LoadBounds<'_>,
        rng: &mut Rng,
    ) {
        let settings = &self.settings.flow;
        if !self.has_flows(level) {
            return;
        }
        let refine = || self.flow.refine(level, assignment, bounds, settings, self.observer);
        if span::named("flows", refine) {
            self.refine_boundary(level, assignment, bounds, rng);
        }
    }

    fn refine_boundary(
        &mut self,
        level: Problem<'_, W, O>,
        assignment: &mut Assignment,
        bounds: LoadBounds<'_>,
        rng: &mut Rng,
    ) {
        let goal = k_way::Goal { bounds, settings: &self.settings.k_way, observer: self.observer };
        span::named("k-way searches", || self.k_way.refine(level, assignment, goal, rng));
    }

    /// Brings the blocks to their final bounds.
    fn finish(&mut self, assignment: &mut Assignment, rng: &mut Rng) {
        let are_met = assignment.violation(self.bounds) == BoundViolation::NONE;
        if are_met && self.relaxed(self.finest).as_bounds() == self.bounds {
            return;
        }
        let unit = self.finest.max_node_weight() == 1
            && self.finest.total_node_weight() == self.finest.num_nodes() as Weight;
        if unit && !self.observer.should_stop() {
            self.tighten(assignment, rng);
            self.enforce_exact_sizes(assignment);
            let slack = self.settings.balance.final_slack;
            let relaxed = self.with_slack(|_, _| slack);
            for _ in 0..self.settings.balance.final_rounds {
                let mut next = assignment.clone();
                self.refine_boundary(self.finest, &mut next, relaxed.as_bounds(), rng);
                self.enforce_exact_sizes(&mut next);
                if next.score(self.bounds) >= assignment.score(self.bounds) {
                    break;
                }
                *assignment = next;
                if self.observer.should_stop() {
                    break;
                }
            }
        } else {
            balance::rebalance(self.finest, assignment, self.bounds.most, self.observer);
            balance::repack(self.finest, assignment, self.bounds.most);
            fill::fill_short(self.finest, assignment, self.bounds, self.observer);
            self.refine_boundary(self.finest, assignment, self.bounds, rng);
        }
    }

    /// Brings the blocks near their final bounds in steps, each of half the slack of the one before, and refines them after each. Borders that move
    /// a little at a time keep their shape.
    fn tighten(&mut self, assignment: &mut Assignment, rng: &mut Rng) {
        let mut slack = self.settings.balance.tightened_from;
        while slack > 0 && !self.observer.should_stop() {
            let relaxed = self.with_slack(|size, bound| if bound == 0 { 0 } else { slack.min(size / 4) });
            self.meet(assignment, relaxed.as_bounds());
            self.refine_boundary(self.finest, assignment, relaxed.as_bounds(), rng);
            self.refine_pairs(self.finest, assignment, relaxed.as_bounds(), rng);
            slack /= 2;
        }
    }

    /// Moves vertices of weight 1 until bounds are met, at the least loss.
    fn meet(&self, assignment: &mut Assignment, bounds: LoadBounds<'_>) {
        let mut moves = Moves::new(self.finest, assignment, self.settings.balance.effort, self.observer);
        moves.rebalance(assignment, bounds, self.settings.balance.patience);
        self.rebalance(self.finest, assignment, bounds);
    }

    /// Moves vertices of weight 1 until all bounds are met, at the least loss, and lowers the cost at these sizes.
    fn enforce_exact_sizes(&mut self, assignment: &mut Assignment) {
        if self.observer.should_stop() {
            return self.rebalance(self.finest, assignment, self.bounds);
        }
        self.meet(assignment, self.bounds);
        let mut moves = Moves::new(self.finest, assignment, self.settings.balance.effort, self.observer);
        moves.improve(assignment, self.settings.balance.patience);
    }
}

/// The partition in the order of the numbers of the vertices, around those that are fixed; O(n).
pub(super) fn in_order_around<W: Stored, O: Objective>(
    level: Problem<'_, W, O>,
    sizes: &[Weight],
) -> Vec<BlockId> {
    let fixed = level.nodes().map(|node| level.objective.fixed_block(node));
    in_order(level.node_weights(), fixed, sizes)
}
