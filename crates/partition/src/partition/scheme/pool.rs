//! From a graph to its partition: one multilevel run or several, and their combination.
//!
//! Two partitions are combined by coarsening where they agree. Vertices are contracted only if neither partition
//! separates them, so both partitions exist on the coarsest level. The better one is refined on the way back, where
//! parts of the other are moves of few coarse vertices. The child is never worse than the better parent.
//!
//! Members of the pool are independent and run in parallel. Each draws from a random stream derived from its index, so the
//! result does not depend on the number of threads.
//!
//! Sanders, Schulz: Distributed evolutionary graph partitioning. ALENEX 2012.

use super::bound;
use super::enumeration;
use super::groups;
use super::initial::bisection::RecursiveBisection;
use super::multilevel::{FlowLevels, Multilevel, Task};
use crate::base::observer::{Observer, Phase};
use crate::base::rng::{Rng, derive};
use crate::base::threads;
use crate::base::types::{BlockId, Weight};
use crate::graph::CsrGraph;
use crate::graph::stencil::Stencil;
use crate::partition::assignment::{Assignment, Problem};
use crate::partition::bounds::BoundViolation;
use crate::partition::coarsen::{self, overlay};
use crate::partition::compact::{self, CompactGraph, Stored};
use crate::partition::objective::{Cut, EdgeCost, Migrating, Objective};
use crate::partition::refine::{balance, fill};
use crate::partition::settings::{PartitionConfig, PoolConfig};
use crate::partition::targets::Targets;

/// From this many arcs on, members run in parallel. Balances the cost of a task against its work; the result does not depend
/// on it.
const LEAST_PARALLEL_ARCS: usize = 20_000;

/// The greatest factor by which tiny graphs get more members. Balances the optimum of tiny problems against time, of which
/// little is needed.
const MOST_FOR_TINY: usize = 16;

/// The last member is not made where the division of the whole graph is better than all others by more than one in this many of the cut,
/// and there are more blocks than these: partitions into few blocks differ by several per cent. Balances time against the luck of another
/// partition. Tuned on grids and meshes, 6 to 256 blocks.
const CLEAR_GAIN: Weight = 50;
const FEW_BLOCKS: usize = 16;

/// Partitions a graph such that the cut is small.
pub(crate) fn partition(
    graph: &CsrGraph,
    targets: &Targets,
    settings: &PartitionConfig,
    seed: u64,
    observer: &dyn Observer,
) -> Assignment {
    let divided = settings.pool.divided && Stencil::of(graph).is_some();
    let settings = &PartitionConfig { pool: PoolConfig { divided, ..settings.pool }, ..*settings };
    if compact::is_narrow(graph) {
        smallest_cut(&CompactGraph::<i32>::new(graph), targets, settings, seed, observer)
    } else {
        smallest_cut(&CompactGraph::<i64>::new(graph), targets, settings, seed, observer)
    }
}

/// The best of several partitions by their cuts. Vertices that the targets fix are in their blocks.
pub(crate) fn smallest_cut<W: Stored>(
    graph: &CompactGraph<'_, W>,
    targets: &Targets,
    settings: &PartitionConfig,
    seed: u64,
    observer: &dyn Observer,
) -> Assignment {
    if W::IS_NARROW && targets.fixed().is_none() {
        return Pool::of_cut(graph, &Cut, targets, settings, seed, observer).best();
    }
    let objective = Migrating::around(EdgeCost::Cut(Cut), targets.fixed());
    Pool::of_cut(graph, &objective, targets, settings, seed, observer).best()
}

/// The best partition that keeps groups of heavy edges whole, if there are such groups.
fn in_groups<W: Stored, O: Objective>(task: Task<'_, W, O>, seed: u64) -> Option<Assignment> {
    let Task { level, targets, settings, observer, .. } = task;
    let (coarse_of, count) = groups::joined_by_heavy_edges(level, targets.bounds())?;
    let graph = level.graph.contract(&coarse_of, count);
    let objective = level.objective.contracted(&coarse_of, count);
    let coarse = Pool::of_cut(&graph, &objective, targets, settings, seed, observer).best();
    let blocks = coarsen::project(&coarse.blocks, &coarse_of);
    let mut assignment = Assignment::new(level, blocks, targets.num_blocks());
    // There may be fewer groups than blocks.
    fill::fill_empty(level, &mut assignment, targets.load_bounds());
    Some(assignment)
}

/// Several partitions of a graph.
pub(crate) struct Pool<'a, W, O> {
    pub task: Task<'a, W, O>,
    pub seed: u64,
    /// Partitions that the result must not be worse than.
    pub starts: Vec<Assignment>,
    /// Whether to go on until the observer asks to stop, or no partition can be better; it is notified that
    /// [`Phase::Search`] begins.
    pub goes_on: bool,
}

