//! Common state of all exchange neighbourhoods: the mapping, its J, and the times of changes.

use super::task::SearchOutcome;
use crate::base::observer::{Observer, Watch};
use crate::base::types::{Cost, NodeId, PeId};
use crate::machine::DistanceOracle;
use crate::mapping::objective::{cost_of_keys, keys, swap_delta};
use crate::mapping::problem::Problem;
use crate::mapping::{Mapping, process_on_each};

/// A time in the search: the number of exchanges made so far plus 1, so that 0 means "never".
pub(super) type Time = u64;

/// The time before the first exchange.
pub(super) const BEGIN: Time = 1;

/// A descent by exchanges of two processes.
pub(super) struct SwapSearch<'a, O: DistanceOracle> {
    problem: &'a Problem<'a, O>,
    observer: &'a dyn Observer,
    watch: Watch<'a>,
    pe_of: Vec<PeId>,
    process_on: Vec<NodeId>,
    keys: Vec<O::Key>,
    cost: Cost,
    now: Time,
    /// The time at which the process or a neighbour of it last moved; [`BEGIN`] if never.
    touched: Vec<Time>,
    tried: u64,
    stopped: bool,
}

impl<'a, O: DistanceOracle> SwapSearch<'a, O> {
    pub fn new(problem: &'a Problem<'a, O>, start: &Mapping, observer: &'a dyn Observer) -> Self {
        let keys = keys(problem.oracle(), start);
        Self {
            problem,
            observer,
            watch: Watch::new(observer),
            pe_of: start.pes().to_vec(),
            process_on: process_on_each(start.pes()),
            cost: cost_of_keys(problem, &keys),
            keys,
            now: BEGIN,
            touched: vec![BEGIN; problem.size()],
            tried: 0,
            stopped: false,
        }
    }

    pub fn finish(self) -> SearchOutcome {
        SearchOutcome {
            mapping: Mapping::from_permutation(self.pe_of),
            cost: self.cost,
            tried: self.tried,
            made: self.now - BEGIN,
            stopped: self.stopped,
        }
    }

    pub fn problem(&self) -> &'a Problem<'a, O> {
        self.problem
    }

    /// The observer, which may end the search.
    pub fn observer(&self) -> &'a dyn Observer {
        self.observer
    }

    /// PE of each process.
    pub fn pe_of(&self) -> &[PeId] {
        &self.pe_of
    }

    /// Process on each PE.
    pub fn process_on(&self) -> &[NodeId] {
        &self.process_on
    }

    /// Key of the PE of each process.
    pub fn keys(&self) -> &[O::Key] {
        &self.keys
    }

    /// The current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the time at which the process or a neighbour of it last moved.
    #[inline]
    pub fn touched(&self, process: NodeId) -> Time {
        self.touched[process as usize]
    }

    /// Counts pairs evaluated elsewhere.
    pub fn count_tried(&mut self, pairs: usize) {
        self.tried += pairs as u64;
    }

    /// Returns whether to stop early; checked once per row of pairs.
    pub fn should_stop(&mut self) -> bool {
        self.stopped = self.stopped || self.observer.should_stop();
        self.stopped
    }

    /// Counts traversed arcs or places; returns whether to stop early.
    #[inline]
    pub fn stops_after(&mut self, work: usize) -> bool {
        self.stopped = self.stopped || self.watch.stops_after(work);
        self.stopped
    }

    /// Returns whether the search has been stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns whether a process must stay on its PE.
    #[inline]
    pub fn is_fixed(&self, process: NodeId) -> bool {
        self.problem.is_fixed(process)
    }

    /// The processes that may move.
    pub fn free_processes(&self) -> impl Iterator<Item = NodeId> + use<'a, O> {
        let problem = self.problem;
        problem.graph().nodes().filter(|&process| !problem.is_fixed(process))
    }

    /// The change of J when `u` and `v` are exchanged, if that is permitted and changes J at all; otherwise 0.
    /// 0 once the search is stopped.
    #[inline]
    pub fn delta(&mut self, u: NodeId, v: NodeId) -> Cost {
        let (graph, oracle) = (self.problem.graph(), self.problem.oracle());
        if oracle.interchangeable(self.keys[u as usize], self.keys[v as usize])
            || self.is_fixed(u)
            || self.is_fixed(v)
        {
            return 0;
        }
        if self.stops_after(graph.degree(u) + graph.degree(v)) {
            return 0;
        }
        self.tried += 1;
        swap_delta(graph, oracle, &self.keys, u, v)
    }

    /// Exchanges `u` and `v` if that lowers J; otherwise changes nothing.
    #[inline]
    pub fn try_swap(&mut self, u: NodeId, v: NodeId) {
        let delta = self.delta(u, v);
        if delta < 0 {
            self.swap(u, v, delta);
        }
    }

    /// Exchanges `u` and `v`; `delta` is the change of J.
    pub fn swap(&mut self, u: NodeId, v: NodeId, delta: Cost) {
        self.pe_of.swap(u as usize, v as usize);
        self.keys.swap(u as usize, v as usize);
        self.cost += delta;
        self.now += 1;
        for moved in [u, v] {
            self.process_on[self.pe_of[moved as usize] as usize] = moved;
            self.touched[moved as usize] = self.now;
            for &neighbour in self.problem.graph().neighbours(moved) {
                self.touched[neighbour as usize] = self.now;
            }
        }
        self.observer.reached(self.cost);
    }
}
