//! Local search on F, on the loads of links or on simulated time. Tasks move to free places or are exchanged
//! with each other while that improves the measure.
//!
//! A queue holds the tasks that may have an improving move: at first all tasks, later those whose partners
//! have moved. A task is tried on the PEs near those of its partners, and on some random ones. It moves there
//! if there is room, or is exchanged with a task there. A step is accepted if it improves the measure: F,
//! then the sum of R; or the loads of links; or the simulated completion time, then J.

use std::collections::VecDeque;

use super::view::MachineView;
use crate::estimate::Estimate;
use viem::base::exchange::{Counts, Evaluator, below, sweep};
use viem::base::observer::{Observer, Watch};
use viem::base::rng::Rng;
use viem::base::types::{NodeId, PeId};
use viem::graph::CsrGraph;

/// The effort of local search.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DescentConfig {
    /// Number of PEs on which a task is tried each time it leaves the queue.
    pub tries: usize,
    /// How many of these are random.
    pub random: usize,
    /// Upper limit on the work of a search, in channels of phases visited per task.
    pub work: usize,
}

/// Counts of a search.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    pub counts: Counts,
    pub stopped: bool,
}

/// A measure of mappings, updated as tasks move.
pub(super) trait Measure {
    /// The value, to be minimised.
    fn value(&mut self) -> (i64, i64);
    /// Moves a task.
    fn place(&mut self, task: NodeId, pe: PeId);
    /// The mapping is again one whose value is known.
    fn returned_to(&mut self, _value: (i64, i64)) {}
    /// The PE of each task.
    fn pe_of(&self) -> &[PeId];
    /// Work done so far.
    fn work(&self) -> u64;
}

impl Measure for Estimate<'_> {
    fn value(&mut self) -> (i64, i64) {
        (self.parts(), self.sum())
    }
    fn place(&mut self, task: NodeId, pe: PeId) {
        Estimate::place(self, task, pe);
    }
    fn pe_of(&self) -> &[PeId] {
        Estimate::pe_of(self)
    }
    fn work(&self) -> u64 {
        Estimate::work(self)
    }
}

pub(super) struct Descent<'a> {
    pub graph: &'a CsrGraph,
    pub view: &'a MachineView,
    pub config: &'a DescentConfig,
    pub seed: u64,
    pub observer: &'a dyn Observer,
    /// The amount of work at which the search ends.
    pub last: u64,
}

/// A task moves to a PE. Another one may move from there to where the task was.
struct Step {
    task: NodeId,
    own: PeId,
    pe: PeId,
    other: Option<NodeId>,
}

/// A mapping that steps improve.
struct Placement<'b, M> {
    measure: &'b mut M,
    tasks_on: Vec<Vec<NodeId>>,
    /// The value of the mapping.
    value: (i64, i64),
    /// The tasks that the last step has moved.
    moved: Vec<NodeId>,
    rng: Rng,
    steps: Steps,
}

