//! Local search on F, on the loads of links or on simulated time. Tasks move to free places or are exchanged
//! with each other while that improves the measure.
//!
//! A queue holds the tasks that may have an improving move: at first all tasks, later those whose partners
//! have moved. A task is tried on the PEs near those of its partners, and on some random ones. It moves there
//! if there is room, or is exchanged with a task there. A step is accepted if it improves the measure: F,
//! then the sum of R; or the loads of links; or the simulated completion time, then J.

use std::collections::VecDeque;

use super::loads::Loads;
use super::simulated_time::SimulatedTime;
use super::view::MachineView;
use crate::estimate::Estimate;
use viem::graph::CsrGraph;
use viem::ground::observer::{Observer, Watch};
use viem::ground::rng::Rng;
use viem::ground::types::{NodeId, PeId};

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

/// The result of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub tried: u64,
    pub made: u64,
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

impl Measure for SimulatedTime<'_> {
    fn value(&mut self) -> (i64, i64) {
        SimulatedTime::value(self)
    }
    fn place(&mut self, task: NodeId, pe: PeId) {
        SimulatedTime::place(self, task, pe);
    }
    fn returned_to(&mut self, value: (i64, i64)) {
        SimulatedTime::returned_to(self, value);
    }
    fn pe_of(&self) -> &[PeId] {
        SimulatedTime::pe_of(self)
    }
    fn work(&self) -> u64 {
        SimulatedTime::work(self)
    }
}

impl Measure for Loads<'_> {
    fn value(&mut self) -> (i64, i64) {
        (self.sum(), 0)
    }
    fn place(&mut self, task: NodeId, pe: PeId) {
        Loads::place(self, task, pe);
    }
    fn pe_of(&self) -> &[PeId] {
        Loads::pe_of(self)
    }
    fn work(&self) -> u64 {
        Loads::work(self)
    }
}

pub(super) struct Descent<'a, 'b, M> {
    pub graph: &'a CsrGraph,
    pub view: &'a MachineView,
    pub config: &'a DescentConfig,
    pub seed: u64,
    pub observer: &'a dyn Observer,
    pub measure: &'b mut M,
    /// The amount of work at which the search ends.
    pub last: u64,
}

impl<M: Measure> Descent<'_, '_, M> {
    /// Improves the mapping of the measure as far as steps do.
    pub(super) fn run(mut self) -> Outcome {
        let n = self.graph.num_nodes();
        let mut rng = Rng::new(self.seed);
        let mut tasks_on: Vec<Vec<NodeId>> = vec![Vec::new(); self.view.num_pes()];
        for (task, &pe) in self.measure.pe_of().iter().enumerate() {
            tasks_on[pe as usize].push(task as NodeId);
        }
        let mut order: Vec<NodeId> = (0..n as NodeId).collect();
        rng.shuffle(&mut order);
        let (mut queue, mut is_queued) = (VecDeque::from(order), vec![true; n]);
        let mut watch = Watch::new(self.observer);
        let mut outcome = Outcome::default();
        while let Some(task) = queue.pop_front() {
            is_queued[task as usize] = false;
            let before = self.measure.work();
            let moved = self.improve(task, &mut tasks_on, &mut rng, &mut outcome);
            let work = (self.measure.work() - before) as usize;
            outcome.stopped |= watch.stops_after(work + self.view.num_pes() / 8);
            if outcome.stopped || self.measure.work() > self.last {
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
        outcome
    }

    /// PEs that may be better for a task: those of its partners and near them, and some others.
    fn targets(&self, task: NodeId, rng: &mut Rng) -> Vec<PeId> {
        let pe_of = self.measure.pe_of();
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

    /// Tries a task on other PEs. Returns the tasks that have moved.
    fn improve(
        &mut self,
        task: NodeId,
        tasks_on: &mut [Vec<NodeId>],
        rng: &mut Rng,
        outcome: &mut Outcome,
    ) -> Vec<NodeId> {
        let own = self.measure.pe_of()[task as usize];
        let before = self.measure.value();
        for pe in self.targets(task, rng) {
            let there = &tasks_on[pe as usize];
            let is_full = there.len() >= self.view.room[pe as usize] as usize;
            let other = if there.is_empty() || (!is_full && rng.below(2) == 0) {
                None
            } else {
                Some(there[rng.below(there.len() as u32) as usize])
            };
            if other.is_none() && is_full {
                continue;
            }
            outcome.stopped |= self.observer.should_stop();
            if outcome.stopped || self.measure.work() > self.last {
                break;
            }
            outcome.tried += 1;
            self.measure.place(task, pe);
            other.into_iter().for_each(|other| self.measure.place(other, own));
            if self.measure.value() < before {
                outcome.made += 1;
                tasks_on[own as usize].retain(|&member| member != task);
                tasks_on[pe as usize].push(task);
                if let Some(other) = other {
                    tasks_on[pe as usize].retain(|&member| member != other);
                    tasks_on[own as usize].push(other);
                }
                return [task].into_iter().chain(other).collect();
            }
            other.into_iter().for_each(|other| self.measure.place(other, pe));
            self.measure.place(task, own);
            self.measure.returned_to(before);
        }
        Vec::new()
    }
}