impl<'a, W: Stored, O: Objective> Pool<'a, W, O> {
    /// Partitions of small cut; `objective` is the cut, maybe with fixed vertices.
    fn of_cut(
        graph: &'a CompactGraph<'a, W>,
        objective: &'a O,
        targets: &'a Targets,
        settings: &'a PartitionConfig,
        seed: u64,
        observer: &'a dyn Observer,
    ) -> Self {
        let (level, first) = (Problem { graph, objective }, &RecursiveBisection::OfCoarsest);
        let task = Task { level, targets, first, flow_levels: FlowLevels::All, settings, observer };
        let starts = in_groups(task, seed).into_iter().collect();
        Self { starts, ..Self::new(task, seed) }
    }

    /// Partitions from scratch, as many as the settings of the task say.
    pub fn new(task: Task<'a, W, O>, seed: u64) -> Self {
        Self { task, seed, starts: Vec::new(), goes_on: false }
    }

    /// The best partition that was found.
    pub fn best(&self) -> Assignment {
        if self.task.targets.num_blocks() == 1 {
            return Assignment::new(self.task.level, vec![0; self.task.level.num_nodes()], 1);
        }
        let Task { level, targets, observer, .. } = self.task;
        let (sizes, bounds) = (targets.block_sizes(), targets.load_bounds());
        let exhaustive = self.task.settings.pool.exhaustive;
        if let Some(best) = exhaustive.then(|| enumeration::best(level, bounds)).flatten() {
            return best;
        }
        let components = groups::Components::of(level);
        let whole =
            components.as_ref().and_then(|components| groups::whole(level, components, sizes, bounds));
        let whole = whole.filter(|_| !observer.should_stop());
        let given: Vec<&Assignment> = self.starts.iter().chain(&whole).collect();
        if let Some(best) = given.iter().find(|given| given.score(bounds) == (BoundViolation::NONE, 0)) {
            return (*best).clone();
        }
        let mut members = self.first_members(&given);
        for generation in 1..=self.task.settings.pool.generations as u64 {
            if self.task.observer.should_stop() {
                break;
            }
            members = self.next_generation(members, generation);
        }
        let given = given.into_iter().cloned();
        let best = members.into_iter().chain(given).min_by_key(|member| self.score(member));
        let mut best = best.expect("the pool has a member");
        if let Some(components) = &components {
            groups::regroup(level, components, &mut best, (sizes, bounds));
        }
        if let Some(packed) = self.packed(&best) {
            best = self.member(Some(&packed), derive(self.seed, u64::MAX - 3));
        }
        if !self.goes_on || self.task.observer.should_stop() || self.is_final(&best) {
            return best;
        }
        let least = (BoundViolation::NONE, bound::least_cost(level, bounds.most));
        if self.score(&best) > least {
            self.task.observer.begins(Phase::Search);
        }
        for round in 0.. {
            if self.score(&best) <= least || self.task.observer.should_stop() {
                break;
            }
            let seed = derive(derive(self.seed, u64::MAX - 2), round);
            let rival = self.member(None, seed);
            let [better, child] = self.combine(best, rival, derive(seed, 1));
            best =
                [better, child].into_iter().min_by_key(|member| self.score(member)).expect("there are two");
        }
        best
    }

    /// The members before any are combined: those from scratch, then those from given partitions.
    fn first_members(&self, given: &[&Assignment]) -> Vec<Assignment> {
        let mut seeds: Vec<u64> =
            (0..self.num_members() as u64).map(|index| derive(self.seed, index)).collect();
        let contested = seeds.pop_if(|_| self.has_rival());
        let place = seeds.len();
        let scratch = seeds.into_iter().map(|seed| (None, seed));
        let given = given.iter().zip(1..);
        let given = given.map(|(&start, index)| (Some(start), derive(self.seed, u64::MAX - index)));
        let mut members =
            self.each(scratch.chain(given).collect(), &|(start, seed)| self.member(start, seed));
        if let Some(seed) = contested.filter(|_| !self.task.observer.should_stop()) {
            let divided = self.divided(&members, derive(seed, u64::MAX));
            let (violation, cost) = members.iter().map(|member| self.score(member)).min().expect("others");
            let clear = (violation, cost - cost / CLEAR_GAIN);
            let is_clear = |divided: &Assignment| self.score(divided) <= clear;
            if self.task.targets.num_blocks() <= FEW_BLOCKS || !divided.as_ref().is_some_and(is_clear) {
                members.insert(place, self.member(None, seed));
            }
            members.extend(divided);
        }
        members
    }