impl Descent<'_> {
    /// Improves the mapping of a measure as far as steps do.
    pub(super) fn run<M: Measure>(&self, measure: &mut M) -> Steps {
        let n = self.graph.num_nodes();
        let mut rng = Rng::new(self.seed);
        let mut tasks_on: Vec<Vec<NodeId>> = vec![Vec::new(); self.view.num_pes()];
        for (task, &pe) in measure.pe_of().iter().enumerate() {
            tasks_on[pe as usize].push(task as NodeId);
        }
        let mut order: Vec<NodeId> = (0..n as NodeId).collect();
        rng.shuffle(&mut order);
        let (mut queue, mut is_queued) = (VecDeque::from(order), vec![true; n]);
        let mut watch = Watch::new(self.observer);
        let mut placement =
            Placement { measure, tasks_on, value: (0, 0), moved: Vec::new(), rng, steps: Steps::default() };
        while let Some(task) = queue.pop_front() {
            is_queued[task as usize] = false;
            let before = placement.measure.work();
            let moved = self.improve(task, &mut placement);
            let work = (placement.measure.work() - before) as usize;
            placement.steps.stopped |= watch.stops_after(work + self.view.num_pes() / 8);
            if placement.steps.stopped || placement.measure.work() > self.last {
                break;
            }
            for moved in moved {
                for &other in self.graph.neighbours(moved).iter().chain([&moved]) {
                    if !std::mem::replace(&mut is_queued[other as usize], true) {
                        queue.push_back(other);
                    }
                }
            }
        }
        placement.steps
    }

    /// PEs that may be better for a task: those of its partners and near them, and some others.
    fn targets(&self, task: NodeId, pe_of: &[PeId], rng: &mut Rng) -> Vec<PeId> {
        let own = pe_of[task as usize];
        let mut found: Vec<PeId> = Vec::new();
        for &partner in self.graph.neighbours(task) {
            let pe = pe_of[partner as usize];
            found.extend(self.view.near(pe).take(8));
            found.push(pe);
        }
        found.extend(self.view.near(own).take(4));
        found.sort_unstable();
        found.dedup();
        found.retain(|&pe| pe != own);
        rng.shuffle(&mut found);
        found.truncate(self.config.tries - self.config.random.min(self.config.tries));
        let all = self.view.num_pes() as PeId;
        found.extend((0..self.config.random).map(|_| rng.below(all)).filter(|&pe| pe != own));
        found
    }

    /// Tries a task on other PEs until the mapping is better. Returns the tasks that have moved.
    fn improve<M: Measure>(&self, task: NodeId, placement: &mut Placement<'_, M>) -> Vec<NodeId> {
        placement.value = placement.measure.value();
        let mut targets = self.targets(task, placement.measure.pe_of(), &mut placement.rng).into_iter();
        let next = |placement: &mut Placement<'_, M>| {
            if !placement.moved.is_empty() {
                return None;
            }
            let step = targets.find_map(|pe| placement.step(task, pe, self.view.room[pe as usize]))?;
            placement.steps.stopped |= self.observer.should_stop();
            let is_over = placement.steps.stopped || placement.measure.work() > self.last;
            (!is_over).then_some(step)
        };
        let counts = sweep(placement, next, below(placement.value));
        placement.steps.counts += counts;
        std::mem::take(&mut placement.moved)
    }
}

impl<M: Measure> Placement<'_, M> {
    /// The step of a task to a PE, where another one makes room if it must, or by chance; none if there is no room.
    fn step(&mut self, task: NodeId, pe: PeId, room: u32) -> Option<Step> {
        let (own, there) = (self.measure.pe_of()[task as usize], &self.tasks_on[pe as usize]);
        let is_full = there.len() >= room as usize;
        let is_move = there.is_empty() || (!is_full && self.rng.below(2) == 0);
        let other = (!is_move).then(|| there[self.rng.below(there.len() as u32) as usize]);
        (other.is_some() || !is_full).then_some(Step { task, own, pe, other })
    }
}

impl<M: Measure> Evaluator for Placement<'_, M> {
    type Move = Step;
    /// The value that the mapping gets.
    type Change = (i64, i64);

    fn change(&mut self, &Step { task, own, pe, other }: &Step) -> (i64, i64) {
        self.measure.place(task, pe);
        other.into_iter().for_each(|other| self.measure.place(other, own));
        self.measure.value()
    }

    fn make(&mut self, Step { task, own, pe, other }: Step, _: (i64, i64)) {
        for (task, from, to) in [(task, own, pe)].into_iter().chain(other.map(|other| (other, pe, own))) {
            self.tasks_on[from as usize].retain(|&member| member != task);
            self.tasks_on[to as usize].push(task);
            self.moved.push(task);
        }
    }

    fn leave(&mut self, &Step { task, own, pe, other }: &Step) {
        other.into_iter().for_each(|other| self.measure.place(other, pe));
        self.measure.place(task, own);
        self.measure.returned_to(self.value);
    }
}
