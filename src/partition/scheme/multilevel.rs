//! The multilevel scheme: coarsen, partition the coarsest graph, refine on every level on the way back.

use std::borrow::Cow;

use super::initial;
use super::multisection::Multisection;
use super::pool::{Pool, overlay};
use crate::ground::observer::Observer;
use crate::ground::rng::Rng;
use crate::ground::types::Weight;
use crate::partition::assignment::{Assignment, Level};
use crate::partition::coarsen::{self, Coarsening};
use crate::partition::compact::Stored;
use crate::partition::objective::Objective;
use crate::partition::refine::balance;
use crate::partition::refine::cycles::Moves;
use crate::partition::refine::flow::Flow;
use crate::partition::refine::k_way::KWay;
use crate::partition::remap::start;
use crate::partition::settings::Settings;
use crate::partition::targets::Targets;

/// How the partition of the coarsest graph is found.
#[derive(Clone, Copy)]
pub(crate) enum First<'a> {
    /// By recursive bisection.
    Bisection,
    /// Along a tree of blocks.
    Multisection(Multisection<'a>),
    /// From where the vertices were.
    Homes,
    /// The best of a pool with these settings that begins so. Flows refine the finest level afterwards, or all levels.
    PoolOfHomes { settings: &'a Settings, flows_on_all: bool },
}

/// What is partitioned, into what, and how.
pub(crate) struct Task<'a, W, O> {
    pub level: Level<'a, W, O>,
    pub targets: &'a Targets,
    pub first: First<'a>,
    pub settings: &'a Settings,
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
    finest: Level<'a, W, O>,
    sizes: &'a [Weight],
    bounds: &'a [Weight],
    first: First<'a>,
    settings: &'a Settings,
    observer: &'a dyn Observer,
    k_way: KWay,
    flow: Flow,
}

impl<'a, W: Stored, O: Objective> Multilevel<'a, W, O> {
    pub fn new(task: Task<'a, W, O>) -> Self {
        let Task { level: finest, targets, first, settings, observer } = task;
        let mut k_way = KWay::default();
        k_way.resize(finest.num_nodes(), targets.num_blocks());
        let (sizes, bounds) = (targets.block_sizes(), targets.bounds());
        Self { finest, sizes, bounds, first, settings, observer, k_way, flow: Flow::default() }
    }