    /// A packing of the vertices that misses the bounds by less than the best partition, if that misses any and there is one.
    fn packed(&self, best: &Assignment) -> Option<Assignment> {
        let Task { level, targets, .. } = self.task;
        let bounds = targets.load_bounds();
        let violation = Some(best.violation(bounds)).filter(|&violation| violation > BoundViolation::NONE)?;
        let packed = balance::packed(level, best, targets.block_sizes(), bounds)?;
        (packed.violation(bounds) < violation).then_some(packed)
    }

    /// Returns whether no partition is better, or there is no other one: each vertex is fixed.
    fn is_final(&self, best: &Assignment) -> bool {
        let Problem { graph, objective } = self.task.level;
        self.score(best) == (BoundViolation::NONE, 0)
            || graph.nodes().all(|node| objective.fixed_block(node).is_some())
    }

    /// A partition from scratch or from another one, after all V-cycles.
    fn member(&self, start: Option<&Assignment>, seed: u64) -> Assignment {
        let mut best = start.cloned().unwrap_or_else(|| self.run(None, seed));
        let given = u64::from(start.is_some());
        for cycle in 0..self.task.settings.pool.cycles as u64 + given {
            let next = self.run(Some((&best.blocks, best.clone())), derive(seed, cycle));
            if self.score(&next) < self.score(&best) {
                best = next;
            }
            if self.task.observer.should_stop() {
                break;
            }
        }
        best
    }

    /// Returns whether the whole graph is divided in competition with the last member.
    fn has_rival(&self) -> bool {
        self.task.settings.pool.divided && self.num_members() > 1
    }

    /// A partition that divides the whole graph, if it is better than all others before any refinement. It is combined with the best of
    /// these, which smooths its borders.
    fn divided(&self, others: &[Assignment], seed: u64) -> Option<Assignment> {
        let best = others.iter().min_by_key(|member| self.score(member))?;
        let task = Task { first: &RecursiveBisection::OfWhole, ..self.task };
        let divided = Multilevel::new(task).better_first(best, &mut Rng::new(seed))?;
        let classes = overlay(&divided.blocks, &best.blocks);
        let child = self.run(Some((&classes, divided.clone())), derive(seed, 0));
        [child, divided].into_iter().min_by_key(|member| self.score(member))
    }

    /// The number of independent partitions.
    fn num_members(&self) -> usize {
        let settings = &self.task.settings.pool;
        let enough = settings.least_per_block.saturating_mul(self.task.targets.num_blocks());
        let num_nodes = self.task.level.num_nodes();
        let is_small = num_nodes < enough.min(settings.least_nodes);
        let members = if is_small { 1 } else { settings.members };
        members.saturating_mul((settings.tiny_nodes / num_nodes.max(1)).clamp(1, MOST_FOR_TINY))
    }

    /// Pairs the members at random and combines each pair; a member without a mate stays.
    fn next_generation(&self, mut members: Vec<Assignment>, generation: u64) -> Vec<Assignment> {
        let mut rng = Rng::new(derive(derive(self.seed, u64::MAX), generation));
        rng.shuffle(&mut members);
        let mut pairs = Vec::with_capacity(members.len() / 2);
        while members.len() > 1 {
            let (first, second) = (members.swap_remove(0), members.swap_remove(0));
            pairs.push((first, second, rng.next_u64()));
        }
        let families = self.each(pairs, &|(first, second, seed)| self.combine(first, second, seed));
        members.extend(families.into_iter().flatten());
        members
    }

    fn score(&self, member: &Assignment) -> (BoundViolation, Weight) {
        member.score(self.task.targets.load_bounds())
    }

    fn run(&self, start: Option<(&[BlockId], Assignment)>, seed: u64) -> Assignment {
        Multilevel::new(self.task).run(start, &mut Rng::new(seed))
    }

    /// The better parent, and the child if it is better still; else both parents.
    fn combine(&self, first: Assignment, second: Assignment, seed: u64) -> [Assignment; 2] {
        let (better, worse) =
            if self.score(&second) < self.score(&first) { (second, first) } else { (first, second) };
        let classes = overlay(&better.blocks, &worse.blocks);
        let child = self.run(Some((&classes, better.clone())), seed);
        if self.score(&child) < self.score(&better) { [better, child] } else { [better, worse] }
    }

    /// Applies `work` to each item, in parallel if the graph is large enough; results in the order of the items.
    fn each<T: Send, R: Send>(&self, items: Vec<T>, work: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
        if items.len() > 1 && self.task.level.num_arcs() >= LEAST_PARALLEL_ARCS {
            threads::map_each(items, work)
        } else {
            items.into_iter().map(work).collect()
        }
    }
}