    /// Coarsens, partitions, refines.
    ///
    /// `start` are classes of vertices and a partition that separates no class. Only vertices of the same class are
    /// then contracted, so that the partition exists on all levels and is refined there. Once the observer asks to
    /// stop, the partition is only balanced.
    pub fn run(&mut self, start: Option<(&[u32], Assignment)>, rng: &mut Rng) -> Assignment {
        let (classes, start) = start.unzip();
        let enough = self.enough(start.is_none());
        let classes = self.classes(classes);
        let coarsening = Coarsening::build(
            self.finest.graph,
            self.settings.contraction,
            enough,
            classes.as_deref(),
            self.observer,
            rng,
        );
        let objectives = self.objectives(&coarsening);
        let level = |finest: Level<'a, W, O>, steps: usize| Level {
            graph: coarsening.level(finest.graph, steps),
            objective: if steps == 0 { finest.objective } else { &objectives[steps - 1] },
        };
        let coarsest = level(self.finest, coarsening.steps.len());
        let mut assignment = match start {
            Some(mut assignment) => {
                for (coarse_of, coarse) in &coarsening.steps {
                    assignment.blocks = coarsen::restrict(&assignment.blocks, coarse_of, coarse.num_nodes());
                }
                self.refine(coarsest, &mut assignment, rng);
                assignment
            }
            None => self.initial(coarsest, rng),
        };
        for index in (0..coarsening.steps.len()).rev() {
            assignment.blocks = coarsen::project(&assignment.blocks, &coarsening.steps[index].0);
            self.refine(level(self.finest, index), &mut assignment, rng);
        }
        self.finish(&mut assignment, rng);
        balance::fill_empty(self.finest, &mut assignment, self.bounds);
        assignment
    }

    /// The classes within which vertices may be contracted: those of the objective too.
    fn classes<'c>(&self, classes: Option<&'c [u32]>) -> Option<Cow<'c, [u32]>>
    where
        'a: 'c,
    {
        match (classes, self.finest.objective.classes()) {
            (Some(given), Some(own)) => Some(Cow::Owned(overlay(given, own))),
            (one, other) => one.or(other).map(Cow::Borrowed),
        }
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
    fn enough(&self, from_nothing: bool) -> usize {
        if from_nothing && matches!(self.first, First::Multisection(_)) {
            // Each step of multisection coarsens for itself.
            return self.finest.num_nodes();
        }
        let settings = &self.settings.initial;
        let least = settings.coarsest_per_block.saturating_mul(self.sizes.len());
        if from_nothing { least.max(settings.coarsest.min(self.finest.num_nodes() / 4)) } else { least }
    }

    /// The best of several partitions of the coarsest graph.
    fn initial(&mut self, coarsest: Level<'_, W, O>, rng: &mut Rng) -> Assignment {
        if self.observer.should_stop() {
            return Assignment::new(
                coarsest,
                initial::in_order(coarsest.node_weights(), self.sizes),
                self.sizes.len(),
            );
        }
        let relaxed = self.relaxed(coarsest);
        if let First::PoolOfHomes { settings, .. } = self.first {
            let targets = Targets::bounded(self.sizes.to_vec(), relaxed);
            let observer = self.observer;
            let task = Task { level: coarsest, targets: &targets, first: First::Homes, settings, observer };
            return Pool::new(task, rng.next_u64()).best();
        }
        let tolerance = if coarsest.max_node_weight() > 1 { coarsest.max_node_weight() } else { 0 };
        let settings = &self.settings.bisection;
        let mut best: Option<Assignment> = None;
        // An attempt bisects all vertices log k times. All attempts together should not cost more than the refinement.
        let depth = initial::depth(self.sizes.len()) as usize;
        let affordable = self.finest.num_nodes() / coarsest.num_nodes().max(1);
        let tries = (self.settings.initial.bisections / depth.max(1)).min(affordable).max(1);
        for _ in 0..tries {
            let seed = rng.next_u64();
            let blocks = match self.first {
                First::Multisection(multisection) => {
                    multisection.run(coarsest, self.sizes, self.bounds, seed, self.observer)
                }
                First::Homes | First::PoolOfHomes { .. } => {
                    start::resume(coarsest, self.sizes, &relaxed, &self.settings.balance, self.observer)
                }
                First::Bisection => initial::recursive_bisection(
                    coarsest.graph,
                    self.sizes,
                    self.bounds,
                    tolerance,
                    self.settings.contraction,
                    settings,
                    seed,
                    self.observer,
                ),
            };
            let mut next = Assignment::new(coarsest, blocks, self.sizes.len());
            balance::rebalance(coarsest, &mut next, &relaxed, self.observer);
            self.refine_boundary(coarsest, &mut next, &relaxed, rng);
            let score = |assignment: &Assignment| (assignment.overload(&relaxed), assignment.cost);
            if best.as_ref().is_none_or(|best| score(&next) < score(best)) {
                best = Some(next);
            }
            if self.observer.should_stop() {
                break;
            }
        }
        let mut best = best.expect("there was at least one try");
        self.refine_pairs(coarsest, &mut best, &relaxed, rng);
        best
    }

    /// The bounds on a level. They are relaxed, as coarse vertices cannot meet tight bounds, and the search needs room; but
    /// blocks that stay empty stay so.
    fn relaxed(&self, level: Level<'_, W, O>) -> Vec<Weight> {
        let relax = |(&size, &bound): (&Weight, &Weight)| {
            if bound == 0 {
                return 0;
            }
            let nodes = level.max_node_weight().saturating_mul(self.settings.balance.slack_nodes);
            let slack = nodes.min((size as f64 * self.settings.balance.slack) as Weight);
            bound.max(size.saturating_add(slack.max(level.max_node_weight())))
        };
        self.sizes.iter().zip(self.bounds).map(relax).collect()
    }

    fn refine(&mut self, level: Level<'_, W, O>, assignment: &mut Assignment, rng: &mut Rng) {
        if self.observer.should_stop() {
            return;
        }
        let relaxed = self.relaxed(level);
        balance::rebalance(level, assignment, &relaxed, self.observer);
        self.refine_boundary(level, assignment, &relaxed, rng);
        self.refine_pairs(level, assignment, &relaxed, rng);
    }

    /// Whether pairs of blocks are refined on a level. What is found on the finest level is kept, so that is never left out.
    fn has_flows(&self, level: Level<'_, W, O>) -> bool {
        let only_finest =
            self.flow.is_futile() || matches!(self.first, First::PoolOfHomes { flows_on_all: false, .. });
        self.settings.flow.rounds > 0 && (!only_finest || level.num_nodes() == self.finest.num_nodes())
    }

    fn refine_pairs(
        &mut self,
        level: Level<'_, W, O>,
        assignment: &mut Assignment,
        bounds: &[Weight],
        rng: &mut Rng,
    ) {
        let settings = &self.settings.flow;
        if self.has_flows(level) && self.flow.refine(level, assignment, bounds, settings, self.observer) {
            self.refine_boundary(level, assignment, bounds, rng);
        }
    }

    fn refine_boundary(
        &mut self,
        level: Level<'_, W, O>,
        assignment: &mut Assignment,
        bounds: &[Weight],
        rng: &mut Rng,
    ) {
        self.k_way.refine(level, assignment, bounds, &self.settings.k_way, self.observer, rng);
    }

    /// Brings the blocks to their final bounds.
    fn finish(&mut self, assignment: &mut Assignment, rng: &mut Rng) {
        if assignment.overload(self.bounds) == 0 && self.relaxed(self.finest) == self.bounds {
            return;
        }
        let unit = self.finest.max_node_weight() == 1
            && self.finest.total_node_weight() == self.finest.num_nodes() as Weight;
        if unit && !self.observer.should_stop() {
            self.enforce_exact_sizes(assignment);
            let slack = self.settings.balance.final_slack;
            let relaxed: Vec<Weight> = self
                .sizes
                .iter()
                .zip(self.bounds)
                .map(|(size, &bound)| bound.max(size.saturating_add(slack)))
                .collect();
            for _ in 0..self.settings.balance.final_rounds {
                let mut next = assignment.clone();
                self.refine_boundary(self.finest, &mut next, &relaxed, rng);
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
            balance::rebalance(self.finest, assignment, self.bounds, self.observer);
            balance::repack(self.finest, assignment, self.bounds);
            self.refine_boundary(self.finest, assignment, self.bounds, rng);
        }
    }

    /// Moves vertices of weight 1 until all bounds are met, at the least loss, and lowers the cost at these sizes.
    fn enforce_exact_sizes(&mut self, assignment: &mut Assignment) {
        if self.observer.should_stop() {
            return balance::rebalance(self.finest, assignment, self.bounds, self.observer);
        }
        let mut moves = Moves::new(self.finest, assignment, self.settings.balance.effort, self.observer);
        moves.rebalance(assignment, self.bounds, self.settings.balance.patience);
        balance::rebalance(self.finest, assignment, self.bounds, self.observer);
        let mut moves = Moves::new(self.finest, assignment, self.settings.balance.effort, self.observer);
        moves.improve(assignment, self.settings.balance.patience);
    }
}
